// Tests queues with an execution_type: execution_prime, execution_non_prime, execution_dedicated (PP-748,
// interface 6).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct ExecutionTypes : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.help_starving_jobs = false;
        world.vnode({.name = "n", .ncpus = 64, .mem = 64 * kGb});
        world.queue({.name = "any"});
        world.queue({.name = "day", .execution_type = ExecutionType::prime});
        world.queue({.name = "night", .execution_type = ExecutionType::non_prime});
        world.queue({.name = "ded", .execution_type = ExecutionType::dedicated});
        world.prime_time(8, 17);
    }
    Outcome cycle(Instant now, bool apply = false) {
        world.configure();
        return world.cycle(now, apply);
    }
};

TEST_F(ExecutionTypes, APrimeQueueStartsJobsInPrimeTimeOnly) {
    const int job = world.job({.queue = "day", .ncpus = 1});
    EXPECT_THAT(cycle(at(7, 59, 59)).started, IsEmpty());
    EXPECT_THAT(cycle(at(8)).started, ElementsAre(job));
    EXPECT_THAT(cycle(at(16, 59, 59)).started, ElementsAre(job));
    EXPECT_THAT(cycle(at(17)).started, IsEmpty());
    EXPECT_EQ(cycle(at(17)).comment.at(job), "Job will run in primetime only, from Tue Nov 24 08:00:00 2026");
}

TEST_F(ExecutionTypes, ANonPrimeQueueStartsJobsOutsidePrimeTimeOnly) {
    const int job = world.job({.queue = "night", .ncpus = 1});
    EXPECT_THAT(cycle(at(7, 59, 59)).started, ElementsAre(job));
    EXPECT_THAT(cycle(at(8)).started, IsEmpty());
    EXPECT_EQ(cycle(at(8)).comment.at(job),
              "Job will run in nonprimetime only, from Mon Nov 23 17:00:00 2026");
    EXPECT_THAT(cycle(at(17)).started, ElementsAre(job));
}

TEST_F(ExecutionTypes, WithoutPrimeTimeItIsNeverPrimeTime) {
    world.configuration.prime = {};
    const int day = world.job({.queue = "day", .ncpus = 1});
    const int night = world.job({.queue = "night", .ncpus = 1});
    const auto outcome = cycle(at(9));
    EXPECT_THAT(outcome.started, ElementsAre(night));
    EXPECT_EQ(outcome.comment.at(day), "Job will run in primetime only, and none is scheduled");
}

TEST_F(ExecutionTypes, ANonWorkDayIsNonPrimeTimeAllDay) {
    world.configuration.prime =
        world.window("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", 8, 17, false, {"11/23/2026"});
    world.job({.queue = "day", .ncpus = 1});
    const int night = world.job({.queue = "night", .ncpus = 1});
    EXPECT_THAT(cycle(at(9)).started, ElementsAre(night));
}

TEST_F(ExecutionTypes, JobsMayRunPastTheBoundaryUnlessBackfillPrimeForbidsIt) {
    const int job = world.job({.queue = "day", .ncpus = 1, .walltime = 2 * kHour});
    EXPECT_THAT(cycle(at(16)).started, ElementsAre(job));
    s.backfill_prime = true;
    const auto outcome = cycle(at(16));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_EQ(outcome.comment.at(job), "Job would cross into non-primetime at Mon Nov 23 17:00:00 2026");
    s.time_window_spill = Seconds(kHour - 1);
    EXPECT_THAT(cycle(at(16)).started, IsEmpty());
    s.time_window_spill = Seconds(kHour);
    EXPECT_THAT(cycle(at(16)).started, ElementsAre(job)) << "the spill is enough";
}

