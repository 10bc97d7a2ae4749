// Tests SORT_BY_PAST_USAGE: the order of jobs, compared with the algorithm in the documents; the charge for a
// start; and the decay of usage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "server_plugin/scheduler/model/past_usage.h"
#include "tests/scheduler/permutation.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;

// The algorithm in origin-facts, "The permutation by past usage", exactly as described there. It takes
// quadratic time.
std::vector<std::uint32_t> naive(std::span<const UsageJob> jobs, std::vector<std::int64_t> usage) {
    struct User {
        std::uint32_t user;
        std::vector<std::uint32_t> jobs;
    };
    // Users are in the order of their oldest jobs. (The list of jobs that is given has another order.)
    std::vector<std::uint32_t> given(jobs.size());
    std::iota(given.begin(), given.end(), 0U);
    std::ranges::stable_sort(given, {}, [&](std::uint32_t i) { return jobs[i].sequence; });
    std::vector<User> users;
    for (const std::uint32_t i : given)
        if (std::ranges::find(users, jobs[i].user, &User::user) == users.end())
            users.push_back(User{jobs[i].user, {}});
    for (std::uint32_t i = 0; i < jobs.size(); ++i)
        std::ranges::find(users, jobs[i].user, &User::user)->jobs.push_back(i);
    std::ranges::stable_sort(users, {}, [](const User& u) { return u.jobs.size(); });
    std::vector<std::uint32_t> result;
    std::size_t position = 0;
    while (!users.empty()) {
        std::int64_t least = usage[users[0].user];
        for (const User& u : users) least = std::min(least, usage[u.user]);
        if (position >= users.size()) position = 0;
        if (usage[users[position].user] != least)
            for (position = 0; usage[users[position].user] != least;) ++position;
        User& user = users[position];
        result.push_back(user.jobs.front());
        usage[user.user] += jobs[user.jobs.front()].charge;
        user.jobs.erase(user.jobs.begin());
        if (user.jobs.empty())
            users.erase(users.begin() + static_cast<std::ptrdiff_t>(position));
        else
            ++position;
    }
    return result;
}

TEST(PastUsagePermutation, EqualsTheNaiveWalk) {
    std::mt19937 random(1);
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    for (int round = 0; round < 3000; ++round) {
        const auto user_count = static_cast<std::uint32_t>(pick(1, 9));
        std::vector<std::int64_t> usage(user_count);
        // Choose from few values, so that equal usage is common.
        for (std::int64_t& u : usage) u = pick(0, 3) * (round % 2 == 0 ? 4 : 3);
        std::vector<UsageJob> jobs(static_cast<std::size_t>(pick(0, 40)));
        for (UsageJob& job : jobs)
            job = {static_cast<std::uint32_t>(pick(0, static_cast<int>(user_count) - 1)),
                   round % 3 == 0 ? (pick(0, 1) != 0 ? 40 : 4) : pick(0, 4)};
        std::vector<std::uint64_t> numbers(jobs.size());
        std::iota(numbers.begin(), numbers.end(), 1U);
        std::ranges::shuffle(numbers, random);
        for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].sequence = numbers[i];
        ASSERT_EQ(permute_by_past_usage(jobs, usage), naive(jobs, usage)) << "round " << round;
    }
}

