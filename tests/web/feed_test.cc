#include "tools/web/feed.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace pbs::web {
namespace {

using std::chrono::seconds;

const Page kPage{.name = "p", .title = "P", .parameters = {}, .good_for = seconds(5), .ask = nullptr};

class FeedTest : public ::testing::Test {
  protected:
    std::atomic<int> asked_ = 0;
    std::atomic<std::int64_t> now_ = 1000;  // time of the test's clock, in seconds
    std::function<Answer()> told_ = [] { return Answer{.json = {{"a", 1}}, .time = 7}; };
    Feed feed_{[this](const Page&, const Query&) {
                   ++asked_;
                   return told_();
               },
               [this] { return std::chrono::steady_clock::time_point(seconds(now_)); }};
};

TEST_F(FeedTest, AnAnswerServesAllAsLongAsItIsGood) {
    const auto first = feed_.get(kPage, {});
    EXPECT_EQ(R"({"a":1,"time":7})", first->body);
    now_ += 4;
    EXPECT_EQ(first, feed_.get(kPage, {}));
    EXPECT_EQ(1, asked_);
    now_ += 2;
    feed_.get(kPage, {});
    EXPECT_EQ(2, asked_);
    feed_.get(kPage, {{"x", "1"}});
    EXPECT_EQ(3, asked_);
}

TEST_F(FeedTest, TheTimeAloneIsNothingNew) {
    const auto revision = feed_.get(kPage, {})->revision;
    now_ += 10;
    told_ = [] { return Answer{.json = {{"a", 1}}, .time = 8}; };
    EXPECT_EQ(revision, feed_.get(kPage, {})->revision);
    EXPECT_EQ(R"({"a":1,"time":8})", feed_.get(kPage, {})->body);
    now_ += 10;
    told_ = [] { return Answer{.json = {{"a", 2}}, .time = 8}; };
    EXPECT_NE(revision, feed_.get(kPage, {})->revision);
}

TEST_F(FeedTest, AnAnswerThatTookLongIsGoodForLonger) {
    told_ = [this] {
        now_ += 3;
        return Answer{};
    };
    feed_.get(kPage, {});
    now_ += 59;
    feed_.get(kPage, {});
    EXPECT_EQ(1, asked_);
    now_ += 2;
    feed_.get(kPage, {});
    EXPECT_EQ(2, asked_);
}

TEST_F(FeedTest, ClientsThatAskAtOnceShareOneAnswer) {
    std::atomic<bool> go = false;
    told_ = [&go] {
        while (!go) std::this_thread::yield();
        return Answer{};
    };
    std::vector<std::thread> clients;
    clients.reserve(8);
    std::atomic<int> begun = 0;
    for (int i = 0; i < 8; ++i)
        clients.emplace_back([&] {
            ++begun;
            feed_.get(kPage, {});
        });
    while (begun < 8 || asked_ == 0) std::this_thread::yield();
    go = true;
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(1, asked_);
}

TEST_F(FeedTest, AFailureIsForWhoAskedAndIsForgotten) {
    told_ = []() -> Answer { throw std::runtime_error("x"); };
    EXPECT_THROW(feed_.get(kPage, {}), std::runtime_error);
    told_ = [] { return Answer{}; };
    EXPECT_EQ(200, feed_.get(kPage, {})->status);
}

TEST_F(FeedTest, KeepsSoManyAnswersAndNoMore) {
    for (std::size_t i = 0; i < 2 * Feed::kMost; ++i) feed_.get(kPage, {{"x", std::to_string(i)}});
    const int before = asked_;
    feed_.get(kPage, {{"x", std::to_string(2 * Feed::kMost - 1)}});
    EXPECT_EQ(before, asked_);
    feed_.get(kPage, {{"x", "0"}});
    EXPECT_EQ(before + 1, asked_);
}

TEST_F(FeedTest, BytesThatAreNoTextDontStopAnAnswer) {
    told_ = [] { return Answer{.json = {{"a", "\xff<script>"}}}; };
    EXPECT_EQ("{\"a\":\"\xEF\xBF\xBD<script>\"}", feed_.get(kPage, {})->body);
}

TEST_F(FeedTest, WhatIsPackedIsTheSame) {
    told_ = [] { return Answer{.json = {{"a", std::string(5000, 'x')}}}; };
    const auto told = feed_.get(kPage, {});
    ASSERT_FALSE(told->packed.empty());
    std::string text(told->body.size(), '\0');
    z_stream stream{};
    ASSERT_EQ(Z_OK, inflateInit2(&stream, MAX_WBITS + 16));
    std::string packed = told->packed;
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(Z_STREAM_END, inflate(&stream, Z_FINISH));
    inflateEnd(&stream);
    EXPECT_EQ(told->body, text);
}

}  // namespace
}  // namespace pbs::web
