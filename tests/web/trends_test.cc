#include "tools/web/trends.h"

#include <gtest/gtest.h>

#include "tests/web/site_of.h"

namespace pbs::web {
namespace {

Answer shares(std::int64_t time, double actual, const std::string& name = "physics") {
    return {
        .json = {{"groups",
                  Json::array(
                      {{{"name", "g1"},
                        {"usage", Json::array({{{"sched", "default"},
                                                {"elements", Json::array({{{"name", name},
                                                                           {"actual", actual}}})}}})}}})}},
        .time = time};
}

Json trend_of(Trends& trends, Answer answer) {
    trends.tell(answer);
    return answer.json["groups"][0]["usage"][0]["elements"][0]["trend"];
}

TEST(TrendsTest, ASampleEveryTenMinutes) {
    Trends trends;
    EXPECT_EQ((Json{{{"time", 1000}, {"actual", 0.5}}}), trend_of(trends, shares(1000, 0.5)));
    EXPECT_EQ(1, trend_of(trends, shares(1599, 0.6)).size());
    const Json two = trend_of(trends, shares(1600, 0.7));
    EXPECT_EQ((Json{{{"time", 1000}, {"actual", 0.5}}, {{"time", 1600}, {"actual", 0.7}}}), two);
    EXPECT_EQ(1, trend_of(trends, shares(1600, 0.1, "chemistry")).size());
}

TEST(TrendsTest, ForADay) {
    Trends trends;
    Json last;
    for (std::int64_t at = 0; at <= 3 * Trends::kKept; at += Trends::kBetween)
        last = trend_of(trends, shares(at, 0.5));
    ASSERT_EQ(Trends::kKept / Trends::kBetween + 1, last.size());
    EXPECT_EQ(2 * Trends::kKept, last[0]["time"]);
}

TEST(TrendsTest, AClockThatIsSetBackBeginsAnew) {
    Trends trends;
    trend_of(trends, shares(100000, 0.5));
    trend_of(trends, shares(101000, 0.5));
    const Json after = trend_of(trends, shares(500, 0.2));
    EXPECT_EQ((Json{{{"time", 500}, {"actual", 0.2}}}), after);
}

TEST(TrendsTest, TrendsKeepALimitedNumberOfElements) {
    Trends trends;
    for (std::size_t i = 0; i < Trends::kMostElements; ++i)
        trend_of(trends, shares(1000, 0.5, "e" + std::to_string(i)));
    EXPECT_EQ(0, trend_of(trends, shares(1000, 0.5, "one more")).size());
    EXPECT_EQ(1, trend_of(trends, shares(1000, 0.5, "e1")).size());
    // An element that no longer occurs is dropped after a day. This makes room for another element.
    EXPECT_EQ(1, trend_of(trends, shares(1001 + Trends::kKept, 0.5, "one more")).size());
}

TEST(TrendsTest, AnErrorHasNone) {
    Trends trends;
    Answer answer = refusal(502, "down");
    trends.tell(answer);
    EXPECT_EQ(refusal(502, "down").json, answer.json);
}

}  // namespace
}  // namespace pbs::web
