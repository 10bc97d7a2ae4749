// Tests the order of the job list. The Origin tests show each rule of origin-facts, "Order of the job list"
// and "Waiting".

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;

// A machine with room for all jobs, so that they start in the order of the job list.
struct OriginOrder : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override { world.vnodes(20, {.name = "n", .ncpus = 256, .mem = 512 * kGb}); }
    std::vector<int> order(Instant now) {
        world.configure();
        return world.cycle(now, false).started;
    }
    void enforce_prime() {
        s.enforce_prime_time = {true};
        world.prime_time(8, 17);
    }
};

TEST_F(OriginOrder, PrimeTimeWalltimeAscendingThenNodesDescendingThenLongestEligible) {
    enforce_prime();
    const int late = world.job({.nodes = 4, .walltime = 600, .queued = at(2)});
    const int early = world.job({.nodes = 4, .walltime = 600, .queued = at(1)});
    const int longer = world.job({.nodes = 8, .walltime = 1200});
    const int bigger = world.job({.nodes = 6, .walltime = 600, .queued = at(3)});
    const int shortest = world.job({.nodes = 1, .walltime = 300});
    EXPECT_THAT(order(at(9)), ElementsAre(shortest, bigger, early, late, longer));
}

TEST_F(OriginOrder, NonPrimeTimeNodesDescendingThenWalltimeAscendingThenLongestEligible) {
    enforce_prime();
    const int late = world.job({.nodes = 4, .walltime = 600, .queued = at(2)});
    const int early = world.job({.nodes = 4, .walltime = 600, .queued = at(1)});
    const int longer = world.job({.nodes = 4, .walltime = 1200});
    const int biggest = world.job({.nodes = 6, .walltime = 6000});
    EXPECT_THAT(order(at(20)), ElementsAre(biggest, early, late, longer));
}

TEST_F(OriginOrder, WithoutEnforcementPrimeTimeHasTheNonPrimeOrder) {
    enforce_prime();
    s.enforce_prime_time = {false};
    const int small = world.job({.nodes = 1, .walltime = 300});
    const int big = world.job({.nodes = 6, .walltime = 6000});
    EXPECT_THAT(order(at(9)), ElementsAre(big, small));
}

TEST_F(OriginOrder, EnforcePrimeTimeFromADate) {
    enforce_prime();
    s.enforce_prime_time = {false, at(10)};
    const int small = world.job({.nodes = 1, .walltime = 300});
    const int big = world.job({.nodes = 6, .walltime = 6000});
    EXPECT_THAT(order(at(9, 59, 59)), ElementsAre(big, small));
    EXPECT_THAT(order(at(10)), ElementsAre(small, big));
}

TEST_F(OriginOrder, NodesCountTheLargerOfCpusAndMemory) {
    s.ssinode_mem = 512 * kMb;
    const int cpus = world.job({.ncpus = 7, .mem = 512 * kMb});            // counts as 4 nodes
    const int memory = world.job({.ncpus = 2, .mem = 4 * 512 * kMb + 1});  // counts as 5 nodes
    const auto started = world.cycle(at(0), false);
    world.configure();
    const auto outcome = world.cycle(at(0), false);
    EXPECT_THAT(outcome.started, ElementsAre(memory, cpus));
    EXPECT_EQ(outcome.ssinodes.at(cpus), 4);
    EXPECT_EQ(outcome.ssinodes.at(memory), 5);
}

TEST_F(OriginOrder, SsinodeCpusAndMemAreAttributes) {
    s.ssinode_cpus = 4;
    s.ssinode_mem = kGb;
    const int job = world.job({.ncpus = 9, .mem = 2 * kGb});
    world.configure();
    EXPECT_EQ(world.cycle(at(0), false).ssinodes.at(job), 3);
}

TEST_F(OriginOrder, LastTieBreakIsTheSequenceNumber) {
    const int first = world.job({.nodes = 2});
    const int second = world.job({.nodes = 2});
    const int third = world.job({.nodes = 2});
    EXPECT_THAT(order(at(1)), ElementsAre(first, second, third));
}

