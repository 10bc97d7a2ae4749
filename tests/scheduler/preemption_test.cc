// Tests preemption: levels, methods, the choice of jobs to preempt, and how preempted jobs go on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

PreemptPriorities levels(std::initializer_list<unsigned> traits) {
    PreemptPriorities all;
    for (const unsigned one : traits) all.add(one);
    return all;
}

TEST(PreemptPriorities, LevelsThatAreListedFirstAreHigher) {
    const auto all = levels({preempt_express, preempt_normal, preempt_fairshare});
    EXPECT_GT(all.level(preempt_express, 0), all.level(0, 0));
    EXPECT_GT(all.level(0, 0), all.level(preempt_fairshare, 0));
    EXPECT_EQ(all.level(preempt_starving, 0), all.level(0, 0)) << "no level is about it";
}

TEST(PreemptPriorities, OfMoreTraitsComesBeforeThatOfFewer) {
    const auto all = levels({preempt_starving, preempt_normal, preempt_starving | preempt_fairshare});
    EXPECT_GT(all.level(preempt_starving, 0), all.level(0, 0));
    EXPECT_LT(all.level(preempt_starving | preempt_fairshare, 0), all.level(0, 0));
}

TEST(PreemptPriorities, ExpressQueuesDifferByTheirPriorities) {
    const auto all = levels({preempt_express, preempt_normal});
    EXPECT_GT(all.level(preempt_express, 200), all.level(preempt_express, 150));
    EXPECT_EQ(all.level(0, 200), all.level(0, 0));
}

TEST(PreemptOrder, ChangesWithTheWalltimeThatIsLeft) {
    const PreemptOrder order{{{100, "SCR"}, {70, "SC"}, {30, "S"}}};
    EXPECT_EQ(order.methods(Seconds(100), Seconds(0)), "SCR");
    EXPECT_EQ(order.methods(Seconds(100), Seconds(29)), "SCR");
    EXPECT_EQ(order.methods(Seconds(100), Seconds(30)), "SC");
    EXPECT_EQ(order.methods(Seconds(100), Seconds(70)), "S");
    EXPECT_EQ(order.methods(Seconds(100), Seconds(500)), "S");
    EXPECT_EQ(order.methods(Seconds(-1), Seconds(500)), "SCR") << "it asked for no walltime";
}

struct Preemption : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.help_starving_jobs = false;
        world.queue({.name = "work"});
        world.queue({.name = "express", .priority = 150});
        world.vnode({.name = "a", .ncpus = 4});
        world.vnode({.name = "b", .ncpus = 4});
        world.configure();
    }
    int normal(std::int64_t cpus, const std::string& vnode, Instant since, JobOptions o = {}) {
        o.queue = "work";
        o.ncpus = cpus;
        if (o.walltime == 600) o.walltime = 10 * kHour;
        const int job = world.job(o);
        world.run(job, "work", vnode, since);
        return job;
    }
    // Reports that a job of ann on vnode "a" is suspended.
    void suspend(int number, std::span<const Amount> asked, std::span<const Amount> given_back,
                 std::span<const Amount> still_held) {
        JobRecord r;
        const std::string id = std::to_string(number) + ".server";
        const Place released[] = {{VnodeHandle(1), given_back}};
        const Place kept[] = {{VnodeHandle(1), still_held}};
        r.job = JobHandle(static_cast<std::uint64_t>(number));
        r.id = id;
        r.queue = QueueHandle(1);
        r.state = 'S';
        r.suspended = true;
        r.owner = "ann";
        r.group = "staff";
        r.requested = asked;
        r.places = released;
        r.kept = kept;
        r.walltime = Seconds(36000);
        r.preempted_at = at(1);
        r.elapsed = 3600;
        world.scheduler.job_changed(at(1), r);
    }
    int express(std::int64_t cpus, JobOptions o = {}) {
        o.queue = "express";
        o.ncpus = cpus;
        return world.job(o);
    }
};

