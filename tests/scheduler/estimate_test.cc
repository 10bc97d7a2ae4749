// Tests estimated starts: a waiting job with a reserved place gets an estimate once, and again when the
// estimate changes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using Expected = std::map<int, std::optional<Instant>>;

// A site with a vnode of 4 CPUs, of which a running job has 3 until 10:00. The first waiting job needs all 4
// CPUs for an hour, and the second one CPU for three hours.
struct Estimate : testing::Test {
    World world;
    Settings& s = world.policy();
    Instant now = at(9);
    int running = 0;
    int first = 0;
    int second = 0;

    void SetUp() override {
        world.queue({.name = "submit"});
        world.vnode({.name = "n1", .ncpus = 4});
        s.strict_ordering = true;
        s.backfill_depth = 2;
        world.configure();
        world.scheduler.set_tell_estimates(true);
        running = world.job({.ncpus = 3, .walltime = kHour}, now);
        world.run(running, "submit", "n1", now);
        first = world.job({.ncpus = 4, .walltime = kHour, .queued = now}, now);
        second = world.job({.ncpus = 1, .walltime = 3 * kHour, .queued = now}, now);
    }
    Outcome cycle(CycleTrigger trigger = CycleTrigger::timer) {
        return world.cycle(now, true, "default", trigger);
    }
    void held_and_released(int job) {
        JobOptions options = world.options(job);
        options.state = 'H';
        world.change(job, options, now);
        options.state = 'Q';
        world.change(job, options, now);
    }
};

TEST_F(Estimate, TopJobsAreToldWhenAndWhere) {
    const Outcome outcome = cycle();
    EXPECT_EQ(outcome.expected, (Expected{{first, at(10)}, {second, at(11)}}));
    EXPECT_THAT(outcome.vnodes, ElementsAre(Pair(first, ElementsAre("n1")), Pair(second, ElementsAre("n1"))));
}

TEST_F(Estimate, NobodyIsToldAgainWhatHasNotChanged) {
    (void)cycle();
    now += Seconds(kMinute);
    EXPECT_THAT(cycle().expected, IsEmpty());
    (void)world.job({.ncpus = 4, .walltime = kHour, .queued = now}, now);
    EXPECT_THAT(cycle(CycleTrigger::job_new).expected, IsEmpty()) << "backfill_depth is 2";
}

TEST_F(Estimate, AHostThatAsksForNoEstimatesGetsNone) {
    world.scheduler.set_tell_estimates(false);
    EXPECT_THAT(cycle().expected, IsEmpty());
}

TEST_F(Estimate, ANewInstantIsTold) {
    (void)cycle();
    JobOptions shorter = world.options(first);
    shorter.walltime = kHour / 2;
    world.change(first, shorter, now);
    EXPECT_EQ(cycle().expected, (Expected{{second, at(10, 30)}}));
}

TEST_F(Estimate, ANewPlaceIsTold) {
    (void)cycle();
    world.vnode({.name = "n0", .ncpus = 4, .free = false});
    world.vnode({.name = "n1", .ncpus = 4, .free = false});
    EXPECT_EQ(cycle().expected, (Expected{{first, std::nullopt}, {second, std::nullopt}}));
    world.vnode({.name = "n1", .ncpus = 4});
    EXPECT_EQ(cycle().expected.size(), 2);
}

TEST_F(Estimate, WhatIsNotReservedAnyMoreIsTakenBack) {
    (void)cycle();
    s.backfill_depth = 1;
    world.configure();
    EXPECT_EQ(cycle().expected, (Expected{{second, std::nullopt}}));
    EXPECT_THAT(cycle().expected, IsEmpty());
}

// A start removes the job's old estimate, so that the job has none if the start fails.
TEST_F(Estimate, WhatAJobThatStartsWasToldIsTakenBack) {
    (void)cycle();
    now = at(9, 30);
    world.finish(running, now);
    const Outcome outcome = cycle(CycleTrigger::job_ended);
    EXPECT_THAT(outcome.started, ElementsAre(first));
    EXPECT_EQ(outcome.expected, (Expected{{first, std::nullopt}, {second, at(10, 30)}}));
}

