// Tests that cycles after single events start the same jobs as cycles over all jobs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cases.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

TEST(CycleEvents, StartWhatACycleOverAllJobsStarts) {
    compare_by_events(pbs::test::cases(150), 120, Algorithm::origin, [](Events&, int) {});
}

// Sets random options with which an event may let other jobs start than those it concerns: because another
// job started, because something changed without an event, or because of the jobs on a host or in a queue.
void set_more_options(Site& site, int seed) {
    std::mt19937 random(static_cast<unsigned>(seed) * 77 + 1);
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    const auto chance = [&](int percent) { return pick(1, 100) <= percent; };
    Settings& s = site.world.policy();
    s.avoid_fragmentation = {chance(25)};
    s.nonprime_drain_sys = {chance(25)};
    if (s.nonprime_drain_sys.value) s.enforce_prime_time = {true};
    if (chance(25)) s.max_jobs = pick(1, 4);
    if (chance(25)) {
        s.enforce_allocation = {true};
        s.sched_acct_dir = "acct";
        site.world.scheduler.set_allocated("acct", {{"g1", 200.0}, {"g2", 50.0 + seed % 100}});
        site.world.scheduler.set_used("acct", {});
    }
    if (chance(25)) {
        s.np_drain_backtime = Seconds(kHour);
        s.np_drain_idletime = Seconds(10 * kMinute);
    }
    site.of_host = pick(1, 4);
    if (chance(25)) {
        site.load = 1;
        s.max_load_percent = chance(50) ? pick(50, 150) : 0;
        s.min_jobs = chance(50) ? pick(1, 3) : 0;
        s.high_systime = chance(50) ? pick(1, 60) : 0;
    }
    if (chance(15)) {
        s.manage_hpm_counters = {true};
        s.hpm_ctl = "ctl";
        site.hpm_jobs = true;
    }
    if (chance(30)) {
        auto views = s.batch_queues;
        for (QueueSpec& view : views) view.host = "h0";
        for (const QueueSpec& view : s.batch_queues) views.push_back({view.queue, "h1"});
        s.batch_queues = views;
    }
    if (chance(30)) {
        const Amount available[] = {{ncpus, pick(8, 60), {}}, {mem, pick(4, 40) * kGb, {}}};
        ServerRecord server;
        server.max_running = chance(50) ? pick(3, 10) : -1;
        server.max_user_run = chance(50) ? pick(1, 4) : -1;
        server.max_group_run = chance(50) ? pick(2, 6) : -1;
        if (chance(50)) server.resources_available = available;
        site.world.server(server);
    }
    for (std::size_t i = 0; i < site.vnodes.size(); ++i) site.world.vnode(site.vnode(static_cast<int>(i)));
    site.world.configure();
}

TEST(CycleEvents, StartWhatACycleOverAllJobsStartsWhateverTheOptions) {
    compare_by_events(
        first_seeds(pbs::test::cases(300)), 120, Algorithm::origin, [](Events&, int) {}, set_more_options, 4);
}

// Sets limits on the jobs and CPUs of users and groups that refuse most jobs.
void limit_users(Site& site, int seed) {
    std::mt19937 random(static_cast<unsigned>(seed) * 91 + 5);
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    const auto some_limits = [&] {
        std::vector<LimitOptions> limits;
        if (pick(0, 3) > 0) limits.push_back({.entity = EntityKind::user, .most = pick(1, 4)});
        if (pick(0, 1) > 0)
            limits.push_back({.entity = EntityKind::user, .resource = ncpus, .most = pick(4, 30)});
        if (pick(0, 2) == 0) limits.push_back({.entity = EntityKind::user, .name = "u1", .most = pick(1, 6)});
        if (pick(0, 3) == 0) limits.push_back({.entity = EntityKind::group, .most = pick(2, 6)});
        if (pick(0, 3) == 0)
            limits.push_back({.entity = EntityKind::group, .resource = mem, .most = pick(4, 40) * kGb});
        return limits;
    };
    const auto named = some_limits();
    const auto of_server = records_of(named);
    ServerRecord server;
    server.max_user_run = pick(0, 2) == 0 ? pick(1, 4) : -1;
    server.limits = of_server;
    site.world.server(server);
    if (pick(0, 1) == 0)
        site.world.queue({.name = site.standard ? "q0" : "b0",
                          .max_running = pick(0, 1) == 0 ? pick(2, 8) : -1,
                          .max_user_run = pick(0, 1) == 0 ? pick(1, 3) : -1,
                          .nodes = pick(0, 1) == 0 ? pick(4, 60) : -1,
                          .limits = some_limits()});
    site.world.configure();
}