TEST_F(Preemption, AJobOfAnExpressQueueSuspendsOneOfAnother) {
    const int running = normal(4, "a", at(0));
    normal(4, "b", at(0, 1), {.not_preemptable = true});
    const int job = express(4);
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.preempted, ElementsAre(Pair(running, Pair(job, "SR"))));
    EXPECT_THAT(outcome.started, ElementsAre(job));
    EXPECT_THAT(outcome.vnodes.at(job), ElementsAre("a"));
    EXPECT_TRUE(world.suspended(running));
}

TEST_F(Preemption, preemption_FalseNobodyIs) {
    normal(4, "a", at(0));
    normal(4, "b", at(0));
    express(4);
    s.preemption = false;
    world.configure();
    EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty());
}

TEST_F(Preemption, AHostWithoutItIsGivenNoSuchDecision) {
    normal(4, "a", at(0));
    normal(4, "b", at(0));
    express(4);
    world.scheduler.set_preempt(false);
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.preempted, IsEmpty());
    EXPECT_THAT(outcome.started, IsEmpty());
}

TEST_F(Preemption, preempt_queue_prio_SaysWhichQueuesAreExpress) {
    normal(4, "a", at(0));
    normal(4, "b", at(0));
    express(4);
    s.preempt_queue_prio = 151;
    world.configure();
    EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty());
}

TEST_F(Preemption, preempt_sort_TheJobThatStartedLastIsPreemptedFirst) {
    normal(4, "a", at(0));
    const int younger = normal(4, "b", at(0, 30));
    const int job = express(4);
    EXPECT_THAT(world.cycle(at(1)).preempted, ElementsAre(Pair(younger, Pair(job, "SR"))));
}

TEST_F(Preemption, NobodyIsPreemptedInVain) {
    const int small = normal(1, "a", at(0, 50));
    const int large = normal(4, "b", at(0, 10));
    normal(3, "a", at(0));
    const int job = express(4);
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.preempted, ElementsAre(Pair(large, Pair(job, "SR")))) << "not " << small;
}

TEST_F(Preemption, preempt_order_GoesByTheSoftWalltime) {
    s.preempt_order.steps = {{100, "R"}, {50, "S"}};
    world.configure();
    normal(4, "b", at(0), {.not_preemptable = true});
    const int running = normal(4, "a", at(0), {.soft_walltime = kHour});
    const int job = express(4);
    EXPECT_THAT(world.cycle(at(0, 20), false).preempted, ElementsAre(Pair(running, Pair(job, "R"))));
    EXPECT_THAT(world.cycle(at(0, 40), false).preempted, ElementsAre(Pair(running, Pair(job, "S"))));
    JobOptions options = world.options(running);
    options.soft_walltime = 4 * kHour;
    world.alter(running, options, at(1, 1));
    EXPECT_THAT(world.cycle(at(1, 1), false).preempted, ElementsAre(Pair(running, Pair(job, "R"))));
    options.extended = true;
    world.alter(running, options, at(1, 1));
    EXPECT_THAT(world.cycle(at(1, 1), false).preempted, ElementsAre(Pair(running, Pair(job, "S"))))
        << "it has run for longer than it was expected to";
}

TEST_F(Preemption, preempt_order_LeavesOutWhatTheJobIsNotFor) {
    const int running = normal(4, "a", at(0), {.rerunnable = false});
    const int other = normal(4, "b", at(0, 1), {.checkpointable = true});
    s.preempt_order.steps = {{100, "CR"}};
    world.configure();
    express(4);
    EXPECT_THAT(world.cycle(at(1)).preempted, ElementsAre(Pair(other, Pair(testing::_, "CR")))) << running;
    express(4);
    EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty()) << "nothing is left that could be done with it";
}

TEST_F(Preemption, OnlyJobsThatRunBeforeTheirEndAndOnVnodesThatAreUp) {
    normal(4, "a", at(0));
    normal(4, "b", at(0));
    world.vnode({.name = "a", .ncpus = 4, .free = false});
    world.vnode({.name = "b", .ncpus = 4, .free = false});
    express(4);
    EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty());
}