TEST_F(ExecutionTypes, PrimeAndNonPrimeQueuesAreNoAnytimeQueues) {
    s.backfill_prime = true;
    s.prime_exempt_anytime_queues = true;
    const int any = world.job({.queue = "any", .ncpus = 1, .walltime = 20 * kHour});
    world.job({.queue = "day", .ncpus = 1, .walltime = 20 * kHour});
    EXPECT_THAT(cycle(at(9)).started, ElementsAre(any));
    world.job({.queue = "night", .ncpus = 1, .walltime = 20 * kHour});
    EXPECT_THAT(cycle(at(18)).started, ElementsAre(any));
}

TEST_F(ExecutionTypes, ADedicatedQueueStartsJobsInDedicatedTimeOnlyAndItsJobsEndInIt) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 2, 4);
    const int fits = world.job({.queue = "ded", .ncpus = 1, .walltime = 2 * kHour});
    const int longer = world.job({.queue = "ded", .ncpus = 1, .walltime = 2 * kHour + 1});
    const int into = world.job({.queue = "any", .ncpus = 1, .walltime = kHour + 1});
    const int before = world.job({.queue = "any", .ncpus = 1, .walltime = kHour});
    auto outcome = cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(before));
    EXPECT_EQ(outcome.comment.at(fits), "Waiting for dedicated time at Mon Nov 23 02:00:00 2026");
    EXPECT_EQ(outcome.comment.at(into), "Would run into dedicated time at Mon Nov 23 02:00:00 2026");
    outcome = cycle(at(2));
    EXPECT_THAT(outcome.started, ElementsAre(fits)) << "in dedicated time only dedicated queues run jobs";
    EXPECT_EQ(outcome.comment.at(longer),
              "Would run past the end of dedicated time at Mon Nov 23 04:00:00 2026");
    EXPECT_THAT(cycle(at(4)).started, ElementsAre(into, before));
}

TEST_F(ExecutionTypes, AJobThatRunsTooLongForWantOfAWalltimeIsToldSo) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 2, 4);
    const int any = world.job({.queue = "any", .ncpus = 1, .walltime = -1});
    const int ded = world.job({.queue = "ded", .ncpus = 1, .walltime = -1});
    EXPECT_EQ(cycle(at(1)).comment.at(any),
              "Would run into dedicated time at Mon Nov 23 02:00:00 2026; the job asks for no walltime");
    EXPECT_EQ(cycle(at(2)).comment.at(ded),
              "Would run past the end of dedicated time at Mon Nov 23 04:00:00 2026; the job asks for no "
              "walltime");
    const auto told = world.scheduler.explain(at(1), std::to_string(any) + ".server");
    ASSERT_TRUE(told);
    EXPECT_THAT(told->reason, testing::EndsWith("; the job asks for no walltime"));
    world.configuration.dedicated = {};
    s.backfill_prime = true;
    EXPECT_EQ(cycle(at(16)).comment.at(any),
              "Job would cross into non-primetime at Mon Nov 23 17:00:00 2026; the job asks for no walltime");
    EXPECT_EQ(cycle(at(16)).comment.at(ded), "Waiting for dedicated time, none is scheduled");
}

TEST_F(ExecutionTypes, TheTypeAndTheListOfThePolicyBothMakeAQueueDedicated) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 2, 4);
    s.dedicated_queues = {{"any"}};
    const int listed = world.job({.queue = "any", .ncpus = 1});
    const int typed = world.job({.queue = "ded", .ncpus = 1});
    EXPECT_THAT(cycle(at(2)).started, UnorderedElementsAre(listed, typed));
}

// A server in Berlin with a queue of this type, a job in the queue, and daily prime time between these hours.
struct Berlin {
    Berlin(ExecutionType type, int from_hour, int to_hour)
        : world(rrule::Zone::find("Europe/Berlin").value()) {
        world.policy();
        world.vnode({.name = "n"});
        world.queue({.name = "q", .execution_type = type});
        world.configuration.prime = world.window("FREQ=DAILY", from_hour, to_hour);
        world.configure();
        job = world.job({.queue = "q", .ncpus = 1});
    }
    bool starts(Instant now) { return world.cycle(now, false).started == std::vector{job}; }

    World world;
    int job = 0;
};

