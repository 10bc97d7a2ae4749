// Tests properties on random clusters: starts never exceed what vnodes and queues have; equal cycles decide
// the same; and categories (one answer for all jobs with equal requests) change no decision.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cases.h"
#include "tests/scheduler/journal.h"
#include "tests/scheduler/random_cluster.h"

namespace pbs::sched::test {
namespace {

TEST(Property, StartsNeverExceedVnodesOrLimitsOfQueues) {
    for (int seed = 1; seed <= pbs::test::cases(150); ++seed) {
        SCOPED_TRACE(seed);
        RandomCluster cluster(seed);
        for (int round = 0; round < 5; ++round) {
            cluster.add_jobs(cluster.pick(1, 25));
            cluster.drop_rejected(cluster.world.cycle(cluster.now));
            cluster.check_vnodes();
            cluster.check_queues();
            cluster.pass_time();
        }
        if (testing::Test::HasFailure()) break;
    }
}

// Two equal clusters, of which only the first uses categories (one answer for all jobs with equal requests).
struct WithAndWithoutCategories {
    RandomCluster with;
    RandomCluster without;
    std::map<int, std::string> comments_with;
    std::map<int, std::string> comments_without;

    WithAndWithoutCategories(int seed, bool limits_on_users)
        : with(static_cast<unsigned>(seed)), without(static_cast<unsigned>(seed)) {
        without.world.scheduler.set_categories(false);
        if (!limits_on_users) return;
        with.limit_users();
        without.limit_users();
    }
    void add_jobs() {
        for (RandomCluster* cluster : {&with, &without}) cluster->add_jobs(cluster->pick(1, 40));
    }
    void pass_time() {
        for (RandomCluster* cluster : {&with, &without}) cluster->pass_time();
    }
    // Runs a cycle in both clusters, and compares the outcomes. Returns the number of started jobs.
    std::size_t cycle() {
        const auto a = with.world.cycle(with.now);
        const auto b = without.world.cycle(without.now);
        EXPECT_EQ(first_difference(a, "with categories", b, "without",
                                   part::starts | part::queues | part::vnodes | part::rejections),
                  "");
        for (const auto& [job, text] : a.comment) comments_with[job] = text;
        for (const auto& [job, text] : b.comment) comments_without[job] = text;
        with.drop_rejected(a);
        without.drop_rejected(a);
        return a.started.size();
    }
};

TEST(Property, CategoriesDoNotChangeWhatStartsOrIsRejected) {
    for (int seed = 1; seed <= pbs::test::cases(300); ++seed) {
        SCOPED_TRACE(seed);
        WithAndWithoutCategories clusters(seed, seed % 2 == 0);
        for (int round = 0; round < 5; ++round) {
            clusters.add_jobs();
            clusters.cycle();
            clusters.with.check_queues();
            clusters.pass_time();
        }
        if (testing::Test::HasFailure()) break;
    }
}

// A refused job may get the reason of a similar job that was refused earlier in the cycle, although a start
// in between has changed the reason. In a cycle without starts, all reasons are the same.
TEST(Property, CategoriesDoNotChangeReasonsWhereNothingStarts) {
    int compared = 0;
    const int seeds = pbs::test::cases(200);
    for (int seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(seed);
        WithAndWithoutCategories clusters(seed, true);
        for (int round = 0; round < 3; ++round) {
            clusters.add_jobs();
            clusters.cycle();
            // wait so long that a cycle may replace a comment whose reason has changed
            for (RandomCluster* cluster : {&clusters.with, &clusters.without}) cluster->now += Seconds(400);
            if (clusters.cycle() == 0) {
                ASSERT_EQ(clusters.comments_with, clusters.comments_without);
                ++compared;
            }
            clusters.pass_time();
        }
        if (testing::Test::HasFailure()) break;
    }
    EXPECT_GT(compared, seeds);
}

TEST(Property, TheSameStateAndTimeGiveTheSameDecisions) {
    for (int seed = 1; seed <= pbs::test::cases(60); ++seed) {
        SCOPED_TRACE(seed);
        RandomCluster cluster(seed);
        cluster.add_jobs(40);
        const auto first = cluster.world.cycle(cluster.now, false);
        const auto second = cluster.world.cycle(cluster.now, false);
        ASSERT_EQ(first_difference(first, "in the first cycle", second, "in the second",
                                   part::starts | part::vnodes | part::rejections),
                  "");
        ASSERT_EQ(first.comment, second.comment);
    }
}

TEST(Property, ACycleRightAfterAnotherStartsNothing) {
    int tried = 0;
    for (int seed = 1; seed <= pbs::test::cases(100); ++seed) {
        SCOPED_TRACE(seed);
        RandomCluster cluster(seed);
        // switch off options with which the starts of one cycle affect the decisions of the next
        Settings& s = cluster.world.policy();
        s.avoid_fragmentation = s.nonprime_drain_sys = {false};
        s.backfill_depth = 0;
        s.max_queued_time = Seconds(0);
        s.schedule_log = "schedule";
        cluster.world.configure();
        cluster.add_jobs(40);
        const auto outcome = cluster.world.cycle(cluster.now);
        if (outcome.schedule.find(";RESERVING;") != std::string::npos) continue;
        ++tried;
        cluster.drop_rejected(outcome);
        ASSERT_THAT(cluster.world.cycle(cluster.now).started, testing::IsEmpty())
            << "jobs that start in the second cycle at the same instant";
    }
    EXPECT_GT(tried, pbs::test::cases(100) / 5);
}

}  // namespace
}  // namespace pbs::sched::test
