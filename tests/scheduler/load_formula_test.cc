// Tests load_formula in node_sort_key: vnodes are ordered by their loads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kMemUsedPart = 100;

struct LoadFormula : testing::Test {
    World world;
    void SetUp() override {
        world.policy().help_starving_jobs = false;
        world.policy().load_formula = "np_load_avg";
        world.policy().node_sort_key = {{"load_formula", false}, {"sort_priority", true}};
        world.scheduler.resource_defined({kMemUsedPart, ResourceKind::real, "mem_used_part", false});
        world.queue({.name = "work"});
    }
    // Adds a vnode with 10 CPUs. `part` is its mem_used_part; it has none if `part` is negative.
    void vnode(const std::string& name, std::int64_t load, double part = -1, int priority = 0) {
        VnodeOptions o{.name = name, .ncpus = 10, .priority = priority, .load = load, .load_at = at(1)};
        if (part >= 0) o.more = {{kMemUsedPart, static_cast<std::int64_t>(part * 1e6)}};
        world.vnode(o);
    }
    std::string place(Instant now, std::int64_t ncpus = 1) {
        const int job = world.job({.queue = "work", .ncpus = ncpus, .walltime = 10 * kHour});
        const auto outcome = world.cycle(now);
        const auto found = outcome.vnodes.find(job);
        return found == outcome.vnodes.end() ? "nowhere" : found->second.at(0);
    }
};

// Values of the formula (load per CPU + 0.5 * mem_used_part): a: 0.1 + 0.5 * 0.2 = 0.2. b: 0.2 + 0.5 * 0 =
// 0.2. high: 0.4 + 0.5 * 1 = 0.9.
TEST_F(LoadFormula, IsComputedOverLoadsAndResources) {
    world.policy().load_formula = "np_load_avg + 0.5*mem_used_part";
    vnode("high", 4000, 1, 9);
    vnode("a", 1000, 0.2, 1);
    vnode("b", 2000, 0, 2);
    world.configure();
    EXPECT_EQ(place(at(9), 10), "b") << "a and b are equal, and b has the higher priority";
    EXPECT_EQ(place(at(9), 10), "a");
    EXPECT_EQ(place(at(9), 10), "high");
}

TEST_F(LoadFormula, PutsVnodesLastWhoseLoadIsNotKnown) {
    for (const bool high_first : {false, true}) {
        world.policy().node_sort_key = {{"load_formula", high_first}};
        vnode("unknown", -1);
        vnode("idle", 0);
        world.configure();
        const int job = world.job({.queue = "work", .ncpus = 1});
        EXPECT_THAT(world.cycle(at(9)).vnodes.at(job), ElementsAre("idle"));
        world.finish(job, at(9));
    }
    world.policy().load_formula = "1 / np_load_avg";
    vnode("known", 1000);
    world.configure();
    EXPECT_EQ(place(at(9)), "known") << "nothing is known of a division by zero";
}

TEST_F(LoadFormula, HasTheOrderRenewedAfterEachStart) {
    world.policy().job_load_adjustments = {{"np_load_avg", 1}};
    vnode("a", 0);
    vnode("b", 250);
    world.configure();
    std::vector<int> jobs;
    for (int i = 0; i < 5; ++i) jobs.push_back(world.job({.queue = "work", .ncpus = 1, .walltime = kHour}));
    const auto outcome = world.cycle(at(9));
    std::string order;
    for (const int job : jobs) order += outcome.vnodes.at(job).at(0);
    EXPECT_EQ(order, "ababa") << "a 0, b 0.025, a 0.1, b 0.125, a 0.2";
}

TEST_F(LoadFormula, FollowsMeasurements) {
    vnode("a", 0);
    vnode("b", 1000);
    world.configure();
    EXPECT_EQ(place(at(9)), "a");
    vnode("a", 2000);
    EXPECT_EQ(place(at(9)), "b");
    vnode("a", 500);
    EXPECT_EQ(place(at(9)), "a");
}

TEST_F(LoadFormula, CountsStartsLessAndLess) {
    world.policy().job_load_adjustments = {{"load_avg", 1}};
    world.policy().load_formula = "load_avg";
    vnode("a", 0);
    vnode("b", 3100);
    world.configure();
    EXPECT_EQ(place(at(9), 4), "a");
    EXPECT_EQ(place(at(9)), "b") << "4 on a, 3.1 on b";
    EXPECT_EQ(place(at(9, 4)), "a") << "1.87 on a, 3.57 on b";
    EXPECT_EQ(place(at(9, 20)), "a");
}

TEST_F(LoadFormula, ForgetsStartsThatWereNotCarriedOut) {
    world.policy().job_load_adjustments = {{"load_avg", 1}};
    world.policy().load_formula = "load_avg";
    vnode("a", 0);
    vnode("b", 500);
    world.configure();
    const int job = world.job({.queue = "work", .ncpus = 1, .walltime = kHour});
    for (int i = 0; i < 3; ++i) EXPECT_THAT(world.cycle(at(9), false).vnodes.at(job), ElementsAre("a"));
}

TEST_F(LoadFormula, WithoutItTheKeyIsNone) {
    world.policy().load_formula = "";
    vnode("a", 5000, -1, 1);
    vnode("b", 0);
    world.configure();
    EXPECT_EQ(place(at(9)), "a");
}

TEST_F(LoadFormula, ChunksOfOneJobGoByTheOrderBeforeIt) {
    world.policy().job_load_adjustments = {{"np_load_avg", 1}};
    vnode("a", 0);
    vnode("b", 500);
    world.configure();
    const int job = world.job({.queue = "work", .walltime = kHour, .select = "4:ncpus=1"});
    EXPECT_THAT(world.cycle(at(9)).vnodes.at(job), testing::Each("a"));
}

}  // namespace
}  // namespace pbs::sched::test