TEST(BerlinExecutionTypes, OverTheEndOfSummerTimePrimeTimeKeepsToTheWallClock) {
    using namespace std::chrono;
    Berlin there(ExecutionType::prime, 8, 17);
    const Instant saturday{sys_days{year{2026} / 10 / 24}};
    EXPECT_FALSE(there.starts(saturday + hours(6) - seconds(1)));
    EXPECT_TRUE(there.starts(saturday + hours(6))) << "08:00 CEST";
    EXPECT_FALSE(there.starts(saturday + hours(24 + 6))) << "07:00 CET";
    EXPECT_TRUE(there.starts(saturday + hours(24 + 7))) << "08:00 CET";
    (void)there.world.scheduler.tick(saturday + hours(15));
    EXPECT_EQ(there.world.scheduler.next_deadline(saturday + hours(15)), saturday + hours(24 + 7));
}

TEST(BerlinExecutionTypes, APrimeTimeThatHoldsTheRepeatedHourIsAnHourLonger) {
    using namespace std::chrono;
    Berlin there(ExecutionType::non_prime, 1, 4);
    const Instant sunday{sys_days{year{2026} / 10 / 25}};
    EXPECT_TRUE(there.starts(sunday - hours(1) - seconds(1)));
    EXPECT_FALSE(there.starts(sunday - hours(1))) << "01:00 CEST";
    EXPECT_FALSE(there.starts(sunday + hours(3) - seconds(1)));
    EXPECT_TRUE(there.starts(sunday + hours(3))) << "04:00 CET, four hours later";
}

TEST_F(ExecutionTypes, TheTimerWakesACycleAtEachBoundary) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 20, 21);
    world.configure();
    (void)world.scheduler.tick(at(1));
    Instant before = at(1);
    for (const int boundary : {8, 17, 20, 21, 32}) {
        EXPECT_EQ(world.scheduler.next_deadline(before), at(boundary));
        before = at(boundary);
        const auto ticked = world.scheduler.tick(at(boundary));
        EXPECT_TRUE(ticked.cycle_wanted);
        EXPECT_FALSE(ticked.policy_switched);
    }
}

// ---- Execution types of queues with the Origin algorithm.

struct OriginExecutionTypes : testing::Test {
    World world;
    Settings& s = world.origin({"batch", "night"});
    void SetUp() override {
        world.vnode({.name = "n", .ncpus = 64, .mem = 64 * kGb});
        world.queue({.name = "night", .execution_type = ExecutionType::non_prime});
        world.prime_time(8, 17);
    }
    Outcome cycle(Instant now) {
        world.configure();
        return world.cycle(now, false);
    }
};

TEST_F(OriginExecutionTypes, ABatchQueueTakesJobsAtItsTime) {
    world.queue({.name = "batch", .started = false});
    const int job = world.job({.nodes = 1});
    EXPECT_THAT(cycle(at(9)).started, IsEmpty());
    EXPECT_THAT(cycle(at(18)).started, ElementsAre(job));
}

TEST_F(OriginExecutionTypes, JobsOfASubmitQueueStartAtItsTime) {
    world.queue({.name = "submit", .execution_type = ExecutionType::prime});
    const int job = world.job({.nodes = 1});
    const auto outcome = cycle(at(18));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_EQ(outcome.comment.at(job), "Job will run in primetime only, from Tue Nov 24 08:00:00 2026");
    EXPECT_THAT(cycle(at(9)).started, ElementsAre(job));
}

TEST_F(OriginExecutionTypes, ADedicatedQueueNeedNotBeListed) {
    world.queue({.name = "ded", .execution_type = ExecutionType::dedicated});
    world.configuration.dedicated = world.window("FREQ=DAILY", 2, 4);
    const int job = world.job({.queue = "ded", .nodes = 1});
    EXPECT_THAT(cycle(at(1)).started, IsEmpty());
    EXPECT_THAT(cycle(at(2)).started, ElementsAre(job));
}

}  // namespace
}  // namespace pbs::sched::test
