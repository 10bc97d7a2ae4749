// Tests the standard algorithm: strict_ordering, backfilling around top jobs, backfill_prime, dedicated
// queues.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Standard : testing::Test {
    World world;
    Settings& s = world.policy();
    int running = 0;
    void SetUp() override {
        s.help_starving_jobs = false;
        world.queue({.name = "work"});
        world.vnode({.name = "n", .ncpus = 8, .mem = 64 * kGb});
        running = world.job({.queue = "work", .ncpus = 4, .walltime = 4 * kHour});
        world.run(running, "work", "n", at(0));
    }
    Outcome cycle(Instant now = at(1)) {
        world.configure();
        return world.cycle(now);
    }
    // Runs a cycle without carrying out its decisions, and returns the jobs that it starts.
    std::vector<int> would_start() {
        world.configure();
        return world.cycle(at(1), false).started;
    }
};

TEST_F(Standard, strict_ordering_FalseLaterJobsPassOneThatCanNotStart) {
    world.job({.queue = "work", .ncpus = 8});
    const int small = world.job({.queue = "work", .ncpus = 1, .walltime = 100 * kHour});
    EXPECT_THAT(cycle().started, ElementsAre(small));
}

TEST_F(Standard, strict_ordering_WithoutBackfillingAJobHoldsUpAllAfterIt) {
    s.strict_ordering = true;
    s.backfill_depth = 0;
    world.job({.queue = "work", .ncpus = 8});
    const int small = world.job({.queue = "work", .ncpus = 1, .walltime = 60});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_EQ(outcome.comment.at(small), "Not Running: Job would break strict sorted order");
}

TEST_F(Standard, strict_ordering_AJobThatWaitsForNoOtherDoesNotHoldUp) {
    s.strict_ordering = true;
    s.backfill_depth = 0;
    world.queue({.name = "closed", .started = false, .priority = 9});
    world.job({.queue = "closed", .ncpus = 1});
    const int small = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(cycle().started, ElementsAre(small));
}

TEST_F(Standard, backfill_depth_JobsThatDelayTheTopJobDoNotStart) {
    s.strict_ordering = true;
    const int top = world.job({.queue = "work", .ncpus = 8, .walltime = kHour});
    const int too_long = world.job({.queue = "work", .ncpus = 1, .walltime = 3 * kHour + 1});
    const int in_time = world.job({.queue = "work", .ncpus = 1, .walltime = 3 * kHour});
    const auto outcome = cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(in_time));
    EXPECT_EQ(outcome.comment.at(too_long), "Not Running: Job would conflict with reservation or top job");
    world.finish(running, at(4));
    world.finish(in_time, at(4));
    EXPECT_THAT(cycle(at(4)).started, ElementsAre(top));
}

TEST_F(Standard, backfill_depth_NoPlaceIsKeptForAJobThatIsTopjobIneligible) {
    s.strict_ordering = true;
    const int none = world.job({.queue = "work", .ncpus = 8, .walltime = kHour, .topjob_ineligible = true});
    const int long_one = world.job({.queue = "work", .ncpus = 1, .walltime = 3 * kHour + 1});
    EXPECT_THAT(cycle(at(1)).started, ElementsAre(long_one));
    // A manager makes the job `none` eligible as a top job again.
    JobOptions options = world.options(none);
    options.topjob_ineligible = false;
    world.change(none, options, at(1));
    const int later = world.job({.queue = "work", .ncpus = 1, .walltime = 4 * kHour}, at(1));
    const auto outcome = cycle(at(1));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_EQ(outcome.comment.at(later), "Not Running: Job would conflict with reservation or top job");
}

TEST_F(Standard, strict_ordering_AJobThatIsTopjobIneligibleHoldsUpOthersWithoutBackfilling) {
    s.strict_ordering = true;
    s.backfill_depth = 0;
    world.job({.queue = "work", .ncpus = 8, .topjob_ineligible = true});
    world.job({.queue = "work", .ncpus = 1, .walltime = 60});
    EXPECT_THAT(cycle().started, IsEmpty());
}