// The host forgets a job's estimate when the job is held and released; so the next cycle sets it again.
TEST_F(Estimate, AJobThatWasHeldForAnInstantIsToldAgain) {
    (void)cycle();
    held_and_released(first);
    EXPECT_EQ(cycle().expected, (Expected{{first, at(10)}}));
}

// A cycle in a thread may give the host a job's estimate after the job was held. So if the job has no
// reserved place in the next cycle, that cycle removes the estimate.
TEST_F(Estimate, AJobThatWasHeldForAnInstantAndIsNotReservedIsTakenBack) {
    (void)cycle();
    held_and_released(second);
    s.backfill_depth = 1;
    world.configure();
    EXPECT_EQ(cycle().expected, (Expected{{second, std::nullopt}}));
}

TEST_F(Estimate, AHeldJobIsNotToldOf) {
    (void)cycle();
    JobOptions options = world.options(first);
    options.state = 'H';
    world.change(first, options, now);
    EXPECT_FALSE(cycle().expected.contains(first));
}

TEST_F(Estimate, AJobThatIsGoneIsForgotten) {
    (void)cycle();
    world.finish(second, now);
    EXPECT_THAT(cycle().expected, IsEmpty());
}

TEST_F(Estimate, ARehearsalLeavesWhatWasTold) {
    (void)world.scheduler.rehearse(now, "default", CycleTrigger::timer);
    EXPECT_EQ(cycle().expected.size(), 2);
}

// ---- Jobs without a reservation (estimate_depth).

struct EstimateOfOthers : Estimate {
    int third = 0;
    int fourth = 0;

    void SetUp() override {
        Estimate::SetUp();
        s.backfill_depth = 1;
        s.estimate_depth = 2;
        world.configure();
        third = world.job({.ncpus = 4, .walltime = kHour, .queued = now}, now);
        fourth = world.job({.ncpus = 1, .walltime = kHour, .queued = now}, now);
    }
};

TEST_F(EstimateOfOthers, AreToldInOrderAndNoMoreThanAskedFor) {
    const Outcome outcome = cycle();
    EXPECT_EQ(outcome.expected, (Expected{{first, at(10)}, {second, at(11)}, {third, at(14)}}));
    EXPECT_THAT(outcome.vnodes, testing::Contains(Pair(third, ElementsAre("n1"))));
    s.estimate_depth = 10;
    world.configure();
    EXPECT_EQ(cycle().expected, (Expected{})) << "the fourth starts at once";
}

// A job in a queue for prime time (12:00 to 14:00) is estimated to start within prime time; a job in a queue
// for non-prime time, outside it.
TEST_F(EstimateOfOthers, EstimatesOfQueuesForPrimeTimeAreWithinPrimeTime) {
    world.queue({.name = "day", .execution_type = ExecutionType::prime});
    world.queue({.name = "night", .execution_type = ExecutionType::non_prime});
    world.configuration.prime = world.window("FREQ=DAILY", 12, 14);
    s.estimate_depth = 10;
    world.configure();
    world.finish(fourth, now);
    const int soon = world.job({.queue = "day", .ncpus = 1, .walltime = kHour / 2, .queued = now}, now);
    const int behind = world.job({.queue = "day", .ncpus = 4, .walltime = kHour / 2, .queued = now}, now);
    const auto expected = cycle().expected;
    ASSERT_TRUE(expected.contains(soon));
    EXPECT_EQ(expected.at(soon), at(12));
    // The job `behind` requests 4 CPUs, which are free only at 14:00, when prime time ends. So it waits for
    // the next day's prime time.
    ASSERT_TRUE(expected.contains(behind));
    EXPECT_EQ(expected.at(behind), at(12) + Seconds(24 * kHour));
    now = at(12, 30);
    const int late = world.job({.queue = "night", .ncpus = 1, .walltime = kHour / 2, .queued = now}, now);
    const auto at_noon = cycle().expected;
    ASSERT_TRUE(at_noon.contains(late));
    EXPECT_GE(at_noon.at(late), at(14));
}