TEST(PastUsagePermutation, EqualsTheNaiveWalkWithManyUsers) {
    std::mt19937 random(2);
    std::vector<UsageJob> jobs(1500);
    std::vector<std::int64_t> usage(200);
    for (std::int64_t& u : usage) u = std::uniform_int_distribution(0, 180'000)(random);
    for (UsageJob& job : jobs)
        job = {std::uniform_int_distribution<std::uint32_t>(0, 199)(random),
               std::uniform_int_distribution(0, 72'000)(random)};
    EXPECT_EQ(permute_by_past_usage(jobs, usage), naive(jobs, usage));
}

TEST(PastUsagePermutation, UsersStartInAscendingOrderOfTheirJobsAndTakeTurns) {
    // User 0 has three jobs, user 1 one, user 2 two. Nobody has usage, and all charges are equal.
    const std::vector<UsageJob> jobs = {{0, 1}, {0, 1}, {1, 1}, {2, 1}, {0, 1}, {2, 1}};
    EXPECT_THAT(permute_by_past_usage(jobs, {0, 0, 0}), ElementsAre(2, 3, 0, 5, 1, 4));
}

TEST(PastUsagePermutation, OfUsersWithAsManyJobsTheOneWithTheOldestJobComesFirst) {
    const std::vector<UsageJob> jobs = {{1, 8, 20}, {0, 1, 10}, {2, 4, 30}};
    EXPECT_THAT(permute_by_past_usage(jobs, {0, 0, 0}), ElementsAre(1, 0, 2));
    EXPECT_THAT(permute_by_past_usage(jobs, {1, 0, 0}), ElementsAre(0, 2, 1));
}

TEST(PastUsagePermutation, WhoUsedMuchComesLast) {
    const std::vector<UsageJob> jobs = {{0, 1}, {0, 1}, {1, 1}, {1, 1}, {1, 1}};
    EXPECT_THAT(permute_by_past_usage(jobs, {10, 0}), ElementsAre(2, 3, 4, 0, 1));
}

TEST(past_usage_charge, NodeHoursAndFlat) {
    EXPECT_DOUBLE_EQ(past_usage_charge(PastUsageCharge::node_hours, 4, Seconds(5400)), 6.0);
    EXPECT_DOUBLE_EQ(past_usage_charge(PastUsageCharge::flat, 4, Seconds(1200)), 1.0);
    EXPECT_DOUBLE_EQ(past_usage_charge(PastUsageCharge::flat, 4, Seconds(1201)), 10.0);
}

TEST(charge_units, AreNodeSecondsAndBounded) {
    EXPECT_EQ(charge_units(PastUsageCharge::node_hours, 4, Seconds(5400)), 4 * 5400);
    EXPECT_EQ(charge_units(PastUsageCharge::flat, 4, Seconds(1201)), 36'000);
    EXPECT_EQ(charge_units(PastUsageCharge::node_hours, 4, Seconds(-1)), 0);
    EXPECT_EQ(charge_units(PastUsageCharge::node_hours, INT64_MAX, Seconds(100)), std::int64_t{1} << 42);
    EXPECT_EQ(usage_units(1.5), 5400);
    EXPECT_EQ(usage_units(-1), 0);
    EXPECT_EQ(usage_units(1e300), std::int64_t{1} << 60);
}

struct SortByPastUsage : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override {
        s.sort_by_past_usage = {true};
        world.vnodes(8, {.name = "n", .ncpus = 64});
    }
};

TEST_F(SortByPastUsage, SORT_BY_PAST_USAGE_TheLeastActiveUserFirst) {
    const std::vector<UsageRow> usage = {{"staff", "ann", 100}, {"staff", "bob", 1}};
    world.scheduler.load_usage(usage, {}, at(0));
    const int ann = world.job({.owner = "ann", .nodes = 8});
    const int bob = world.job({.owner = "bob", .nodes = 1});
    const int bob2 = world.job({.owner = "bob", .nodes = 1});
    world.configure();
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(bob, bob2, ann));
    s.sort_by_past_usage = {false};
    world.configure();
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(ann, bob, bob2));
}

// Nobody has any usage, as at a new site.
TEST_F(SortByPastUsage, OfEqualUsersWithAsManyJobsTheOneWithTheOldestJobComesFirst) {
    const int ann = world.job({.owner = "ann", .nodes = 1});
    const int bob = world.job({.owner = "bob", .nodes = 8});
    world.configure();
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(ann, bob))
        << "though jobs of many nodes are sorted first";
}

TEST_F(SortByPastUsage, TheOldestJobCountsWhereverItIsSorted) {
    const int ann_old = world.job({.owner = "ann", .nodes = 1});
    const int bob = world.job({.owner = "bob", .nodes = 4});
    const int ann_new = world.job({.owner = "ann", .nodes = 4});
    const int bob_new = world.job({.owner = "bob", .nodes = 1});
    world.configure();
    // ann's jobs are sorted by their nodes. Still, her turn comes first, as the oldest job is hers.
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(ann_new, bob, ann_old, bob_new));
}

TEST_F(SortByPastUsage, TheKeyIsGroupAndUser) {
    const std::vector<UsageRow> usage = {{"g1", "ann", 100}};
    world.scheduler.load_usage(usage, {}, at(0));
    const int charged = world.job({.owner = "ann", .group = "g1", .nodes = 8});
    const int free = world.job({.owner = "ann", .group = "g2", .nodes = 1});
    world.configure();
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(free, charged));
}

TEST_F(SortByPastUsage, StartingAJobAddsItsCharge) {
    const int job = world.job({.owner = "ann", .nodes = 3, .walltime = 2 * kHour});
    world.configure();
    world.cycle(at(1));
    ASSERT_TRUE(world.running(job));
    const auto changes = world.scheduler.take_usage_changes();
    ASSERT_EQ(changes.usage.size(), 1U);
    EXPECT_EQ(changes.usage[0].user, "ann");
    EXPECT_EQ(changes.usage[0].group, "staff");
    EXPECT_DOUBLE_EQ(changes.usage[0].usage, 6.0);
    ASSERT_EQ(changes.charged.size(), 1U);
    EXPECT_EQ(changes.charged[0].job_id, "1.server");
    EXPECT_FALSE(world.scheduler.has_usage_changes());
    world.finish(job, at(2));
    EXPECT_THAT(world.scheduler.take_usage_changes().charges_gone, ElementsAre("1.server"));
}

// The host moves a job to the batch queue before it starts the job. So the queue's limits become the job's
// defaults, and the job's nodes change.
TEST_F(SortByPastUsage, TheChargeIsOfTheNodesThatTheJobWasStartedWith) {
    world.queue({.name = "batch", .nodes = 4, .max_mem = 8 * kGb});
    world.configure();
    const int job =
        world.job({.owner = "ann", .ncpus = 2, .mem = 8 * kGb, .walltime = 3 * kHour, .ssinodes = 1});
    world.run(job, "batch", "n", at(0));
    const auto changes = world.scheduler.take_usage_changes();
    ASSERT_EQ(changes.usage.size(), 1U);
    EXPECT_DOUBLE_EQ(changes.usage[0].usage, 3.0);
    const int next = world.job({.nodes = 3, .queued = at(1)});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(next)) << "three of the queue's four nodes are free";
}

