// Tests each filter of the scheduler: the setting that it observes, the jobs that it refuses, and its
// message.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/framework/profile.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Origin : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override { world.vnodes(4, {.name = "n", .ncpus = 64, .mem = 64 * kGb}); }
    Outcome cycle(Instant now = at(1), bool apply = true) {
        world.configure();
        return world.cycle(now, apply);
    }
};

TEST_F(Origin, SUBMIT_QUEUE_JobsAreMovedToABatchQueueAndStarted) {
    const int job = world.job({.nodes = 2});
    const auto outcome = cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(job));
    EXPECT_EQ(outcome.queue.at(job), "batch");
    EXPECT_EQ(outcome.ssinodes.at(job), 2);
    EXPECT_EQ(outcome.comment.at(job), "Started on Mon Nov 23 01:00:00 2026");
    EXPECT_THAT(outcome.vnodes.at(job), ElementsAre("n"));
}

TEST_F(Origin, JobsOfOtherQueuesAreLeftAlone) {
    world.queue({.name = "other"});
    const int other = world.job({.queue = "other", .nodes = 1});
    const int in_batch = world.job({.queue = "batch", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_FALSE(outcome.comment.contains(other));
    EXPECT_FALSE(outcome.comment.contains(in_batch));
}

TEST_F(Origin, HeldAndWaitingStatesAreLeftAlone) {
    world.job({.nodes = 1, .state = 'H'});
    world.job({.nodes = 1, .state = 'W'});
    EXPECT_THAT(cycle().started, IsEmpty());
}

TEST_F(Origin, SPECIAL_QUEUE_StartedWithItsComment) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    const int job = world.job({.queue = "special", .nodes = 2});
    EXPECT_EQ(cycle(at(1)).comment.at(job), "Started on Mon Nov 23 01:00:00 2026 (special access job)");
}

TEST_F(Origin, BATCH_QUEUES_AreTriedInTheOrderListed) {
    s.batch_queues.push_back({"second"});
    world.queue({.name = "batch", .nodes = 4});
    world.queue({.name = "second", .nodes = 8});
    const int small = world.job({.nodes = 3, .walltime = 60});
    const int big = world.job({.nodes = 6, .walltime = 60});
    const int next = world.job({.nodes = 2, .walltime = 60});
    const auto outcome = cycle();
    EXPECT_EQ(outcome.queue.at(big), "second");
    EXPECT_EQ(outcome.queue.at(small), "batch");
    EXPECT_EQ(outcome.queue.at(next), "second");
}

TEST_F(Origin, BATCH_QUEUES_WithAHostUseItsVnodesOnly) {
    s.batch_queues = {{"batch", "n2"}};
    const int job = world.job({.nodes = 2});
    EXPECT_THAT(cycle().vnodes.at(job), ElementsAre("n2"));
}

TEST_F(Origin, BATCH_QUEUES_TheSameQueueOnTwoHostsIsCountedApart) {
    world.queue({.name = "batch", .nodes = 10});
    s.batch_queues = {{"batch", "n1"}, {"batch", "n2"}};
    const int a = world.job({.nodes = 8});
    const int b = world.job({.nodes = 8});
    const int c = world.job({.nodes = 8});
    auto outcome = cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(a, b));
    EXPECT_THAT(outcome.vnodes.at(a), ElementsAre("n1"));
    EXPECT_THAT(outcome.vnodes.at(b), ElementsAre("n2"));
    world.finish(a, at(2));
    outcome = cycle(at(2));
    EXPECT_THAT(outcome.vnodes.at(c), ElementsAre("n1"));
}

TEST_F(Origin, ResourcesMax_AJobThatFitsNoQueueIsRejectedAtOnce) {
    s.batch_queues.push_back({"long"});
    world.queue({.name = "batch", .max_ncpus = 128, .max_walltime = kHour});
    world.queue({.name = "long", .max_ncpus = 8, .max_walltime = 8 * kHour});
    const int wide = world.job({.nodes = 64, .walltime = 4 * kHour});
    const int for_ever = world.job({.nodes = 65, .walltime = -1});
    const int fine = world.job({.nodes = 4, .walltime = 4 * kHour});
    const auto outcome = cycle();
    EXPECT_EQ(outcome.rejected.at(wide), "Job rejected: 64 nodes for 04:00:00 fit no batch queue");
    EXPECT_EQ(outcome.rejected.at(for_ever), "Job rejected: 65 nodes fit no batch queue");
    EXPECT_THAT(outcome.started, ElementsAre(fine));
    EXPECT_EQ(outcome.queue.at(fine), "long");
}

TEST_F(Origin, ResourcesMax_NothingIsRejectedWhileABatchQueueIsMissing) {
    s.batch_queues.push_back({"later"});
    world.queue({.name = "batch", .max_ncpus = 2});
    const int job = world.job({.nodes = 8});
    auto outcome = cycle();
    EXPECT_THAT(outcome.rejected, IsEmpty());
    EXPECT_EQ(outcome.comment.at(job), "Batch queue later of the policy doesn't exist");
    world.queue({.name = "later"});
    EXPECT_EQ(cycle().queue.at(job), "later");
}

