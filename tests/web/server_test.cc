#include "tools/web/server.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace pbs::web {
namespace {

class WebServer : public ::testing::Test {
  protected:
    void SetUp() override {
        port_ = server_.bind("127.0.0.1", 0);
        ASSERT_GT(port_, 0);
        thread_ = std::thread([this] { server_.run(); });
    }
    void TearDown() override {
        server_.stop();
        thread_.join();
    }
    httplib::Client client() const { return httplib::Client("127.0.0.1", port_); }

    std::atomic<bool> broken_ = false;
    Server server_{{.metrics = [this] {
        if (broken_) throw std::runtime_error("secret");
        return std::string("pbs_up 1\n");
    }}};
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

TEST_F(WebServer, OnlyReads) {
    EXPECT_EQ(404, client().Post("/metrics", "x", "text/plain")->status);
    EXPECT_EQ(404, client().Get("/../etc/passwd")->status);
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

TEST_F(WebServer, AnAddressThatCannotBeHad) {
    Server other({});
    EXPECT_EQ(-1, other.bind("no address", 1));
}

}  // namespace
}  // namespace pbs::web
