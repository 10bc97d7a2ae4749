// Tests arrays with start_within: their subjobs start together or not at all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cases.h"
#include "tests/scheduler/quotas.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

struct Together : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        world.queue({.name = "work"});
        world.vnode({.name = "a", .ncpus = 4});
        world.configure();
        world.scheduler.set_tell_estimates(true);
    }
    JobOptions array_of(int together, std::int64_t within = 0) {
        return {.queue = "work",
                .ncpus = 1,
                .walltime = kHour,
                .subjob = 1,
                .queued = at(10),
                .start_within = within,
                .together = together};
    }
    int array(int together, std::int64_t within = 0) { return world.job(array_of(together, within), at(10)); }
    // Adds eleven arrays of 500 subjobs. Each is tried by itself, because their walltimes differ.
    void hopeless(std::int64_t within) {
        for (int i = 0; i < 11; ++i) {
            JobOptions options = array_of(500, within);
            options.walltime = kHour + 600 * i;
            (void)world.job(options, at(10));
        }
    }
    Outcome cycle(Instant now, CycleTrigger trigger = CycleTrigger::job_new) {
        return world.cycle(now, true, "default", trigger);
    }
    // The texts for an array of which `fit` subjobs fit.
    static std::string why(int together, int fit,
                           const std::string& next = "Not enough free nodes available") {
        return fmt::format("{} subjobs of the array start together, and {} of them fit now: {}", together,
                           fit, next);
    }
    static std::string rejected(int within, const std::string& why) {
        return fmt::format("Not started within {} s: {}", within, why);
    }
};

TEST_F(Together, FiveSubjobsAreRejectedIfFourFit) {
    const int five = array(5);
    const int after = world.job({.queue = "work", .ncpus = 4, .queued = at(10)}, at(10));
    const Outcome outcome = cycle(at(10));
    EXPECT_THAT(outcome.rejected, ElementsAre(Pair(five, rejected(0, why(5, 4)))));
    EXPECT_FALSE(outcome.comment.contains(five));
    EXPECT_THAT(outcome.started, ElementsAre(after)) << "the array holds nothing";
}

TEST_F(Together, FourSubjobsStartInOneCycle) {
    const int four = array(4);
    const Outcome outcome = cycle(at(10));
    EXPECT_THAT(outcome.started, SizeIs(4));
    EXPECT_EQ(outcome.started.front(), four);
    EXPECT_THAT(outcome.rejected, IsEmpty());
    for (const int subjob : outcome.started) EXPECT_TRUE(world.running(subjob));
    EXPECT_THAT(cycle(at(11)).rejected, IsEmpty());
}

// The server starts them in one turn of its loop.
TEST_F(Together, AtMost500SubjobsStartTogether) {
    world.vnode({.name = "b", .ncpus = 1000});
    world.configure();
    const int most = array(500);
    EXPECT_THAT(cycle(at(10)).started, SizeIs(500));
    EXPECT_TRUE(world.running(most));
    const int more = array(501);
    const Outcome outcome = cycle(at(11));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_THAT(outcome.rejected,
                ElementsAre(Pair(more,
                                 "Job rejected: 501 subjobs of the array would start together, and at "
                                 "most 500 may: give it a limit, such as %500 behind its range")));
    EXPECT_FALSE(world.exists(more));
}

TEST_F(Together, TheDecisionsSayHowManyBelongTogether) {
    (void)array(3);
    const Decisions decisions = world.scheduler.cycle(at(10), "default", CycleTrigger::job_new);
    std::vector<std::uint32_t> together;
    for (const Decision& d : decisions.list)
        if (d.kind == DecisionKind::run) together.push_back(d.together);
    EXPECT_THAT(together, ElementsAre(3U, 2U, 1U));
}

