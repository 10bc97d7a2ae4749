// Tests the Origin option SCHED_RESTART_ACTION: what happens to jobs that the first cycle finds queued in a
// batch queue.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

struct RestartActionTest : testing::Test {
    World world;
    Settings& s = world.origin();
    int found = 0;
    int normal = 0;
    void SetUp() override {
        world.vnodes(1, {.name = "n", .ncpus = 8, .mem = 64 * kGb});
        s.enforce_prime_time = {true};
        world.prime_time(8, 17);
        s.prime_time_wallt_limit = Seconds(kHour);
        found = world.job({.queue = "batch", .nodes = 1, .walltime = 4 * kHour, .origin_queue = "submit"});
        normal = world.job({.nodes = 1, .walltime = 60});
    }
    Outcome cycle(Instant now = at(9)) {
        world.configure();
        return world.cycle(now);
    }
};

TEST_F(RestartActionTest, SCHED_RESTART_ACTION_NoneLeavesThemUntilTheyAreMoved) {
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(normal));
    EXPECT_THAT(outcome.comment.at(found), HasSubstr("queued in a batch queue at the start"));
    EXPECT_THAT(cycle(at(18)).started, IsEmpty()) << "not later either";
    world.change(found, {.queue = "submit", .nodes = 1, .walltime = 4 * kHour}, at(18));
    EXPECT_THAT(cycle(at(18)).started, ElementsAre(found));
}

TEST_F(RestartActionTest, SCHED_RESTART_ACTION_RestartRunsThemAgainBeforeAllOthers) {
    s.sched_restart_action = RestartAction::restart;
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(found, normal)) << "whatever the limits of prime time are";
    EXPECT_EQ(outcome.queue.at(found), "batch");
}

TEST_F(RestartActionTest, SCHED_RESTART_ACTION_RestartLeavesAJobWithoutRoomToLaterCycles) {
    s.sched_restart_action = RestartAction::restart;
    const int large = world.job({.queue = "batch", .nodes = 4, .walltime = 60, .origin_queue = "submit"});
    const auto first = cycle();
    EXPECT_THAT(first.started, ElementsAre(found, normal));
    EXPECT_THAT(first.comment.at(large),
                HasSubstr("Not Running: Insufficient amount of resource: ncpus (R: "));
    world.finish(found, at(10));
    world.finish(normal, at(10));
    EXPECT_THAT(cycle(at(10)).started, ElementsAre(large));
}

TEST_F(RestartActionTest, SCHED_HOST_IsWhereTheyRunAgain) {
    world.vnode({.name = "a", .ncpus = 8, .mem = 64 * kGb, .host = "h1"});
    world.vnode({.name = "b", .ncpus = 8, .mem = 64 * kGb, .host = "h2"});
    s.sched_restart_action = RestartAction::restart;
    s.sched_host = "h2";
    const auto outcome = cycle();
    EXPECT_THAT(outcome.vnodes.at(found), ElementsAre("b"));
    EXPECT_THAT(outcome.vnodes.at(normal), ElementsAre("n")) << "others start where they fit";
}

TEST_F(RestartActionTest, SCHED_HOST_IsNoMatterWithoutVnodesThere) {
    s.sched_restart_action = RestartAction::restart;
    s.sched_host = "elsewhere";
    EXPECT_THAT(cycle().vnodes.at(found), ElementsAre("n"));
}

TEST_F(RestartActionTest, SCHED_HOST_IsNotForAQueueThatNamesAHost) {
    world.vnode({.name = "a", .ncpus = 8, .mem = 64 * kGb, .host = "h1"});
    world.vnode({.name = "b", .ncpus = 8, .mem = 64 * kGb, .host = "h2"});
    s.batch_queues = {{"batch", "h1"}};
    s.sched_restart_action = RestartAction::restart;
    s.sched_host = "h2";
    EXPECT_THAT(cycle().vnodes.at(found), ElementsAre("a"));
}

TEST_F(RestartActionTest, SCHED_RESTART_ACTION_ResubmitSendsThemBackToWhereTheyWereSubmitted) {
    s.sched_restart_action = RestartAction::resubmit;
    const auto outcome = cycle();
    EXPECT_THAT(outcome.moved, ElementsAre(Pair(found, "submit")));
    EXPECT_EQ(world.queue_of(found), "submit");
    EXPECT_THAT(outcome.started, ElementsAre(normal));
    EXPECT_THAT(cycle(at(9, 1)).moved, IsEmpty());
    EXPECT_THAT(cycle(at(17)).started, ElementsAre(found));
}

TEST_F(RestartActionTest, SCHED_RESTART_ACTION_IsNotForJobsThatArePutBackLater) {
    EXPECT_THAT(cycle().started, ElementsAre(normal));
    world.change(normal, {.queue = "batch", .nodes = 1, .walltime = 60, .origin_queue = "submit"}, at(10));
    EXPECT_THAT(cycle(at(10)).started, ElementsAre(normal));
}

TEST_F(RestartActionTest, SCHED_RESTART_ACTION_IsNotForJobsSubmittedToTheBatchQueue) {
    s.sched_restart_action = RestartAction::restart;
    const int own = world.job({.queue = "batch", .nodes = 1});
    EXPECT_THAT(cycle().started, ElementsAre(found, normal));
    EXPECT_FALSE(world.running(own));
}

TEST_F(RestartActionTest, TEST_ONLY_TellsOfTheMove) {
    s.sched_restart_action = RestartAction::resubmit;
    s.test_only = {true};
    const auto outcome = cycle();
    EXPECT_THAT(outcome.moved, IsEmpty());
    EXPECT_THAT(outcome.log.front(), "test_only: would move job 1.server to queue submit");
}

}  // namespace
}  // namespace pbs::sched::test