TEST_F(Origin, BATCH_QUEUES_AJobThatWasPutBackIntoOneIsStartedAgain) {
    s.batch_queues.push_back({"batch"});  // the policy names the queue twice, for two hosts
    cycle();                              // only the first cycle applies SCHED_RESTART_ACTION
    const int rerun = world.job({.queue = "batch", .nodes = 2, .origin_queue = "submit"});
    world.job({.queue = "batch", .nodes = 2, .origin_queue = "elsewhere"});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(rerun));
    EXPECT_EQ(outcome.queue.at(rerun), "batch");
}

TEST_F(Origin, BATCH_QUEUES_NoneIsSet) {
    s.batch_queues.clear();
    const int job = world.job({.nodes = 8});
    EXPECT_EQ(cycle().comment.at(job), "The policy has no batch queues");
}

TEST_F(Origin, BATCH_QUEUES_HostsAreTheSameWithAndWithoutTheirDomain) {
    world.vnode({.name = "o2k", .ncpus = 64, .mem = 64 * kGb, .host = "o2k"});
    world.vnode({.name = "far", .ncpus = 64, .mem = 64 * kGb, .host = "far.bar.com"});
    s.batch_queues = {{"batch", "o2k.bar.com"}};
    const int job = world.job({.nodes = 2});
    EXPECT_THAT(cycle().vnodes.at(job), ElementsAre("o2k"));
    s.batch_queues = {{"batch", "far"}};
    const int other = world.job({.nodes = 2});
    EXPECT_THAT(cycle().vnodes.at(other), ElementsAre("far"));
    s.batch_queues = {{"batch", "far.foo.com"}};
    const int none = world.job({.nodes = 2});
    EXPECT_EQ(cycle().comment.at(none), "There are no vnodes for queue batch on host far.foo.com");
}

TEST_F(Origin, ResourcesMax_OfMemoryGivesTheQueueItsNodes) {
    world.queue({.name = "batch", .max_ncpus = 124, .max_mem = 60 * 490 * kMb});
    s.ssinode_mem = 490 * kMb;
    const int all = world.job({.nodes = 58, .walltime = 60});
    const int rest = world.job({.nodes = 4, .walltime = 60});
    const int more = world.job({.nodes = 1, .walltime = 60});
    world.vnode({.name = "big", .ncpus = 256, .mem = 256 * kGb});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(all, rest)) << "62 nodes: 124 CPUs";
    EXPECT_EQ(outcome.comment.at(more), "Not enough free nodes in queue batch: job needs 1, 0 free");
}

TEST_F(Origin, QueueStarted) {
    world.queue({.name = "batch", .started = false});
    const int job = world.job({.nodes = 1});
    EXPECT_EQ(cycle().comment.at(job), "Not Running: Queue not started.");
}

TEST_F(Origin, ASubmitQueueThatIsStoppedGivesNoJobs) {
    world.queue({.name = "submit", .started = false});
    const int job = world.job({.nodes = 1});
    EXPECT_EQ(cycle().comment.at(job), "Not Running: Queue not started.");
}

TEST_F(Origin, MaxRunning) {
    world.queue({.name = "batch", .max_running = 2});
    for (int i = 0; i < 3; ++i) world.job({.nodes = 1});
    const auto outcome = cycle();
    EXPECT_EQ(outcome.started.size(), 2U);
    EXPECT_EQ(outcome.comment.at(3), "Not Running: Queue batch job limit has been reached.");
    world.finish(1, at(2));
    EXPECT_THAT(cycle(at(2)).started, ElementsAre(3));
}

TEST_F(Origin, NodeLimitOfTheQueue) {
    world.queue({.name = "batch", .nodes = 10});
    const int seven = world.job({.nodes = 7});
    const int five = world.job({.nodes = 5});
    const int three = world.job({.nodes = 3});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(seven, three));
    EXPECT_EQ(outcome.comment.at(five), "Not enough free nodes in queue batch: job needs 5, 3 free");
}

TEST_F(Origin, QueueResourcesAvailable) {
    world.queue({.name = "batch", .available_ncpus = 10});
    world.job({.ncpus = 8});
    const int second = world.job({.ncpus = 4});
    EXPECT_EQ(cycle().comment.at(second),
              "Not Running: Insufficient amount of queue resource: ncpus (R: 4 A: 2 T: 10)");
}

TEST_F(Origin, QueueResourcesMin) {
    s.batch_queues.push_back({"any"});
    world.queue({.name = "batch", .min_ncpus = 8});
    world.queue({.name = "any"});
    const int job = world.job({.ncpus = 2});
    EXPECT_EQ(cycle().queue.at(job), "any");
}