TEST_F(OriginOrder, ClassesWaitingSpecialNormalDedicatedRest) {
    world.queue({.name = "special"});
    world.queue({.name = "ext"});
    s.special_queue = {{"special"}};
    s.external_queues = {{"ext"}};
    s.max_queued_time = Seconds(48 * kHour);
    const int external = world.job({.queue = "ext", .nodes = 50, .queued = at(40)});
    const int normal = world.job({.nodes = 40, .queued = at(40)});
    const int special = world.job({.queue = "special", .nodes = 1, .queued = at(40)});
    const int waiting = world.job({.nodes = 1, .queued = at(0)});
    EXPECT_THAT(order(at(49)), ElementsAre(waiting, special, normal, external));
}

TEST_F(OriginOrder, SPECIAL_QUEUE_NodesDescending) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    const int small = world.job({.queue = "special", .nodes = 1, .queued = at(0)});
    const int big = world.job({.queue = "special", .nodes = 8, .queued = at(1)});
    EXPECT_THAT(order(at(2)), ElementsAre(big, small));
}

TEST_F(OriginOrder, ASpecialJobIsNeverWaiting) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    s.max_queued_time = Seconds(kHour);
    const int special = world.job({.queue = "special", .nodes = 9, .queued = at(0)});
    const int waiting = world.job({.nodes = 1, .queued = at(0)});
    EXPECT_THAT(order(at(5)), ElementsAre(waiting, special));
}

TEST_F(OriginOrder, EXTERNAL_QUEUES_InTheOrderOfArrival) {
    world.queue({.name = "ext"});
    s.external_queues = {{"ext"}};
    const int second = world.job({.queue = "ext", .nodes = 1, .walltime = 1, .queued = at(2)});
    const int first = world.job({.queue = "ext", .nodes = 9, .walltime = 9000, .queued = at(1)});
    EXPECT_THAT(order(at(3)), ElementsAre(first, second));
}

// ---- Jobs that have waited long (MAX_QUEUED_TIME), which come first.

TEST_F(OriginOrder, MAX_QUEUED_TIME_BatchJobWaitsWhenItsEligibleTimeExceedsIt) {
    s.max_queued_time = Seconds(2 * kHour);
    const int big = world.job({.nodes = 9, .queued = at(9)});
    const int old = world.job({.nodes = 1, .queued = at(1), .eligible = at(8)});
    EXPECT_THAT(order(at(10)), ElementsAre(big, old)) << "exactly two hours: not yet";
    EXPECT_THAT(order(at(10, 0, 1)), ElementsAre(old, big));
}

TEST_F(OriginOrder, MAX_QUEUED_TIME_ZeroSwitchesItOff) {
    const int old = world.job({.nodes = 1, .queued = at(0)});
    const int big = world.job({.nodes = 9, .queued = at(900)});
    EXPECT_THAT(order(at(1000)), ElementsAre(big, old));
}

TEST_F(OriginOrder, INTERACTIVE_LONG_WAIT_CountsBeyondTheWalltimeAndInPrimeTimeOnly) {
    enforce_prime();
    s.interactive_long_wait = Seconds(30 * kMinute);
    const int small = world.job({.nodes = 1, .walltime = 60, .queued = at(9)});
    const int interactive = world.job({.nodes = 1, .walltime = kHour, .interactive = true, .queued = at(8)});
    EXPECT_THAT(order(at(9, 30)), ElementsAre(small, interactive));
    EXPECT_THAT(order(at(9, 30, 1)), ElementsAre(interactive, small));
    EXPECT_THAT(order(at(18)), ElementsAre(small, interactive)) << "not in non-prime time";
}

TEST_F(OriginOrder, MAX_QUEUED_TIME_IsForInteractiveJobsTooUnlessTheyHaveATimeOfTheirOwn) {
    s.max_queued_time = Seconds(kHour);
    const int interactive = world.job({.nodes = 1, .interactive = true, .queued = at(0)});
    const int big = world.job({.nodes = 9, .queued = at(4, 30)});
    EXPECT_THAT(order(at(5)), ElementsAre(interactive, big));
    s.interactive_long_wait = Seconds(30 * kMinute);
    EXPECT_THAT(order(at(5)), ElementsAre(big, interactive)) << "which counts in prime time only";
}

TEST_F(OriginOrder, SMALL_QUEUED_TIME_SameSideNodesDescendingThenOldest) {
    s.max_queued_time = Seconds(kHour);
    s.small_queued_time = Seconds(kHour);
    const int younger = world.job({.nodes = 2, .walltime = 7200, .queued = at(1)});
    const int older = world.job({.nodes = 2, .walltime = 3600, .queued = at(0)});
    const int bigger = world.job({.nodes = 3, .walltime = 4000, .queued = at(2)});
    EXPECT_THAT(order(at(10)), ElementsAre(bigger, older, younger));
}

