// Lazy commenting (origin-overview, "Lazy Commenting"), and that comments say what gates said.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/reason.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::IsEmpty;

struct Comments : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override {
        world.vnode({.name = "n", .ncpus = 8});
        world.queue({.name = "batch", .nodes = 2});
        const int running = world.job({.nodes = 2, .walltime = 100 * hour});
        world.run(running, "batch", "n", at(0));
        world.configure();
    }
};

TEST_F(Comments, AJobThatArrivedAfterTheLastCycleGetsOne) {
    world.cycle(at(1));
    // It has a comment of somebody's that is new, but the scheduler hasn't seen the job before.
    const int job = world.job({.nodes = 1, .has_comment = true, .modified = at(1, 1)});
    EXPECT_TRUE(world.cycle(at(1, 2)).comment.contains(job));
}

TEST_F(Comments, AJobWithoutOneGetsOneInEachCycleUntilItHasIt) {
    const int job = world.job({.nodes = 1});
    EXPECT_TRUE(world.cycle(at(1), false).comment.contains(job));
    EXPECT_TRUE(world.cycle(at(1), false).comment.contains(job)) << "the host didn't set it";
}

TEST_F(Comments, AnotherReasonIsToldOnly300SecondsAfterTheLastModification) {
    const int job = world.job({.nodes = 2});
    world.cycle(at(1));
    world.queue({.name = "batch", .max_running = 1, .nodes = 2});
    EXPECT_THAT(world.cycle(at(1, 4, 59)).comment, IsEmpty());
    EXPECT_EQ(world.cycle(at(1, 5)).comment.at(job), "Queue batch runs its limit of 1 jobs");
}

TEST_F(Comments, TheSameTextIsNotSetAgain) {
    world.job({.nodes = 1});
    EXPECT_EQ(world.cycle(at(1)).comment.size(), 1U);
    EXPECT_THAT(world.cycle(at(2)).comment, IsEmpty());
}

TEST_F(Comments, ARejectionIsNeverLazy) {
    const int job = world.job({.nodes = 3, .has_comment = true});
    EXPECT_EQ(world.cycle(at(1), false).rejected.count(job), 1U);
    EXPECT_EQ(world.cycle(at(1), false).rejected.count(job), 1U);
}

TEST(CommentText, InstantsThatFollowEachOtherAreWrittenAsAloneOnes) {
    for (const char* name : {"America/Los_Angeles", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"}) {
        const rrule::Zone zone = rrule::Zone::find(name).value();
        LastCtime last;
        Instant t{
            std::chrono::sys_days{std::chrono::year{2026} / 10 / 1}};  // clocks change in October, November
        const Instant end = t + std::chrono::days(45);
        for (int step = 1; t < end; step = (step * 7) % 1009) {
            ASSERT_EQ(ctime_text(t, zone, last), ctime_text(t, zone)) << name;
            t += Seconds(step % 61);
        }
        t -= Seconds(1);
        EXPECT_EQ(ctime_text(t, zone, last), ctime_text(t, zone)) << "back in time";
    }
}

TEST(CommentText, TimesAreThoseOfTheServersZone) {
    World world(rrule::Zone::find("America/Los_Angeles").value());
    world.origin();
    world.vnode({.name = "n", .ncpus = 8});
    world.configure();
    const int job = world.job({.nodes = 1});
    EXPECT_EQ(world.cycle(at(1)).comment.at(job), "Started on Sun Nov 22 17:00:00 2026");
}

}  // namespace
}  // namespace pbs::sched::test
