// Tests the attribute at_close of time_windows: what happens to running jobs when their queue's window
// closes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Key;
using testing::Optional;
using testing::Pair;

// A site with a queue `nights` that is open from 18:00 to 08:00, a queue `work` that is always open, and a
// vnode of 4 CPUs.
struct Closings : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override { set_up(AtClose::suspend); }
    void set_up(AtClose at_close) {
        world.queue({.name = "nights"});
        world.queue({.name = "work"});
        world.vnode({.name = "a", .ncpus = 4});
        world.hours("nights", world.window("FREQ=DAILY", 18, 8), at_close);
        world.configure();
    }
    int running(Instant since, std::int64_t walltime = 2 * kHour, const std::string& queue = "nights") {
        const int job = world.job({.queue = queue, .ncpus = 4, .walltime = walltime});
        world.run(job, queue, "a", since);
        return job;
    }
    int waiting(const std::string& queue, std::int64_t walltime) {
        return world.job({.queue = queue, .ncpus = 4, .walltime = walltime, .queued = at(6)}, at(6));
    }
};

TEST_F(Closings, AJobIsSuspendedAndGoesOnWhenAWindowOpens) {
    const int job = running(at(7, 30));
    EXPECT_THAT(world.cycle(at(7, 59)).preempted, IsEmpty());
    const Outcome closed = world.cycle(at(8));
    ASSERT_THAT(closed.preempted, ElementsAre(Key(job)));
    EXPECT_EQ(closed.preempted.at(job).first, 0);
    EXPECT_EQ(closed.preempted.at(job).second, "S");
    EXPECT_THAT(closed.comment.at(job), HasSubstr("Suspended until time_window nights_hours opens, "));
    EXPECT_THAT(closed.comment.at(job), HasSubstr("18:00"));
    EXPECT_TRUE(world.suspended(job));
    for (const Instant now : {at(8), at(12), at(17, 59)}) EXPECT_THAT(world.cycle(now).started, IsEmpty());
    EXPECT_THAT(world.cycle(at(18)).started, ElementsAre(job));
    EXPECT_EQ(world.started(job) + Seconds(2 * kHour), at(19, 30)) << "its walltime stood still";
}

TEST_F(Closings, TheSchedulerIsWokenAtBothEnds) {
    running(at(7, 30));
    (void)world.cycle(at(7, 45));
    world.scheduler.tick(at(7, 45));
    EXPECT_EQ(world.scheduler.next_deadline(at(7, 45)), at(8));
    (void)world.cycle(at(8));
    (void)world.cycle(at(8));
    world.scheduler.tick(at(8));
    EXPECT_EQ(world.scheduler.next_deadline(at(8)), at(18));
}

TEST_F(Closings, OthersUseItsPlaceMeanwhileAndLeaveItInTime) {
    const int job = running(at(7, 30));
    (void)world.cycle(at(8));
    const int too_long = waiting("work", 10 * kHour + 1);
    EXPECT_THAT(world.cycle(at(8)).started, IsEmpty());
    const int fits = waiting("work", 10 * kHour);
    EXPECT_THAT(world.cycle(at(8)).started, ElementsAre(fits));
    world.finish(fits, at(18));
    EXPECT_THAT(world.cycle(at(18)).started, ElementsAre(job));
    EXPECT_FALSE(world.running(too_long));
}

TEST_F(Closings, AnEventInBetweenDoesNotGiveItsPlaceAway) {
    const int job = running(at(7, 30));
    (void)world.cycle(at(8));
    (void)world.cycle(at(8));
    waiting("work", 20 * kHour);
    EXPECT_THAT(world.cycle(at(9), true, "default", CycleTrigger::job_new).started, IsEmpty());
    EXPECT_THAT(world.cycle(at(18)).started, ElementsAre(job));
}