TEST_F(OriginOrder, SMALL_QUEUED_TIME_DifferentSidesLongestWalltimeFirst) {
    s.max_queued_time = Seconds(kHour);
    s.small_queued_time = Seconds(kHour);
    const int below = world.job({.nodes = 9, .walltime = 3599, .queued = at(0)});
    const int above = world.job({.nodes = 1, .walltime = 3600, .queued = at(1)});
    EXPECT_THAT(order(at(10)), ElementsAre(above, below));
}

// ---- The order of jobs with the standard algorithm.

struct StandardOrder : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.help_starving_jobs = false;
        world.queue({.name = "a", .priority = 10});
        world.queue({.name = "b", .priority = 20});
        world.vnodes(20, {.name = "n", .ncpus = 256, .mem = 512 * kGb});
    }
    std::vector<int> order(Instant now = at(1)) {
        world.configure();
        return world.cycle(now, false).started;
    }
};

TEST_F(StandardOrder, by_queue_TheQueueWithTheHighestPriorityFirst) {
    const int a = world.job({.queue = "a", .ncpus = 1, .queued = at(0)});
    const int b = world.job({.queue = "b", .ncpus = 1, .queued = at(0, 30)});
    EXPECT_THAT(order(), ElementsAre(b, a));
    s.by_queue = false;
    EXPECT_THAT(order(), ElementsAre(a, b));
}

TEST_F(StandardOrder, round_robin_OneJobFromEachQueueInTurn) {
    s.round_robin = true;
    const int a1 = world.job({.queue = "a", .ncpus = 1});
    const int a2 = world.job({.queue = "a", .ncpus = 1});
    const int a3 = world.job({.queue = "a", .ncpus = 1});
    const int b1 = world.job({.queue = "b", .ncpus = 1});
    const int b2 = world.job({.queue = "b", .ncpus = 1});
    EXPECT_THAT(order(), ElementsAre(b1, b2, a1, a2, a3)) << "b has the higher priority";
    world.queue({.name = "a", .priority = 20});
    EXPECT_THAT(order(), ElementsAre(a1, b1, a2, b2, a3));
}

TEST_F(StandardOrder, round_robin_all_QueuesOfAllPrioritiesInTurn) {
    s.round_robin = s.round_robin_all = true;
    const int a1 = world.job({.queue = "a", .ncpus = 1});
    const int a2 = world.job({.queue = "a", .ncpus = 1});
    const int b1 = world.job({.queue = "b", .ncpus = 1});
    const int b2 = world.job({.queue = "b", .ncpus = 1});
    EXPECT_THAT(order(), ElementsAre(b1, a1, b2, a2));
}

TEST_F(StandardOrder, job_sort_key_AJobWithoutAWalltimeCountsAs0) {
    s.by_queue = false;
    s.job_sort_key = {{"walltime", true}};
    const int none = world.job({.queue = "a", .ncpus = 1, .walltime = -1});
    const int asks = world.job({.queue = "a", .ncpus = 1, .walltime = 600});
    EXPECT_THAT(order(), ElementsAre(asks, none));
    s.job_sort_key = {{"walltime", false}};
    EXPECT_THAT(order(), ElementsAre(none, asks));
    s.job_sort_key = {};
    s.job_sort_formula = "-walltime";
    EXPECT_THAT(order(), ElementsAre(none, asks)) << "as the formula counts it";
}

TEST_F(StandardOrder, job_sort_key_HighAndLowOneAfterTheOther) {
    s.by_queue = false;
    s.job_sort_key = {{"ncpus", true}, {"mem", false}};
    const int few = world.job({.queue = "a", .ncpus = 1, .mem = kGb});
    const int many_big = world.job({.queue = "a", .ncpus = 4, .mem = 2 * kGb});
    const int many_small = world.job({.queue = "b", .ncpus = 4, .mem = kGb});
    EXPECT_THAT(order(), ElementsAre(many_small, many_big, few));
}