TEST(CycleEvents, StartUnderLimitsOnUsersWhatACycleOverAllJobsStarts) {
    for (const Algorithm algorithm : {Algorithm::origin, Algorithm::standard}) {
        SCOPED_TRACE(algorithm == Algorithm::origin);
        compare_by_events(
            first_seeds(pbs::test::cases(120)), 150, algorithm,
            [](Events& events, int seed) { events.arrivals = seed % 3 == 0 ? 70 : 50; }, limit_users, 8);
    }
}

struct AfterEvents : testing::Test {
    World world;
    Instant now = at(9);
    void SetUp() override {
        world.queue({.name = "batch"});
        world.origin({"batch"}).sort_by_past_usage = {true};
        world.vnode({.name = "n1", .ncpus = 4});
        world.configure();
    }
    Outcome after(CycleTrigger trigger) { return world.cycle(now, true, "default", trigger); }
    int job(int ncpus, const std::string& owner = "u1") {
        return world.job(
            {.queue = "submit", .owner = owner, .ncpus = ncpus, .walltime = kHour, .queued = now}, now);
    }
};

TEST_F(AfterEvents, ARunningJobThatAsksForLessLetsOthersStart) {
    world.queue({.name = "batch", .available_ncpus = 4});
    world.vnode({.name = "n2", .ncpus = 4});
    const int running = job(4);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(running));
    const int small = job(2, "u2");
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
    JobOptions less = world.options(running);
    less.state = 'R';
    less.queue = "batch";
    less.origin_queue = "submit";
    less.ncpus = 2;
    world.change(running, less, now);
    job(64);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(small));
}

TEST_F(AfterEvents, AJobThatNeverRanLeavesItsPlaceToOthers) {
    for (const bool held : {false, true}) {
        const int large = job(4);
        const int small = job(1, "u2");
        EXPECT_THAT(world.cycle(now, false, "default", CycleTrigger::job_new).started,
                    testing::ElementsAre(large));
        if (held) {
            JobOptions options = world.options(large);
            options.state = 'H';
            world.change(large, options, now);
        } else {
            world.finish(large, now);
        }
        job(64, "u3");
        EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(small));
        world.finish(small, now);
    }
}

TEST_F(AfterEvents, OnlyTheJobThatArrivedIsLookedAt) {
    for (int i = 0; i < 50; ++i) job(4);
    EXPECT_EQ(after(CycleTrigger::job_new).considered, 50);
    const int small = job(8);
    const auto outcome = after(CycleTrigger::job_new);
    EXPECT_EQ(outcome.considered, 2) << "and the head of the list";
    EXPECT_TRUE(outcome.comment.contains(small)) << "it is told why it waits";
}

TEST_F(AfterEvents, AJobThatEndsLetsTheNextInOrderStart) {
    const int first = job(4);
    const int second = job(4, "u2");
    const int third = job(4, "u3");
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(first));
    world.finish(first, now);
    const auto outcome = after(CycleTrigger::job_ended);
    EXPECT_THAT(outcome.started, testing::ElementsAre(second));
    EXPECT_LT(outcome.considered, 3);
    EXPECT_FALSE(outcome.comment.contains(third));
}

// While a queue is at its limit, a cycle doesn't consider its jobs. When a job of the queue ends, the next
// cycle also finds the jobs that fit on vnodes which were free before.
TEST_F(AfterEvents, JobsThatALimitOnTheirUserReleasesAreLookedForBySize) {
    world.queue({.name = "batch", .max_user_run = 2});
    const int two = job(2);
    const int one = job(1);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::UnorderedElementsAre(two, one));
    const int large = job(4);
    for (int i = 0; i < 9; ++i) job(4);
    const int small = job(1);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
    world.finish(one, now);
    Outcome outcome = after(CycleTrigger::job_ended);
    EXPECT_THAT(outcome.started, testing::ElementsAre(small));
    EXPECT_LE(outcome.considered, 2);
    world.finish(two, now);
    EXPECT_LE(after(CycleTrigger::job_ended).considered, 1) << "none fits three CPUs";
    world.finish(small, now);
    outcome = after(CycleTrigger::job_ended);
    EXPECT_THAT(outcome.started, testing::ElementsAre(large)) << "which no cycle has considered since";
    EXPECT_LE(outcome.considered, 2);
}

