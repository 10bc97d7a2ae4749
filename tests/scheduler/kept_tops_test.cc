// Tests the reservations for top jobs that are kept from one cycle to the next: they are those that a cycle
// over all jobs makes anew. The log of each cycle has its reservations.

#include "server_plugin/scheduler/future/kept_tops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cases.h"
#include "tests/scheduler/quotas.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Gives a site a policy that reserves for many jobs, and vnodes that are hosts of their own, so that most
// reservations may be kept.
void reserve_for_many(Site& site, int seed) {
    std::mt19937 random(static_cast<unsigned>(seed) * 31 + 5);
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    const auto chance = [&](int percent) { return pick(1, 100) <= percent; };
    Settings& s = site.world.policy();
    s.strict_ordering = chance(75);
    s.help_starving_jobs = !s.strict_ordering || chance(40);
    s.max_starve = Seconds(pick(1, 4) * kHour);
    s.backfill_depth = pick(1, 12);
    s.round_robin = false;
    if (chance(70)) s.backfill_prime = false;
    if (chance(70)) site.world.configuration.dedicated = {};
    if (chance(80)) site.of_host = 1;
    for (std::size_t i = 0; i < site.vnodes.size(); ++i) site.world.vnode(site.vnode(static_cast<int>(i)));
}

// On a third of the sites more jobs arrive than end.
void arrive_often(Events& events, int seed) {
    if (seed % 3 == 0) events.arrivals = 55;
}

void compare_kept(int sites, const std::function<void(Site&, int)>& set_up, int one_in = 10) {
    compare_by_events(
        first_seeds(pbs::test::cases(sites)), 100, Algorithm::standard, arrive_often,
        [&](Site& site, int seed) {
            reserve_for_many(site, seed);
            set_up(site, seed);
            site.world.configure();
        },
        one_in);
}

TEST(KeptTops, AreThoseThatAreMadeAnew) {
    compare_kept(120, [](Site&, int) {});
}

TEST(KeptTops, AreThoseThatAreMadeAnewInTheOrderOfShares) {
    compare_kept(40, [](Site& site, int seed) {
        share_out_by_tree(site, Seconds(seed % 2 == 0 ? kHour : 24 * kHour));
    });
}

TEST(KeptTops, AreThoseThatAreMadeAnewBesidePreemption) {
    compare_kept(
        40,
        [](Site& site, int) {
            site.world.policy().preemption = true;
            site.world.policy().preempt_queue_prio = 1;
        },
        1000);
}

TEST(KeptTops, AreThoseThatAreMadeAnewBesideQuotas) {
    compare_kept(40, [](Site& site, int seed) {
        site.world.policy().quotas = {
            quota({.rules = {{"all", seed % 2 == 0 ? "users={*} to ncpus=9" : "groups={*} to ncpus=14"}}})};
    });
}

TEST(KeptTops, AreThoseThatAreMadeAnewForJobsWithoutWalltimes) {
    compare_kept(40, [](Site& site, int seed) {
        Settings& s = site.world.policy();
        s.default_duration = Seconds((1 + seed % 5) * kHour / 2);
        s.duration_offset = Seconds(seed % 3 * 5 * kMinute);
        site.without_walltime = 30;
    });
}

TEST(KeptTops, AreThoseThatAreMadeAnewInOtherOrdersOfVnodes) {
    compare_kept(40, [](Site& site, int seed) {
        Settings& s = site.world.policy();
        s.node_sort_key = {{"ncpus", seed % 4 < 2, seed % 2 == 0 ? SortAmount::unused : SortAmount::total}};
        site.spreads = seed % 3 == 0;
        site.ranges = seed % 5 == 0;
    });
}

// Nobody is told why jobs wait, and nothing logs the reservations.
void tell_nobody(Site& site) {
    site.world.scheduler.set_comments(false);
    site.world.scheduler.set_tell_estimates(true);

    site.world.policy().schedule_log.clear();
}

TEST(KeptTops, AreTakenOverAtOnceWhereNobodyIsTold) {
    compare_kept(240, [](Site& site, int seed) {
        tell_nobody(site);
        if (seed % 2 == 0) site.world.policy().fairshare = false;
    });
}