TEST_F(Closings, ASuspendedJobGoesOnBeforeJobsThatWait) {
    const int job = running(at(7, 30));
    const int before = waiting("nights", kHour);
    (void)world.cycle(at(8));
    EXPECT_THAT(world.cycle(at(18)).started, ElementsAre(job));
    EXPECT_FALSE(world.running(before));
}

TEST_F(Closings, AJobThatGetsItsPlaceBackLateWaitsForIt) {
    const int job = running(at(7, 30));
    (void)world.cycle(at(8));
    const int operators = world.job({.queue = "work", .ncpus = 4, .walltime = 12 * kHour});
    world.run(operators, "work", "a", at(9));
    const int other = waiting("work", kHour);
    EXPECT_THAT(world.cycle(at(18)).started, IsEmpty());
    world.finish(operators, at(19));
    EXPECT_THAT(world.cycle(at(19)).started, ElementsAre(job));
    EXPECT_FALSE(world.running(other));
}

TEST_F(Closings, RequeueQueuesAgainWhatIsRerunnable) {
    set_up(AtClose::requeue);
    const int job = world.job({.queue = "nights", .ncpus = 2, .walltime = 2 * kHour});
    world.run(job, "nights", "a", at(7));
    const int stays = world.job({.queue = "nights", .ncpus = 2, .walltime = 2 * kHour, .rerunnable = false});
    world.run(stays, "nights", "a", at(7));
    const Outcome closed = world.cycle(at(8));
    ASSERT_THAT(closed.preempted, ElementsAre(Key(job)));
    EXPECT_EQ(closed.preempted.at(job).second, "R");
    EXPECT_EQ(closed.comment.at(job), "Queued again: time_window nights_hours has closed");
    EXPECT_TRUE(world.running(stays));
    EXPECT_THAT(world.cycle(at(8)).preempted, IsEmpty());
    EXPECT_THAT(world.cycle(at(18)).started, ElementsAre(job));
}

TEST_F(Closings, RunLetsThemGoOn) {
    set_up(AtClose::run);
    const int job = running(at(7, 30));
    EXPECT_THAT(world.cycle(at(8)).preempted, IsEmpty());
    EXPECT_TRUE(world.running(job));
}

TEST_F(Closings, AJobThatAnOperatorStartsWhileItIsClosedGoesOnUntilTheNextEnd) {
    const int job = running(at(8, 1), 40 * kHour);
    EXPECT_THAT(world.cycle(at(9)).preempted, IsEmpty());
    EXPECT_THAT(world.cycle(at(18)).preempted, IsEmpty());
    EXPECT_THAT(world.cycle(at(32)).preempted, ElementsAre(Key(job)));
}

TEST_F(Closings, AJobThatIsJustBeginningThenIsStopped) {
    const int job = running(at(8) + Seconds(3));
    EXPECT_THAT(world.cycle(at(8) + Seconds(4)).preempted, ElementsAre(Key(job)));
}

TEST_F(Closings, AnEndThatNobodySawIsMadeGoodInTheNextCycle) {
    const int job = running(at(7, 30));
    EXPECT_THAT(world.cycle(at(11)).preempted, ElementsAre(Key(job)));
}

TEST_F(Closings, JobsThatCanNotBeStoppedAreLeftAlone) {
    const int held = world.job({.queue = "nights", .ncpus = 1, .state = 'S'});
    world.run(held, "nights", "a", at(7));
    JobOptions options = world.options(held);
    options.state = 'E';
    world.change(held, options, at(7));
    const int failed = world.job({.queue = "nights", .ncpus = 1, .not_preemptable = true});
    world.run(failed, "nights", "a", at(7));
    EXPECT_THAT(world.cycle(at(8)).preempted, IsEmpty());
}

