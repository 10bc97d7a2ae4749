#include "tools/web/pages/pages.h"

#include <gtest/gtest.h>

#include "tests/web/site_of.h"

namespace pbs::web {
namespace {

TEST(NowTest, TellsWhatIsInForceAndWhatComes) {
    const SmallSite site;
    const Answer answer = now_answer(site.view(), nullptr);
    EXPECT_TRUE(is_a(answer, "Now"));
    EXPECT_EQ(kMonday10, answer.time);
    EXPECT_EQ("UTC", answer.json["time_zone"]);
    EXPECT_EQ("p1", answer.json["scheds"][0]["policy"]);
    EXPECT_EQ(2, answer.json["queues"][0]["states"]["Queued"]);
    const Json& next = answer.json["next_changes"];
    constexpr std::int64_t kAtFive = kMonday10 + 7 * 3600;
    ASSERT_LE(3, next.size());
    EXPECT_EQ(
        (Json{{"at", kAtFive}, {"begins", false}, {"kind", "prime_time"}, {"name", ""}, {"detail", ""}}),
        next[0]);
    EXPECT_EQ(
        (Json{{"at", kAtFive}, {"begins", true}, {"kind", "policy"}, {"name", "default"}, {"detail", "p2"}}),
        next[2]);
}

TEST(NowTest, VnodesAreColumns) {
    const SmallSite site;
    StatusOf vnodes(
        kScript,
        {{"state", "job-busy"}, {"resources_available", "8", "ncpus"}, {"resources_assigned", "8", "ncpus"}});
    vnodes.add("n2", {{"state", "free"}, {"resources_available", "4", "ncpus"}});
    vnodes.add("n3", {{"state", "job-busy"}});
    const Answer answer = now_answer(site.view(), vnodes.get());
    EXPECT_TRUE(is_a(answer, "Now"));
    EXPECT_EQ((Json{{"state_words", {"job-busy", "free"}},
                    {"names", {kScript, "n2", "n3"}},
                    {"states", {0, 1, 0}},
                    {"ncpus", {8, 4, 0}},
                    {"ncpus_used", {8, 0, 0}}}),
              answer.json["vnodes"]);
}

// An OpenPBS server without the plugin has only these attributes.
TEST(NowTest, ThePageWorksWithoutACalendar) {
    const StatusOf server("pbs1", {{"server_state", "Active"}});
    const StatusOf windows("w", {{"rrule", "FREQ=SOMETIMES"}, {"start_time", "0800"}, {"end_time", "1700"}});
    const Answer plain = now_answer({.server = server.get()}, nullptr);
    EXPECT_TRUE(is_a(plain, "Now"));
    EXPECT_TRUE(plain.json["next_changes"].empty());
    const Answer broken = now_answer({.server = server.get(), .time_windows = windows.get()}, nullptr);
    EXPECT_TRUE(is_a(broken, "Now"));
    EXPECT_TRUE(broken.json["calendar_error"].is_string());
}

}  // namespace
}  // namespace pbs::web
