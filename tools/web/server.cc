#include "tools/web/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "text/json_document.h"
#include "tools/web/address.h"
#include "tools/web/assets.h"
#include "tools/web/threads.h"
#include "tools/web/watchers.h"

namespace pbs::web {
namespace {

constexpr std::size_t kThreads = Watchers::kMost + 56;
constexpr time_t kSecondsForARequest = 5;
constexpr std::size_t kLongestRequest = 8192;
constexpr std::size_t kLongestShown = 100;

constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kTextType = "text/plain; charset=utf-8";
constexpr const char* kAssetsFolder = "assets/";

// The Content-Security-Policy of all pages. Browsers load content from this server only. A page can't contain
// scripts, so no text in a page can become one.
constexpr const char* kSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'";

bool takes_gzip(const httplib::Request& request) {
    return request.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
}

// Sends `text`, or `packed` if the browser takes gzip. Both are parts of `owner`, which the answer keeps
// alive.
template <class Owner>
void send(const httplib::Request& request, httplib::Response& answer, std::string_view text,
          std::string_view packed, std::string_view type, Owner owner) {
    answer.set_header("Vary", "Accept, Accept-Encoding");
    const bool pack = !packed.empty() && takes_gzip(request);
    if (pack) answer.set_header("Content-Encoding", "gzip");
    const std::string_view body = pack ? packed : text;
    if (body.empty()) return answer.set_content("", std::string(type));
    answer.set_content_provider(
        body.size(), std::string(type),
        [body, owner = std::move(owner)](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
            const std::string_view part = body.substr(offset, length);
            return sink.write(part.data(), part.size());
        });
}

// Answers "not modified" if the browser has the version `tag`, and returns whether it has.
bool is_known(const httplib::Request& request, httplib::Response& answer, const std::string& tag) {
    constexpr int kNotModified = 304;
    answer.set_header("ETag", tag);
    answer.headers.erase("Cache-Control");
    answer.set_header("Cache-Control", "no-cache");
    if (request.get_header_value("If-None-Match").find(tag) == std::string::npos) return false;
    answer.status = kNotModified;
    return true;
}

void send_error(httplib::Response& answer, int status, std::string_view message) {
    answer.status = status;
    answer.set_content(text::write_json(refusal(status, message).json), "application/json");
}

// Reads the page's parameters. False: a parameter is unknown or too long, and `answer` says so.
bool read_query(const Page& page, const httplib::Request& request, httplib::Response& answer, Query& query) {
    for (const auto& [name, value] : request.params) {
        const auto known = std::ranges::find(page.parameters, name, &Parameter::name);
        if (known == page.parameters.end()) {
            send_error(answer, kBad, fmt::format("unknown parameter '{}'", name));
            return false;
        }
        if (value.size() > known->longest || value.find('\0') != std::string::npos) {
            send_error(answer, kBad,
                       fmt::format("bad {}: expected at most {} bytes, without NULs", name, known->longest));
            return false;
        }
        if (!value.empty()) query[name] = value;
    }
    return true;
}

}  // namespace

Server::Server(Contents contents)
    : contents_(std::move(contents)),
      feed_(contents_.ask),
      watchers_(std::make_unique<Watchers>(feed_)),
      http_(std::make_unique<httplib::Server>()),
      start_(fmt::format("{:x}", std::chrono::system_clock::now().time_since_epoch().count())) {
    http_->new_task_queue = [] { return new Threads(kThreads); };  // the library deletes the threads
    http_->set_read_timeout(kSecondsForARequest);
    http_->set_write_timeout(kSecondsForARequest);
    http_->set_payload_max_length(kLongestRequest);
    http_->set_default_headers({{"Cache-Control", "no-store"},
                                {"X-Content-Type-Options", "nosniff"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Content-Security-Policy", kSecurityPolicy}});
    http_->set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& answer) {
        using Routed = httplib::Server::HandlerResponse;
        return refuses(request, answer) ? Routed::Handled : Routed::Unhandled;
    });
    http_->Get(".*",
               [this](const httplib::Request& request, httplib::Response& answer) { get(request, answer); });
    http_->Post(
        ".*", [this](const httplib::Request& request, httplib::Response& answer) { post(request, answer); });
    http_->set_error_handler([](const httplib::Request&, httplib::Response& answer) {
        // Leave alone answers without a body that a content provider will send.
        if (answer.body.empty() && !answer.has_header("Content-Type"))
            answer.set_content(fmt::format("status {}\n", answer.status), kTextType);
    });
    // Don't show the error to the client.
    http_->set_exception_handler([](const httplib::Request&, httplib::Response& answer,
                                    const std::exception_ptr&) { answer.status = 500; });
}

Server::~Server() = default;

// Answers with an error if the request's host name isn't a name of this program, and returns true. HTTP/1.0
// needs no name; browsers don't use it.
bool Server::refuses(const httplib::Request& request, httplib::Response& answer) const {
    constexpr int kMisdirected = 421;
    const std::size_t hosts = request.get_header_value_count("Host");
    const std::string host = request.get_header_value("Host");
    if (hosts == 0 && request.version == "HTTP/1.0") return false;
    if (hosts == 1 && names_ && names_->has(host)) return false;
    std::string shown = host.substr(0, kLongestShown);
    std::ranges::replace_if(
        shown, [](char c) { return c < ' ' || c > '~'; }, '?');
    answer.status = hosts == 1 ? kMisdirected : kBad;
    answer.set_header("Connection", "close");  // a part of the request stays unread
    answer.set_content(
        hosts == 1
            ? fmt::format("pbs_web doesn't answer to the name {0}. Ask by an address that it listens on, or "
                          "start it with --host-name NAME.\n",
                          shown)
            : std::string("expected one header Host\n"),
        kTextType);
    return true;
}

// Redirects from the address without a page to the first page.
void Server::redirect(const httplib::Request& request, httplib::Response& answer) const {
    const auto prefix = parse_prefix(request.get_header_value("X-Forwarded-Prefix"));
    answer.set_redirect(fmt::format("{}{}/{}", prefix.value_or(""), contents_.base, pages().front()->name));
}

void Server::get(const httplib::Request& request, httplib::Response& answer) {
    constexpr int kNotFound = 404;
    const auto address = parse_address(request.path, request.get_header_value("Accept"), contents_.base);
    if (!address) {
        answer.status = kNotFound;
        return;
    }
    if (address->name.empty()) return redirect(request, answer);
    if (address->name == "metrics") return answer.set_content(contents_.metrics(), kMetricsType);
    if (address->name == "what-if.svg") return plots(request, answer);
    if (std::string_view name = std::string_view(request.path).substr(contents_.base.size() + 1);
        name.starts_with(kAssetsFolder)) {
        name.remove_prefix(std::string_view(kAssetsFolder).size());
        const Asset* asset = find_asset(name);
        if (asset == nullptr) {
            answer.status = kNotFound;
        } else if (!is_known(request, answer, fmt::format("\"{}\"", start_))) {
            send(request, answer, asset->text, {}, type_of(*asset), nullptr);
        }
        return;
    }
    const Page* page = find_page(address->name);
    if (page == nullptr) {
        answer.status = kNotFound;
        return;
    }
    if (address->form == Form::html) {
        answer.set_header("Vary", "Accept");
        return answer.set_content(html_of(*page), "text/html; charset=utf-8");
    }
    Query query;
    if (!read_query(*page, request, answer, query)) return;
    if (address->form == Form::events) return watchers_->watch(*page, query, answer);
    const auto told = feed_.get(*page, query);
    if (is_known(request, answer, fmt::format("W/\"{}-{}\"", start_, told->revision))) return;
    answer.status = told->status;
    send(request, answer, told->body, told->packed, "application/json", told);
}

// Starts a comparison, the only work that a client can start. The page of another site can't: for this
// content type and this header, a browser first asks this program whether that site may send them.
void Server::post(const httplib::Request& request, httplib::Response& answer) {
    constexpr int kForbidden = 403;
    constexpr int kNotFound = 404;
    const auto address = parse_address(request.path, "", contents_.base);
    if (!address || address->name != "what-if" || !contents_.compare) {
        answer.status = kNotFound;
        return;
    }
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (request.get_header_value("Content-Type") != "application/json" ||
        (!site.empty() && site != "same-origin" && site != "none"))
        return send_error(answer, kForbidden, "expected JSON from a page of this program");
    const Answer told = contents_.compare(request.body);
    answer.status = told.status;
    answer.set_content(text::write_json(told.json), "application/json");
}

// Sends the plots of the last comparison.
void Server::plots(const httplib::Request& request, httplib::Response& answer) const {
    constexpr int kNotFound = 404;
    const auto plots = contents_.plots ? contents_.plots() : nullptr;
    if (plots)
        send(request, answer, *plots, {}, "image/svg+xml", plots);
    else
        answer.status = kNotFound;
}

int Server::bind(const std::string& host, int port) {
    names_.emplace(host, contents_.names);
    if (port == 0) return http_->bind_to_any_port(host);
    return http_->bind_to_port(host, port) ? port : -1;
}

bool Server::run() {
    const bool done = http_->listen_after_bind();
    over_ = true;
    return done;
}

void Server::stop() {
    // Wait until run() has begun: the library ignores a stop() before that.
    while (!http_->is_running() && !over_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    http_->stop();
    watchers_->stop();
}

}  // namespace pbs::web