TEST_F(Origin, UserAcl) {
    s.batch_queues = {{"chess"}, {"batch"}};
    world.queue({.name = "chess", .acl_users = {"-eve@host", "+bob@*", "carol"}});
    const int ann = world.job({.owner = "ann", .nodes = 1});
    const int bob = world.job({.owner = "bob", .nodes = 1});
    const int carol = world.job({.owner = "carol", .nodes = 1});
    const int eve = world.job({.owner = "eve", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_EQ(outcome.queue.at(bob), "chess");
    EXPECT_EQ(outcome.queue.at(carol), "chess");
    EXPECT_EQ(outcome.queue.at(ann), "batch");
    EXPECT_EQ(outcome.queue.at(eve), "batch");
}

TEST_F(Origin, UserAcl_OnlyQueue) {
    world.queue({.name = "batch", .acl_users = {"bob"}});
    const int ann = world.job({.owner = "ann", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_EQ(outcome.comment.at(ann), "Owner is not allowed to use queue batch");
    EXPECT_THAT(outcome.rejected, IsEmpty());
}

TEST_F(Origin, BestFit_TheReasonIsThatOfTheFirstQueueThatTheJobFits) {
    s.batch_queues = {{"small"}, {"batch"}};
    world.queue({.name = "small", .nodes = 2});
    world.queue({.name = "batch", .nodes = 8});
    const int first = world.job({.nodes = 8});
    const int second = world.job({.nodes = 4});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(first));
    EXPECT_EQ(outcome.comment.at(second), "Not enough free nodes in queue batch: job needs 4, 0 free");
}

TEST_F(Origin, Hosts_NoRoom) {
    world.job({.ncpus = 64});
    world.job({.ncpus = 64});
    world.job({.ncpus = 64});
    world.job({.ncpus = 60});
    const int job = world.job({.ncpus = 32});
    EXPECT_EQ(cycle().comment.at(job),
              "Not Running: Insufficient amount of resource: ncpus (R: 32 A: 4 T: 256)");
}

TEST_F(Origin, Hosts_NoneIsLargeEnough) {
    const int job = world.job({.ncpus = 65});
    EXPECT_EQ(cycle().comment.at(job),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 65 A: 64 T: 64)");
}

TEST_F(Origin, Hosts_ThatAreDownGetNoJobs) {
    world.vnode({.name = "n", .ncpus = 64, .free = false});
    const int job = world.job({.nodes = 1});
    EXPECT_THAT(cycle().vnodes.at(job), ElementsAre("n1"));
}

TEST_F(Origin, RunHost_TheJobRunsOnTheHostItAsksFor) {
    const int job = world.job({.nodes = 1, .run_host = "n3"});
    EXPECT_THAT(cycle().vnodes.at(job), ElementsAre("n3"));
}

TEST_F(Origin, MAX_JOBS_OnAHost) {
    s.max_jobs = 1;
    s.batch_queues = {{"batch", "n"}};
    world.job({.nodes = 1});
    const int second = world.job({.nodes = 1});
    EXPECT_EQ(cycle().comment.at(second), "Hosts of queue batch run their limit of 1 jobs");
    s.batch_queues = {{"batch"}};
    EXPECT_THAT(cycle(at(2)).vnodes.at(second), ElementsAre("n1")) << "without a host, the next one";
}

TEST_F(Origin, TARGET_LOAD_PCT_NoJobIsStartedOnAHostLoadedAboveTargetAndVariance) {
    s.max_load_percent = 100;
    s.batch_queues = {{"batch", "n"}};
    world.vnode({.name = "n", .ncpus = 64, .mem = 64 * kGb, .load = 64 * 1000 + 1});
    const int job = world.job({.nodes = 1});
    EXPECT_EQ(cycle().comment.at(job), "Hosts of queue batch are loaded above 100%");
    world.vnode({.name = "n", .ncpus = 64, .mem = 64 * kGb, .load = 64 * 1000});
    EXPECT_THAT(cycle().started, ElementsAre(job));
}

TEST_F(Origin, MIN_JOBS_WithFewerOnAHostItsLoadAverageKeepsNoneFromStarting) {
    s.max_load_percent = 100;
    s.min_jobs = 2;
    s.batch_queues = {{"batch", "n"}};
    world.vnode({.name = "n", .ncpus = 64, .mem = 64 * kGb, .load = 999 * 1000});
    const int first = world.job({.nodes = 1});
    const int second = world.job({.nodes = 1});
    const int third = world.job({.nodes = 1});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(first, second));
    EXPECT_EQ(outcome.comment.at(third), "Hosts of queue batch are loaded above 100%");
}

TEST_F(Origin, MIN_JOBS_DoesNotOversubscribeAHost) {
    s.min_jobs = 9;
    s.batch_queues = {{"batch", "n"}};
    world.vnode({.name = "n", .ncpus = 4});
    world.job({.nodes = 2});
    const int second = world.job({.nodes = 1});
    EXPECT_EQ(cycle().comment.at(second), "Not Running: Not enough free nodes available");
}

TEST_F(Origin, HIGH_SYSTIME_NoJobIsStartedOnAHostThatSpendsMoreInTheSystem) {
    s.high_systime = 20;
    s.min_jobs = 1;  // min_jobs applies only to limits on the load average
    s.batch_queues = {{"batch", "n"}};
    world.vnode({.name = "n", .ncpus = 64, .mem = 64 * kGb, .systime = 201});
    const int job = world.job({.nodes = 1});
    EXPECT_EQ(cycle().comment.at(job),
              "Hosts of queue batch spend more than 20% of their time in the system");
    world.vnode({.name = "n", .ncpus = 64, .mem = 64 * kGb, .systime = 200});
    EXPECT_THAT(cycle().started, ElementsAre(job));
}

TEST_F(Origin, HIGH_SYSTIME_AnotherHostTakesTheJobAndZeroIsNoLimit) {
    s.high_systime = 20;
    s.batch_queues = {{"batch"}};
    world.vnode({.name = "n", .ncpus = 64, .mem = 64 * kGb, .systime = 900});
    const int job = world.job({.nodes = 1});
    EXPECT_THAT(cycle(at(1), false).vnodes.at(job), ElementsAre("n1"));
    s.high_systime = 0;
    EXPECT_THAT(cycle(at(1), false).vnodes.at(job), ElementsAre("n"));
}

TEST_F(Origin, MAX_USER_RUN_JOBS) {
    s.max_user_run_jobs = 1;
    world.job({.owner = "ann", .nodes = 1});
    const int second = world.job({.owner = "ann", .nodes = 1});
    const int bob = world.job({.owner = "bob", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(1, bob));
    EXPECT_EQ(outcome.comment.at(second), "Owner runs the limit of 1 jobs");
}

TEST_F(Origin, MaxUserRunAndMaxGroupRunOfTheQueue) {
    world.queue({.name = "batch", .max_user_run = 1, .max_group_run = 2});
    world.job({.owner = "ann", .nodes = 1});
    const int user = world.job({.owner = "ann", .nodes = 1});
    world.job({.owner = "bob", .nodes = 1});
    const int group = world.job({.owner = "carol", .nodes = 1});
    const auto outcome = cycle();
    EXPECT_EQ(outcome.comment.at(user), "Not Running: User has reached queue batch running job limit.");
    EXPECT_EQ(outcome.comment.at(group), "Not Running: Group has reached queue batch running limit.");
}

TEST_F(Origin, ServerLimits) {
    const Amount available[] = {{ncpus, 12, {}}};
    ServerRecord record;
    record.max_running = 3;
    record.max_user_run = 1;
    record.resources_available = available;
    world.server(record);
    world.job({.owner = "ann", .ncpus = 8});
    const int user = world.job({.owner = "ann", .ncpus = 2});
    const int cpus = world.job({.owner = "bob", .ncpus = 6});
    world.job({.owner = "carol", .ncpus = 1});
    world.job({.owner = "dave", .ncpus = 1});
    const int full = world.job({.owner = "erin", .ncpus = 1});
    const auto outcome = cycle();
    EXPECT_EQ(outcome.comment.at(user), "Not Running: User has reached server running job limit.");
    EXPECT_EQ(outcome.comment.at(cpus),
              "Not Running: Insufficient amount of server resource: ncpus (R: 6 A: 4 T: 12)");
    EXPECT_EQ(outcome.comment.at(full), "Not Running: Server job limit has been reached.");
}

TEST_F(Origin, SMALL_JOB_MAX_JobsBeyondTheLimitOfTheirSizeAreRejected) {
    s.small_job_max = 16;
    s.wallt_limit_small_job = Seconds(4 * kHour);
    s.wallt_limit_large_job = Seconds(8 * kHour);
    const int small = world.job({.nodes = 16, .walltime = 4 * kHour + 1});
    const int large = world.job({.nodes = 17, .walltime = 8 * kHour + 1});
    const int fine = world.job({.nodes = 17, .walltime = 8 * kHour});
    const auto outcome = cycle();
    EXPECT_EQ(outcome.rejected.at(small),
              "Job rejected: exceeds the walltime limit (04:00:00) of jobs of up to 16 nodes");
    EXPECT_EQ(outcome.rejected.at(large),
              "Job rejected: exceeds the walltime limit (08:00:00) of jobs of more than 16 nodes");
    EXPECT_THAT(outcome.started, ElementsAre(fine));
}

TEST_F(Origin, SMALL_JOB_MAX_IsNotForSpecialJobs) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    s.small_job_max = 16;
    s.wallt_limit_small_job = Seconds(kHour);
    const int job = world.job({.queue = "special", .nodes = 1, .walltime = 2 * kHour});
    EXPECT_THAT(cycle().started, ElementsAre(job));
}

TEST_F(Origin, SMALL_JOB_MAX_ThePrimeTimeLimitHoldsBesideIt) {
    world.prime_time(8, 17);
    s.enforce_prime_time = {true};
    s.prime_time_wallt_limit = Seconds(2 * kHour);
    s.small_job_max = 16;
    s.wallt_limit_small_job = Seconds(4 * kHour);
    s.wallt_limit_large_job = Seconds(8 * kHour);
    const int longer = world.job({.nodes = 1, .walltime = 2 * kHour + 1});
    const int fine = world.job({.nodes = 1, .walltime = 2 * kHour});
    const auto outcome = cycle(at(9));
    EXPECT_EQ(outcome.comment.at(longer), "Exceeds primetime walltime limit (02:00:00)");
    EXPECT_THAT(outcome.started, ElementsAre(fine));
}

// ---- avoid_fragmentation: small jobs don't start where they would fragment a queue.

struct Fragments : Origin {
    void SetUp() override {
        Origin::SetUp();
        s.avoid_fragmentation = {true};
        world.queue({.name = "batch", .max_running = 4, .nodes = 32});  // so a fragment has 8 nodes
    }
};

TEST_F(Fragments, AVOID_FRAGMENTATION_WithNothingRunningAnythingStarts) {
    const int small = world.job({.nodes = 1});
    EXPECT_THAT(cycle().started, ElementsAre(small));
}

TEST_F(Fragments, AVOID_FRAGMENTATION_SmallJobIsRefusedWhileTheAverageIsAFragment) {
    const int big = world.job({.nodes = 8, .walltime = 4 * kHour});
    const int small = world.job({.nodes = 7, .walltime = kHour});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, ElementsAre(big));
    EXPECT_EQ(outcome.comment.at(small),
              "Would fragment queue batch: jobs of at least 8 nodes may start now");
}

TEST_F(Fragments, AVOID_FRAGMENTATION_InAFragmentedQueueASmallJobHasToEndBeforeTheQueueEmpties) {
    const int running = world.job({.nodes = 2, .walltime = 2 * kHour});
    world.run(running, "batch", "n", at(0));
    const int too_long = world.job({.nodes = 4, .walltime = kHour + 1});
    const int in_time = world.job({.nodes = 2, .walltime = kHour});
    const auto outcome = cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(in_time));
    EXPECT_EQ(
        outcome.comment.at(too_long),
        "Would fragment queue batch: jobs of at least 8 nodes or of at most 01:00:00 walltime may start now");
}

