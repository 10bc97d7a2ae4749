// Tests the policy attributes default_duration, the planned duration of jobs without a walltime, and
// duration_offset, the planned time between a job's end and the next start in its place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/model/job_table.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A site with a vnode of 8 CPUs, on which a place is kept for the first waiting job.
struct Planned : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.help_starving_jobs = false;
        s.by_queue = false;
        s.strict_ordering = true;
        s.backfill_depth = 1;
        world.queue({.name = "work"});
        world.vnode({.name = "a", .ncpus = 8});
        world.scheduler.set_tell_estimates(true);
    }
    int job(std::int64_t ncpus, std::int64_t walltime, Instant queued) {
        return world.job({.queue = "work", .ncpus = ncpus, .walltime = walltime, .queued = queued}, queued);
    }
    int running(std::int64_t ncpus, std::int64_t walltime, Instant since) {
        const int started = job(ncpus, walltime, since);
        world.run(started, "work", "a", since);
        return started;
    }
};

// A job on 6 CPUs runs. A waiting job of 8 CPUs can start a minute after its end, as with DURATION_OFFSET of
// Grid Engine.
TEST_F(Planned, AMinuteIsBetweenTheEndOfAJobAndTheNextStart) {
    s.duration_offset = Seconds(60);
    world.configure();
    (void)running(6, kHour, at(9));
    const int top = job(8, kHour, at(8));
    const int fits = job(1, kHour, at(8, 1));
    const int too_long = job(1, kHour + 1, at(8, 2));
    const Outcome outcome = world.cycle(at(9));
    EXPECT_EQ(outcome.expected.at(top), at(10, 1));
    EXPECT_THAT(outcome.started, ElementsAre(fits));
    EXPECT_TRUE(outcome.comment.contains(too_long));
}

TEST_F(Planned, WithoutADefaultAJobWithoutWalltimeHasNoEnd) {
    world.configure();
    (void)running(8, -1, at(9));
    const int top = job(8, kHour, at(8));
    EXPECT_EQ(world.cycle(at(9)).expected.at(top), at(9) + kUnlimitedWalltime);
}

TEST_F(Planned, AJobWithoutWalltimeIsExpectedToRunAsLongAgain) {
    s.default_duration = Seconds(2 * kHour);
    s.duration_offset = Seconds(60);
    world.configure();
    (void)running(8, -1, at(9));
    const int top = job(8, kHour, at(8));
    EXPECT_EQ(world.cycle(at(9)).expected.at(top), at(11, 1));
    EXPECT_FALSE(world.cycle(at(11)).expected.contains(top)) << "it is the same";
    EXPECT_EQ(world.cycle(at(11, 1)).expected.at(top), at(13, 1));
    EXPECT_FALSE(world.cycle(at(12)).expected.contains(top)) << "it is the same";
    EXPECT_EQ(world.cycle(at(15, 30)).expected.at(top), at(17, 1));
}

TEST_F(Planned, AJobWithoutWalltimeFillsAGapOfTheDefault) {
    s.default_duration = Seconds(kHour);
    world.configure();
    (void)running(6, kHour, at(9));
    (void)job(8, kHour, at(8));
    const int without = job(1, -1, at(8, 1));
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(without));
    // a minute later, the default duration reaches beyond the start of the kept place
    const int late = job(1, -1, at(8, 2));
    EXPECT_THAT(world.cycle(at(9, 1)).started, IsEmpty());
    EXPECT_TRUE(world.exists(late));
}

TEST_F(Planned, TheMaximumOfTheQueueComesFirst) {
    s.default_duration = Seconds(4 * kHour);
    world.queue({.name = "short", .max_walltime = kHour});
    world.configure();
    (void)running(6, kHour, at(9));
    (void)job(8, kHour, at(8));
    const int without = world.job({.queue = "short", .ncpus = 1, .walltime = -1}, at(8, 1));
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(without));
}

// A job without walltime may run longer than the default duration. So the scheduler gives an advance
// reservation no place that is free only if the job ends after it.
TEST_F(Planned, AdvanceReservationsDoNotCountOnTheDefault) {
    s.default_duration = Seconds(kHour);
    world.configure();
    const int reservation = world.reserve({.start = at(12), .end = at(13), .select = "1:ncpus=8"});
    EXPECT_TRUE(world.cycle(at(8)).confirmed.contains(reservation));
    const int without = job(1, -1, at(8));
    const int with = job(1, kHour, at(8));
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(with));
    EXPECT_TRUE(world.exists(without));
    const int later = world.reserve({.start = at(12), .end = at(13), .select = "1:ncpus=1"});
    EXPECT_TRUE(world.cycle(at(9)).denied.contains(later));
}

}  // namespace
}  // namespace pbs::sched::test