TEST_F(Together, RoomAfter59SecondsIsInTime) {
    const int job = world.job({.queue = "work", .ncpus = 2, .walltime = kHour});
    world.run(job, "work", "a", at(9));
    const int soon = array(4, 60);
    const Outcome first = cycle(at(10));
    EXPECT_THAT(first.rejected, IsEmpty());
    EXPECT_EQ(first.comment.at(soon), "Not Running: " + why(4, 2));
    world.scheduler.tick(at(10));
    EXPECT_EQ(world.scheduler.next_deadline(at(10)), at(10) + Seconds(60)) << "the scheduler is woken";
    const Instant later = at(10) + Seconds(59);
    world.finish(job, later);
    EXPECT_THAT(cycle(later, CycleTrigger::job_ended).started, SizeIs(4));
    EXPECT_THAT(cycle(at(10, 1)).rejected, IsEmpty());
}

TEST_F(Together, WhenTheTimeHasPassedTheArrayIsRejected) {
    const int soon = array(5, 60);
    EXPECT_THAT(cycle(at(10)).rejected, IsEmpty());
    EXPECT_THAT(cycle(at(10, 1)).rejected, ElementsAre(Pair(soon, rejected(60, why(5, 4)))));
}

TEST_F(Together, IfNoneFitsTheReasonIsThatOfTheFirst) {
    const int job = world.job({.queue = "work", .ncpus = 4});
    world.run(job, "work", "a", at(9));
    const int two = array(2);
    EXPECT_THAT(cycle(at(10)).rejected,
                ElementsAre(Pair(two, rejected(0, "Not enough free nodes available"))));
}

TEST_F(Together, AnArrayThatHasRunWaitsOn) {
    (void)array(0);
    const int five = world.job({.queue = "work", .ncpus = 5, .subjob = 2, .start_within = 0}, at(10));
    const Outcome outcome = cycle(at(10));
    EXPECT_THAT(outcome.started, SizeIs(1)) << "without a number its subjobs start one by one";
    EXPECT_THAT(outcome.rejected, IsEmpty());
    EXPECT_TRUE(world.exists(five));
}

TEST_F(Together, WithoutThePolicysConsentSubjobsStartOneByOne) {
    s.immediate = false;
    world.configure();
    (void)array(5);
    EXPECT_THAT(cycle(at(10)).started, SizeIs(1));
}

TEST_F(Together, OnAnotherServerTheArrayIsOneJob) {
    JobOptions options = array_of(5);
    options.elsewhere = true;
    const int five = world.job(options, at(10));
    EXPECT_THAT(cycle(at(10)).started, ElementsAre(five));
}

TEST_F(Together, OnlyAsManyAsThePolicyLetsRun) {
    s.max_run_subjobs = 2;
    world.configure();
    EXPECT_THAT((array(9), cycle(at(10)).started), SizeIs(2));
    s.max_run_subjobs = 5;
    world.configure();
    const int nine = array(9);
    EXPECT_THAT(cycle(at(10)).rejected, ElementsAre(Pair(nine, rejected(0, why(5, 2)))));
}

TEST_F(Together, ALimitOnJobsCountsAllOfThem) {
    world.queue({.name = "work", .limits = {{.entity = EntityKind::user, .most = 3}}});
    const int four = array(4);
    const Outcome outcome = cycle(at(10));
    ASSERT_TRUE(outcome.rejected.contains(four));
    EXPECT_THAT(outcome.rejected.at(four), HasSubstr("4 subjobs of the array start together, and 3 of them"));
    EXPECT_THAT(outcome.rejected.at(four), HasSubstr("limit"));
    EXPECT_THAT((array(3), cycle(at(10)).started), SizeIs(3)) << "the array before it counts no more";
}

TEST_F(Together, AQuotaCountsAllOfThem) {
    s.quotas = {quota({.rules = {{"users", "users={*} to ncpus=3"}}})};
    world.configure();
    const int four = array(4);
    const Outcome outcome = cycle(at(10));
    ASSERT_TRUE(outcome.rejected.contains(four));
    EXPECT_THAT(outcome.rejected.at(four), HasSubstr("3 of them fit now"));
    EXPECT_THAT((array(3), cycle(at(10)).started), SizeIs(3));
}