TEST_F(Fragments, AVOID_FRAGMENTATION_TheLastFragmentGoesToJobsThatEndInTime) {
    for (int i = 0; i < 3; ++i) {
        const int running = world.job({.nodes = i == 0 ? 9 : 8, .walltime = 2 * kHour});
        world.run(running, "batch", i == 0 ? "n" : i == 1 ? "n1" : "n2", at(0));
    }
    const int longer = world.job({.nodes = 7, .walltime = 2 * kHour});
    const auto outcome = cycle(at(1));
    EXPECT_EQ(outcome.comment.at(longer),
              "Would fragment queue batch: jobs of at most 01:00:00 walltime may start now")
        << "7 free nodes are less than a fragment";
    EXPECT_THAT(outcome.started, IsEmpty());
    const int in_time = world.job({.nodes = 4, .walltime = kHour});
    EXPECT_THAT(cycle(at(1)).started, ElementsAre(in_time)) << "however large the others are";
}

TEST_F(Fragments, AVOID_FRAGMENTATION_IsOffBelowTwoNodesAndWithoutMaxRunning) {
    world.queue({.name = "batch", .max_running = 17, .nodes = 32});
    world.job({.nodes = 8, .walltime = 4 * kHour});
    world.job({.nodes = 1, .walltime = 9 * kHour});
    EXPECT_EQ(cycle(at(1), false).started.size(), 2U);
    world.queue({.name = "batch", .nodes = 32});
    EXPECT_EQ(cycle(at(1), false).started.size(), 2U);
}

