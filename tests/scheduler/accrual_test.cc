// Tests eligible time, which grows only while a job waits for certain reasons; and
// job_sort_formula_threshold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/cases.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;
using enum AccrueType;

struct AccrualTest : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.by_queue = false;
        world.configuration.scheds["default"] = {.all_time = "p1"};
        world.queue({.name = "q"});
        world.vnodes(1, {.name = "n", .ncpus = 4});
        world.scheduler.set_comment_interval(Seconds(0));
        world.configure();
    }
    void server(bool counts, const std::vector<LimitOptions>& limits = {}, Instant since = at(0)) {
        const auto records = records_of(limits);
        ServerRecord server;
        server.name = server.host_name = "svr";
        server.limits = records;
        if (counts) server.eligible_since = since;
        world.server(server);
    }
    int job(std::string owner, std::int64_t cpus = 1, Instant now = at(0)) {
        return world.job(
            {.queue = "q", .owner = std::move(owner), .ncpus = cpus, .walltime = kHour, .queued = now}, now);
    }
};

TEST_F(AccrualTest, NobodyIsToldWhereItIsNotCounted) {
    server(false, {{.entity = EntityKind::user, .most = 1}});
    job("ann", 4);
    job("ann", 4);
    EXPECT_THAT(world.cycle(at(1)).accrue, IsEmpty());
}

TEST_F(AccrualTest, JobsThatLimitsOfTheirOwnersHoldBackGainNothing) {
    server(true, {{.entity = EntityKind::user, .most = 1}});
    const int runs = job("ann", 4);
    const int over = job("ann");
    const int waits = job("bob");
    const int would_be_over = job("bob");
    const Outcome first = world.cycle(at(1));
    EXPECT_THAT(first.started, ElementsAre(runs));
    EXPECT_THAT(first.accrue, UnorderedElementsAre(Pair(over, ineligible), Pair(waits, eligible),
                                                   Pair(would_be_over, ineligible)));
    EXPECT_THAT(world.cycle(at(2)).accrue, IsEmpty()) << "what was told before";
    world.finish(waits, at(3));
    EXPECT_THAT(world.cycle(at(3)).accrue, ElementsAre(Pair(would_be_over, eligible)));
}

TEST_F(AccrualTest, LimitsOnAllAndWantOfRoomCount) {
    server(true, {{.entity = EntityKind::all, .most = 1}});
    job("ann");
    const int waits = job("ann");
    EXPECT_THAT(world.cycle(at(1)).accrue, ElementsAre(Pair(waits, eligible)));
}

TEST_F(AccrualTest, WhoIsBeyondASoftLimitGainsNothing) {
    server(true, {{.entity = EntityKind::user, .most = 1, .soft = true}});
    job("ann", 2);
    job("ann", 2);
    const int waits = job("ann", 2);
    EXPECT_THAT(world.cycle(at(1)).accrue, ElementsAre(Pair(waits, ineligible)));
}

TEST_F(AccrualTest, TheFormulaHasWhatWasCounted) {
    s.job_sort_formula = "eligible_time";
    world.configure();
    server(true, {{.entity = EntityKind::user, .name = "ann", .most = 1}}, at(1));
    const int runs = job("ann", 4);
    const int over = job("ann");
    const int later = job("bob", 4, at(2));
    world.cycle(at(1));
    world.cycle(at(2));
    EXPECT_EQ(world.accrual(over).type, ineligible);
    EXPECT_EQ(world.accrual(later).type, eligible);
    world.finish(runs, at(3));
    EXPECT_THAT(world.cycle(at(3)).started, ElementsAre(later)) << "the other one is older";
}

