// Tests that with the standard algorithm, cycles after single events start the same jobs as cycles over all
// jobs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cases.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Compares the two kinds of cycles on random sites. On every third site, more jobs arrive than end.
TEST(StandardEvents, StartWhatACycleOverAllJobsStarts) {
    const int sites = pbs::test::cases(120);
    const auto in_pieces = compare_by_events(sites, 100, Algorithm::standard, [](Events& events, int seed) {
        if (seed % 3 == 0) events.arrivals = 60;
    });
    EXPECT_GT(in_pieces, sites) << "jobs with chunks on several vnodes";
}

// Urgencies and priorities decide the order, on some sites with waiting times.
TEST(StandardEvents, StartByUrgencyWhatACycleOverAllJobsStarts) {
    compare_by_events(
        first_seeds(pbs::test::cases(60)), 100, Algorithm::standard, [](Events&, int) {},
        [](Site& site, int seed) {
            Settings& s = site.world.policy();
            s.job_sort_formula.clear();
            s.by_queue = seed % 3 == 0;
            s.weighted_priority = true;
            s.urgency_of_resources = {{"ncpus", 1000}, {"walltime", seed % 4 == 0 ? 1.0 : 0.0}};
            s.weight_urgency = 1;
            s.weight_job_priority = seed % 5 < 2 ? 0 : 0.1;
            s.weight_waiting_time = seed % 2 == 0 ? 0.3 : 0;
            site.world.configure();
        },
        20);
}

// Values of a formula that grow with the time decide the order: on some sites alike for all jobs, on others
// only while a job gains eligible time, and with some formulas not alike.
TEST(StandardEvents, StartByEligibleTimeWhatACycleOverAllJobsStarts) {
    constexpr const char* kFormulas[] = {"eligible_time",
                                         "3*eligible_time + 100*ncpus - walltime",
                                         "-(eligible_time - 60*ncpus)*2",
                                         "mem - eligible_time*5000",
                                         "eligible_time/60 + ncpus",
                                         "eligible_time*ncpus"};
    compare_by_events(
        first_seeds(pbs::test::cases(90)), 120, Algorithm::standard,
        [](Events& events, int seed) { events.arrivals = seed % 3 == 0 ? 70 : 45; },
        [&](Site& site, int seed) {
            Settings& s = site.world.policy();
            s.job_sort_formula = kFormulas[seed % std::size(kFormulas)];
            s.by_queue = seed % 5 == 0;
            s.fairshare = false;
            if (seed % 4 == 0) share_out_by_tree(site);
            const std::vector<LimitOptions> limits{{.entity = EntityKind::user, .most = 2 + seed % 3}};
            const auto records = records_of(limits);
            ServerRecord server;
            if (seed % 3 != 0) server.eligible_since = at(5);
            if (seed % 7 == 0) server.limits = records;
            site.world.server(server);
            site.world.configure();
        },
        8);
}

struct StandardAfterEvents : testing::Test {
    World world;
    Settings& s = world.policy();
    Instant now = at(9);
    void SetUp() override {
        world.queue({.name = "work"});
        world.vnode({.name = "n1", .ncpus = 4});
        s.help_starving_jobs = false;
        world.configure();
    }
    Outcome after(CycleTrigger trigger) { return world.cycle(now, true, "default", trigger); }
    Outcome arrival() { return after(CycleTrigger::job_new); }
    Outcome end_of(int job) {
        world.finish(job, now);
        return after(CycleTrigger::job_ended);
    }
    int job(JobOptions options) {
        if (options.queue == "submit") options.queue = "work";
        if (options.queued == at(0)) options.queued = now;
        return world.job(options, now);
    }
    int job(int ncpus, std::int64_t walltime = kHour) {
        return job(JobOptions{.ncpus = ncpus, .walltime = walltime});
    }
    void crowd() {
        for (int i = 0; i < 10; ++i) job(4);
    }
};

// The formula has to be read even in the first cycle, in which no job waits.
TEST_F(StandardAfterEvents, AFormulaOrdersByTheTimeOfEachCycle) {
    s.job_sort_formula = "eligible_time*job_priority";
    world.configure();
    arrival();
    const int running = job(4);
    EXPECT_THAT(arrival().started, ElementsAre(running));
    job({.ncpus = 4, .priority = 1});
    arrival();
    now += Seconds(kHour / 2);
    const int later = job({.ncpus = 4, .priority = 10});
    arrival();
    now += Seconds(kHour / 2);
    EXPECT_THAT(end_of(running).started, ElementsAre(later));
}