TEST_F(Fragments, AVOID_FRAGMENTATION_WaitingJobsSkipTheTest) {
    s.max_queued_time = Seconds(kHour);
    const int big = world.job({.nodes = 8, .walltime = 4 * kHour});
    world.run(big, "batch", "n", at(9));
    const int waiting = world.job({.nodes = 7, .walltime = 9 * kHour, .queued = at(0)});
    EXPECT_THAT(cycle(at(9)).started, ElementsAre(waiting));
}

// ---- Draining a queue for a waiting job.

struct Draining : Origin {
    int running, waiting;
    void SetUp() override {
        Origin::SetUp();
        s.max_queued_time = Seconds(24 * kHour);
        world.queue({.name = "batch", .nodes = 10});
        running = world.job({.nodes = 6, .walltime = 4 * kHour, .queued = at(48)});
        world.run(running, "batch", "n", at(48));
        waiting = world.job({.nodes = 8, .walltime = kHour, .queued = at(0)});
    }
};

TEST_F(Draining, MAX_QUEUED_TIME_TheQueueIsDrainedForTheFirstWaitingJob) {
    const int too_long = world.job({.nodes = 3, .walltime = 3 * kHour + 1, .queued = at(48)});
    const int in_time = world.job({.nodes = 4, .walltime = 3 * kHour, .queued = at(48)});
    const auto outcome = cycle(at(49));
    EXPECT_THAT(outcome.started, ElementsAre(in_time)) << "it ends when the running job does";
    EXPECT_EQ(outcome.comment.at(too_long), "Not enough free nodes in queue batch: job needs 3, 0 free");
    EXPECT_EQ(outcome.comment.at(waiting), "Not enough free nodes in queue batch: job needs 8, 4 free");
    world.finish(in_time, at(49, 30));
    EXPECT_EQ(cycle(at(55)).comment.at(too_long), "Queue batch is being drained for job 2.server");
}