TEST_F(SortByPastUsage, AJobFoundRunningAfterARestartIsNotChargedAgain) {
    const std::vector<UsageRow> usage = {{"staff", "ann", 6}};
    const std::vector<ChargeRow> charged = {{"1.server", "ann", "staff", 6}};
    world.scheduler.load_usage(usage, charged, at(0));
    world.configure();
    const int job = world.job({.owner = "ann", .nodes = 3, .walltime = 2 * kHour});
    world.run(job, "batch", "n", at(0));
    EXPECT_FALSE(world.scheduler.has_usage_changes());
    world.finish(job, at(1));
    EXPECT_THAT(world.scheduler.take_usage_changes().charges_gone, ElementsAre("1.server"));
    const int next = world.job({.owner = "ann", .nodes = 1, .walltime = kHour});
    world.run(next, "batch", "n", at(1));
    EXPECT_DOUBLE_EQ(world.scheduler.take_usage_changes().usage.at(0).usage, 7) << "the first one is over";
}

TEST(PastUsageOfJobs, AHostThatKeepsNoChangesIsToldOfNone) {
    PastUsage usage;
    usage.load({}, {}, at(0));
    const PastUsage::User ann{3, "staff", "ann"};
    usage.charge({1, "1.server"}, ann, 5);
    EXPECT_TRUE(usage.has_changes());
    usage.keep_changes(false);
    EXPECT_FALSE(usage.has_changes());
    usage.charge({2, "2.server"}, ann, 2);
    usage.charge({2, "2.server"}, ann, 2);
    usage.forget_job({1, "1.server"});
    usage.decay(at(24), 0.5);
    EXPECT_FALSE(usage.has_changes());
    EXPECT_DOUBLE_EQ(usage.usage_of(ann), 3.5);
    EXPECT_DOUBLE_EQ(usage.usage("staff", "ann"), 3.5);
    EXPECT_FALSE(usage.is_charged(1));
    EXPECT_TRUE(usage.is_charged(2));
}

// The job is requeued, and starts again before its first changes are written.
TEST(PastUsageOfJobs, OnlyAJobsLastChangeIsWritten) {
    PastUsage usage;
    usage.load({}, {}, at(0));
    const PastUsage::User ann{3, "staff", "ann"};
    usage.charge({1, "1.server"}, ann, 5);
    (void)usage.take_changes();
    usage.forget_job({1, "1.server"});
    usage.charge({1, "1.server"}, ann, 2);
    usage.charge({2, "2.server"}, ann, 2);
    usage.forget_job({2, "2.server"});
    const UsageChanges changes = usage.take_changes();
    ASSERT_EQ(changes.charged.size(), 1U);
    EXPECT_EQ(changes.charged[0].job_id, "1.server");
    EXPECT_DOUBLE_EQ(changes.charged[0].charge, 2);
    EXPECT_THAT(changes.charges_gone, ElementsAre("2.server"));
    EXPECT_FALSE(usage.has_changes());
}

TEST_F(SortByPastUsage, DECAY_FACTOR_EveryDayAndCaughtUpAfterTheServerWasDown) {
    s.decay_factor = 0.5;
    const std::vector<UsageRow> usage = {{"staff", "ann", 80}};
    world.scheduler.load_usage(usage, {}, at(0));
    world.configure();
    EXPECT_EQ(world.scheduler.next_deadline(at(1)), at(24));
    world.scheduler.tick(at(23, 59, 59));
    EXPECT_FALSE(world.scheduler.has_usage_changes());
    EXPECT_TRUE(world.scheduler.tick(at(24)).usage_changed);
    auto changes = world.scheduler.take_usage_changes();
    EXPECT_DOUBLE_EQ(changes.usage.at(0).usage, 40);
    EXPECT_EQ(changes.last_decay, at(24));
    world.scheduler.tick(at(24 * 4 + 5));  // three days later
    changes = world.scheduler.take_usage_changes();
    EXPECT_DOUBLE_EQ(changes.usage.at(0).usage, 5);
    EXPECT_EQ(changes.last_decay, at(24 * 4));
}

TEST_F(SortByPastUsage, SpecialAndWaitingJobsAreNotPermuted) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    const std::vector<UsageRow> usage = {{"staff", "ann", 100}};
    world.scheduler.load_usage(usage, {}, at(0));
    const int bob = world.job({.queue = "special", .owner = "bob", .nodes = 1});
    const int ann = world.job({.queue = "special", .owner = "ann", .nodes = 2});
    world.configure();
    EXPECT_THAT(world.cycle(at(1), false).started, ElementsAre(ann, bob));
}

}  // namespace
}  // namespace pbs::sched::test
