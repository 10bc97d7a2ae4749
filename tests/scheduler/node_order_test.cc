// node_sort_key: which vnodes are tried first.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;

struct NodeOrderCase {
    std::vector<SortKey> keys;
    std::vector<std::string> order;  // of the vnodes that jobs of one CPU each get
};

class NodeOrders : public testing::TestWithParam<NodeOrderCase> {};

TEST_P(NodeOrders, JobsGetTheFirstVnodesThatHaveRoom) {
    World world;
    world.policy().help_starving_jobs = false;
    world.policy().node_sort_key = GetParam().keys;
    world.queue({.name = "work"});
    world.vnode({.name = "small", .ncpus = 1, .mem = 8 * kGb, .priority = 5});
    world.vnode({.name = "large", .ncpus = 3, .mem = 2 * kGb, .priority = 1});
    world.vnode({.name = "other", .ncpus = 2, .mem = 8 * kGb, .priority = 5});
    world.configure();
    std::vector<int> jobs;
    for (int i = 0; i < 6; ++i) jobs.push_back(world.job({.queue = "work", .ncpus = 1}));
    const auto outcome = world.cycle(at(1));
    std::vector<std::string> order;
    for (const int job : jobs) order.push_back(outcome.vnodes.at(job).front());
    EXPECT_EQ(order, GetParam().order);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, NodeOrders,
    testing::Values(
        NodeOrderCase{{}, {"small", "large", "large", "large", "other", "other"}},
        NodeOrderCase{{{"sort_priority", true}}, {"small", "other", "other", "large", "large", "large"}},
        NodeOrderCase{{{"sort_priority", false}}, {"large", "large", "large", "small", "other", "other"}},
        NodeOrderCase{{{"ncpus", true}}, {"large", "large", "large", "other", "other", "small"}},
        NodeOrderCase{{{"ncpus", false}}, {"small", "other", "other", "large", "large", "large"}},
        NodeOrderCase{{{"mem", true}, {"ncpus", true}},
                      {"other", "other", "small", "large", "large", "large"}},
        // What nobody has defined, and what changes as jobs come and go, is passed over.
        NodeOrderCase{{{"color", true}, {"mem", false, true}, {"ncpus", false}},
                      {"small", "other", "other", "large", "large", "large"}}));

TEST(NodeOrder, HoldsForTheNextCycleAfterAChange) {
    World world;
    world.queue({.name = "work"});
    world.vnode({.name = "small", .ncpus = 1});
    world.vnode({.name = "large", .ncpus = 3});
    world.policy().node_sort_key = {{"ncpus", true}};
    world.configure();
    const int first = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1)).vnodes.at(first), ElementsAre("large"));
    world.policy().node_sort_key = {{"ncpus", false}};
    world.configure();
    const int second = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(2)).vnodes.at(second), ElementsAre("small"));
}

}  // namespace
}  // namespace pbs::sched::test
