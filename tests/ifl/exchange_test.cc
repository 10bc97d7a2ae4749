#include "ifl/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

using ::testing::ElementsAre;

class ExchangeTest : public ::testing::Test {
  protected:
    ExchangeTest() {
        std::array<int, 2> ends{};
        (void)socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data());
        server = ends[1];
        exchange = std::make_unique<Exchange>(Socket(ends[0]), "root");
    }
    ~ExchangeTest() override {
        exchange.reset();
        close(server);
    }
    void ask(const std::string& name) {
        exchange->ask(RequestType::locate_job, JobId{name}, "", [this, name](const Result<Reply>& reply) {
            answers.push_back(name + ": " + (reply ? std::to_string(reply->code) : reply.error().message));
        });
    }
    // Returns the job names in the requests that have arrived at the server.
    std::vector<std::string> asked() {
        std::array<char, 65536> bytes{};
        const ssize_t size = recv(server, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (size > 0) requests.feed({bytes.data(), static_cast<std::size_t>(size)});
        std::vector<std::string> names;
        for (;;) {
            auto next = requests.next();
            auto* request = std::get_if<Request>(&next);
            if (request == nullptr) return names;
            EXPECT_EQ(request->user, "root");
            names.push_back(std::get<JobId>(request->body).job);
        }
    }
    void answer(const std::string& bytes) const {
        EXPECT_EQ(send(server, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }

    int server = -1;
    std::unique_ptr<Exchange> exchange;
    RequestDecoder requests;
    std::vector<std::string> answers;
};

TEST_F(ExchangeTest, RepliesAreThoseOfTheRequestsInTheirOrder) {
    ask("1");
    ask("2");
    EXPECT_TRUE(exchange->wants_to_send());
    EXPECT_FALSE(exchange->work());
    EXPECT_FALSE(exchange->wants_to_send());
    EXPECT_EQ(exchange->unanswered(), 2);
    EXPECT_THAT(asked(), ElementsAre("1", "2"));
    const std::string first = reply_packet(Reply::ok());
    answer(first.substr(0, 3));
    EXPECT_TRUE(exchange->work());
    EXPECT_TRUE(answers.empty());
    answer(first.substr(3) + reply_packet(Reply::error(PBSE_PERM)));
    EXPECT_TRUE(exchange->work());
    EXPECT_THAT(answers, ElementsAre("1: 0", "2: " + std::to_string(PBSE_PERM)));
}

TEST_F(ExchangeTest, WithTheConnectionAllAnswersEnd) {
    ask("1");
    exchange->work();
    ::shutdown(server, SHUT_RDWR);
    exchange->work();
    EXPECT_FALSE(exchange->open());
    ask("2");
    EXPECT_THAT(answers, ElementsAre("1: the server closed the connection", "2: there is no connection"));
}

TEST_F(ExchangeTest, BytesThatAreNoReplyEndTheExchange) {
    ask("1");
    exchange->work();
    answer("GET / HTTP/1.0\r\n\r\n");
    exchange->work();
    EXPECT_FALSE(exchange->open());
    EXPECT_EQ(answers.size(), 1);
}

TEST_F(ExchangeTest, AnAnswerThatNobodyAskedForEndsIt) {
    answer(reply_packet(Reply::ok()));
    exchange->work();
    EXPECT_FALSE(exchange->open());
}

TEST_F(ExchangeTest, ARequestMayFollowFromAnAnswer) {
    exchange->ask(RequestType::locate_job, JobId{"1"}, "", [&](const Result<Reply>&) { ask("2"); });
    exchange->work();
    answer(reply_packet(Reply::ok()));
    exchange->work();
    EXPECT_THAT(asked(), ElementsAre("1", "2"));
}

TEST_F(ExchangeTest, WhatIsToldHasNoAnswer) {
    exchange->tell(RequestType::locate_job, JobId{"1"});
    EXPECT_GT(exchange->unsent(), 0);
    EXPECT_EQ(exchange->unanswered(), 0);
    exchange->work();
    EXPECT_EQ(exchange->unsent(), 0);
    EXPECT_THAT(asked(), ElementsAre("1"));
}

// A callback closes the exchange. The server then sees the end of the connection, even though a copy of the
// exchange's descriptor is open.
TEST_F(ExchangeTest, AnAnswerMayEndIt) {
    const int copy = dup(exchange->fd());
    exchange->ask(RequestType::locate_job, JobId{"1"}, "",
                  [&](const Result<Reply>&) { exchange->close("enough"); });
    ask("2");
    exchange->work();
    answer(reply_packet(Reply::ok()) + reply_packet(Reply::ok()));
    exchange->work();
    EXPECT_FALSE(exchange->open());
    EXPECT_EQ(exchange->why_closed(), "enough");
    EXPECT_THAT(answers, ElementsAre("2: enough"));
    asked();
    std::array<char, 8> bytes{};
    EXPECT_EQ(recv(server, bytes.data(), bytes.size(), MSG_DONTWAIT), 0) << "its end is told";
    close(copy);
}

}  // namespace
}  // namespace pbs::ifl