TEST_F(AfterEvents, JobsOfAUserWithinNoLimitArePassedOverUntilTheUserIs) {
    world.queue({.name = "batch", .max_user_run = 1});
    const int mine = job(1);
    const int others = job(3, "u2");
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::UnorderedElementsAre(mine, others));
    const int first = job(3);
    for (int i = 0; i < 9; ++i) job(2);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
    world.finish(others, now);
    EXPECT_LE(after(CycleTrigger::job_ended).considered, 1);
    const int third = job(1, "u3");
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(third));
    world.finish(mine, now);
    const Outcome outcome = after(CycleTrigger::job_ended);
    EXPECT_THAT(outcome.started, testing::ElementsAre(first));
    EXPECT_LE(outcome.considered, 2);
}

TEST_F(AfterEvents, AJobThatEndsLetsOthersOfItsQueueStartWhereVnodesHadRoomBefore) {
    world.queue({.name = "batch", .max_running = 1});
    world.queue({.name = "other"});
    world.vnode({.name = "n2", .ncpus = 4});
    const int other = world.job({.queue = "other", .ncpus = 4, .walltime = kHour});
    world.run(other, "other", "n1", now);
    const int too = world.job({.queue = "other", .ncpus = 2, .walltime = kHour});
    world.run(too, "other", "n2", now);
    const int large = job(4);
    const int small = job(2);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(small)) << "no room for the large";
    world.finish(other, now);
    EXPECT_THAT(after(CycleTrigger::job_ended).started, testing::IsEmpty()) << "the queue is full";
    world.finish(small, now);
    EXPECT_THAT(after(CycleTrigger::job_ended).started, testing::ElementsAre(large));
}

TEST_F(AfterEvents, AllAreLookedAtOnTheTimer) {
    for (int i = 0; i < 10; ++i) job(4);
    (void)after(CycleTrigger::job_new);
    job(4);
    EXPECT_EQ(after(CycleTrigger::timer).considered, 10);
}

TEST_F(AfterEvents, AllAreLookedAtAfterFiveMinutesForTheirComments) {
    for (int i = 0; i < 10; ++i) job(4);
    (void)after(CycleTrigger::job_new);
    now += Seconds(299);
    job(4);
    EXPECT_EQ(after(CycleTrigger::job_new).considered, 2) << "the head of the list as well";
    now += Seconds(1);
    job(4);
    EXPECT_EQ(after(CycleTrigger::job_new).considered, 11);
}

TEST_F(AfterEvents, AllAreLookedAtAfterAChangeOfTheQueue) {
    for (int i = 0; i < 10; ++i) job(4);
    (void)after(CycleTrigger::job_new);
    world.queue({.name = "batch", .max_running = 5});
    job(4);
    EXPECT_EQ(after(CycleTrigger::job_new).considered, 10);
}

TEST_F(AfterEvents, AllAreLookedAtIfWhatWasStartedDoesNotRun) {
    const int first = job(4);
    for (int i = 0; i < 10; ++i) job(4);
    const auto outcome = world.cycle(now, false, "default", CycleTrigger::job_new);
    ASSERT_THAT(outcome.started, testing::ElementsAre(first));
    EXPECT_EQ(after(CycleTrigger::job_new).considered, 11) << "the host didn't start it";
}

TEST_F(AfterEvents, AllAreLookedAtWhenPrimeTimeBegan) {
    world.prime_time(10, 17);
    world.policy().enforce_prime_time = {true};
    world.configure();
    for (int i = 0; i < 10; ++i) job(4);
    (void)after(CycleTrigger::job_new);
    now = at(10);
    job(4);
    EXPECT_EQ(after(CycleTrigger::job_new).considered, 10);
}