// After random events, each waiting job has the accrual type that follows from counting its owner's jobs
// anew.
TEST(Accruals, AreThoseOfCountingAnewAfterAnyEvents) {
    for (unsigned seed = 1; seed <= static_cast<unsigned>(pbs::test::cases(60)); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
        World world;
        world.paste_on_failure();
        world.policy().by_queue = false;
        world.configuration.scheds["default"] = {.all_time = "p1"};
        world.queue({.name = "q"});
        world.vnodes(1, {.name = "n", .ncpus = pick(1, 6)});
        world.configure();
        const int most = pick(1, 3);
        const auto records = records_of({{.entity = EntityKind::user, .most = most}});
        ServerRecord server;
        server.name = server.host_name = "svr";
        server.limits = records;
        server.eligible_since = at(0);
        world.server(server);
        std::set<int> jobs;
        Instant now = at(1);
        for (int step = 0; step < 60; ++step) {
            now += Seconds(pick(1, 100));
            if (jobs.size() < 3 || pick(1, 100) <= 60) {
                jobs.insert(world.job({.queue = "q",
                                       .owner = "u" + std::to_string(pick(1, 3)),
                                       .ncpus = pick(1, 2),
                                       .walltime = kHour,
                                       .queued = now},
                                      now));
            } else {
                const auto gone = std::next(jobs.begin(), pick(0, static_cast<int>(jobs.size()) - 1));
                world.finish(*gone, now);
                jobs.erase(gone);
            }
            world.cycle(now);
            std::map<std::string, int> use;
            for (const int job : jobs) use[world.options(job).owner] += world.running(job) ? 1 : 0;
            for (const int job : jobs) {
                if (world.running(job)) continue;
                const bool gains = use[world.options(job).owner]++ < most;
                ASSERT_EQ(world.accrual(job).type, gains ? eligible : ineligible) << "job " << job;
            }
        }
    }
}

struct ThresholdTest : AccrualTest {
    void SetUp() override {
        AccrualTest::SetUp();
        s.job_sort_formula = "ncpus";
        s.job_sort_formula_threshold = 2;
        world.configure();
    }
};

TEST_F(ThresholdTest, JobsThatAreNotAboveItDoNotStart) {
    const int above = job("ann", 3);
    const int at_it = job("ann", 2);
    const Outcome first = world.cycle(at(1));
    EXPECT_THAT(first.started, ElementsAre(above));
    EXPECT_EQ(first.comment.at(at_it), "Not Running: Job is under job_sort_formula threshold value");
    const int next = job("ann", 1, at(2));
    EXPECT_THAT(world.cycle(at(2)).started, IsEmpty()) << "after an event";
    world.finish(above, at(3));
    world.alter(next, {.queue = "q", .ncpus = 4, .walltime = kHour}, at(3));
    EXPECT_THAT(world.cycle(at(3)).started, ElementsAre(next));
    world.finish(next, at(4));
    s.job_sort_formula_threshold.reset();
    world.configure();
    EXPECT_THAT(world.cycle(at(4)).started, ElementsAre(at_it));
}

TEST_F(ThresholdTest, JobsBelowTheThresholdHoldUpNoOthers) {
    s.job_sort_formula = "100 - ncpus";
    s.job_sort_formula_threshold = 97;
    for (const int depth : {0, 1}) {
        s.strict_ordering = true;
        s.backfill_depth = depth;
        world.configure();
        job("ann", 3);
        const int small = job("ann", 1);
        EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(small)) << depth;
        world.finish(small, at(1));
    }
}

TEST_F(ThresholdTest, WhoComesAboveItByWaitingIsFoundWithoutAnEvent) {
    s.job_sort_formula = "eligible_time";
    s.job_sort_formula_threshold = 600;
    world.configure();
    const int waits = job("ann", 1, at(1));
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    EXPECT_LE(world.scheduler.next_deadline(at(1)), at(1, 1));
    EXPECT_THAT(world.cycle(at(1, 10)).started, IsEmpty());
    EXPECT_THAT(world.cycle(at(1, 11)).started, ElementsAre(waits));
}

}  // namespace
}  // namespace pbs::sched::test
