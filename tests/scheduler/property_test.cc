// What must hold for every cluster: starts never exceed what vnodes and queues have, cycles are
// deterministic, and categories change nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cases.h"
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

TEST(Property, CategoriesDoNotChangeWhatStartsOrIsRejected) {
    for (int seed = 1; seed <= pbs::test::cases(150); ++seed) {
        SCOPED_TRACE(seed);
        RandomCluster with(seed);
        RandomCluster without(seed);
        without.world.scheduler.set_categories(false);
        for (int round = 0; round < 5; ++round) {
            for (RandomCluster* cluster : {&with, &without}) cluster->add_jobs(cluster->pick(1, 40));
            const auto a = with.world.cycle(with.now);
            const auto b = without.world.cycle(without.now);
            ASSERT_EQ(a.started, b.started);
            ASSERT_EQ(a.queue, b.queue);
            ASSERT_EQ(a.vnodes, b.vnodes);
            ASSERT_EQ(a.rejected, b.rejected);
            for (RandomCluster* cluster : {&with, &without}) {
                cluster->drop_rejected(a);
                cluster->pass_time();
            }
        }
    }
}

TEST(Property, TheSameStateAndTimeGiveTheSameDecisions) {
    for (int seed = 1; seed <= pbs::test::cases(60); ++seed) {
        SCOPED_TRACE(seed);
        RandomCluster cluster(seed);
        cluster.add_jobs(40);
        const auto first = cluster.world.cycle(cluster.now, false);
        const auto second = cluster.world.cycle(cluster.now, false);
        ASSERT_EQ(first.started, second.started);
        ASSERT_EQ(first.vnodes, second.vnodes);
        ASSERT_EQ(first.rejected, second.rejected);
        ASSERT_EQ(first.comment, second.comment);
    }
}

TEST(Property, ACycleRightAfterAnotherStartsNothing) {
    for (int seed = 1; seed <= pbs::test::cases(100); ++seed) {
        SCOPED_TRACE(seed);
        RandomCluster cluster(seed);
        // Past usage counts what was started, fragments and early non-prime time depend on what runs.
        Settings& s = cluster.world.policy();
        s.avoid_fragmentation = s.nonprime_drain_sys = {false};
        s.backfill_depth = 0;
        s.max_queued_time = Seconds(0);
        cluster.world.configure();
        cluster.add_jobs(40);
        cluster.drop_rejected(cluster.world.cycle(cluster.now));
        ASSERT_TRUE(cluster.world.cycle(cluster.now).started.empty());
    }
}

}  // namespace
}  // namespace pbs::sched::test