TEST_F(Together, AQuotaOnVnodesCountsAllOfThem) {
    s.quotas = {quota({.rules = {{"vnodes", "vnodes={*} to ncpus=2"}}})};
    world.vnode({.name = "b", .ncpus = 4});
    world.configure();
    const int five = array(5);
    EXPECT_TRUE(cycle(at(10)).rejected.contains(five));
    EXPECT_THAT((array(4), cycle(at(10)).started), SizeIs(4));
}

TEST_F(Together, EachHasItsVnodeForItself) {
    world.vnode({.name = "b", .ncpus = 4});
    JobOptions alone = array_of(3);
    alone.ncpus = -1;
    alone.select = "1:ncpus=1";
    alone.place = "excl";
    const int three = world.job(alone, at(10));
    EXPECT_TRUE(cycle(at(10)).rejected.contains(three));
    alone.together = 2;
    (void)world.job(alone, at(10));
    const Outcome outcome = cycle(at(10));
    ASSERT_THAT(outcome.started, SizeIs(2));
    EXPECT_NE(outcome.vnodes.at(outcome.started[0]), outcome.vnodes.at(outcome.started[1]));
}

TEST_F(Together, AsManyHostsAsTheyAskFor) {
    world.vnode({.name = "b", .ncpus = 2});
    JobOptions scattered = array_of(3);
    scattered.ncpus = -1;
    scattered.select = "2:ncpus=1";
    scattered.place = "scatter";
    const int three = world.job(scattered, at(10));
    EXPECT_TRUE(cycle(at(10)).rejected.contains(three));
    scattered.together = 2;
    (void)world.job(scattered, at(10));
    EXPECT_THAT(cycle(at(10)).started, SizeIs(2));
}

TEST_F(Together, NothingIsReservedForThem) {
    s.strict_ordering = true;
    world.configure();
    const int job = world.job({.queue = "work", .ncpus = 2, .walltime = kHour});
    world.run(job, "work", "a", at(9, 30));
    (void)array(3, 7200);
    const int later =
        world.job({.queue = "work", .ncpus = 2, .walltime = 2 * kHour, .queued = at(10)}, at(10));
    EXPECT_THAT(cycle(at(10)).started, ElementsAre(later));
}

TEST_F(Together, TheyKeepWhatIsReservedForOthers) {
    s.strict_ordering = true;
    s.backfill_depth = 1;
    world.configure();
    const int job = world.job({.queue = "work", .ncpus = 2, .walltime = kHour});
    world.run(job, "work", "a", at(9, 30));
    const int top = world.job({.queue = "work", .ncpus = 3, .walltime = kHour, .queued = at(8)}, at(10));
    const int two = array(2);
    const Outcome outcome = cycle(at(10));
    EXPECT_EQ(outcome.expected.at(top), at(10, 30));
    ASSERT_TRUE(outcome.rejected.contains(two));
    EXPECT_THAT(outcome.rejected.at(two), HasSubstr("1 of them fit now"));
    JobOptions one = array_of(1);
    EXPECT_THAT((world.job(one, at(10)), cycle(at(10)).started), SizeIs(1)) << "beside the three CPUs";
}

TEST_F(Together, NoJobIsPreemptedForThem) {
    s.preempt_queue_prio = 150;
    s.preempt_order.steps = {{100, "R"}};
    world.queue({.name = "express", .priority = 200});
    world.scheduler.set_preempt(true);
    world.configure();
    const int low = world.job({.queue = "work", .ncpus = 3, .walltime = kHour});
    world.run(low, "work", "a", at(9));
    JobOptions high = array_of(2, 60);
    high.queue = "express";
    (void)world.job(high, at(10));
    const Outcome outcome = cycle(at(10));
    EXPECT_THAT(outcome.preempted, IsEmpty());
    EXPECT_THAT(outcome.started, IsEmpty());
}