// The jobs keep their order while neither the least nor the greatest urgency changes.
TEST_F(StandardAfterEvents, UrgenciesAreSortedAnewWhenTheirRangeChanges) {
    s.by_queue = false;
    s.weighted_priority = true;
    s.urgency_of_resources = {{"ncpus", 1000}};
    s.weight_waiting_time = 0;
    world.configure();
    const int running = job({.ncpus = 1, .walltime = kHour, .priority = 1});
    EXPECT_THAT(arrival().started, ElementsAre(running));
    for (int i = 0; i < 3; ++i) job(4);
    const int largest = job(8);
    EXPECT_EQ(arrival().considered, 4);
    job(5);
    EXPECT_EQ(arrival().considered, 1) << "it is within the range";
    const int larger = job(9);
    EXPECT_EQ(arrival().considered, 6);
    world.finish(larger, now);
    EXPECT_EQ(arrival().considered, 5) << "the largest has gone";
    world.finish(largest, now);
    job(5);
    EXPECT_EQ(arrival().considered, 5);
    s.weight_waiting_time = 0.3;
    world.configure();
    arrival();
    now += Seconds(60);
    job(5);
    EXPECT_EQ(arrival().considered, 1) << "all urgencies grow alike";
    const int last = job(1);
    const auto anew = arrival();
    EXPECT_EQ(anew.considered, 7) << "it has the least urgency";
    EXPECT_THAT(anew.started, ElementsAre(last));
    job({.ncpus = 4, .deadline = "1700"});
    arrival();
    job(5);
    EXPECT_EQ(arrival().considered, 8) << "a deadline comes nearer";
}

// Jobs of one Priority go by their urgencies, whatever their range is.
TEST_F(StandardAfterEvents, JobsOfOnePriorityKeepTheirOrderWhenTheRangeOfUrgenciesChanges) {
    s.by_queue = false;
    s.weighted_priority = true;
    s.urgency_of_resources = {{"ncpus", 1000}};
    world.configure();
    const int running = job(4);
    EXPECT_THAT(arrival().started, ElementsAre(running));
    const int small = job(1);
    EXPECT_EQ(arrival().considered, 1);
    job(8);
    job(2);
    EXPECT_EQ(arrival().considered, 2) << "one of them is larger than all others";
    job({.ncpus = 3, .walltime = kHour, .priority = 1});
    EXPECT_EQ(arrival().considered, 4);
    const int three = world.job({.queue = "work", .ncpus = 3, .queued = now}, now);
    EXPECT_EQ(arrival().considered, 1) << "it is within the range";
    world.finish(three, now);
    world.finish(small, now);
    EXPECT_EQ(arrival().considered, 3) << "the least urgent one has gone";
}

TEST_F(StandardAfterEvents, OnlyTheJobThatArrivedIsLookedAt) {
    crowd();
    EXPECT_EQ(arrival().considered, 10);
    const int large = job(8);
    const auto outcome = arrival();
    EXPECT_EQ(outcome.considered, 1);
    EXPECT_TRUE(outcome.comment.contains(large)) << "it is told why it waits";
}

TEST_F(StandardAfterEvents, AJobThatEndsLetsTheNextInOrderStart) {
    const int first = job(2);
    const int other = job(2);
    const int large = job(4);
    const int second = job(2);
    const int third = job(2);
    EXPECT_THAT(arrival().started, ElementsAre(first, other));
    const auto outcome = end_of(first);
    EXPECT_THAT(outcome.started, ElementsAre(second));
    EXPECT_EQ(outcome.considered, 1) << "nor the large one, nor the one behind";
    EXPECT_FALSE(outcome.comment.contains(large));
    EXPECT_THAT(end_of(other).started, ElementsAre(third));
}

TEST_F(StandardAfterEvents, TheQueueOfHighestPriorityGoesFirst) {
    world.queue({.name = "urgent", .priority = 9});
    const int first = job(4);
    EXPECT_THAT(arrival().started, ElementsAre(first));
    const int second = job(4);
    const int urgent = job({.queue = "urgent", .ncpus = 4});
    EXPECT_THAT(arrival().started, IsEmpty());
    EXPECT_THAT(end_of(first).started, ElementsAre(urgent));
    s.by_queue = false;
    world.configure();
    job({.queue = "urgent", .ncpus = 4});
    EXPECT_THAT(arrival().started, IsEmpty());
    EXPECT_THAT(end_of(urgent).started, ElementsAre(second));
}