TEST_F(Draining, MAX_QUEUED_TIME_WhatTheWaitingJobLeavesIsForOthers) {
    const int two = world.job({.nodes = 2, .walltime = 9 * kHour, .queued = at(48)});
    const int one = world.job({.nodes = 1, .walltime = 9 * kHour, .queued = at(48)});
    const auto outcome = cycle(at(49));
    EXPECT_THAT(outcome.started, ElementsAre(two)) << "8 of 10 nodes are for the waiting job";
    EXPECT_EQ(outcome.comment.at(one), "Queue batch is being drained for job 2.server");
    world.finish(running, at(52));
    EXPECT_THAT(cycle(at(52)).started, ElementsAre(waiting));
}

TEST_F(Draining, MAX_QUEUED_TIME_SpecialJobsDoNotDelayTheWaitingJobEither) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    const int special = world.job({.queue = "special", .nodes = 3, .walltime = 9 * kHour, .queued = at(48)});
    EXPECT_EQ(cycle(at(49)).comment.at(special), "Queue batch is being drained for job 2.server");
}

TEST_F(Draining, MAX_QUEUED_TIME_TheQueueThatTheJobFitsSoonestIsDrained) {
    s.batch_queues.push_back({"second"});
    world.queue({.name = "second", .nodes = 10});
    const int other = world.job({.nodes = 6, .walltime = 2 * kHour, .queued = at(48)});
    world.run(other, "second", "n1", at(48));
    const int job = world.job({.nodes = 4, .walltime = 9 * kHour, .queued = at(48)});
    EXPECT_EQ(cycle(at(49)).queue.at(job), "batch");
    const int next = world.job({.nodes = 4, .walltime = 9 * kHour, .queued = at(48)});
    EXPECT_THAT(cycle(at(49)).started, IsEmpty()) << next;
}

// The queue is drained for the first job of the list, which has 8 nodes, though no job has waited too long.
struct DrainingForHead : Draining {
    void SetUp() override {
        Draining::SetUp();
        s.max_queued_time = Seconds(0);
    }
};

TEST_F(DrainingForHead, OthersStartOnlyBesideItOrIfTheyEndBefore) {
    const int two = world.job({.nodes = 2, .walltime = 9 * kHour, .queued = at(48)});
    const int one = world.job({.nodes = 1, .walltime = 9 * kHour, .queued = at(48)});
    const int brief = world.job({.nodes = 1, .walltime = kHour, .queued = at(48)});
    const auto outcome = cycle(at(49));
    EXPECT_THAT(outcome.started, ElementsAre(two, brief));
    EXPECT_EQ(outcome.comment.at(one), "Queue batch is being drained for job 2.server");
    world.finish(brief, at(50));
    world.finish(running, at(52));
    EXPECT_THAT(cycle(at(52)).started, ElementsAre(waiting));
}

TEST_F(DrainingForHead, TheHeadIsTheFirstJobThatCannotStart) {
    const int runs = world.job({.nodes = 9, .walltime = 60, .run_host = "nowhere", .queued = at(48)});
    const int one = world.job({.nodes = 3, .walltime = 9 * kHour, .queued = at(48)});
    const auto outcome = cycle(at(49));
    EXPECT_TRUE(outcome.comment.contains(runs)) << "before it, but no start is known";
    EXPECT_EQ(outcome.comment.at(one), "Queue batch is being drained for job 2.server");
}

TEST_F(DrainingForHead, NotForTheNextNormalJob) {
    world.queue({.name = "batch", .nodes = 24});
    s.batch_queues = {{"batch"}};
    const int six = world.job({.nodes = 20, .walltime = kHour, .queued = at(48)});
    const int four = world.job({.nodes = 4, .walltime = 9 * kHour, .queued = at(48)});
    const auto outcome = cycle(at(49));
    EXPECT_THAT(outcome.started, ElementsAre(waiting, four))
        << "24 - 6 - 8, of which 20 + 4 <= 24 is left later";
    const int more = world.job({.nodes = 5, .walltime = 9 * kHour, .queued = at(48)});
    EXPECT_FALSE(world.running(six));
    EXPECT_THAT(cycle(at(49)).started, IsEmpty()) << more;
}

