// Tests prime time: its limit on walltimes, draining before its end, early non-prime time; and which policy
// is in force at which time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Prime : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override {
        world.vnodes(8, {.name = "n", .ncpus = 64, .mem = 64 * kGb});
        world.prime_time(8, 17);
        s.enforce_prime_time = {true};
        s.prime_time_wallt_limit = Seconds(2 * kHour);
    }
    Outcome cycle(Instant now, bool apply = false) {
        world.configure();
        return world.cycle(now, apply);
    }
    bool starts(const JobOptions& options, Instant now) {
        const int job = world.job(options);
        const auto outcome = cycle(now);
        const bool started = std::ranges::find(outcome.started, job) != outcome.started.end();
        world.finish(job, now);
        return started;
    }
};

TEST_F(Prime, PRIME_TIME_WALLT_LIMIT_WithItsMessage) {
    const int job = world.job({.nodes = 1, .walltime = 2 * kHour + 1});
    EXPECT_EQ(cycle(at(9)).comment.at(job), "Exceeds primetime walltime limit (02:00:00)");
    EXPECT_TRUE(starts({.nodes = 1, .walltime = 2 * kHour}, at(9)));
}

TEST_F(Prime, PRIME_TIME_WALLT_LIMIT_OnlyThePartInPrimeTimeCounts) {
    EXPECT_TRUE(starts({.nodes = 1, .walltime = 4 * kHour}, at(6))) << "06:00 to 10:00";
    EXPECT_FALSE(starts({.nodes = 1, .walltime = 4 * kHour + 1}, at(6)));
    EXPECT_TRUE(starts({.nodes = 1, .walltime = 9 * kHour}, at(15))) << "15:00 to 17:00 are two hours";
    EXPECT_FALSE(starts({.nodes = 1, .walltime = 9 * kHour}, at(14, 59, 59)));
}

TEST_F(Prime, PRIME_TIME_WALLT_LIMIT_EachPeriodByItself) {
    // The guide's example: 2 hours of prime time, 15 hours of non-prime time, 2 hours of the next prime time.
    EXPECT_TRUE(starts({.nodes = 1, .walltime = 19 * kHour}, at(15)));
    EXPECT_FALSE(starts({.nodes = 1, .walltime = 19 * kHour + 1}, at(15)));
}

TEST_F(Prime, PRIME_TIME_WALLT_LIMIT_OverTheWeekend) {
    EXPECT_TRUE(starts({.nodes = 1, .walltime = 64 * kHour}, at(4 * 24 + 18)))
        << "Friday 18:00 to Monday 10:00";
    EXPECT_FALSE(starts({.nodes = 1, .walltime = 64 * kHour + 1}, at(4 * 24 + 18)));
}

TEST_F(Prime, PRIME_TIME_WALLT_LIMIT_NotOnHolidays) {
    EXPECT_FALSE(starts({.nodes = 1, .walltime = 12 * kHour}, at(9)));
    world.configuration.prime =
        world.window("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", 8, 17, false, {"11/23/2026"});
    EXPECT_TRUE(starts({.nodes = 1, .walltime = 12 * kHour}, at(9)));
    EXPECT_FALSE(starts({.nodes = 1, .walltime = 12 * kHour}, at(24 + 9))) << "Tuesday is a work day";
}

TEST_F(Prime, ENFORCE_PRIME_TIME_BeforeItsDateThereIsNoLimitEvenForJobsThatRunPastIt) {
    s.enforce_prime_time = {false, at(9)};
    EXPECT_TRUE(starts({.nodes = 1, .walltime = 9 * kHour}, at(8, 59, 59)));
    EXPECT_FALSE(starts({.nodes = 1, .walltime = 9 * kHour}, at(9)));
}