TEST_F(Preemption, NeverForWhatOnlyTimeLifts) {
    normal(4, "a", at(0));
    normal(4, "b", at(0));
    world.configuration.dedicated = world.window("FREQ=DAILY", 2, 3);
    world.configure();
    express(4, {.walltime = 2 * kHour});
    EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty()) << "it would run into dedicated time";
}

TEST_F(Preemption, MakesRoomWithinLimitsToo) {
    world.queue({.name = "express", .priority = 150});
    world.server({.max_running = 1});
    const int running = normal(1, "a", at(0));
    const int job = express(1);
    EXPECT_THAT(world.cycle(at(1)).preempted, ElementsAre(Pair(running, Pair(job, "SR"))));
}

TEST_F(Preemption, ASuspendedJobGoesOnOnItsVnodesBeforeOthersTakeTheRoom) {
    normal(4, "a", at(0), {.not_preemptable = true});
    const int running = normal(4, "b", at(0, 10));
    const int job = express(4, {.walltime = kHour});
    world.cycle(at(1));
    ASSERT_TRUE(world.suspended(running));
    const int later = world.job({.queue = "work", .ncpus = 4, .priority = 100});
    EXPECT_THAT(world.cycle(at(1, 30)).started, IsEmpty());
    world.finish(job, at(2));
    const auto outcome = world.cycle(at(2));
    EXPECT_THAT(outcome.started, ElementsAre(running));
    EXPECT_THAT(outcome.vnodes.at(running), ElementsAre("b"));
    EXPECT_EQ(world.started(running), at(1, 10)) << "its walltime stood still";
    EXPECT_FALSE(world.running(later));
}

TEST_F(Preemption, sched_preempt_enforce_resumption_KeepsRoomForWhoIsSuspended) {
    s.sched_preempt_enforce_resumption = true;
    world.configure();
    normal(4, "a", at(0), {.not_preemptable = true});
    const int running = normal(4, "b", at(0, 10));
    const int job = express(2, {.walltime = kHour});
    const int longer = world.job({.queue = "work", .ncpus = 2, .walltime = 2 * kHour});
    const int shorter = world.job({.queue = "work", .ncpus = 2, .walltime = kHour / 2});
    auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(job)) << "nobody takes what is to be kept";
    EXPECT_EQ(outcome.comment[longer], "Not Running: Job would conflict with reservation or top job");
    ASSERT_TRUE(world.suspended(running));
    EXPECT_THAT(world.cycle(at(1, 1)).started, ElementsAre(shorter));
    world.finish(shorter, at(1, 20));
    EXPECT_THAT(world.cycle(at(1, 20), true, "default", CycleTrigger::job_ended).started, IsEmpty());
    s.sched_preempt_enforce_resumption = false;
    world.configure();
    EXPECT_THAT(world.cycle(at(1, 21)).started, ElementsAre(longer));
}

// No place is kept for a preempted job whose level is below the normal one, as in OpenPBS. In this test its
// owner is over a soft limit.
TEST_F(Preemption, sched_preempt_enforce_resumption_NotForWhoRunsMoreThanASoftLimit) {
    s.sched_preempt_enforce_resumption = true;
    s.preempt_prio.add(preempt_server_softlimits);
    world.configure();
    const std::vector<EntityLimitRecord> limits = {
        {.entity = EntityKind::user, .name = "ann", .most = 0, .soft = true}};
    ServerRecord server;
    server.limits = limits;
    world.server(server);
    normal(4, "a", at(0), {.not_preemptable = true});
    const int running = normal(4, "b", at(0, 10), {.owner = "ann"});
    express(2, {.owner = "bob", .walltime = kHour});
    const int longer = world.job({.queue = "work", .owner = "bob", .ncpus = 2, .walltime = 2 * kHour});
    world.cycle(at(1));
    ASSERT_TRUE(world.suspended(running));
    EXPECT_THAT(world.cycle(at(1, 1)).started, ElementsAre(longer));
}

