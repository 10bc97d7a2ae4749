// Tests jobs that wait on another server (peer_queue): they start here if they can, and affect no other job
// while they wait.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cases.h"
#include "tests/scheduler/random_site.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct JobElsewhere : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.help_starving_jobs = false;
        world.queue({.name = "work"});
        world.queue({.name = "express", .priority = 150});
        world.vnode({.name = "a", .ncpus = 4});
        world.configure();
    }
    int job(std::int64_t cpus, bool elsewhere, Instant queued, const std::string& queue = "work") {
        return world.job(
            {.queue = queue, .ncpus = cpus, .walltime = kHour, .elsewhere = elsewhere, .queued = queued});
    }
};

TEST_F(JobElsewhere, StartsInTheOrderOfAllJobs) {
    const int third = job(2, false, at(3));
    const int second = job(1, true, at(2));
    const int first = job(1, false, at(1));
    const auto outcome = world.cycle(at(4));
    EXPECT_THAT(outcome.started, ElementsAre(first, second, third));
}

TEST_F(JobElsewhere, IsToldNothing) {
    job(8, true, at(1));
    const int own = job(9, false, at(2));
    const auto outcome = world.cycle(at(4));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_EQ(outcome.comment.size(), 1);
    EXPECT_TRUE(outcome.comment.contains(own));
    EXPECT_THAT(outcome.rejected, IsEmpty());
}

TEST_F(JobElsewhere, strict_ordering_ItHoldsUpNobodyAndHasNoReservation) {
    s.strict_ordering = true;
    world.configure();
    world.scheduler.set_tell_estimates(true);
    const int running = job(2, false, at(0));
    world.run(running, "work", "a", at(0, 30));
    job(4, true, at(1));
    const int own = job(2, false, at(2));
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(own));
    EXPECT_THAT(outcome.expected, IsEmpty());
}

TEST_F(JobElsewhere, strict_ordering_ItWaitsBehindOthers) {
    s.strict_ordering = true;
    s.backfill_depth = 0;
    world.configure();
    const int running = job(2, false, at(0));
    world.run(running, "work", "a", at(0, 30));
    job(4, false, at(1));
    job(1, true, at(2));
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
}

TEST_F(JobElsewhere, preemption_NobodyMakesRoomForIt) {
    const int running = job(4, false, at(0));
    world.run(running, "work", "a", at(0));
    job(4, true, at(0, 1), "express");
    auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.preempted, IsEmpty());
    EXPECT_THAT(outcome.started, IsEmpty());
    // a job of this server with the same request does preempt
    const int own = job(4, false, at(0, 2), "express");
    outcome = world.cycle(at(1, 1));
    EXPECT_THAT(outcome.started, ElementsAre(own));
}

TEST_F(JobElsewhere, StartsOnceThereIsRoom) {
    const int running = job(4, false, at(0));
    world.run(running, "work", "a", at(0));
    const int waiting = job(4, true, at(1));
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    world.finish(running, at(1, 1));
    EXPECT_THAT(world.cycle(at(1, 1), true, "default", CycleTrigger::job_ended).started,
                ElementsAre(waiting));
}

TEST(JobsElsewhere, AreDecidedAfterEventsAsInCyclesOverAllJobs) {
    compare_by_events(
        first_seeds(pbs::test::cases(20)), 80, Algorithm::standard, [](Events&, int) {},
        [](Site& site, int seed) {
            Settings& s = site.world.policy();
            site.some_elsewhere = true;
            s.strict_ordering = seed % 2 == 0;
            s.preemption = seed % 3 == 0;
            site.world.configure();
        },
        20);
}

}  // namespace
}  // namespace pbs::sched::test