TEST_F(Standard, backfill_depth_WhatTheTopJobLeavesIsFree) {
    s.strict_ordering = true;
    world.job({.queue = "work", .ncpus = 6, .walltime = kHour});
    const int two = world.job({.queue = "work", .ncpus = 2, .walltime = 99 * kHour});
    const int one = world.job({.queue = "work", .ncpus = 1, .walltime = 99 * kHour});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(two));
    EXPECT_TRUE(outcome.comment.contains(one));
}

TEST_F(Standard, backfill_depth_AVnodeWithAReservationGivesAllTheChunksThatItLeaves) {
    s.strict_ordering = true;
    world.job({.queue = "work", .walltime = kHour, .select = "1:ncpus=6"});
    const int past_four = world.job({.queue = "work", .walltime = 10 * kHour, .select = "2:ncpus=1"});
    const Outcome outcome = cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(past_four));
    EXPECT_EQ(outcome.exec_vnode.at(past_four), "(n:ncpus=1)+(n:ncpus=1)");
}

TEST_F(Standard, backfill_depth_TwoReservations) {
    s.strict_ordering = true;
    s.backfill_depth = 2;
    world.vnode({.name = "m", .ncpus = 8, .mem = 64 * kGb});
    const int other = world.job({.queue = "work", .ncpus = 8, .walltime = 2 * kHour});
    world.run(other, "work", "m", at(0));
    world.job({.queue = "work", .ncpus = 8, .walltime = 3 * kHour});  // expected to start on m at 02:00
    world.job({.queue = "work", .ncpus = 8, .walltime = kHour});      // expected to start on n at 04:00
    const int past_four = world.job({.queue = "work", .ncpus = 1, .walltime = 3 * kHour + 1});
    EXPECT_THAT(cycle(at(1)).started, IsEmpty());
    s.backfill_depth = 1;
    EXPECT_THAT(cycle(at(1)).started, ElementsAre(past_four)) << "only m is reserved";
}

TEST_F(Standard, backfill_depth_OfTheQueueComesFirst) {
    s.strict_ordering = true;
    s.backfill_depth = 1;
    world.queue({.name = "work", .backfill_depth = 0});
    world.job({.queue = "work", .ncpus = 8});
    world.job({.queue = "work", .ncpus = 1, .walltime = 60});
    EXPECT_THAT(cycle().started, IsEmpty());
}

TEST_F(Standard, backfill_depth_0OfAQueueHoldsUpThatQueueOnly) {
    s.strict_ordering = true;
    world.queue({.name = "work", .priority = 9, .backfill_depth = 0});
    world.queue({.name = "other"});
    world.job({.queue = "work", .ncpus = 8});
    world.job({.queue = "work", .ncpus = 1, .walltime = 60});
    const int other = world.job({.queue = "other", .ncpus = 1, .walltime = 60});
    EXPECT_THAT(would_start(), ElementsAre(other));
    s.backfill_depth = 0;
    EXPECT_THAT(would_start(), IsEmpty()) << "there is no backfilling at all";
    world.queue({.name = "third", .backfill_depth = 1});
    EXPECT_THAT(would_start(), ElementsAre(other)) << "there is some";
}

TEST_F(Standard, backfill_depth_0OfThePolicyHoldsUpNothingWhileAQueueBackfills) {
    s.strict_ordering = true;
    s.backfill_depth = 0;
    world.queue({.name = "backfilled", .backfill_depth = 1});
    world.job({.queue = "work", .ncpus = 8});
    const int same = world.job({.queue = "work", .ncpus = 1, .walltime = 60});
    const int other = world.job({.queue = "backfilled", .ncpus = 1, .walltime = 60});
    EXPECT_THAT(would_start(), ElementsAre(same, other));
    world.queue({.name = "backfilled", .backfill_depth = 0});
    EXPECT_THAT(would_start(), IsEmpty()) << "there is no backfilling at all";
}

TEST_F(Standard, strict_ordering_AJobThatWouldRunIntoDedicatedTimeHoldsUp) {
    s.strict_ordering = true;
    s.backfill_depth = 0;
    world.configuration.dedicated = world.window("FREQ=DAILY", 13, 15);
    world.job({.queue = "work", .ncpus = 1, .walltime = 20 * kHour});
    world.job({.queue = "work", .ncpus = 1, .walltime = kHour});
    EXPECT_THAT(cycle().started, IsEmpty());
}

