// Tests the Origin option MANAGE_HPM_COUNTERS: a job that requests the hardware counters waits until they are
// in user mode.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

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
    std::vector<Question> question(Instant now) {
        return world.scheduler.questions(now, "default", "hpm_counters");
    }
};

TEST_F(Hpm, MANAGE_HPM_COUNTERS_AJobThatAsksForThemWaitsForUserMode) {
    const int job = world.job({.nodes = 1, .hpm = 1});
    const int other = world.job({.nodes = 1});
    auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(other));
    EXPECT_EQ(outcome.comment.at(job), "Waiting for the HPM counters to be in user mode");
    EXPECT_TRUE(outcome.wants.contains("hpm_counters"));
    world.scheduler.set_told("hpm_counters", "user");
    outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(job));
    EXPECT_TRUE(outcome.wants.contains("hpm_counters")) << "it isn't known as running yet";
    EXPECT_FALSE(cycle().wants.contains("hpm_counters"));
}

TEST_F(Hpm, MANAGE_HPM_COUNTERS_AreNotWantedForAJobThatCouldNotStartAnyway) {
    world.queue({.name = "batch", .max_running = 1});
    world.job({.nodes = 1});
    world.job({.nodes = 1, .hpm = 1});
    EXPECT_FALSE(cycle().wants.contains("hpm_counters"));
    world.job({.nodes = 1, .hpm = 0});
    EXPECT_FALSE(cycle().wants.contains("hpm_counters")) << "hpm=0 doesn't ask for them";
}

TEST_F(Hpm, MANAGE_HPM_COUNTERS_AreNotWantedForAnEstimate) {
    s.estimate_depth = 10;
    world.scheduler.set_tell_estimates(true);
    const int whole = world.job({.ncpus = 8});
    EXPECT_THAT(cycle().started, ElementsAre(whole));
    const int waits = world.job({.ncpus = 8, .hpm = 1});
    const Outcome outcome = cycle(at(1, 10));
    EXPECT_THAT(outcome.started, testing::IsEmpty());
    EXPECT_TRUE(outcome.comment.contains(waits));
    EXPECT_FALSE(outcome.wants.contains("hpm_counters"));
}

TEST_F(Hpm, MANAGE_HPM_COUNTERS_TellsWhetherAJobUsesThem) {
    world.scheduler.set_told("hpm_counters", "user");
    const int job = world.job({.nodes = 1, .hpm = 1});
    EXPECT_THAT(cycle().started, ElementsAre(job));
    EXPECT_TRUE(question(at(1)).at(0).argument == "user");
    world.finish(job, at(2));
    EXPECT_FALSE(question(at(2)).at(0).argument == "user");
}

TEST_F(Hpm, MANAGE_HPM_COUNTERS_FromADateOn) {
    s.manage_hpm_counters = {false, at(2)};
    world.configure();
    EXPECT_THAT(question(at(1)), IsEmpty());
    EXPECT_THAT(question(at(2)), SizeIs(1));
    const int job = world.job({.nodes = 1, .hpm = 1});
    EXPECT_THAT(cycle(at(1)).started, ElementsAre(job));
}

TEST_F(Hpm, REVOKE_HPM_COUNTERS_IsHandedOn) {
    world.configure();
    EXPECT_FALSE(question(at(1)).at(0).revoke);
    s.revoke_hpm_counters = {true};
    world.configure();
    EXPECT_TRUE(question(at(1)).at(0).revoke);
}

TEST_F(Hpm, TEST_ONLY_TheCountersAreLeftAlone) {
    s.test_only = {true};
    world.job({.nodes = 1, .hpm = 1});
    EXPECT_FALSE(cycle().wants.contains("hpm_counters"));
    EXPECT_THAT(question(at(1)), IsEmpty());
}

}  // namespace
}  // namespace pbs::sched::test
