// Tests limits that a site adds: one is a row of limit_filter(); the other counts by itself and is checked
// for each vnode.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/further_rules.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;

// A site with the standard profile and an added filter, and with two vnodes of eight CPUs.
struct AddedLimit : testing::Test {
    std::vector<const Filter*> filters;
    Profile profile;
    World world;
    void add(const Filter& filter) {
        Settings standard;
        standard.algorithm = Algorithm::standard;
        profile = profile_of(standard);
        filters.assign(profile.filters.begin(), profile.filters.end());
        filters.push_back(&filter);
        profile.filters = filters;
        Settings& s = world.policy();
        s.profile = &profile;
        s.strict_ordering = true;
        s.backfill_depth = 1;
        world.queue({.name = "q"});
        world.vnode({.name = "a", .ncpus = 8});
        world.vnode({.name = "b", .ncpus = 8});
        world.configure();
    }
    int job(const std::string& owner, std::int64_t cpus, std::int64_t hours) {
        return world.job({.queue = "q", .owner = owner, .ncpus = cpus, .walltime = hours * kHour});
    }
};

TEST_F(AddedLimit, ALimitOfOneRowRefusesWithItsWords) {
    add(kTwoJobs);
    const int first = job("u", 1, 1);
    const int second = job("u", 1, 1);
    const int third = job("u", 1, 1);
    const int other = job("v", 1, 1);
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(first, second, other));
    EXPECT_EQ(outcome.comment.at(third), "Not Running: User has two jobs running");
    world.finish(first, at(2));
    EXPECT_THAT(world.cycle(at(2), true, "default", CycleTrigger::job_ended).started, ElementsAre(third));
}

// u's waiting job is expected to start while u's running job still runs, which makes two. So no third job of
// u may start.
TEST_F(AddedLimit, ALimitOfOneRowIsKeptForAJobWithAReservation) {
    add(kTwoJobs);
    const int in_the_way = job("v", 8, 2);
    const int long_one = job("u", 4, 9);
    ASSERT_THAT(world.cycle(at(1)).started, ElementsAre(in_the_way, long_one));
    const int top = job("u", 8, 1);
    const int third = job("u", 1, 9);
    const int others = job("w", 1, 9);
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(others));
    world.finish(in_the_way, at(2));
    EXPECT_THAT(world.cycle(at(2)).started, ElementsAre(top));
    EXPECT_FALSE(world.running(third));
}

TEST_F(AddedLimit, OnVnodesSendsJobsToOtherVnodes) {
    add(kToyQuota);
    const int first = job("u", 4, 1);
    const int second = job("u", 4, 1);
    const int third = job("u", 3, 1);
    const int other = job("v", 4, 1);
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(first, second, other));
    EXPECT_NE(outcome.vnodes.at(first), outcome.vnodes.at(second));
    EXPECT_EQ(outcome.comment.at(third), "Not Running: User has six CPUs of each vnode");
    world.finish(second, at(2));
    EXPECT_THAT(world.cycle(at(2), true, "default", CycleTrigger::job_ended).started, ElementsAre(third));
}

// u's third job has to wait until another job of u ends. A cycle after the arrival of v's job doesn't
// consider it.
TEST_F(AddedLimit, OnVnodesLetsAJobWaitForTheUsersOthers) {
    add(kToyQuota);
    world.policy().strict_ordering = false;
    world.policy().backfill_depth = 0;
    world.configure();
    const int first = job("u", 6, 2);
    const int second = job("u", 6, 2);
    const int third = job("u", 2, 1);
    ASSERT_THAT(world.cycle(at(1)).started, ElementsAre(first, second));
    const int other = job("v", 1, 1);
    const auto outcome = world.cycle(at(1), true, "default", CycleTrigger::job_new);
    EXPECT_THAT(outcome.started, ElementsAre(other));
    EXPECT_EQ(outcome.considered, 1) << "and not the third job";
    world.finish(first, at(2));
    EXPECT_THAT(world.cycle(at(2), true, "default", CycleTrigger::job_ended).started, ElementsAre(third));
}

// u has three CPUs on vnode a, and on b as many as one user may have. So u's next job waits for a, and no job
// of u that would delay it starts.
TEST_F(AddedLimit, OnVnodesIsKeptForAJobWithAReservation) {
    add(kToyQuota);
    const int first = job("u", 3, 2);
    const int second = job("u", 6, 9);
    ASSERT_THAT(world.cycle(at(1)).started, ElementsAre(first, second));
    const int top = job("u", 6, 1);
    const int long_one = job("u", 1, 9);
    const int short_one = job("u", 1, 1);
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(short_one));
    world.finish(first, at(2));
    world.finish(short_one, at(2));
    EXPECT_THAT(world.cycle(at(2)).started, ElementsAre(top));
    EXPECT_FALSE(world.running(long_one));
}

}  // namespace
}  // namespace pbs::sched::test