TEST_F(StandardAfterEvents, AJobThatEndsLetsOthersOfItsQueueStartWhereVnodesHadRoomBefore) {
    world.queue({.name = "work", .max_running = 1});
    world.queue({.name = "other"});
    world.vnode({.name = "n2", .ncpus = 4});
    const int other = job({.queue = "other", .ncpus = 4});
    world.run(other, "other", "n1", now);
    const int too = job({.queue = "other", .ncpus = 2});
    world.run(too, "other", "n2", now);
    const int large = job(4);
    const int small = job(2);
    EXPECT_THAT(arrival().started, ElementsAre(small)) << "no room for the large one";
    EXPECT_THAT(end_of(other).started, IsEmpty()) << "the queue is full";
    EXPECT_THAT(end_of(small).started, ElementsAre(large));
}

TEST_F(StandardAfterEvents, AJobWithSeveralKindsOfChunksMayFitWhereLessIsFree) {
    world.vnode({.name = "n1", .ncpus = 2, .gpus = 1});
    world.vnode({.name = "n2", .ncpus = 2});
    // the chunk of two CPUs takes both CPUs of n1, so n1 has none for the chunk with a GPU
    const int two_kinds = job({.select = "1:ncpus=2+1:ncpus=1:ngpus=1"});
    const int one = job(1);
    EXPECT_THAT(arrival().started, ElementsAre(one));
    job(8);
    EXPECT_THAT(arrival().started, ElementsAre(two_kinds)) << "n1 has one CPU, so the two are of n2";
}

TEST_F(StandardAfterEvents, AStarvingJobHasItsReservationInEachCycle) {
    s.help_starving_jobs = true;
    s.max_starve = Seconds(kHour);
    world.configure();
    const int first = job(3, 2 * kHour);
    EXPECT_THAT(arrival().started, ElementsAre(first));
    const int starving = job({.ncpus = 4, .walltime = kHour, .queued = now - Seconds(2 * kHour)});
    for (int i = 0; i < 10; ++i) job(4);
    EXPECT_THAT(arrival().started, IsEmpty());
    job(1, 3 * kHour);
    EXPECT_THAT(arrival().started, IsEmpty()) << "it would delay the starving one";
    now += Seconds(kMinute);
    const int in_time = job(1, 2 * kHour - kMinute);
    const auto outcome = arrival();
    EXPECT_THAT(outcome.started, ElementsAre(in_time));
    EXPECT_LT(outcome.considered, 6);
    world.finish(first, now);
    EXPECT_THAT(end_of(in_time).started, ElementsAre(starving));
}

TEST_F(StandardAfterEvents, strict_ordering_TheTopJobIsFollowedByTheNext) {
    s.strict_ordering = true;
    s.backfill_depth = 0;
    world.configure();
    const int first = job(2);
    const int top = job(4);
    const int small = job(1);
    EXPECT_THAT(arrival().started, ElementsAre(first));
    const int smaller = job(1);
    EXPECT_THAT(arrival().started, IsEmpty());
    EXPECT_THAT(end_of(first).started, ElementsAre(top));
    EXPECT_THAT(end_of(top).started, ElementsAre(small, smaller));
}

TEST_F(StandardAfterEvents, strict_ordering_WhatWasHeldUpStartsWhenTheTopJobIsDeleted) {
    s.strict_ordering = true;
    s.backfill_depth = 0;
    world.configure();
    const int first = job(2);
    const int top = job(4);
    const int small = job(1);
    EXPECT_THAT(arrival().started, ElementsAre(first));
    EXPECT_THAT(end_of(top).started, ElementsAre(small)) << "on a vnode that gave nothing back";
}

TEST_F(StandardAfterEvents, backfill_depth_0OfAQueueHoldsUpItsJobsOnly) {
    s.strict_ordering = true;
    world.queue({.name = "work", .backfill_depth = 0});
    world.queue({.name = "other", .priority = -1});
    world.configure();
    const int first = job(2);
    const int top = job(4);
    const int small = job(1);
    EXPECT_THAT(arrival().started, ElementsAre(first));
    const int other = job({.queue = "other", .ncpus = 1});
    EXPECT_THAT(arrival().started, ElementsAre(other));
    EXPECT_THAT(end_of(top).started, ElementsAre(small)) << "on a vnode that gave nothing back";
}

