// MANAGE_HPM_COUNTERS, as the cycle sees the counters.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;

struct Hpm : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override {
        world.vnodes(1, {.name = "n", .ncpus = 8});
        s.manage_hpm_counters = {true};
        s.hpm_ctl = "/usr/local/pbs/sbin/hpm_ctl";
    }
    Outcome cycle(Instant now = at(1)) {
        world.configure();
        return world.cycle(now);
    }
};

TEST_F(Hpm, MANAGE_HPM_COUNTERS_AJobThatAsksForThemWaitsForUserMode) {
    const int job = world.job({.nodes = 1, .hpm = 1});
    const int other = world.job({.nodes = 1});
    auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(other));
    EXPECT_EQ(outcome.comment.at(job), "Waiting for the HPM counters to be in user mode");
    EXPECT_TRUE(outcome.hpm_wanted);
    world.scheduler.set_hpm(HpmCounters::user);
    outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(job));
    EXPECT_TRUE(outcome.hpm_wanted) << "it isn't known as running yet";
    EXPECT_FALSE(cycle().hpm_wanted);
}

TEST_F(Hpm, MANAGE_HPM_COUNTERS_AreNotWantedForAJobThatCouldNotStartAnyway) {
    world.queue({.name = "batch", .max_running = 1});
    world.job({.nodes = 1});
    world.job({.nodes = 1, .hpm = 1});
    EXPECT_FALSE(cycle().hpm_wanted);
    world.job({.nodes = 1, .hpm = 0});
    EXPECT_FALSE(cycle().hpm_wanted) << "hpm=0 doesn't ask for them";
}

TEST_F(Hpm, MANAGE_HPM_COUNTERS_TellsWhetherAJobUsesThem) {
    world.scheduler.set_hpm(HpmCounters::user);
    const int job = world.job({.nodes = 1, .hpm = 1});
    EXPECT_THAT(cycle().started, ElementsAre(job));
    EXPECT_TRUE(world.scheduler.hpm_source(at(1), "default")->used);
    world.finish(job, at(2));
    EXPECT_FALSE(world.scheduler.hpm_source(at(2), "default")->used);
}

TEST_F(Hpm, MANAGE_HPM_COUNTERS_FromADateOn) {
    s.manage_hpm_counters = {false, at(2)};
    world.configure();
    EXPECT_FALSE(world.scheduler.hpm_source(at(1), "default"));
    EXPECT_TRUE(world.scheduler.hpm_source(at(2), "default"));
    const int job = world.job({.nodes = 1, .hpm = 1});
    EXPECT_THAT(cycle(at(1)).started, ElementsAre(job));
}

TEST_F(Hpm, REVOKE_HPM_COUNTERS_IsHandedOn) {
    world.configure();
    EXPECT_FALSE(world.scheduler.hpm_source(at(1), "default")->revoke);
    s.revoke_hpm_counters = {true};
    world.configure();
    EXPECT_TRUE(world.scheduler.hpm_source(at(1), "default")->revoke);
}

TEST_F(Hpm, TEST_ONLY_TheCountersAreLeftAlone) {
    s.test_only = {true};
    world.job({.nodes = 1, .hpm = 1});
    EXPECT_FALSE(cycle().hpm_wanted);
    EXPECT_FALSE(world.scheduler.hpm_source(at(1), "default"));
}

}  // namespace
}  // namespace pbs::sched::test