TEST_F(Standard, help_starving_jobs_WithoutBackfillingAStarvingJobHoldsUpTheOthers) {
    s.help_starving_jobs = true;
    s.max_starve = Seconds(30 * kMinute);
    s.backfill_depth = 0;
    world.queue({.name = "other"});
    world.job({.queue = "work", .ncpus = 8, .queued = at(0)});
    const int later = world.job({.queue = "work", .ncpus = 1, .walltime = 60, .queued = at(0, 50)});
    const int other = world.job({.queue = "other", .ncpus = 1, .walltime = 60, .queued = at(0, 50)});
    EXPECT_THAT(would_start(), IsEmpty());
    world.queue({.name = "work", .backfill_depth = 0});
    s.backfill_depth = 1;
    EXPECT_THAT(would_start(), ElementsAre(other)) << "those of its queue only";
    s.help_starving_jobs = false;
    EXPECT_THAT(would_start(), testing::UnorderedElementsAre(later, other));
}

TEST_F(Standard, help_starving_jobs_AStarvingJobGetsAReservationWithoutStrictOrdering) {
    s.help_starving_jobs = true;
    s.max_starve = Seconds(30 * kMinute);
    world.job({.queue = "work", .ncpus = 8, .walltime = kHour, .queued = at(0)});
    const int too_long = world.job({.queue = "work", .ncpus = 1, .walltime = 4 * kHour, .queued = at(0, 50)});
    EXPECT_THAT(cycle().started, IsEmpty());
    s.help_starving_jobs = false;
    EXPECT_THAT(cycle().started, ElementsAre(too_long));
}

TEST_F(Standard, backfill_prime_NoJobRunsPastTheBoundaryOfPrimeTime) {
    s.backfill_prime = true;
    world.prime_time(8, 17);
    const int past = world.job({.queue = "work", .ncpus = 1, .walltime = 7 * kHour + 60});
    const int until = world.job({.queue = "work", .ncpus = 1, .walltime = 7 * kHour});
    const auto outcome = cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(until));
    EXPECT_EQ(outcome.comment.at(past), "Job would cross into primetime at Mon Nov 23 08:00:00 2026");
    s.time_window_spill = Seconds(60);
    EXPECT_THAT(cycle(at(1)).started, ElementsAre(past));
}

TEST_F(Standard, prime_exempt_anytime_queues_QueuesWithoutWindowsAreFreeOfIt) {
    s.backfill_prime = true;
    s.prime_exempt_anytime_queues = true;
    world.prime_time(8, 17);
    world.queue({.name = "windowed"});
    world.hours("windowed", world.window("FREQ=DAILY", 0, 12));
    const int anytime = world.job({.queue = "work", .ncpus = 1, .walltime = 20 * kHour});
    const int windowed = world.job({.queue = "windowed", .ncpus = 1, .walltime = 20 * kHour});
    const auto outcome = cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(anytime));
    EXPECT_TRUE(outcome.comment.contains(windowed));
}

TEST_F(Standard, dedicated_queues_RunInDedicatedTimeAndHaveToEndInIt) {
    world.queue({.name = "ded"});
    s.dedicated_queues = {{"ded"}};
    world.configuration.dedicated = world.window("FREQ=DAILY", 2, 4);
    const int fits = world.job({.queue = "ded", .ncpus = 1, .walltime = kHour});
    const int longer = world.job({.queue = "ded", .ncpus = 1, .walltime = 2 * kHour + 1});
    const int normal = world.job({.queue = "work", .ncpus = 1, .walltime = 2 * kHour});
    EXPECT_THAT(cycle(at(1)).started, IsEmpty());
    const auto outcome = cycle(at(2));
    EXPECT_THAT(outcome.started, ElementsAre(fits));
    EXPECT_FALSE(world.running(longer));
    EXPECT_FALSE(world.running(normal));
}

TEST_F(Standard, NoSsinodesAreSet) {
    const int job = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(cycle().ssinodes, IsEmpty());
    EXPECT_TRUE(world.running(job));
}

TEST_F(Standard, AJobThatFitsNoVnodeWaitsAndIsNotRejected) {
    const int job = world.job({.queue = "work", .ncpus = 99});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.rejected, IsEmpty());
    EXPECT_EQ(outcome.comment.at(job),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 99 A: 8 T: 8)");
}

}  // namespace
}  // namespace pbs::sched::test