TEST_F(StandardAfterEvents, WhatEndedWhileAllWereHeldUpIsFoundAfterwards) {
    s.help_starving_jobs = true;
    s.max_starve = Seconds(kHour);
    s.backfill_depth = 0;
    world.configure();
    const int first = job(2, 5 * kHour);
    const int second = job(2, 5 * kHour);
    EXPECT_THAT(arrival().started, ElementsAre(first, second));
    const int small = job(2);
    EXPECT_THAT(arrival().started, IsEmpty());
    const int top = job({.ncpus = 4, .walltime = kHour, .queued = now - Seconds(2 * kHour)});
    EXPECT_THAT(arrival().started, IsEmpty());
    EXPECT_THAT(end_of(first).started, IsEmpty()) << "held up";
    EXPECT_THAT(end_of(top).started, ElementsAre(small));
}

TEST_F(StandardAfterEvents, strict_ordering_AllAreLookedAtIfManyComeBeforeTheTopJob) {
    s.strict_ordering = true;
    world.configure();
    for (int i = 0; i < 80; ++i) job(100 + i);  // these jobs are too large to start
    const int first = job(4);
    EXPECT_THAT(arrival().started, ElementsAre(first));
    job(4);
    EXPECT_EQ(arrival().considered, 81);
}

TEST_F(StandardAfterEvents, job_sort_key_OrdersTheJobsOfAQueue) {
    s.job_sort_key = {{"ncpus", true}};
    world.configure();
    const int first = job(4);
    EXPECT_THAT(arrival().started, ElementsAre(first));
    const int small = job(1);
    const int large = job(3);
    const int middle = job(2);
    EXPECT_THAT(arrival().started, IsEmpty());
    const auto outcome = end_of(first);
    EXPECT_THAT(outcome.started, ElementsAre(large, small));
    EXPECT_FALSE(world.running(middle));
}

TEST_F(StandardAfterEvents, round_robin_TheJobThatArrivedIsLookedAt) {
    s.round_robin = true;
    world.configure();
    crowd();
    (void)arrival();
    job(4);
    EXPECT_EQ(arrival().considered, 1);
}

TEST_F(StandardAfterEvents, job_sort_formula_AllAreLookedAtIfTheTimeMayChangeTheOrder) {
    for (const char* formula : {"ncpus", "2*eligible_time - ncpus", "eligible_time/60"}) {
        s.job_sort_formula = formula;
        world.configure();
        crowd();
        (void)arrival();
        job(4);
        EXPECT_EQ(arrival().considered > 1, s.job_sort_formula == "eligible_time/60") << formula;
    }
}

// A job falls behind one that gains eligible time. No event tells of that.
TEST_F(StandardAfterEvents, job_sort_formula_AJobThatGainsEligibleTimeOvertakesOneThatDoesNotYet) {
    s.job_sort_formula = "eligible_time - 600*ncpus";
    ServerRecord server;
    server.eligible_since = at(0);
    world.server(server);
    world.configure();
    for (const int wait : {300, 1900}) {
        const int running = job(4);
        EXPECT_THAT(arrival().started, ElementsAre(running));
        const int gains = job(2);
        EXPECT_THAT(arrival().accrue, ElementsAre(testing::Pair(gains, AccrueType::eligible)));
        now += Seconds(wait);
        const int has_none = job(1);
        world.finish(running, now);
        const auto started = after(CycleTrigger::job_ended).started;
        EXPECT_THAT(started, wait < 600 ? ElementsAre(has_none, gains) : ElementsAre(gains, has_none));
        world.finish(gains, now);
        world.finish(has_none, now);
        (void)after(CycleTrigger::job_ended);
    }
}

TEST_F(StandardAfterEvents, job_sort_key_AllAreLookedAtWithMoreThanAKeyHolds) {
    s.job_sort_key = {{"job_priority", true}, {"walltime", false}};
    world.configure();
    crowd();
    (void)arrival();
    job(4);
    EXPECT_EQ(arrival().considered, 1);
    s.job_sort_key = {{"ncpus", true}, {"mem", false}};
    world.configure();
    (void)arrival();
    job(4);
    EXPECT_EQ(arrival().considered, 11);
}

}  // namespace
}  // namespace pbs::sched::test