TEST_F(Closings, TheWindowThatClosesLastDecides) {
    const rrule::WindowSet early = world.window("FREQ=DAILY", 0, 6);
    const rrule::WindowSet late = world.window("FREQ=DAILY", 6, 8);
    std::vector<rrule::Window> both = early.windows();
    both.insert(both.end(), late.windows().begin(), late.windows().end());
    for (const bool suspends : {true, false}) {
        const auto own = [&](bool is) { return is ? AtClose::suspend : AtClose::requeue; };
        world.configuration.queue_hours.insert_or_assign(
            "nights", QueueHours(rrule::WindowSet(both),
                                 {{"early", own(!suspends), early}, {"late", own(suspends), late}}));
        world.configure();
        const int job = running(at(5));
        EXPECT_THAT(world.cycle(at(6)).preempted, IsEmpty()) << "the next window is open";
        const Outcome closed = world.cycle(at(8), false);
        ASSERT_THAT(closed.preempted, ElementsAre(Key(job)));
        EXPECT_EQ(closed.preempted.at(job).second, suspends ? "S" : "R");
        if (suspends) EXPECT_THAT(closed.comment.at(job), HasSubstr("time_window early opens"));
        world.finish(job, at(8));
    }
}

TEST_F(Closings, ASuspendedJobIsPlannedWithItsPause) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 19, 20);
    world.configure();
    const int job = waiting("nights", 2 * kHour);
    EXPECT_THAT(world.cycle(at(7, 30)).started, IsEmpty()) << "it would run in dedicated time";
    const int shorter = waiting("nights", kHour + 30 * kMinute);
    EXPECT_THAT(world.cycle(at(7, 30)).started, ElementsAre(shorter));
    EXPECT_FALSE(world.running(job));
}

TEST_F(Closings, TheTimeAfterAJobIsNoTimeInWhichItRuns) {
    s.duration_offset = Seconds(60);
    world.configuration.dedicated = world.window("FREQ=DAILY", 12, 13);
    world.configure();
    const int job = waiting("nights", 29 * kMinute + 30);
    EXPECT_THAT(world.cycle(at(7, 30)).started, ElementsAre(job)) << "it ends at 7:59:30";
}

TEST_F(Closings, AJobThatCanNotBeStoppedKeepsItsPlaceInPlans) {
    const int stays =
        world.job({.queue = "nights", .ncpus = 2, .walltime = 5 * kHour, .not_preemptable = true});
    world.run(stays, "nights", "a", at(7));
    s.strict_ordering = true;
    s.backfill_depth = 1;
    world.configure();
    world.scheduler.set_tell_estimates(true);
    const int top = waiting("work", kHour);
    EXPECT_THAT(world.cycle(at(9)).expected, IsSupersetOf({Pair(top, Optional(at(12)))}));
}

TEST_F(Closings, BackfillPrimeDoesNotKeepASuspendedJobForEver) {
    s.backfill_prime = true;
    world.configure();
    const int job = running(at(7, 30), 40 * kHour);
    (void)world.cycle(at(8));
    EXPECT_THAT(world.cycle(at(18)).started, ElementsAre(job));
}

// A job waits for the CPUs of a job that is suspended from 08:00 to 18:00. If it can end within this pause,
// its expected start is in the pause, and otherwise after the suspended job.
TEST_F(Closings, OtherJobsAreForeseenInThePauseOrAfterIt) {
    s.strict_ordering = true;
    s.backfill_depth = 3;
    world.configure();
    world.scheduler.set_tell_estimates(true);
    running(at(7, 30));
    const int fits = waiting("work", 10 * kHour);
    const int too_long = waiting("work", 10 * kHour + 1);
    const Outcome outcome = world.cycle(at(7, 40));
    EXPECT_THAT(outcome.expected,
                IsSupersetOf({Pair(fits, Optional(at(8))), Pair(too_long, Optional(at(19, 30)))}));
}

TEST_F(Closings, OtherAlgorithmsLeaveThemAlone) {
    s.algorithm = Algorithm::origin;
    world.configure();
    running(at(7, 30));
    EXPECT_THAT(world.cycle(at(8)).preempted, IsEmpty());
}

}  // namespace
}  // namespace pbs::sched::test