// A job's estimate changes when the job moves to a queue for prime time, and when its queue becomes a queue
// for prime time.
TEST_F(EstimateOfOthers, AreOthersOnceTheQueueIsForPrimeTime) {
    world.configuration.prime = world.window("FREQ=DAILY", 12, 14);
    world.queue({.name = "day", .execution_type = ExecutionType::prime});
    world.configure();
    EXPECT_EQ(cycle().expected.at(third), at(14));
    JobOptions moved = world.options(third);
    moved.queue = "day";
    world.change(third, moved, now);
    EXPECT_EQ(cycle().expected.at(third), at(12) + Seconds(24 * kHour));
    world.queue({.name = "submit", .execution_type = ExecutionType::prime});
    const auto outcome = cycle();
    for (const auto& [job, start] : outcome.expected)
        if (start) EXPECT_GE(*start, at(12)) << job;
}

TEST_F(EstimateOfOthers, NoRoomIsKeptForJobsWithEstimatesAlone) {
    s.backfill_depth = 0;
    s.strict_ordering = false;
    world.configure();
    const Outcome outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(second)) << "though it takes what the first one waits for";
    EXPECT_EQ(outcome.expected, (Expected{{first, at(12)}, {third, at(13)}}));
}

TEST_F(EstimateOfOthers, AreAsTheyWereUntilACycleOverAllJobs) {
    (void)cycle();
    world.run(fourth, "submit", "n1", now);
    now += Seconds(4);
    (void)world.job({.ncpus = 4, .walltime = kHour, .queued = now}, now);
    EXPECT_THAT(cycle(CycleTrigger::job_new).expected, IsEmpty());
    EXPECT_THAT(cycle().expected, IsEmpty()) << "nothing has changed for the first three";
    s.estimate_depth = 3;
    world.configure();
    EXPECT_EQ(cycle().expected.size(), 1);
}

TEST_F(EstimateOfOthers, AreRenewedSomeSecondsAfterAnEvent) {
    s.estimate_depth = 10;
    world.configure();
    (void)cycle();
    now += Seconds(2);
    const int late = world.job({.ncpus = 4, .walltime = kHour, .queued = now}, now);
    EXPECT_THAT(cycle(CycleTrigger::job_new).expected, IsEmpty());
    now += Seconds(3);
    EXPECT_EQ(world.scheduler.next_deadline(now - Seconds(2)), now);
    EXPECT_EQ(cycle(CycleTrigger::job_new).expected, (Expected{{late, at(15)}}));
}

// With many waiting jobs a cycle over all of them takes longer, and comes later.
TEST_F(EstimateOfOthers, AreRenewedLaterIfManyWait) {
    s.estimate_depth = 10;
    world.configure();
    for (int i = 0; i < 4000; ++i) (void)world.job({.ncpus = 4, .queued = now}, now);
    (void)cycle();
    now += Seconds(6);
    (void)world.job({.ncpus = 4, .walltime = kHour, .queued = at(1)}, now);  // it goes first
    EXPECT_FALSE(cycle(CycleTrigger::job_new).expected.contains(third));
    EXPECT_EQ(world.scheduler.next_deadline(now), now + Seconds(1));
    now += Seconds(1);
    EXPECT_TRUE(cycle(CycleTrigger::job_new).expected.contains(third));
}

TEST_F(EstimateOfOthers, AreTakenBackWhenNobodyAsksForThem) {
    (void)cycle();
    s.estimate_depth = 0;
    world.configure();
    EXPECT_EQ(cycle().expected, (Expected{{second, std::nullopt}, {third, std::nullopt}}));
    EXPECT_THAT(cycle().expected, IsEmpty());
}

TEST_F(EstimateOfOthers, OneThatGetsAPlaceKeptIsToldOnceAndKeepsItsEstimate) {
    (void)cycle();
    s.backfill_depth = 2;
    s.estimate_depth = 1;
    world.configure();
    EXPECT_EQ(cycle().expected, (Expected{{second, at(11)}})) << "it is among the top jobs now";
    s.backfill_depth = 1;
    s.estimate_depth = 2;
    world.configure();
    EXPECT_EQ(cycle().expected, (Expected{{second, at(11)}}));
    EXPECT_THAT(cycle().expected, IsEmpty());
}