TEST_F(Prime, PRIME_TIME_SMALL_NODE_LIMIT_SmallJobsHaveTheirOwnLimit) {
    s.prime_time_small_node_limit = 8;
    s.prime_time_small_wallt_limit = Seconds(kHour);
    EXPECT_FALSE(starts({.nodes = 8, .walltime = kHour + 1}, at(9)));
    EXPECT_TRUE(starts({.nodes = 8, .walltime = kHour}, at(9)));
    EXPECT_TRUE(starts({.nodes = 9, .walltime = 2 * kHour}, at(9)));
    const int job = world.job({.nodes = 8, .walltime = kHour + 1});
    EXPECT_EQ(cycle(at(9)).comment.at(job), "Exceeds primetime walltime limit (01:00:00)");
}

TEST_F(Prime, SpecialAndWaitingJobsAreExempt) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    s.max_queued_time = Seconds(kHour);
    s.nonprime_drain_sys = {true};
    EXPECT_TRUE(starts({.queue = "special", .nodes = 1, .walltime = 20 * kHour}, at(9)));
    EXPECT_TRUE(starts({.nodes = 1, .walltime = 20 * kHour, .queued = at(0)}, at(9)));
}

TEST_F(Prime, AJobWithoutAWalltimeCountsWithTheQueuesMaximum) {
    EXPECT_FALSE(starts({.nodes = 1, .walltime = -1}, at(9)));
    world.queue({.name = "batch", .max_walltime = kHour});
    EXPECT_TRUE(starts({.nodes = 1, .walltime = -1}, at(9)));
}

// ---- Draining before the end of prime time.

TEST_F(Prime, NONPRIME_DRAIN_SYS_NoNormalJobCrossesTheBoundary) {
    s.nonprime_drain_sys = {true};
    const int job = world.job({.nodes = 1, .walltime = kHour + 1});
    EXPECT_EQ(cycle(at(16)).comment.at(job), "System draining for non-primetime at 17:00:00");
    EXPECT_TRUE(starts({.nodes = 1, .walltime = kHour}, at(16)));
    EXPECT_TRUE(starts({.nodes = 1, .walltime = 9 * kHour}, at(17))) << "in non-prime time";
}

TEST_F(Prime, NONPRIME_DRAIN_SYS_IsLiftedWhenTheQueueIsBusyAcrossTheBoundary) {
    s.nonprime_drain_sys = {true};
    const int running = world.job({.nodes = 1, .walltime = 9 * kHour});
    world.run(running, "batch", "n", at(15));
    EXPECT_TRUE(starts({.nodes = 1, .walltime = kHour + 1}, at(16)));
}

TEST_F(Prime, NONPRIME_DRAIN_SYS_IsLiftedByASpecialJobStartedInTheSameCycle) {
    s.nonprime_drain_sys = {true};
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    const int special = world.job({.queue = "special", .nodes = 1, .walltime = 9 * kHour});
    const int normal = world.job({.nodes = 1, .walltime = 2 * kHour});
    EXPECT_THAT(cycle(at(16)).started, ElementsAre(special, normal));
}

// ---- Early non-prime time.

struct Early : Prime {
    void SetUp() override {
        Prime::SetUp();
        s.nonprime_drain_sys = {true};
        s.np_drain_backtime = Seconds(30 * kMinute);
        s.np_drain_idletime = Seconds(15 * kMinute);
        // the queue's last job ran until 16:00
        const int last = world.job({.nodes = 1, .walltime = kHour});
        world.run(last, "batch", "n", at(15));
        world.finish(last, at(16));
    }
};

TEST_F(Early, NP_DRAIN_BACKTIME_AnIdleQueueStopsObservingPrimeTime) {
    const int small = world.job({.nodes = 1, .walltime = 9 * kHour});
    const int big = world.job({.nodes = 16, .walltime = 9 * kHour});
    EXPECT_THAT(cycle(at(16, 29, 59)).started, IsEmpty()) << "more than half an hour to go";
    EXPECT_THAT(cycle(at(16, 30), true).started, ElementsAre(big, small)) << "in non-prime order";
    const int later = world.job({.nodes = 1, .walltime = 9 * kHour});
    EXPECT_THAT(cycle(at(16, 40), true).started, ElementsAre(later)) << "until the next prime time";
    const int morning = world.job({.nodes = 1, .walltime = 9 * kHour});
    EXPECT_FALSE(starts({.nodes = 1, .walltime = 9 * kHour}, at(24 + 8))) << morning;
}