TEST_F(Preemption, ASuspendedJobWaitsForItsOwnVnodes) {
    normal(4, "a", at(0), {.not_preemptable = true});
    const int running = normal(4, "b", at(0, 10));
    express(4);
    world.cycle(at(1));
    world.vnode({.name = "c", .ncpus = 16});
    const auto outcome = world.cycle(at(1, 1));
    EXPECT_THAT(outcome.started, IsEmpty());
    const auto told = world.scheduler.explain(at(1, 1), std::to_string(running) + ".server");
    ASSERT_TRUE(told);
    EXPECT_THAT(told->reason, HasSubstr("suspended"));
}

TEST_F(Preemption, AJobThatWasRequeuedGoesBeforeThoseOfItsLevel) {
    s.preempt_order.steps = {{100, "R"}};
    world.configure();
    normal(4, "a", at(0), {.not_preemptable = true});
    const int first = world.job({.queue = "work", .ncpus = 4, .queued = at(0)});
    const int running = normal(4, "b", at(0, 10), {.queued = at(0, 5)});
    const int job = express(4);
    world.cycle(at(1));
    EXPECT_FALSE(world.running(running));
    world.finish(job, at(2));
    EXPECT_THAT(world.cycle(at(2)).started, ElementsAre(running));
    EXPECT_FALSE(world.running(first));
}

// When a preempted job goes on, the next jobs to start are those of its queue only if by_queue is set, as in
// OpenPBS. Otherwise the other preempted job is next.
TEST_F(Preemption, by_queue_OnceAPreemptedJobGoesOnOthersGoWithTheirQueues) {
    for (const bool by_queue : {true, false}) {
        SCOPED_TRACE(by_queue);
        s.by_queue = by_queue;
        world.queue({.name = "important", .priority = 100});
        world.configure();
        const int block = normal(4, "a", at(0), {.not_preemptable = true});
        const int first = world.job({.queue = "important", .ncpus = 1, .walltime = 10 * kHour});
        world.run(first, "important", "b", at(0));
        const int second = normal(3, "b", at(0));
        const int job = express(4, {.walltime = kHour});
        EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(job));
        const int third = world.job({.queue = "important", .ncpus = 3}, at(1));
        world.finish(job, at(2));
        EXPECT_THAT(world.cycle(at(2)).started, UnorderedElementsAre(first, by_queue ? third : second));
        for (const int each : {block, first, second, third}) world.finish(each, at(2));
    }
}

TEST_F(Preemption, JobsOfAHigherLevelGoFirst) {
    s.by_queue = false;
    world.queue({.name = "important", .priority = 140});
    world.configure();
    normal(4, "a", at(0), {.not_preemptable = true});
    world.job({.queue = "important", .ncpus = 4, .queued = at(0)});
    const int job = world.job({.queue = "express", .ncpus = 4, .queued = at(0, 30)});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(job));
}

TEST_F(Preemption, preempt_prio_StarvingJobsPreemptNormalOnes) {
    s.help_starving_jobs = true;
    s.max_starve = Seconds(kHour);
    s.preempt_prio = levels({preempt_starving, preempt_normal});
    world.configure();
    normal(4, "a", at(0));
    normal(4, "b", at(0), {.not_preemptable = true});
    const int job = world.job({.queue = "work", .ncpus = 4, .queued = at(0)});
    EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty());
    EXPECT_THAT(world.cycle(at(1, 0, 1)).started, ElementsAre(job));
    const int other = world.job({.queue = "work", .ncpus = 4, .queued = at(0)});
    EXPECT_THAT(world.cycle(at(1, 1)).preempted, IsEmpty())
        << "job " << job << " is as starving as " << other;
}

