// Tests the policy attribute max_run_subjobs: a limit on the running subjobs of each array.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ArrayLimit : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.max_run_subjobs = 2;
        world.queue({.name = "work"});
        world.vnode({.name = "a", .ncpus = 8});
        world.configure();
        world.scheduler.set_tell_estimates(true);
    }
    int subjob(int array, int index, std::int64_t walltime = kHour) {
        return world.job({.queue = "work", .ncpus = 1, .walltime = walltime, .subjob = index, .array = array},
                         at(8));
    }
};

TEST_F(ArrayLimit, CountsTheSubjobsOfEachArray) {
    const int first = subjob(100, 1);
    const int second = subjob(100, 2);
    const int third = subjob(100, 3);
    const int other = subjob(200, 3);
    const int job = world.job({.queue = "work", .ncpus = 1}, at(8));
    const Outcome outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.started, ElementsAre(first, second, other, job));
    EXPECT_THAT(outcome.comment.at(third), HasSubstr("2 subjobs of the array are running, the most that"));
}

TEST_F(ArrayLimit, TheEndOfASubjobLetsTheNextOneStart) {
    const int first = subjob(100, 1);
    (void)subjob(100, 2);
    const int third = subjob(100, 3);
    const int other = subjob(200, 1);
    (void)world.cycle(at(9));
    world.finish(other, at(9, 1));
    EXPECT_THAT(world.cycle(at(9, 1)).started, IsEmpty()) << "it was of another array";
    world.finish(first, at(9, 2));
    EXPECT_THAT(world.cycle(at(9, 2)).started, ElementsAre(third));
}

TEST_F(ArrayLimit, EstimatesCountOnTheEndsOfSubjobs) {
    s.strict_ordering = true;
    s.backfill_depth = 1;
    s.help_starving_jobs = false;
    world.configure();
    (void)subjob(100, 1, 2 * kHour);
    (void)subjob(100, 2, 3 * kHour);
    const int third = subjob(100, 3);
    const Outcome outcome = world.cycle(at(9));
    EXPECT_EQ(outcome.expected.at(third), at(11));
}

TEST_F(ArrayLimit, ChangesAreSeenAtOnce) {
    (void)subjob(100, 1);
    (void)subjob(100, 2);
    const int third = subjob(100, 3);
    (void)world.cycle(at(9));
    s.max_run_subjobs = 3;
    world.configure();
    EXPECT_THAT(world.cycle(at(9, 1)).started, ElementsAre(third));
    s.max_run_subjobs = 0;
    world.configure();
    const int fourth = subjob(100, 4);
    EXPECT_THAT(world.cycle(at(9, 2)).started, ElementsAre(fourth)) << "0: no limit";
}

}  // namespace
}  // namespace pbs::sched::test