TEST_F(Together, AreForeseenWhereAllFit) {
    world.vnode({.name = "b", .ncpus = 4});
    const int first = world.job({.queue = "work", .ncpus = 4, .walltime = 2 * kHour});
    world.run(first, "work", "a", at(9));
    const int second = world.job({.queue = "work", .ncpus = 3, .walltime = 4 * kHour});
    world.run(second, "work", "b", at(9));
    const int five = array(5, 24 * kHour);
    const int six = array(6, 24 * kHour);
    s.estimate_depth = 5;
    world.configure();
    const Outcome outcome = cycle(at(10));
    EXPECT_EQ(outcome.expected.at(five), at(11));
    EXPECT_EQ(outcome.expected.at(six), at(13)) << "after the five, of which one was on b until 12";
    const auto told = world.scheduler.explain(at(10), world.id(five));
    ASSERT_TRUE(told && told->queues.size() == 1);
    EXPECT_EQ(told->queues[0].earliest_start, at(11));
    EXPECT_EQ(told->reason, "Not Running: " + why(5, 1));
}

TEST_F(Together, OriginStartsThemOneByOne) {
    World site;
    (void)site.origin();
    site.vnode({.name = "a", .ncpus = 4});
    site.configure();
    (void)site.job({.ncpus = 1, .subjob = 1, .queued = at(10), .start_within = 0, .together = 5}, at(10));
    EXPECT_THAT(site.cycle(at(10)).started, SizeIs(1));
}

TEST_F(Together, WhatTheyLeaveIsSeenByOthersInTheSameCycle) {
    (void)array(3);
    const int second = array(2);
    const int one = array(1);
    const Outcome outcome = cycle(at(10));
    EXPECT_THAT(outcome.started, SizeIs(4));
    EXPECT_THAT(outcome.rejected, ElementsAre(Pair(second, rejected(0, why(2, 1)))));
    EXPECT_TRUE(world.running(one));
}

// A cycle gives up after 5,000 subjobs that were placed in vain, those of some ten arrays of the greatest
// size. It rejects no array that it hasn't tried.
TEST_F(Together, AnArrayThatIsLeftToTheNextCycleIsTriedThen) {
    world.vnode({.name = "a", .ncpus = 499});
    hopeless(0);
    const int two = array(2);
    const Outcome outcome = cycle(at(10));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_THAT(outcome.rejected, SizeIs(10));
    for (const auto& [job, text] : outcome.rejected) EXPECT_EQ(text, rejected(0, why(500, 499))) << job;
    EXPECT_THAT(outcome.comment.at(two), HasSubstr("left to another cycle"));
    const Outcome next = cycle(at(10) + Seconds(1));
    EXPECT_THAT(next.started, SizeIs(2));
    EXPECT_THAT(next.rejected, SizeIs(1));
}

TEST_F(Together, ArraysThatHaveTimeDoNotDelayThoseThatHaveNone) {
    world.vnode({.name = "a", .ncpus = 499});
    hopeless(3600);
    const int two = array(2, 60);
    const Outcome outcome = cycle(at(10));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_THAT(outcome.comment.at(two), HasSubstr("left to another cycle"));
    const Outcome at_last = cycle(at(10, 1));
    EXPECT_THAT(at_last.started, SizeIs(2));
    EXPECT_THAT(at_last.rejected, IsEmpty());
}

// Puts random jobs on a random site, and makes it a site on which nothing but the tested jobs waits.
struct TogetherProperty : testing::Test {
    static constexpr Instant kNow = at(10, 30);
    static void fill(Site& site) {
        Settings& s = site.world.policy();
        if (site.random() % 3 == 0)
            s.quotas = {quota({.rules = {{"users", "users={*} to ncpus=12"}}}),
                        quota({.name = "q2", .rules = {{"vnodes", "users=* vnodes={*} to ncpus=5"}}})};
        if (site.random() % 3 == 0) {
            site.differ_in_sharing = true;
            for (std::size_t i = 0; i < site.vnodes.size(); ++i)
                site.world.vnode(site.vnode(static_cast<int>(i)));
        }
        site.world.configure();
        std::vector<int> jobs;
        for (int i = site.pick(0, 8); i > 0; --i) jobs.push_back(site.world.job(site.job(kNow), kNow));
        (void)site.world.cycle(kNow);
        for (const int job : jobs)
            if (site.world.exists(job) && !site.world.running(job)) site.world.finish(job, kNow);
    }
    static JobOptions job(Site& site) {
        JobOptions options = site.job(kNow);
        options.interactive = false;
        options.array = 2'000'000;
        options.queued = kNow;
        if (!options.select.empty() || options.ncpus < 5) return options;
        options.ncpus = site.pick(1, 4);
        return options;
    }
    static constexpr unsigned kParts =
        part::starts | part::queues | part::vnodes | part::chunks | part::rejections;
};