// So many that they are found by the free amounts over time.
TEST(KeptTops, AreThoseThatAreMadeAnewIfTheyAreMany) {
    const std::function<void(Events&, int)> fill = [](Events& events, int) { events.arrivals = 60; };
    compare_by_events(
        first_seeds(pbs::test::cases(120)), 100, Algorithm::standard, fill,
        [](Site& site, int seed) {
            reserve_for_many(site, seed);
            if (seed % 2 == 0) tell_nobody(site);
            Settings& s = site.world.policy();
            s.strict_ordering = true;
            s.backfill_depth = 10 + seed % 40;
            s.preemption = false;
            site.world.configure();
        },
        10);
}

TEST(KeptTops, ManyAreFoundWithoutLookingAhead) {
    World world;
    Settings& s = world.policy();
    s.strict_ordering = true;
    s.help_starving_jobs = false;
    s.backfill_depth = 20;
    world.queue({.name = "work"});
    world.configure();
    std::vector<int> holders;
    for (int i = 0; i < 4; ++i) {
        const std::string vnode = "n" + std::to_string(i);
        world.vnode({.name = vnode, .ncpus = 8});
        holders.push_back(
            world.job({.queue = "work", .ncpus = 8, .walltime = (i + 2) * kHour, .queued = at(8)}, at(8)));
        world.run(holders.back(), "work", vnode, at(8));
    }
    std::vector<int> tops;
    for (int i = 0; i < 12; ++i)
        tops.push_back(world.job({.queue = "work", .ncpus = 8, .walltime = kHour, .queued = at(8)}, at(9)));
    EXPECT_GT(world.cycle(at(9)).look_aheads, 0) << "no cycle before had so many";
    world.finish(holders[3], at(9));
    Outcome outcome = world.cycle(at(9), true, "default", CycleTrigger::job_ended);
    EXPECT_THAT(outcome.started, ElementsAre(tops[0]));
    EXPECT_EQ(outcome.look_aheads, 0);
    world.finish(tops[0], at(9, 10));
    outcome = world.cycle(at(9, 10), true, "default", CycleTrigger::job_ended);
    EXPECT_THAT(outcome.started, ElementsAre(tops[1]));
    EXPECT_EQ(outcome.look_aheads, 0);
    world.scheduler.set_tell_estimates(true);
    outcome = world.cycle(at(9, 10));
    EXPECT_EQ(outcome.expected.at(tops[2]), at(10)) << "on n0";
    EXPECT_EQ(outcome.expected.at(tops[3]), at(10, 10)) << "on n3";
    EXPECT_EQ(outcome.expected.at(tops[4]), at(11)) << "on n0 or n1";
}

// A site with two vnodes of 8 CPUs, on which jobs run until 12:00 and 14:00, and two jobs that wait for them.
struct TwoTops : testing::Test {
    World world;
    Instant now = at(9);
    int until_12 = 0;
    int until_14 = 0;
    int first = 0;
    int second = 0;

    void SetUp() override {
        Settings& s = world.policy();
        s.strict_ordering = true;
        s.help_starving_jobs = false;
        s.backfill_depth = 2;
        s.schedule_log = "schedule";
        world.queue({.name = "work"});
        world.vnode({.name = "n1", .ncpus = 8});
        world.vnode({.name = "n2", .ncpus = 8});
        world.configure();
        until_12 = holder("n1", 4, 6);
        until_14 = holder("n2", 6, 6);
        first = add(8, 6 * kHour);
        second = add(8, 6 * kHour);
        (void)cycle();
    }
    int holder(const std::string& vnode, int hours, int ncpus) {
        const int job =
            world.job({.queue = "work", .ncpus = ncpus, .walltime = hours * kHour, .queued = at(8)}, at(8));
        world.run(job, "work", vnode, at(8));
        return job;
    }
    int add(int ncpus, std::int64_t walltime) {
        return world.job({.queue = "work", .ncpus = ncpus, .walltime = walltime, .queued = now}, now);
    }
    Outcome cycle(CycleTrigger trigger = CycleTrigger::job_new) {
        return world.cycle(now, true, "default", trigger);
    }
};

TEST_F(TwoTops, AreKeptWithoutLookingAhead) {
    EXPECT_EQ(cycle().look_aheads, 0);
    (void)add(1, 6 * kHour);
    EXPECT_EQ(cycle().look_aheads, 0) << "an arrival moves nothing";
    const int short_job = add(2, 2 * kHour);
    EXPECT_THAT(cycle().started, ElementsAre(short_job));
    EXPECT_EQ(cycle().look_aheads, 0) << "the reservations assume that it runs";
    world.finish(until_14, now);
    EXPECT_GT(cycle(CycleTrigger::job_ended).look_aheads, 0);
}

