// Tests load_balancing: no job starts on a host that has reached its maximal load.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/placement/inventory.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kAtMaximum = "Not Running: Load of hosts is at its maximum";

struct LoadBalancing : testing::Test {
    World world;
    VnodeOptions n{.name = "n", .ncpus = 16, .load = 1500, .load_at = at(1), .max_load = 4000};
    void SetUp() override {
        world.policy().load_balancing = true;
        world.policy().help_starving_jobs = false;
        world.queue({.name = "work"});
        world.vnode(n);
        world.configure();
    }
    int job(std::int64_t ncpus = 1) { return world.job({.queue = "work", .ncpus = ncpus}); }
    void tell(std::int64_t load, Instant measured, bool busy = false) {
        n.load = load;
        n.load_at = measured;
        n.busy = busy;
        world.vnode(n);
    }
};

TEST_F(LoadBalancing, NoJobStartsAtTheMaximum) {
    tell(4000, at(1));
    const int first = job();
    EXPECT_EQ(world.cycle(at(1)).comment.at(first), kAtMaximum);
    tell(3999, at(1, 1));
    EXPECT_THAT(world.cycle(at(1, 1)).started, ElementsAre(first));
}

TEST_F(LoadBalancing, JobsThatHaveJustStartedCountWithTheirCpus) {
    const int first = job(2);
    const int second = job();
    const int third = job();
    auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(first, second)) << "3500 after the first, 4500 after the second";
    EXPECT_EQ(outcome.comment.at(third), kAtMaximum);
    EXPECT_THAT(world.cycle(at(1, 1)).started, IsEmpty()) << "as long as the load isn't measured";
    tell(3000, at(1, 2));
    EXPECT_THAT(world.cycle(at(1, 2)).started, ElementsAre(third));
}

TEST_F(LoadBalancing, AJobThatEndsBeforeTheLoadIsMeasuredCountsNoMore) {
    const int first = job(3);
    const int second = job();
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first));
    world.finish(first, at(1, 1));
    EXPECT_THAT(world.cycle(at(1, 1)).started, ElementsAre(second));
}

TEST_F(LoadBalancing, AJobThatWasRunningWhenTheLoadWasMeasuredIsPartOfIt) {
    const int first = job(3);
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first));
    tell(3900, at(2));
    const int second = job();
    EXPECT_THAT(world.cycle(at(2)).started, ElementsAre(second));
}

TEST_F(LoadBalancing, ABusyHostGetsNoJobs) {
    tell(2000, at(1), true);
    const int first = job();
    EXPECT_EQ(world.cycle(at(1)).comment.at(first), kAtMaximum);
    tell(900, at(1, 1), false);
    EXPECT_THAT(world.cycle(at(1, 1)).started, ElementsAre(first));
}

TEST_F(LoadBalancing, VnodesOfAHostShareItsLoad) {
    for (const char* name : {"a", "b"}) {
        VnodeOptions o = n;
        o.name = name;
        o.host = "h";
        world.vnode(o);
    }
    tell(9000, at(1));
    const int first = job(3);
    const int second = job();
    auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(first));
    EXPECT_EQ(outcome.comment.at(second), kAtMaximum) << "b is of the same host as a";
}

TEST_F(LoadBalancing, OtherHostsAreTaken) {
    tell(4000, at(1));
    world.vnode({.name = "quiet", .ncpus = 2, .load = 0, .load_at = at(1), .max_load = 4000});
    world.vnode({.name = "unknown", .ncpus = 2});
    const int first = job(2);
    const int second = job(2);
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.vnodes.at(first), ElementsAre("quiet"));
    EXPECT_THAT(outcome.vnodes.at(second), ElementsAre("unknown")) << "nobody knows of its load";
}

TEST_F(LoadBalancing, WithoutItTheLoadDoesNotCount) {
    tell(9000, at(1), true);
    world.policy().load_balancing = false;
    world.configure();
    const int first = job();
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first));
}

// If a host has a maximal load, each measurement counts as a change, even if it gives the same load: after
// it, running jobs count less.
TEST_F(LoadBalancing, EachMeasurementMattersWhereThereIsAMaximum) {
    Interner strings;
    Resources resources;
    resources.define({ncpus, ResourceKind::integer, "ncpus", true});
    Inventory inventory(strings);
    const auto changed = [&](std::int64_t load, Instant measured, std::int64_t most = 4000) {
        VnodeRecord record;
        record.vnode = VnodeHandle(1);
        record.name = record.host = "n";
        record.load_thousandths = load;
        record.load_at = measured;
        record.max_load_thousandths = most;
        return inventory.change(record, resources);
    };
    EXPECT_TRUE(changed(1000, at(1))) << "a new vnode";
    EXPECT_FALSE(changed(1000, at(1)));
    EXPECT_TRUE(changed(1000, at(2)));
    EXPECT_TRUE(changed(2000, at(2)));
    EXPECT_TRUE(changed(2000, at(3), -1));
    EXPECT_FALSE(changed(5000, at(4), -1));
}

}  // namespace
}  // namespace pbs::sched::test