TEST_F(Preemption, preempt_prio_JobsOverTheirShareMakeRoom) {
    s.fairshare = true;
    s.fairshare_group = "tree";
    s.preempt_prio = levels({preempt_normal, preempt_fairshare});
    world.configuration.fs_groups["tree"] = {.name = "tree",
                                             .elements = {{"ann", "root", 50}, {"bob", "root", 50}},
                                             .usage_formula = "ncpus*walltime"};
    world.configure();
    const int greedy = normal(4, "a", at(0));
    normal(4, "b", at(0), {.owner = "ann", .not_preemptable = true});
    const int job = world.job({.queue = "work", .owner = "bob", .ncpus = 4});
    EXPECT_THAT(world.cycle(at(1)).preempted, ElementsAre(Pair(greedy, Pair(job, "SR"))));
}

TEST_F(Preemption, OneVictimMakesRoomForSeveral) {
    normal(4, "a", at(0), {.not_preemptable = true});
    const int running = normal(4, "b", at(0));
    const int first = express(2);
    const int second = express(2);
    const auto outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.preempted, ElementsAre(Pair(running, Pair(first, "SR"))));
    EXPECT_THAT(outcome.started, ElementsAre(first, second));
}

TEST_F(Preemption, IsExplained) {
    normal(4, "a", at(0), {.not_preemptable = true});
    const int running = normal(4, "b", at(0));
    const int job = express(4);
    auto told = world.scheduler.explain(at(1), std::to_string(job) + ".server");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->outcome, JobOutcome::starts);
    ASSERT_EQ(told->preempts.size(), 1U);
    EXPECT_EQ(told->preempts[0].job, std::to_string(running) + ".server");
    EXPECT_EQ(told->preempts[0].methods, "SR");
    const int large = express(8);
    told = world.scheduler.explain(at(1), std::to_string(large) + ".server");
    ASSERT_TRUE(told);
    EXPECT_THAT(told->preempts_none, HasSubstr("lower"));
}

TEST_F(Preemption, WhatASuspendedJobKeepsIsNotFree) {
    const int running = world.job({.queue = "work", .ncpus = 4, .mem = 8 * kGb, .walltime = 10 * kHour});
    world.run(running, "work", "a", at(0));
    // as with restrict_res_to_release_on_suspend=ncpus at the server, the job gives back its CPUs and holds
    // its memory
    const Amount cpus[] = {{ncpus, 4, {}}};
    const Amount memory[] = {{mem, 8 * kGb, {}}};
    const Amount asked[] = {{ncpus, 4, {}}, {mem, 8 * kGb, {}}, {walltime, 36000, {}}};
    suspend(running, asked, cpus, memory);
    const int waits = world.job({.queue = "express", .ncpus = 1, .mem = 16 * kGb});
    const int other = world.job({.queue = "express", .mem = kGb, .select = "1:ncpus=4:mem=1gb"});
    const auto outcome = world.cycle(at(1), false);
    EXPECT_THAT(outcome.started, ElementsAre(other, running)) << waits;
    EXPECT_THAT(outcome.vnodes.at(other), ElementsAre("b"));
}

TEST_F(Preemption, AJobThatHadItsVnodeForItselfAndKeepsSomethingThereGoesOnOnceItIsAlone) {
    normal(4, "b", at(0), {.not_preemptable = true});
    const int running = normal(1, "a", at(0), {.place = "excl"});
    ServerRecord server;
    server.suspend_releases = "mem";
    world.server(server);
    const int job = express(2);
    EXPECT_THAT(world.cycle(at(1)).preempted, ElementsAre(Pair(running, Pair(job, "SR"))));
    const Amount none[] = {{ncpus, 0, {}}};
    const Amount cpus[] = {{ncpus, 1, {}}};
    const Amount asked[] = {{ncpus, 1, {}}, {place, 0, "excl"}, {walltime, 36000, {}}};
    suspend(running, asked, none, cpus);
    EXPECT_THAT(world.cycle(at(1, 1), false).started, IsEmpty()) << "it isn't alone";
    world.finish(job, at(2));
    EXPECT_THAT(world.cycle(at(2), false).started, ElementsAre(running));
}