TEST_F(DrainingForHead, AQueueThatIsEmptyIsNotDrained) {
    world.finish(running, at(49));
    world.prime_time(2, 3);
    s.enforce_prime_time = {true};
    s.prime_time_wallt_limit = Seconds(60);
    const int small = world.job({.nodes = 4, .walltime = 60, .queued = at(49)});
    const auto outcome = cycle(at(50));  // it is 2:00, in prime time
    EXPECT_THAT(outcome.comment.at(waiting), HasSubstr("Exceeds primetime"));
    EXPECT_THAT(outcome.started, ElementsAre(small));
    const int next = world.job({.nodes = 4, .walltime = 60, .queued = at(50)});
    EXPECT_THAT(cycle(at(50, 58, 30)).started, ElementsAre(next)) << "past the end of prime time";
}

struct DrainingForSpecial : Origin {
    void SetUp() override {
        Origin::SetUp();
        world.queue({.name = "batch", .nodes = 64});
        world.queue({.name = "special"});
        s.special_queue = {{"special"}};
    }
    int runs(const char* vnode, int hours) {
        const int job = world.job({.ncpus = 48, .walltime = hours * kHour, .queued = at(48)});
        world.run(job, "batch", vnode, at(48));
        return job;
    }
};

TEST_F(DrainingForSpecial, EachOfThemHasItsQueueDrained) {
    world.queue({.name = "batch"});
    runs("n", 2);
    runs("n1", 3);
    const int holds_n2 = runs("n2", 20);
    const int holds_n3 = runs("n3", 20);
    const int first = world.job({.queue = "special", .ncpus = 64, .walltime = 9 * kHour, .queued = at(48)});
    const int second = world.job({.queue = "special", .ncpus = 60, .walltime = 9 * kHour, .queued = at(48)});
    std::vector<int> small;
    small.reserve(4);
    for (int i = 0; i < 4; ++i)
        small.push_back(world.job({.ncpus = 8, .walltime = 5 * kHour, .queued = at(48)}));
    const auto outcome = cycle(at(49));
    EXPECT_EQ(outcome.started.size(), 4U) << "beside what runs on n2 and n3, and nothing on n and n1";
    for (const int job : small)
        EXPECT_THAT(outcome.vnodes.at(job), testing::Each(testing::AnyOf("n2", "n3")));
    EXPECT_TRUE(world.running(holds_n2) && world.running(holds_n3));
    const int last = world.job({.ncpus = 8, .walltime = 5 * kHour, .queued = at(48)});
    EXPECT_EQ(cycle(at(49)).comment.at(last), "Not Running: Job would conflict with reservation or top job");
    (void)first;
    (void)second;
}

// ---- Dedicated time and windows of queues.

struct Dedicated : Origin {
    void SetUp() override {
        Origin::SetUp();
        world.queue({.name = "ded"});
        s.dedicated_queues = {{"ded"}};
        world.configuration.dedicated = world.window("FREQ=WEEKLY;BYDAY=TU", 16, 19);  // at(40) to at(43)
    }
};

TEST_F(Dedicated, ENFORCE_DEDICATED_TIME_NoJobIsStartedIntoIt) {
    const int into = world.job({.nodes = 1, .walltime = 2 * kHour + 1});
    const int before = world.job({.nodes = 1, .walltime = 2 * kHour});
    const auto outcome = cycle(at(38));
    EXPECT_THAT(outcome.started, ElementsAre(before));
    EXPECT_EQ(outcome.comment.at(into), "Would run into dedicated time at Tue Nov 24 16:00:00 2026");
}

TEST_F(Dedicated, ENFORCE_DEDICATED_TIME_SpecialAndWaitingJobsNeither) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    s.max_queued_time = Seconds(kHour);
    world.job({.queue = "special", .nodes = 1, .walltime = 3 * kHour});
    world.job({.nodes = 1, .walltime = 3 * kHour, .queued = at(0)});
    EXPECT_THAT(cycle(at(38)).started, IsEmpty());
}

TEST_F(Dedicated, DEDICATED_QUEUES_RunInPlaceInOrderWithinItAndOnlyThen) {
    const int second = world.job({.queue = "ded", .nodes = 8, .walltime = 60, .queued = at(2)});
    const int first = world.job({.queue = "ded", .nodes = 1, .walltime = 9000, .queued = at(1)});
    const int normal = world.job({.nodes = 1, .walltime = 60});
    EXPECT_EQ(cycle(at(30)).comment.at(first), "Waiting for dedicated time at Tue Nov 24 16:00:00 2026");
    const int late = world.job({.nodes = 1, .walltime = 60});
    const auto outcome = cycle(at(40));
    EXPECT_THAT(outcome.started, ElementsAre(first, second));
    EXPECT_EQ(outcome.queue.at(first), "ded");
    EXPECT_EQ(outcome.comment.at(late), "Dedicated time until Tue Nov 24 19:00:00 2026");
    EXPECT_TRUE(world.running(normal)) << "it started before";
}

TEST_F(Dedicated, ENFORCE_DEDICATED_TIME_SwitchedOffUntilADate) {
    s.enforce_dedicated_time = {false, at(43, 0, 1)};
    const int normal = world.job({.nodes = 1, .walltime = 60});
    EXPECT_THAT(cycle(at(41)).started, ElementsAre(normal));
}