// The subjobs of an array start where as many jobs would start one after the other; or, if one of these
// wouldn't start, none does.
TEST_F(TogetherProperty, StartWhereJobsWouldStartOneAfterTheOther) {
    int all = 0;
    int some = 0;
    for (const int seed : first_seeds(pbs::test::cases(600))) {
        SCOPED_TRACE(seed);
        Site array(static_cast<unsigned>(seed), Algorithm::standard);
        Site each(static_cast<unsigned>(seed), Algorithm::standard);
        for (Site* site : {&array, &each}) fill(*site);
        const int count = array.pick(2, 6);
        each.pick(2, 6);
        JobOptions options = job(array);
        for (int i = 0; i < count; ++i) {
            options.subjob = i + 1;
            (void)each.world.job(options, kNow);
        }
        options.subjob = 1;
        options.start_within = 60;
        options.together = count;
        const int tested = array.world.job(options, kNow);
        const Outcome one_by_one = each.world.cycle(kNow);
        Outcome together = array.world.cycle(kNow);
        if (static_cast<int>(one_by_one.started.size()) == count) {
            ++all;
            EXPECT_EQ(together.started.front(), tested);
            together.comment.clear();
            expect_same(array, together, "together", one_by_one, "one after the other", kParts);
        } else {
            if (!one_by_one.started.empty()) {
                ++some;
                EXPECT_THAT(together.comment[tested],
                            HasSubstr(fmt::format("and {} of them fit now", one_by_one.started.size())));
            }
            EXPECT_THAT(together.started, IsEmpty());
        }
        if (HasFailure()) {
            ADD_FAILURE() << array.world.journal();
            return;
        }
    }
    EXPECT_GT(all, pbs::test::cases(600) / 12);
    EXPECT_GT(some, pbs::test::cases(600) / 12);
}

// An array that can't start changes nothing for other jobs.
TEST_F(TogetherProperty, LeaveNothingBehindIfTheyDoNotStart) {
    int tested = 0;
    for (const int seed : first_seeds(pbs::test::cases(400))) {
        SCOPED_TRACE(seed);
        Site with(static_cast<unsigned>(seed), Algorithm::standard);
        Site without(static_cast<unsigned>(seed), Algorithm::standard);
        for (Site* site : {&with, &without}) fill(*site);
        JobOptions options = job(with);
        (void)job(without);
        options.subjob = 1;
        options.start_within = 24 * kHour;
        options.together = 40;
        options.queued = at(1);
        const int array = with.world.job(options, kNow);
        without.world.finish(without.world.job(options, kNow), kNow);
        for (int i = with.pick(2, 9); i > 0; --i) {
            JobOptions other = with.job(kNow);
            other.queued = kNow;
            for (Site* site : {&with, &without}) site->world.job(other, kNow);
        }
        Outcome a = with.world.cycle(kNow);
        if (a.rejected.contains(array) || std::ranges::count(a.started, array) > 0) continue;
        if (a.comment[array].find("subjobs of the array start together") == std::string::npos) continue;
        ++tested;
        a.comment.erase(array);
        expect_same(with, a, "with the array", without.world.cycle(kNow), "without it",
                    kParts | part::schedule);
        if (HasFailure()) return;
    }
    EXPECT_GT(tested, pbs::test::cases(400) / 8);
}

}  // namespace
}  // namespace pbs::sched::test