TEST_F(Preemption, WhatASuspendedJobWouldKeepMakesNoRoom) {
    normal(4, "b", at(0), {.not_preemptable = true});
    const int running = normal(4, "a", at(0), {.mem = 6 * kGb});
    const int job = express(4, {.mem = 6 * kGb});
    ServerRecord server;
    server.suspend_releases = "ncpus,walltime";
    world.server(server);
    EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty());
    server.suspend_releases = "ncpus,mem";
    world.server(server);
    EXPECT_THAT(world.cycle(at(1)).preempted, ElementsAre(Pair(running, Pair(job, "SR"))));
}

// ---- Preemption in cycles after events.

// A site on which an express job and many normal jobs wait. Preempting the only job that can be preempted
// wouldn't make enough room.
struct PreemptionByEvents : Preemption {
    int first = 0;    // a running express job, as large as the waiting one
    int younger = 0;  // a running job with not_preemptable
    void SetUp() override {
        Preemption::SetUp();
        first = world.job({.queue = "express", .ncpus = 4, .walltime = 10 * kHour});
        world.run(first, "express", "a", at(0));
        younger = normal(1, "b", at(0), {.not_preemptable = true});
        normal(2, "b", at(0));
        express(4);
        for (int i = 0; i < 50; ++i) world.job({.queue = "work", .ncpus = 4});
        EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty());
    }
    Outcome by_event(Instant now) { return world.cycle(now, true, "default", CycleTrigger::job_ended); }
};

TEST_F(PreemptionByEvents, AJobThatComesIsLookedAtAlone) {
    world.job({.queue = "work", .ncpus = 4}, at(1));
    EXPECT_EQ(by_event(at(1, 1)).considered, 1);
    express(4);
    EXPECT_EQ(by_event(at(1, 2)).considered, 1);
}

TEST_F(PreemptionByEvents, WhatThePreemptableGiveBackIsLookedAtByThoseAboveThem) {
    const int waits = normal(1, "b", at(1, 1));
    by_event(at(1, 1));
    world.finish(waits, at(1, 2));
    EXPECT_LE(by_event(at(1, 2)).considered, 1) << "not by the fifty";
}

TEST_F(PreemptionByEvents, AJobThatEndsMakesRoomTogetherWithVictims) {
    world.finish(younger, at(1, 1));
    EXPECT_EQ(by_event(at(1, 1)).preempted.size(), 1U);
}

TEST_F(PreemptionByEvents, SoDoesOneThatMayBePreemptedNow) {
    JobOptions options = world.options(younger);
    options.not_preemptable = false;
    world.alter(younger, options, at(1, 1));
    EXPECT_EQ(by_event(at(1, 1)).preempted.size(), 2U);
}

TEST_F(PreemptionByEvents, AJobThatAMethodCanPreemptByNowIsPreempted) {
    s.preempt_order.steps = {{100, "R"}, {50, "S"}};
    world.configure();
    JobOptions options = world.options(younger);
    options.not_preemptable = options.rerunnable = false;
    world.alter(younger, options, at(1, 1));
    EXPECT_THAT(world.cycle(at(1, 1)).preempted, IsEmpty());
    EXPECT_THAT(by_event(at(4)).preempted, IsEmpty());
    EXPECT_LE(world.scheduler.next_deadline(at(4)), at(5, 1)) << "half of its walltime is over";
    EXPECT_EQ(by_event(at(5, 1)).preempted.size(), 2U);
}

// If all jobs have the same preemption level, cycles after events start the same jobs as without preemption.
TEST_F(PreemptionByEvents, WhereNoLevelsDifferNothingIsLost) {
    s.preempt_queue_prio = 1000;
    world.configure();
    world.cycle(at(1, 1));
    world.finish(first, at(1, 2));
    EXPECT_EQ(by_event(at(1, 2)).started.size(), 1U);
    world.job({.queue = "work", .ncpus = 4}, at(1));
    EXPECT_EQ(by_event(at(1, 3)).considered, 1);
}

}  // namespace
}  // namespace pbs::sched::test
