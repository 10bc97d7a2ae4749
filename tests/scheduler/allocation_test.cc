// Tests the Origin options ENFORCE_ALLOCATION, which rejects jobs of groups that used up their allocation,
// and OA_DECAY_FACTOR, the decay factor for users of such groups.

#include "server_plugin/scheduler/model/allocations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kDir = "acct";

struct Allocation : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override {
        world.vnodes(4, {.name = "n", .ncpus = 64, .mem = 64 * kGb});
        s.enforce_allocation = {true};
        s.sched_acct_dir = kDir;
        world.scheduler.set_allocated(
            kDir, {{"staff", -1.0}, {"g10003", 1500.0}, {"g901", 0.0}, {"g10004", 100.0}});
        world.scheduler.set_used(kDir, {{"g10003", 234.779}, {"staff", 1e6}});
    }
    Outcome cycle(Instant now = at(1), bool apply = true) {
        world.configure();
        return world.cycle(now, apply);
    }
};

TEST_F(Allocation, ENFORCE_ALLOCATION_JobsOfAGroupThatUsedItsAllocationAreRejectedWithBothFigures) {
    world.scheduler.set_used(kDir, {{"g10003", 1500.0}, {"g10004", 99.9}});
    const int over = world.job({.group = "g10003", .nodes = 1});
    const int under = world.job({.group = "g10004", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_EQ(
        outcome.rejected.at(over),
        "Job rejected: group g10003 has used 1500.000 node-hours of its allocation of 1500.000 node-hours");
    EXPECT_THAT(outcome.started, ElementsAre(under));
}

TEST_F(Allocation, ENFORCE_ALLOCATION_MinusOneIsUnlimitedAndZeroIsNone) {
    const int unlimited = world.job({.group = "staff", .nodes = 1});
    const int none = world.job({.group = "g901", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(unlimited));
    EXPECT_EQ(outcome.rejected.at(none),
              "Job rejected: group g901 has used 0.000 node-hours of its allocation of 0.000 node-hours");
}

TEST_F(Allocation, ENFORCE_ALLOCATION_CountsForSpecialJobsToo) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    const int job = world.job({.queue = "special", .group = "g901", .nodes = 1});
    EXPECT_TRUE(cycle().rejected.contains(job));
}

TEST_F(Allocation, ENFORCE_ALLOCATION_FromADateOn) {
    s.enforce_allocation = {false, at(2)};
    const int job = world.job({.group = "g901", .nodes = 1});
    EXPECT_THAT(cycle(at(1), false).started, ElementsAre(job));
    EXPECT_TRUE(cycle(at(2)).rejected.contains(job));
}

TEST_F(Allocation, ENFORCE_ALLOCATION_AGroupThatIsNotInTheFileWaits) {
    const int job = world.job({.group = "guests", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_THAT(outcome.rejected, IsEmpty());
    EXPECT_EQ(outcome.comment.at(job), "Group guests is not in the allocations file");
}

TEST_F(Allocation, SCHED_ACCT_DIR_JobsWaitWhileItsFilesWereNeverRead) {
    s.sched_acct_dir = "another";
    const int job = world.job({.group = "staff", .nodes = 1});
    EXPECT_EQ(cycle().comment.at(job), "The allocations of groups can't be read");
    world.scheduler.set_allocated("another", {{"staff", 1.0}});
    EXPECT_THAT(cycle().started, IsEmpty()) << "`current` is missing";
    world.scheduler.set_used("another", {});
    EXPECT_THAT(cycle().started, ElementsAre(job));
}

TEST_F(Allocation, SCHED_ACCT_DIR_StartedJobsAreChargedUntilTheNextUpdate) {
    // The job of 10 nodes for 10 hours uses up the group's allocation of 100 node-hours.
    const int big = world.job({.group = "g10004", .nodes = 10, .walltime = 10 * kHour});
    EXPECT_THAT(cycle().started, ElementsAre(big));
    const int next = world.job({.group = "g10004", .nodes = 1});
    EXPECT_EQ(
        cycle(at(1), false).rejected.at(next),
        "Job rejected: group g10004 has used 100.000 node-hours of its allocation of 100.000 node-hours");
    world.finish(big, at(2));
    EXPECT_TRUE(cycle(at(2), false).rejected.contains(next)) << "`current` doesn't have it yet";
    world.scheduler.set_used(kDir, {{"g10004", 10.0}});  // the job ended after an hour
    EXPECT_THAT(cycle(at(3)).started, ElementsAre(next));
}

TEST_F(Allocation, SCHED_ACCT_DIR_AnUpdateDoesNotHaveWhatStillRuns) {
    const int running = world.job({.group = "g10004", .nodes = 10, .walltime = 10 * kHour});
    EXPECT_THAT(cycle().started, ElementsAre(running));
    world.scheduler.set_used(kDir, {{"g10004", 1.0}});
    const int next = world.job({.group = "g10004", .nodes = 1});
    EXPECT_EQ(
        cycle(at(2), false).rejected.at(next),
        "Job rejected: group g10004 has used 101.000 node-hours of its allocation of 100.000 node-hours");
}

TEST_F(Allocation, SCHED_ACCT_DIR_JobsOfTheSameCycleAreChargedToo) {
    const int first = world.job({.group = "g10004", .nodes = 10, .walltime = 10 * kHour});
    const int second = world.job({.group = "g10004", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(first));
    EXPECT_TRUE(outcome.rejected.contains(second));
}

TEST_F(Allocation, TEST_ONLY_NoJobIsRejected) {
    s.test_only = {true};
    world.job({.group = "g901", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.rejected, IsEmpty());
    EXPECT_THAT(outcome.log, ElementsAre(testing::HasSubstr("test_only: would reject job 1.server: ")));
}

TEST_F(Allocation, OA_DECAY_FACTOR_OfUsersWhoseGroupIsOverItsAllocation) {
    s.sort_by_past_usage = {true};
    s.decay_factor = 0.5;
    s.oa_decay_factor = 0.9;
    const std::vector<UsageRow> rows = {
        {"staff", "ann", 1000}, {"g10003", "bob", 1000}, {"g901", "eve", 1000}, {"guests", "dan", 1000}};
    world.scheduler.load_usage(rows, {}, at(0));
    world.configure();
    const auto usage_after = [&](Instant now) {
        world.scheduler.tick(now);
        std::map<std::string, double> usage;
        for (const UsageRow& row : world.scheduler.usage_rows()) usage[row.user] = row.usage;
        return usage;
    };
    auto usage = usage_after(at(24));
    EXPECT_DOUBLE_EQ(usage["ann"], 500);
    EXPECT_DOUBLE_EQ(usage["bob"], 500) << "under its allocation";
    EXPECT_DOUBLE_EQ(usage["eve"], 900);
    EXPECT_DOUBLE_EQ(usage["dan"], 500);
    // Before this time, the server was down for two days.
    usage = usage_after(at(72));
    EXPECT_DOUBLE_EQ(usage["ann"], 125);
    EXPECT_DOUBLE_EQ(usage["eve"], 729);
}

TEST_F(Allocation, OA_DECAY_FACTOR_CountsOnlyWhileAllocationsAreEnforced) {
    s.sort_by_past_usage = {true};
    s.enforce_allocation = {false};
    s.decay_factor = 0.5;
    world.scheduler.load_usage(std::vector<UsageRow>{{"g901", "eve", 1000}}, {}, at(0));
    world.configure();
    world.scheduler.tick(at(24));
    EXPECT_DOUBLE_EQ(world.scheduler.usage_rows().at(0).usage, 500);
}

TEST(Allocations, AJobIsChargedOnceUntilItRunsAgain) {
    Allocations allocations;
    allocations.set_allocated({{"g", 100}});
    allocations.set_used({});
    allocations.charge("1.server", "g", 10);
    allocations.charge("1.server", "g", 10);
    EXPECT_EQ(allocations.of("g").used, 10);
    allocations.job_ended("1.server");
    allocations.charge("1.server", "g", 10);
    EXPECT_EQ(allocations.of("g").used, 20) << "it was run again";
    allocations.job_ended("1.server");
    allocations.set_used({{"g", 3}});
    EXPECT_EQ(allocations.of("g").used, 3);
}

}  // namespace
}  // namespace pbs::sched::test
