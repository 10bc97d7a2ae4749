#include "tools/web/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <thread>
#include <utility>

namespace pbs::web {
namespace {

// Monitoring and a few browsers; each waits for the server that is asked, one after the other.
constexpr std::size_t kThreads = 4;
constexpr time_t kSecondsForARequest = 5;
constexpr std::size_t kLongestRequest = 8192;

constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace

Server::Server(Pages pages) : http_(std::make_unique<httplib::Server>()) {
    http_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // the library deletes it
    http_->set_read_timeout(kSecondsForARequest);
    http_->set_write_timeout(kSecondsForARequest);
    http_->set_payload_max_length(kLongestRequest);
    http_->set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
    http_->Get("/metrics",
               [metrics = std::move(pages.metrics)](const httplib::Request&, httplib::Response& answer) {
                   answer.set_content(metrics(), kMetricsType);
               });
    http_->Get("/", [](const httplib::Request&, httplib::Response& answer) {
        answer.set_content("pbs_web: /metrics is for Prometheus\n", "text/plain; charset=utf-8");
    });
    http_->set_error_handler([](const httplib::Request&, httplib::Response& answer) {
        answer.set_content(fmt::format("status {}\n", answer.status), "text/plain; charset=utf-8");
    });
    // What went wrong is for the log, not for whoever asked.
    http_->set_exception_handler([](const httplib::Request&, httplib::Response& answer,
                                    const std::exception_ptr&) { answer.status = 500; });
}

Server::~Server() = default;

int Server::bind(const std::string& host, int port) {
    if (port == 0) return http_->bind_to_any_port(host);
    return http_->bind_to_port(host, port) ? port : -1;
}

bool Server::run() {
    const bool done = http_->listen_after_bind();
    over_ = true;
    return done;
}

void Server::stop() {
    // The library forgets a stop that comes before it runs.
    while (!http_->is_running() && !over_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    http_->stop();
}

}  // namespace pbs::web
