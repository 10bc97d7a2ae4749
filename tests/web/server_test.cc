#include "tools/web/server.h"

#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tools/web/assets.h"
#include "tools/web/watchers.h"

namespace pbs::web {
namespace {

class WebServer : public ::testing::Test {
  protected:
    void SetUp() override { start(server_); }
    void TearDown() override {
        server_.stop();
        thread_.join();
    }
    void start(Server& server) {
        port_ = server.bind("127.0.0.1", 0);
        ASSERT_GT(port_, 0);
        thread_ = std::thread([&server] { server.run(); });
    }
    httplib::Client client() const { return httplib::Client("127.0.0.1", port_); }

    Answer ask(const Query& query) {
        ++asked_;
        const auto job = query.find("job");
        if (job != query.end() && job->second == "secret") return refusal(403, "it is secret");
        return {.json = {{"count", count_.load()}, {"job", job == query.end() ? "" : job->second}},
                .time = 5};
    }

    std::atomic<bool> broken_ = false;
    std::atomic<int> asked_ = 0;
    std::atomic<int> count_ = 1;
    Server server_{{.metrics =
                        [this] {
                            if (broken_) throw std::runtime_error("secret");
                            return std::string("pbs_up 1\n");
                        },
                    .ask = [this](const Page&, const Query& query) { return ask(query); }}};
    std::thread thread_;
    int port_ = 0;
};

TEST_F(WebServer, TellsMetrics) {
    const auto answer = client().Get("/metrics");
    ASSERT_TRUE(answer);
    EXPECT_EQ(200, answer->status);
    EXPECT_EQ("pbs_up 1\n", answer->body);
    EXPECT_EQ("text/plain; version=0.0.4; charset=utf-8", answer->get_header_value("Content-Type"));
    EXPECT_EQ("nosniff", answer->get_header_value("X-Content-Type-Options"));
}

// A site may let its own name lead to this machine. A browser that shows the site's page then sends such
// requests.
TEST_F(WebServer, AnswersToItsNamesAlone) {
    const std::string port = ":" + std::to_string(port_);
    for (const std::string path : {"/metrics", "/now", "/now.json", "/now.events", "/assets/dom.js", "/",
                                   "/what-if.svg", "/elsewhere"}) {
        const auto answer = client().Get(path, {{"Host", "evil.example" + port}});
        ASSERT_TRUE(answer) << path;
        EXPECT_EQ(421, answer->status) << path;
        EXPECT_EQ("pbs_web doesn't answer to the name evil.example" + port +
                      ". Ask by an address that it listens on, or start it with --host-name NAME.\n",
                  answer->body);
        EXPECT_EQ("text/plain; charset=utf-8", answer->get_header_value("Content-Type"));
    }
    EXPECT_EQ(421, client().Post("/what-if", {{"Host", "evil.example"}}, "{}", "application/json")->status);
    EXPECT_EQ(0, asked_) << "nothing was asked of the server";
    for (const std::string host : {"localhost", "LOCALHOST.", "127.0.0.1", "127.8.8.8", "[::1]"})
        for (const std::string& end : {std::string(), port, std::string(":80")})
            EXPECT_EQ(200, client().Get("/metrics", {{"Host", host + end}})->status) << host << end;
    const auto odd = client().Get("/metrics", {{"Host", std::string(300, 'x') + "\x01"}});
    ASSERT_TRUE(odd);
    EXPECT_EQ(421, odd->status);
    EXPECT_EQ(std::string::npos, odd->body.find('\x01'));
    EXPECT_LT(odd->body.size(), 300U);
    EXPECT_EQ(400, client().Get("/metrics", {{"Host", "localhost"}, {"Host", "evil.example"}})->status);
}

TEST_F(WebServer, OnlyReads) {
    EXPECT_EQ(404, client().Post("/metrics", "x", "text/plain")->status);
    EXPECT_EQ(404, client().Post("/now", "x", "text/plain")->status);
    EXPECT_EQ(404, client().Get("/../etc/passwd")->status);
    EXPECT_EQ(404, client().Get("/assets/../page.cc")->status);
    EXPECT_EQ(413, client().Post("/metrics", std::string(10000, 'x'), "text/plain")->status);
}

TEST_F(WebServer, AnErrorIsNobodysBusiness) {
    broken_ = true;
    const auto answer = client().Get("/metrics");
    ASSERT_TRUE(answer);
    EXPECT_EQ(500, answer->status);
    EXPECT_EQ(std::string::npos, answer->body.find("secret"));
    for (const auto& [name, value] : answer->headers)
        EXPECT_EQ(std::string::npos, value.find("secret")) << name;
}

TEST_F(WebServer, APageIsHtmlForPeopleAndJsonForPrograms) {
    for (const Page* page : pages()) {
        const std::string path = "/" + std::string(page->name);
        const auto html = client().Get(path, {{"Accept", "text/html"}});
        ASSERT_TRUE(html) << path;
        EXPECT_EQ("text/html; charset=utf-8", html->get_header_value("Content-Type"));
        EXPECT_NE(std::string::npos, html->body.find("<h1>" + std::string(page->title) + "</h1>"));
        EXPECT_EQ(std::string::npos, html->body.find('@')) << "something in page.html isn't filled in";
        EXPECT_NE(nullptr, find_asset(std::string(page->name) + ".js"));
        for (const auto& [asked, accept] : {std::pair{path + ".json", "*/*"}, {path, "application/json"}}) {
            const auto json = client().Get(asked, {{"Accept", accept}});
            ASSERT_TRUE(json) << asked;
            EXPECT_EQ("application/json", json->get_header_value("Content-Type"));
            EXPECT_EQ(1, nlohmann::json::parse(json->body)["count"]);
        }
    }
}

TEST_F(WebServer, NoScriptStandsInAPageAndNoneComesFromElsewhere) {
    const auto html = client().Get("/now");
    const std::string policy = html->get_header_value("Content-Security-Policy");
    for (const char* part : {"default-src 'none'", "script-src 'self'", "style-src 'self'",
                             "frame-ancestors 'none'", "require-trusted-types-for 'script'"})
        EXPECT_NE(std::string::npos, policy.find(part)) << part;
    EXPECT_EQ(std::string::npos, policy.find("unsafe"));
    for (const Asset& asset : assets()) {
        for (const char* way : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                                "style=\"", " onclick=", "http://localhost", "//cdn"})
            EXPECT_EQ(std::string::npos, asset.text.find(way)) << asset.name << " has " << way;
    }
}

TEST_F(WebServer, ABrowserThatHasItGetsNothing) {
    const auto first = client().Get("/now.json");
    const std::string tag = first->get_header_value("ETag");
    ASSERT_FALSE(tag.empty());
    const auto again = client().Get("/now.json", {{"If-None-Match", tag}});
    EXPECT_EQ(304, again->status);
    EXPECT_TRUE(again->body.empty());
    EXPECT_EQ(304, client()
                       .Get("/assets/dom.js",
                            {{"If-None-Match", client().Get("/assets/dom.js")->get_header_value("ETag")}})
                       ->status);
}

TEST_F(WebServer, ParametersAreThoseOfThePage) {
    EXPECT_EQ("12.x", nlohmann::json::parse(client().Get("/why.json?job=12.x")->body)["job"]);
    EXPECT_EQ(400, client().Get("/now.json?job=12")->status);
    EXPECT_EQ(400, client().Get("/why.json?job=" + std::string(700, '1'))->status);
    const auto answer = client().Get("/now.json?%3Cscript%3E=1");
    EXPECT_EQ(400, answer->status);
    EXPECT_EQ("application/json", answer->get_header_value("Content-Type"));
}

TEST_F(WebServer, ARefusalTellsWhy) {
    const auto answer = client().Get("/why.json?job=secret");
    EXPECT_EQ(403, answer->status);
    EXPECT_EQ("application/json", answer->get_header_value("Content-Type"));
    EXPECT_EQ("it is secret", nlohmann::json::parse(answer->body)["error"]);
}

TEST_F(WebServer, TheTopLeadsToTheFirstPageAlsoBehindAProxy) {
    EXPECT_EQ("/now", client().Get("/")->get_header_value("Location"));
    EXPECT_EQ("/pbs/now", client().Get("/", {{"X-Forwarded-Prefix", "/pbs"}})->get_header_value("Location"));
    EXPECT_EQ("/now",
              client().Get("/", {{"X-Forwarded-Prefix", "//evil.org"}})->get_header_value("Location"));
}

TEST_F(WebServer, AllAddressesAreBelowTheBasePath) {
    Server based({.metrics = [] { return std::string("m"); },
                  .ask = [this](const Page&, const Query& query) { return ask(query); },
                  .base = "/pbs"});
    const int port = based.bind("127.0.0.1", 0);
    std::thread thread([&based] { based.run(); });
    httplib::Client asks("127.0.0.1", port);
    EXPECT_EQ(200, asks.Get("/pbs/now")->status);
    EXPECT_EQ(200, asks.Get("/pbs/assets/now.js")->status);
    EXPECT_EQ("/pbs/now", asks.Get("/pbs")->get_header_value("Location"));
    EXPECT_EQ(404, asks.Get("/now")->status);
    based.stop();
    thread.join();
}

TEST_F(WebServer, EventsTellOfNewsUntilNobodyListens) {
    std::string got;
    const auto answer =
        client().Get("/now", {{"Accept", "text/event-stream"}}, [&](const char* data, std::size_t size) {
            got.append(data, size);
            return got.find("\n\n") == std::string::npos;  // stop after the first event
        });
    EXPECT_EQ(httplib::Error::Canceled, answer.error());
    EXPECT_EQ(0, got.find("event: news\ndata: {\"revision\":")) << got;
    EXPECT_NE(std::string::npos, got.find("\"time\":5}"));
}

// Opens a connection that requests events and stays open. Returns its descriptor.
int listen_to(int port) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string_view request = "GET /now.events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        write(fd, request.data(), request.size()) != static_cast<ssize_t>(request.size())) {
        close(fd);
        return -1;
    }
    return fd;
}
// Reads the first line of the reply.
std::string status_line(int fd) {
    std::string line;
    for (char c = 0; read(fd, &c, 1) == 1 && c != '\r';) line += c;
    return line;
}

TEST_F(WebServer, SoManyListenAndAskOnceTogether) {
    std::vector<int> clients;
    for (std::size_t i = 0; i < Watchers::kMost; ++i) {
        clients.push_back(listen_to(port_));
        ASSERT_EQ("HTTP/1.1 200 OK", status_line(clients.back())) << i;
    }
    const int more = listen_to(port_);
    EXPECT_EQ("HTTP/1.1 503 Service Unavailable", status_line(more));
    // Requests for other things than events are still answered.
    EXPECT_EQ(200, client().Get("/now.json")->status);
    EXPECT_LT(asked_, static_cast<int>(Watchers::kMost)) << "each client asked by itself";
    close(more);
    for (const int fd : clients) close(fd);
}

TEST_F(WebServer, StopsWhileSomebodyListens) {
    std::atomic<bool> heard = false;
    std::thread listener([&] {
        client().Get("/now.events", [&](const char*, std::size_t) {
            heard = true;
            return true;
        });
    });
    while (!heard) std::this_thread::yield();
    server_.stop();
    listener.join();
}

TEST_F(WebServer, AnAddressThatCannotBeHad) {
    Server other({});
    EXPECT_EQ(-1, other.bind("no address", 1));
}

}  // namespace
}  // namespace pbs::web