TEST_F(EstimateOfOthers, OneThatWasHeldForAnInstantIsToldAgain) {
    (void)cycle();
    held_and_released(third);
    EXPECT_EQ(cycle().expected, (Expected{{third, at(14)}}));
    world.finish(third, now);
    EXPECT_FALSE(cycle().expected.contains(third));
}

// Without backfilling, the first waiting job holds up all other jobs. So their estimates are later than that
// of the first job.
TEST_F(EstimateOfOthers, JobsThatAreHeldUpAreEstimatedAfterTheJobThatHoldsThemUp) {
    s.backfill_depth = 0;
    s.estimate_depth = 10;
    world.configure();
    const Outcome outcome = cycle();
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_EQ(outcome.expected,
              (Expected{{first, at(10)}, {second, at(11)}, {third, at(14)}, {fourth, at(15)}}));
}

// The end of the first job isn't known. So the jobs that wait for its end have no estimates.
TEST_F(EstimateOfOthers, AJobWithoutAKnownStartHoldsUpTheEstimatesOfThoseBehindIt) {
    JobOptions too_large = world.options(first);
    too_large.walltime = -1;
    world.change(first, too_large, now);
    s.backfill_depth = 0;
    s.estimate_depth = 10;
    world.configure();
    EXPECT_EQ(cycle().expected, (Expected{{first, at(10)}}));
}

TEST(EstimateOfOrigin, OthersInTheQueueThatHasRoomSoonest) {
    World world;
    Settings& s = world.origin({"batch", "second"});
    s.estimate_depth = 5;
    world.vnode({.name = "n1", .ncpus = 8});
    world.configure();
    world.scheduler.set_tell_estimates(true);
    const Instant now = at(9);
    const int running = world.job({.ncpus = 2, .walltime = kHour, .queued = now}, now);
    world.run(running, "batch", "n1", now);
    const int drained = world.job({.owner = "w", .ncpus = 8, .walltime = kHour, .queued = now}, now);
    const int other = world.job({.owner = "v", .ncpus = 8, .walltime = kHour, .queued = now}, now);
    EXPECT_EQ(world.cycle(now).expected, (Expected{{drained, at(10)}, {other, at(11)}}));
    s.test_only = {true};
    world.configure();
    EXPECT_EQ(world.cycle(now).expected, (Expected{{drained, std::nullopt}, {other, std::nullopt}}));
}

TEST(EstimateOfOrigin, TheJobThatAQueueIsDrainedFor) {
    World world;
    Settings& s = world.origin({"batch"});
    world.vnode({.name = "n1", .ncpus = 8});
    world.configure();
    world.scheduler.set_tell_estimates(true);
    const Instant now = at(9);
    const int running = world.job({.ncpus = 2, .walltime = kHour, .queued = now}, now);
    world.run(running, "batch", "n1", now);
    const int drained = world.job({.owner = "w", .ncpus = 8, .walltime = kHour, .queued = now}, now);
    (void)world.job({.owner = "v", .ncpus = 8, .walltime = kHour, .queued = now}, now);
    EXPECT_EQ(world.cycle(now).expected, (Expected{{drained, at(10)}}));
    // The estimate is kept from cycle to cycle, and is set only once.
    const int small = world.job({.owner = "u", .ncpus = 1, .walltime = 600, .queued = now}, now);
    const Outcome after = world.cycle(now, true, "default", CycleTrigger::job_new);
    EXPECT_THAT(after.started, ElementsAre(small));
    EXPECT_THAT(after.expected, IsEmpty());
    s.test_only = {true};
    world.configure();
    EXPECT_EQ(world.cycle(now).expected, (Expected{{drained, std::nullopt}})) << "nothing of it is done";
}

}  // namespace
}  // namespace pbs::sched::test
