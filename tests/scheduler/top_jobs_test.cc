// Tests top jobs, for which places are kept, while prime time prevents jobs from starting. strict_ordering is
// on, and backfill_depth is 1.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// It is 7:30, and prime time is from 8:00 to 10:00. Two of four CPUs are in use until 7:50.
struct TopJobs : testing::Test {
    World world;
    Settings& s = world.policy();
    int first = 0;
    int second = 0;  // waits for the CPUs in use
    int third = 0;   // would delay `second`
    void SetUp() override {
        s.help_starving_jobs = false;
        s.by_queue = false;
        s.strict_ordering = s.backfill_prime = true;
        s.backfill_depth = 1;
        world.queue({.name = "work"});
        world.queue({.name = "day", .execution_type = ExecutionType::prime});
        world.queue({.name = "night", .execution_type = ExecutionType::non_prime});
        world.queue({.name = "ded", .execution_type = ExecutionType::dedicated});
        world.vnode({.name = "a", .ncpus = 4});
        world.configuration.prime = world.window("FREQ=DAILY", 8, 10);
        world.configure();
        world.scheduler.set_tell_estimates(true);
        run(2, 20 * kMinute, "a");
    }
    void run(int cpus, std::int64_t walltime, const std::string& vnode) {
        const int job = world.job({.queue = "work", .ncpus = cpus, .walltime = walltime});
        world.run(job, "work", vnode, at(7, 30));
    }
    Outcome cycle_with(JobOptions o) {
        o.ncpus = 4;
        first = world.job(o, at(7));
        second = world.job({.queue = "work", .ncpus = 3, .walltime = 10 * kMinute}, at(7, 1));
        third = world.job({.queue = "work", .ncpus = 2, .walltime = 25 * kMinute}, at(7, 2));
        return world.cycle(at(7, 30));
    }
    void expect_room_for_the_second(const Outcome& outcome) const {
        EXPECT_THAT(outcome.started, IsEmpty());
        EXPECT_FALSE(outcome.expected.contains(first));
        ASSERT_TRUE(outcome.expected.contains(second));
        EXPECT_EQ(outcome.expected.at(second), at(7, 50));
    }
    void expect_room_for_the_first(const Outcome& outcome, Instant start) const {
        EXPECT_THAT(outcome.started, ElementsAre(third));
        ASSERT_TRUE(outcome.expected.contains(first));
        EXPECT_EQ(outcome.expected.at(first), start);
        EXPECT_FALSE(outcome.expected.contains(second));
    }
};

TEST_F(TopJobs, OneThatWouldCrossIntoPrimeTimeHasItsStartThere) {
    expect_room_for_the_first(cycle_with({.queue = "work", .walltime = 2 * kHour}), at(8));
}

TEST_F(TopJobs, NotOneThatCanStartOnlyAfterPrimeTime) {
    expect_room_for_the_second(cycle_with({.queue = "work", .walltime = 3 * kHour}));
}

TEST_F(TopJobs, ButIfAJobEndsLaterAnyhow) {
    world.vnode({.name = "b", .ncpus = 1});
    run(1, 3 * kHour, "b");
    expect_room_for_the_first(cycle_with({.queue = "work", .walltime = 3 * kHour}), at(10));
}

TEST_F(TopJobs, OrADedicatedTimeIsLater) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 20, 21);
    world.configure();
    expect_room_for_the_first(cycle_with({.queue = "work", .walltime = 3 * kHour}), at(10));
}

TEST_F(TopJobs, ExemptJobsWaitForNoPrimeTime) {
    s.prime_exempt_anytime_queues = true;
    world.configure();
    const auto outcome = cycle_with({.queue = "work", .walltime = 3 * kHour});
    EXPECT_THAT(outcome.started, IsEmpty()) << "the third would delay it";
    ASSERT_TRUE(outcome.expected.contains(first));
    EXPECT_EQ(outcome.expected.at(first), at(7, 50));
}

TEST_F(TopJobs, NoneOfAQueueForPrimeTimeBeforeIt) {
    expect_room_for_the_second(cycle_with({.queue = "day", .walltime = 10 * kMinute}));
}

TEST_F(TopJobs, NoneOfAQueueForDedicatedTimeBeforeIt) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 9, 10);
    world.configure();
    expect_room_for_the_second(cycle_with({.queue = "ded", .walltime = 10 * kMinute}));
}

TEST_F(TopJobs, OneOfAQueueOutsideItsTimeWindowHasItsStartThere) {
    world.queue({.name = "windowed"});
    world.hours("windowed", world.window("FREQ=DAILY", 8, 20));
    world.configure();
    expect_room_for_the_first(cycle_with({.queue = "windowed", .walltime = 10 * kMinute}), at(8));
}

TEST_F(TopJobs, OneThatWouldRunIntoDedicatedTimeHasItsStartBehindIt) {
    s.backfill_prime = false;
    world.configuration.dedicated = world.window("FREQ=DAILY", 9, 10);
    world.configure();
    expect_room_for_the_first(cycle_with({.queue = "work", .walltime = 2 * kHour}), at(10));
}

}  // namespace
}  // namespace pbs::sched::test