TEST_F(AfterEvents, OptionsComeIntoForceAtTheirDates) {
    world.policy().sort_by_past_usage = {false};  // the decay of past usage would cause cycles
    world.policy().test_only = {.from = at(9, 2)};
    world.vnode({.name = "n2", .ncpus = 4});
    world.configure();
    const int first = job(4);
    const int large = job(8, "u2");
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(first));
    EXPECT_EQ(world.scheduler.next_deadline(now), at(9, 2));
    now = at(9, 2);
    job(4, "u3");
    const auto outcome = after(CycleTrigger::job_new);
    EXPECT_THAT(outcome.started, testing::IsEmpty()) << "jobs aren't started any more";
    EXPECT_EQ(outcome.considered, 2) << "all are looked at, job " << large << " too";
}

TEST_F(AfterEvents, OptionsStayInForceAfterTheirDates) {
    world.policy().test_only = {.from = at(9, 2)};
    world.configure();
    const int first = job(1);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(first));
    now = at(9, 2);
    job(8);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
    job(1);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
}

TEST_F(AfterEvents, QueuesWhoseJobsStartInThemHaveLimitsOfTheirOwn) {
    world.queue({.name = "e1", .max_running = 1});
    world.queue({.name = "e2"});
    world.policy().external_queues = {{"e1"}, {"e2"}};
    world.configure();
    const int all = job(4);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(all));
    const auto waits = [&](const std::string& queue) {
        return world.job({.queue = queue, .ncpus = 1, .walltime = kHour, .queued = now}, now);
    };
    const int first = waits("e1");
    waits("e1");
    const int other = waits("e2");
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
    world.finish(all, now);
    EXPECT_THAT(after(CycleTrigger::job_ended).started, testing::ElementsAre(first, other));
}

// `mixed` can't start at first: its chunk of 2 CPUs takes n1, and only n1 has enough memory for its other
// chunk. When a small job has taken a CPU of n1, the chunk of 2 CPUs takes n2.
TEST_F(AfterEvents, JobsWithSeveralKindsOfChunksMayStartWhereLessIsFree) {
    world.vnode({.name = "n1", .ncpus = 2, .mem = 8 * kGb, .priority = 1});
    world.vnode({.name = "n2", .ncpus = 2, .mem = 1 * kGb});
    world.configure();
    const int mixed = world.job(
        {.queue = "submit", .walltime = kHour, .select = "1:ncpus=2+1:ncpus=1:mem=4gb", .queued = now}, now);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
    const int small = job(1);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(small));
    job(64);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(mixed));
}

TEST_F(AfterEvents, WhenTheClockIsSetBackNothingIsDrainedForWhoHasntWaitedLong) {
    world.policy().max_queued_time = Seconds(kHour);
    world.policy().sort_by_past_usage = {false};
    world.vnode({.name = "n2", .ncpus = 8});
    world.configure();
    const int on_n2 = world.job({.ncpus = 7, .walltime = 9 * kHour, .queued = at(8, 30)}, now);
    world.run(on_n2, "batch", "n2", now);
    job(8);  // the first job of the list, for which n2 is kept
    const int runs =
        world.job({.queue = "submit", .ncpus = 2, .walltime = 3 * kHour, .queued = at(8, 30)}, now);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(runs));
    world.job({.queue = "submit", .ncpus = 4, .walltime = kHour, .queued = at(8, 30)}, now);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
    now = at(9, 31);
    job(8);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
    now = at(9, 10);
    job(8);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::IsEmpty());
    const int longer = world.job({.queue = "submit", .ncpus = 2, .walltime = 8 * kHour, .queued = now}, now);
    EXPECT_THAT(after(CycleTrigger::job_new).started, testing::ElementsAre(longer));
}

TEST_F(AfterEvents, AllAreLookedAtByPoliciesThatDontGoByEvents) {
    world.policy().sorted_job_dumpfile = "jobs";
    world.configure();
    for (int i = 0; i < 10; ++i) job(4);
    (void)after(CycleTrigger::job_new);
    job(4);
    EXPECT_EQ(after(CycleTrigger::job_new).considered, 10);
}

}  // namespace
}  // namespace pbs::sched::test