TEST_F(Early, NP_DRAIN_IDLETIME_TheQueueHasToBeIdleLongEnough) {
    const int last = world.job({.nodes = 1, .walltime = kHour});
    world.run(last, "batch", "n", at(16));
    world.finish(last, at(16, 20));
    world.job({.nodes = 1, .walltime = 9 * kHour});
    EXPECT_THAT(cycle(at(16, 35)).started, IsEmpty()) << "15 minutes are not more than 15 minutes";
    EXPECT_EQ(cycle(at(16, 35, 1)).started.size(), 1U);
}

TEST_F(Early, NP_DRAIN_BACKTIME_NotWithSomethingRunning) {
    const int running = world.job({.nodes = 1, .walltime = 10 * kMinute});
    world.run(running, "batch", "n", at(16, 25));
    world.job({.nodes = 1, .walltime = 9 * kHour});
    EXPECT_THAT(cycle(at(16, 31)).started, IsEmpty());
}

TEST_F(Early, NP_DRAIN_BACKTIME_NotForJobsThatCouldNotStartAnyway) {
    world.job({.ncpus = 1000, .walltime = 9 * kHour});
    EXPECT_THAT(cycle(at(16, 31), true).started, IsEmpty());
    const int short_one = world.job({.nodes = 1, .walltime = 9 * kMinute});
    EXPECT_THAT(cycle(at(16, 31), true).started, ElementsAre(short_one));
    world.job({.nodes = 1, .walltime = 9 * kHour});
    EXPECT_THAT(cycle(at(16, 32), true).started, IsEmpty()) << "prime time is still observed";
}

TEST_F(Early, NP_DRAIN_BACKTIME_TheDeadlineForItIsKnown) {
    world.configure();
    EXPECT_EQ(world.scheduler.next_deadline(at(16, 10)), at(16, 30));
}

// ---- Policies for prime and non-prime time.

struct Slots3 : testing::Test {
    World world;
    void SetUp() override {
        for (const char* name : {"all", "day", "night"}) world.policy(name).name = name;
        world.configuration.policies.erase("p1");
        world.configuration.scheds["default"] = {"all", "day", "night"};
        world.prime_time(8, 17);
        world.queue({.name = "work"});
        world.vnode({.name = "n"});
    }
    std::string policy(Instant now) { return world.scheduler.status(now, "default").policy; }
};

TEST_F(Slots3, PrimeRunsPrimeAndTheRestNonPrime) {
    world.configure();
    EXPECT_EQ(policy(at(7, 59, 59)), "night");
    EXPECT_EQ(policy(at(8)), "day");
    EXPECT_EQ(policy(at(16, 59, 59)), "day");
    EXPECT_EQ(policy(at(17)), "night");
    const auto status = world.scheduler.status(at(9), "default");
    EXPECT_TRUE(status.prime_time);
    EXPECT_EQ(status.next_change, at(17));
    EXPECT_EQ(status.next_policy, "night");
    EXPECT_FALSE(status.next_prime_time);
    EXPECT_EQ(status.algorithm, "standard");
}

TEST_F(Slots3, AnEmptySlotFallsBackToTheAllTimePolicy) {
    world.configuration.scheds["default"] = {"all", "day", ""};
    world.configure();
    EXPECT_EQ(policy(at(9)), "day");
    EXPECT_EQ(policy(at(18)), "all");
    world.configuration.scheds["default"] = {"all", "", "night"};
    world.configure();
    EXPECT_EQ(policy(at(9)), "all");
    EXPECT_EQ(policy(at(18)), "night");
}

TEST_F(Slots3, WithoutAPrimeWindowTheAllTimePolicyRuns) {
    world.configuration.prime = {};
    world.configure();
    EXPECT_EQ(policy(at(9)), "all");
    EXPECT_EQ(policy(at(18)), "all");
    EXPECT_EQ(world.scheduler.status(at(9), "default").next_change, std::nullopt);
}

