// Tests jobs with start_within, a time within which they have to start.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct Immediate : testing::Test {
    World world;
    int running = 0;
    void SetUp() override {
        (void)world.policy();
        world.queue({.name = "work"});
        world.vnode({.name = "a", .ncpus = 4});
        world.configure();
        running = world.job({.queue = "work", .ncpus = 4, .walltime = 2 * kHour});
        world.run(running, "work", "a", at(9));
    }
    int job(std::int64_t within, std::int64_t cpus = 4) {
        return world.job({.queue = "work", .ncpus = cpus, .queued = at(10), .start_within = within}, at(10));
    }
    static constexpr const char* kWhy = "Not enough free nodes available";
};

TEST_F(Immediate, AJobThatCanNotStartAtOnceIsRejected) {
    const int at_once = job(0);
    const int patient = world.job({.queue = "work", .ncpus = 4, .queued = at(10)}, at(10));
    const Outcome outcome = world.cycle(at(10), true, "default", CycleTrigger::job_new);
    EXPECT_THAT(outcome.rejected, ElementsAre(Pair(at_once, std::string("Not started within 0 s: ") + kWhy)));
    EXPECT_FALSE(outcome.comment.contains(at_once));
    EXPECT_TRUE(outcome.comment.contains(patient));
}

TEST_F(Immediate, AJobThatCanStartAtOnceStarts) {
    world.finish(running, at(10));
    const int at_once = job(0);
    EXPECT_THAT(world.cycle(at(10)).started, ElementsAre(at_once));
}

TEST_F(Immediate, ThereIsTimeUntilTheLastSecond) {
    const int soon = job(60);
    EXPECT_THAT(world.cycle(at(10)).rejected, IsEmpty());
    world.scheduler.tick(at(10));
    EXPECT_EQ(world.scheduler.next_deadline(at(10)), at(10) + Seconds(60)) << "the scheduler is woken";
    const Instant later = at(10) + Seconds(59);
    world.finish(running, later);
    EXPECT_THAT(world.cycle(later, true, "default", CycleTrigger::job_ended).started, ElementsAre(soon));
    EXPECT_THAT(world.cycle(at(10, 1)).rejected, IsEmpty());
}

TEST_F(Immediate, WhenTheTimeHasPassedItIsRejected) {
    const int soon = job(60);
    EXPECT_THAT(world.cycle(at(10), true, "default", CycleTrigger::job_new).rejected, IsEmpty());
    EXPECT_THAT(world.cycle(at(10, 1)).rejected,
                ElementsAre(Pair(soon, std::string("Not started within 60 s: ") + kWhy)));
}

TEST_F(Immediate, NeverWithoutTheAttribute) {
    world.policy().immediate = false;
    world.configure();
    (void)job(0);
    EXPECT_THAT(world.cycle(at(10)).rejected, IsEmpty());
}

TEST_F(Immediate, HeldAndRunningJobsAreLeftAlone) {
    JobOptions held{.queue = "work", .ncpus = 4, .queued = at(10), .state = 'H', .start_within = 0};
    (void)world.job(held, at(10));
    EXPECT_THAT(world.cycle(at(10)).rejected, IsEmpty());
    world.finish(running, at(11));
    const int starts = world.job({.queue = "work", .ncpus = 4, .queued = at(11), .start_within = 0}, at(11));
    EXPECT_THAT(world.cycle(at(11)).started, ElementsAre(starts));
    EXPECT_THAT(world.cycle(at(11, 1)).rejected, IsEmpty());
}

TEST_F(Immediate, ArraysAreLeftAlone) {
    JobOptions of_array{.queue = "work", .ncpus = 3, .subjob = 1, .queued = at(10), .start_within = 0};
    (void)world.job(of_array, at(10));
    EXPECT_THAT(world.cycle(at(10)).rejected, IsEmpty());
}

TEST_F(Immediate, AJobThatHasRunWaitsOn) {
    world.finish(running, at(10));
    const int first = job(60);
    EXPECT_THAT(world.cycle(at(10)).started, ElementsAre(first));
    JobOptions again = world.options(first);
    world.change(first, again, at(12));
    const int other = world.job({.queue = "work", .ncpus = 4}, at(12));
    world.run(other, "work", "a", at(12));
    ASSERT_FALSE(world.running(first));
    EXPECT_THAT(world.cycle(at(13)).rejected, IsEmpty());
}

TEST_F(Immediate, ATimeBelow0MeansNothing) {
    JobOptions below{.queue = "work", .ncpus = 4, .queued = at(10)};
    const int waits = world.job(below, at(10));
    world.scheduler.resource_defined({start_within, ResourceKind::integer, "start_within", false});
    below.start_within = 5;
    world.alter(waits, below, at(10));
    below.start_within = -1;
    world.alter(waits, below, at(10));
    EXPECT_THAT(world.cycle(at(11)).rejected, IsEmpty()) << "the request was taken back";
}

}  // namespace
}  // namespace pbs::sched::test