TEST_F(StandardOrder, job_sort_key_ManyKeysAreSortedToo) {
    s.by_queue = false;
    s.job_sort_key = {
        {"ngpus", true}, {"ncpus", true}, {"mem", false}, {"walltime", true}, {"job_priority", true}};
    const int low = world.job({.queue = "a", .ncpus = 1, .mem = kGb, .priority = -5});
    const int high = world.job({.queue = "a", .ncpus = 1, .mem = kGb, .priority = 7});
    const int longer = world.job({.queue = "a", .ncpus = 1, .mem = kGb, .walltime = 700});
    EXPECT_THAT(order(), ElementsAre(longer, high, low));
}

TEST_F(StandardOrder, job_sort_formula_DescendingWithResourcesAndEligibleTime) {
    s.by_queue = false;
    s.job_sort_formula = "ncpus * 1000 + eligible_time / 60 + 10 * job_priority - mem / 1024 / 1024";
    const int old = world.job({.queue = "a", .ncpus = 1, .queued = at(0)});                     // value 1060
    const int wide = world.job({.queue = "a", .ncpus = 2, .queued = at(1)});                    // value 2000
    const int fat = world.job({.queue = "b", .ncpus = 2, .mem = 3 * kGb, .queued = at(1)});     // value 1997
    const int urgent = world.job({.queue = "b", .ncpus = 1, .priority = 99, .queued = at(1)});  // value 1990
    EXPECT_THAT(order(), ElementsAre(wide, fat, urgent, old));
}

TEST_F(StandardOrder, job_sort_formula_IsAnExpressionOfPython) {
    s.by_queue = false;
    s.job_sort_formula = "ceil(ncpus / 3) ** 2 if walltime > 300 else ncpus ^ 6";
    const int one = world.job({.queue = "a", .ncpus = 4, .walltime = 600});   // value 4
    const int two = world.job({.queue = "a", .ncpus = 5});                    // value 3
    const int four = world.job({.queue = "a", .ncpus = 9, .walltime = 600});  // value 9
    EXPECT_THAT(order(), ElementsAre(four, one, two));
}

TEST_F(StandardOrder, job_sort_formula_WhatCannotBeComputedIs0) {
    s.by_queue = false;
    s.job_sort_formula = "1 - ncpus % 2 or 1 / (ncpus - 1)";
    const int zero = world.job({.queue = "a", .ncpus = 1});
    const int half = world.job({.queue = "a", .ncpus = 3});
    const int even = world.job({.queue = "a", .ncpus = 2});
    EXPECT_THAT(order(), ElementsAre(even, half, zero));
}

TEST_F(StandardOrder, job_sort_formula_QueuePriorityCounts) {
    s.by_queue = false;
    s.job_sort_formula = "queue_priority";
    const int a = world.job({.queue = "a", .ncpus = 1});
    const int b = world.job({.queue = "b", .ncpus = 1});
    EXPECT_THAT(order(), ElementsAre(b, a));
}

TEST_F(StandardOrder, job_sort_formula_ThatDoesNotCompileLeavesTheOldConfiguration) {
    world.configure();
    Configuration bad = world.configuration;
    bad.policies["p1"].job_sort_formula = "ncpus * (";
    const auto set = world.scheduler.set_configuration(bad);
    ASSERT_FALSE(set.has_value());
    EXPECT_THAT(set.error().message, testing::HasSubstr("policy p1: job_sort_formula \"ncpus * (\""));
    const int job = world.job({.queue = "a", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(job));
}

TEST_F(StandardOrder, help_starving_jobs_AfterMaxStarveAJobGoesFirst) {
    s.help_starving_jobs = true;
    s.max_starve = Seconds(24 * kHour);
    const int b = world.job({.queue = "b", .ncpus = 1, .queued = at(24)});
    const int old = world.job({.queue = "a", .ncpus = 1, .queued = at(0)});
    EXPECT_THAT(order(at(24)), ElementsAre(b, old));
    EXPECT_THAT(order(at(24, 0, 1)), ElementsAre(old, b));
}

TEST_F(StandardOrder, JobsRunInPlaceAndRouteQueuesAreLeftAlone) {
    world.queue({.name = "route", .execution = false});
    const int routed = world.job({.queue = "route", .ncpus = 1});
    const int a = world.job({.queue = "a", .ncpus = 1});
    world.configure();
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(a));
    EXPECT_EQ(outcome.queue.at(a), "a");
    EXPECT_FALSE(outcome.comment.contains(routed));
}

}  // namespace
}  // namespace pbs::sched::test