TEST_F(Slots3, OnNonWorkDaysNonPrimeRunsAllDay) {
    world.configuration.prime = world.window("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", 8, 17, false, {"11/23"});
    world.configure();
    EXPECT_EQ(policy(at(9)), "night");
    EXPECT_EQ(policy(at(24 + 9)), "day");
}

TEST_F(Slots3, DedicatedTimeRunsPrimeIfBothAreSetElseAllTime) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 20, 22);
    world.configure();
    EXPECT_EQ(policy(at(21)), "day");
    EXPECT_TRUE(world.scheduler.status(at(21), "default").dedicated_time);
    world.configuration.scheds["default"] = {"all", "day", ""};
    world.configure();
    EXPECT_EQ(policy(at(21)), "all");
}

TEST_F(Slots3, TickTellsOfTheSwitchAtTheBoundaryAndOnlyThen) {
    world.configure();
    EXPECT_FALSE(world.scheduler.tick(at(7)).cycle_wanted);
    EXPECT_EQ(world.scheduler.next_deadline(at(7)), at(8));
    EXPECT_FALSE(world.scheduler.tick(at(7, 59, 59)).policy_switched);
    const auto tick = world.scheduler.tick(at(8));
    EXPECT_TRUE(tick.policy_switched);
    EXPECT_TRUE(tick.cycle_wanted);
    EXPECT_THAT(tick.switched, ElementsAre("sched default: policy day is in force after night"));
    EXPECT_FALSE(world.scheduler.tick(at(8)).policy_switched);
    EXPECT_EQ(world.scheduler.next_deadline(at(8)), at(17));
}

TEST_F(Slots3, TheFirstTickOfAServerCanBeAtASwitch) {
    world.configure();
    EXPECT_EQ(world.scheduler.next_deadline(at(7)), at(8));
    const auto tick = world.scheduler.tick(at(8));
    EXPECT_TRUE(tick.policy_switched);
    EXPECT_THAT(tick.switched, ElementsAre("sched default: policy day is in force after night"));
}

TEST_F(Slots3, TheVeryNextCycleRunsThePolicyOfItsTime) {
    world.policy("day").by_queue = false;
    world.queue({.name = "high", .priority = 100});
    const int first = world.job({.queue = "work", .ncpus = 4, .queued = at(0)});
    const int high = world.job({.queue = "high", .ncpus = 4, .queued = at(1)});
    world.configure();
    EXPECT_THAT(world.cycle(at(9), false).started, ElementsAre(first));
    EXPECT_THAT(world.cycle(at(18), false).started, ElementsAre(high));
}

TEST_F(Slots3, AQueueWindowIsADeadlineToo) {
    world.hours("work", world.window("FREQ=DAILY", 6, 7));
    world.configure();
    EXPECT_EQ(world.scheduler.next_deadline(at(5)), at(6));
    EXPECT_TRUE(world.scheduler.tick(at(6)).cycle_wanted);
    EXPECT_EQ(world.scheduler.next_deadline(at(6)), at(7));
}

TEST_F(Slots3, ASchedulerWithoutAPolicyDecidesNothing) {
    world.configuration.scheds.clear();
    world.configure();
    world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    EXPECT_EQ(policy(at(1)), "");
}

TEST_F(Slots3, SchedulingOffDecidesNothing) {
    world.configure();
    world.job({.queue = "work", .ncpus = 1});
    world.scheduler.sched_changed({"default", false, "", ""});
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
}

TEST_F(Slots3, PartitionsHaveTheirOwnQueuesAndVnodes) {
    world.queue({.name = "pq", .partition = "P"});
    world.vnode({.name = "pn", .partition = "P"});
    world.scheduler.sched_changed({"multi", true, "P", ""});
    world.configuration.scheds["multi"] = {"all"};
    world.configure();
    const int mine = world.job({.queue = "pq", .ncpus = 1});
    const int other = world.job({.queue = "work", .ncpus = 1});
    auto outcome = world.cycle(at(1), true, "multi");
    EXPECT_THAT(outcome.started, ElementsAre(mine));
    EXPECT_THAT(outcome.vnodes.at(mine), ElementsAre("pn"));
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(other));
}

}  // namespace
}  // namespace pbs::sched::test