TEST_F(Dedicated, MAX_DEDICATED_JOBS) {
    s.max_dedicated_jobs = 1;
    world.job({.queue = "ded", .nodes = 1});
    const int second = world.job({.queue = "ded", .nodes = 1});
    EXPECT_EQ(cycle(at(41)).comment.at(second), "The limit of 1 jobs in dedicated time are running");
}

TEST_F(Origin, QueueTimeWindow_JobsStartOnlyInsideIt) {
    world.hours("batch", world.window("FREQ=DAILY", 6, 9));
    const int job = world.job({.nodes = 1, .walltime = 9 * kHour});
    EXPECT_EQ(cycle(at(5)).comment.at(job),
              "Queue batch is outside its time windows until Mon Nov 23 06:00:00 2026");
    EXPECT_THAT(cycle(at(6)).started, ElementsAre(job)) << "it may run on after the end";
}

// ---- The options for tests of a site, such as TEST_ONLY.

TEST_F(Origin, TEST_ONLY_LogsWhatWouldBeDoneAndDoesNothing) {
    s.test_only = {true};
    world.queue({.name = "batch", .nodes = 4});
    world.job({.nodes = 3});
    world.job({.nodes = 2});
    world.job({.nodes = 5});
    const auto outcome = cycle();
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_THAT(outcome.comment, IsEmpty());
    EXPECT_THAT(outcome.rejected, IsEmpty());
    EXPECT_THAT(outcome.log, UnorderedElementsAre(
                                 "test_only: would start job 1.server in queue batch",
                                 HasSubstr("test_only: would not start job 2.server: Not enough free nodes"),
                                 HasSubstr("test_only: would reject job 3.server: Job rejected")));
}

TEST_F(Origin, FAKE_MACHINE_MULT_MultipliesTheMachinesTogetherWithTestOnly) {
    s.fake_machine_mult = 32;
    world.job({.nodes = 256});
    EXPECT_THAT(cycle().started, IsEmpty()) << "not without test_only";
    s.test_only = {true};
    EXPECT_THAT(cycle().log, ElementsAre("test_only: would start job 1.server in queue batch"));
    s.fake_machine_mult = 0;
    EXPECT_THAT(cycle().log, ElementsAre(HasSubstr("would not start")));
}

TEST_F(Origin, SORTED_JOB_DUMPFILE_ContentAndFlags) {
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    s.sorted_job_dumpfile = "sortedjobs";
    const int running = world.job({.nodes = 4, .walltime = 2 * kHour});
    world.run(running, "batch", "n", at(0));
    world.job({.nodes = 2, .walltime = kHour, .run_host = "n1", .interactive = true, .queued = at(0, 30)});
    world.job({.queue = "special", .owner = "bob", .group = "g1", .nodes = 1});
    const auto text = cycle().sorted_jobs;
    EXPECT_THAT(text, HasSubstr("Mon Nov 23 01:00:00 2026 (1795395600)\nPolicy p1: non-primetime\n"));
    const auto line = [&](const std::string& id) {
        const auto from = text.find("\n" + id) + 1;
        return text.substr(from, text.find('\n', from) - from);
    };
    EXPECT_EQ(
        line("1.server"),
        "1.server                 R      4   02:00:00 ann          staff          01:00:00   01:00:00 ");
    EXPECT_THAT(line("2.server"), HasSubstr("2.server                 Q      2 ")) << "queued";
    EXPECT_THAT(line("2.server"), HasSubstr("00:30:00   00:30:00 Int,Run"));
    EXPECT_THAT(line("3.server"), HasSubstr("bob          g1             01:00:00   01:00:00 High"));
    EXPECT_LT(text.find("1.server"), text.find("3.server"));
    EXPECT_LT(text.find("3.server"), text.find("2.server"));
}

TEST(Filters, EachHasANameOfItsOwn) {
    std::vector<std::string> names;
    for (const Filter* filter : all_filters()) names.emplace_back(filter->name);
    for (const Admission* admission : all_admissions()) names.emplace_back(admission->name);
    auto unique = names;
    std::ranges::sort(unique);
    EXPECT_EQ(std::adjacent_find(unique.begin(), unique.end()), unique.end());
}

TEST(Filters, FiltersThatAreNotSwitchedOnAreNotAsked) {
    Settings s;
    s.algorithm = Algorithm::origin;
    const auto has = [&](std::string_view name) {
        return std::ranges::any_of(filters_of(s, at(0)), [&](const Filter* f) { return f->name == name; });
    };
    EXPECT_FALSE(has("prime_limit"));
    EXPECT_FALSE(has("nonprime_drain"));
    EXPECT_TRUE(has("fragments"));
    s.enforce_prime_time = {true};
    s.prime_time_wallt_limit = Seconds(7200);
    s.avoid_fragmentation = {false};
    EXPECT_TRUE(has("prime_limit"));
    EXPECT_FALSE(has("fragments"));
    s.algorithm = Algorithm::standard;
    EXPECT_FALSE(has("prime_limit"));
}

}  // namespace
}  // namespace pbs::sched::test