TEST_F(TwoTops, AreTakenOverAtOnceWithoutComments) {
    world.policy().schedule_log.clear();
    world.scheduler.set_comments(false);
    world.configure();
    (void)cycle();
    EXPECT_EQ(cycle().considered, 0) << "nothing has changed";
    (void)add(2, 6 * kHour);
    Outcome outcome = cycle();
    EXPECT_EQ(outcome.considered, 1) << "only the job that has arrived";
    EXPECT_THAT(outcome.started, IsEmpty()) << "it would delay one or the other";
    const int until_noon = add(2, 3 * kHour);
    outcome = cycle();
    EXPECT_EQ(outcome.considered, 1);
    EXPECT_THAT(outcome.started, ElementsAre(until_noon));
    (void)add(2, 6 * kHour);
    EXPECT_THAT(cycle().started, IsEmpty()) << "only the first of them ends in time";
    EXPECT_EQ(cycle().considered, 0) << "the reservations assume that it runs";
    world.finish(until_14, now);
    EXPECT_THAT(cycle(CycleTrigger::job_ended).started, ElementsAre(first)) << "an early end moves them";
    const int urgent = world.job({.queue = "work", .ncpus = 1, .walltime = 12 * kHour, .queued = at(7)}, now);
    EXPECT_THAT(cycle().started, IsEmpty()) << "it comes first, and the first job has n2";
    world.finish(first, now);
    outcome = cycle(CycleTrigger::job_ended);
    EXPECT_THAT(outcome.started, testing::Contains(urgent));
}

TEST_F(TwoTops, WhatWouldDelayThemWaits) {
    (void)add(2, 6 * kHour);
    EXPECT_THAT(cycle().started, IsEmpty()) << "it would delay one or the other";
    const int until_noon = add(2, 3 * kHour);
    EXPECT_THAT(cycle().started, ElementsAre(until_noon));
}

TEST_F(TwoTops, AnEarlyEndLetsTheFirstStartAndMovesTheSecond) {
    (void)add(1, 6 * kHour);
    EXPECT_THAT(cycle().started, IsEmpty());
    world.finish(until_14, now);
    EXPECT_THAT(cycle(CycleTrigger::job_ended).started, ElementsAre(first));
    world.finish(first, now);
    EXPECT_THAT(cycle(CycleTrigger::job_ended).started, testing::Contains(second));
}

// The first gets n2 at 14:00, and the second n1 at 17:00.
TEST_F(TwoTops, AJobThatAManagerRunsMovesThem) {
    const int until_15 = add(1, 6 * kHour);
    EXPECT_THAT(cycle().started, IsEmpty());
    const int other = add(1, 8 * kHour);
    world.run(other, "work", "n1", now);
    EXPECT_THAT(cycle().started, ElementsAre(until_15));
}

TEST_F(TwoTops, ADeletedOneLeavesItsPlace) {
    const int until_15 = add(2, 6 * kHour);
    EXPECT_THAT(cycle().started, IsEmpty());
    world.finish(first, now);
    EXPECT_THAT(cycle(CycleTrigger::job_ended).started, ElementsAre(until_15))
        << "the second moves to n1, and leaves n2";
}

// Twenty vnodes have room for half a job each, and get room for a whole one only from 12:00 on. All of them
// together have it much earlier.
TEST(Lookahead, CountsChunksBeforeItSearchesAgain) {
    World world;
    Settings& s = world.policy();
    s.strict_ordering = true;
    s.help_starving_jobs = false;
    s.backfill_depth = 1;
    world.queue({.name = "work"});
    world.configure();
    for (int i = 0; i < 20; ++i) {
        const std::string vnode = "n" + std::to_string(i);
        world.vnode({.name = vnode, .ncpus = 8});
        for (const int end : {kHour + i * kMinute, 3 * kHour + i * kMinute})
            world.run(world.job({.queue = "work", .ncpus = 4, .walltime = end}, at(9)), "work", vnode, at(9));
    }
    world.scheduler.set_tell_estimates(true);
    const int job = world.job({.queue = "work", .ncpus = 8, .walltime = kHour, .queued = at(9)}, at(9));
    const Outcome outcome = world.cycle(at(9));
    EXPECT_EQ(outcome.expected.at(job), at(12));
    EXPECT_EQ(outcome.look_aheads, 1);
    EXPECT_EQ(outcome.searches_ahead, 2) << "one in vain, and one that finds the place";
}

}  // namespace
}  // namespace pbs::sched::test
