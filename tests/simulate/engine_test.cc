// Simulates small traces whose schedules can be worked out by hand.
#include "tools/simulate/engine.h"

#include <gmock/gmock.h>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kStrict =
    "create policy strict\n"
    "set policy strict strict_ordering=True, backfill_depth=0\n";

// Job 1 has both CPUs until 100 seconds. Then the other two jobs start together.
TEST(Engine, ThreeJobsOnTwoCpus) {
    const Schedule run =
        run_of(trace_of({{0, 2, 100, 100}, {10, 1, 50, 60}, {20, 1, 200, 200}}), site_of(1, 2));
    EXPECT_THAT(starts(run), ElementsAre(0, 100, 100));
    EXPECT_EQ(run.begin, kMonday);
    EXPECT_EQ(run.end, kMonday + Seconds(300));
    EXPECT_EQ(run.started, 3);
    EXPECT_EQ(run.cpus, 2);
    EXPECT_THAT(run.policies, ElementsAre("default_policy"));
    // Cycles run at 0, 10 and 20, when jobs arrive, and at 100, when job 1 ends. When later jobs end, no job
    // waits, so no cycle runs.
    EXPECT_EQ(run.cycles, 4);
}

// The third job fits beside the first. With strict_ordering, it still waits until the second has started.
TEST(Engine, StrictOrderingHoldsLaterJobsBack) {
    const Trace trace = trace_of({{0, 1, 100, 100}, {10, 2, 100, 100}, {20, 1, 50, 50}});
    EXPECT_THAT(starts(run_of(trace, site_of(1, 2))), ElementsAre(0, 100, 20));
    EXPECT_THAT(starts(run_of(trace, site_of(1, 2), kStrict)), ElementsAre(0, 100, 200));
}

TEST(Engine, AJobIsEndedAtItsWalltime) {
    const Schedule run = run_of(trace_of({{0, 2, 100, 60}, {10, 2, 30, 60}}), site_of(1, 2));
    EXPECT_THAT(starts(run), ElementsAre(0, 60));
    EXPECT_EQ(run.outcomes[0].how, JobEnd::killed);
    EXPECT_EQ(run.outcomes[1].how, JobEnd::finished);
    EXPECT_EQ(run.end, kMonday + Seconds(90));
}

TEST(Engine, AJobOfNoTimeEndsInTheSecondThatItStarts) {
    const Schedule run = run_of(trace_of({{0, 2, 0, 60}, {0, 2, 0, 60}, {0, 2, 5, 60}}), site_of(1, 2));
    EXPECT_THAT(starts(run), ElementsAre(0, 1, 2));
}

TEST(Engine, EventsWithinTheCycleIntervalAreSeenTogether) {
    EngineOptions options;
    options.cycle_interval = Seconds(60);
    const Schedule run =
        run_of(trace_of({{0, 1, 10, 10}, {5, 1, 10, 10}, {30, 1, 10, 10}}), site_of(1, 4), {}, options);
    EXPECT_THAT(starts(run), ElementsAre(0, 60, 60));
    EXPECT_EQ(run.cycles, 2);
}

TEST(Engine, AJobLargerThanAVnodeTakesWholeVnodesAndARest) {
    // The job of 10 CPUs takes two vnodes of 4 CPUs, and 2 CPUs of the third vnode. This leaves 2 CPUs, so
    // the job of 3 CPUs has to wait for its end.
    const Schedule run = run_of(trace_of({{0, 10, 100, 100}, {1, 2, 50, 50}, {2, 3, 10, 10}}), site_of(3, 4));
    EXPECT_THAT(starts(run), ElementsAre(0, 1, 100));
}

TEST(Engine, WhatNeverFitsIsToldWithItsComment) {
    const Schedule run = run_of(trace_of({{0, 8, 10, 10}, {5, 1, 10, 10}}), site_of(1, 2));
    EXPECT_THAT(starts(run), ElementsAre(-1, 5));
    ASSERT_EQ(run.waiting.size(), 1U);
    EXPECT_EQ(run.waiting.begin()->second, 1);
    EXPECT_NE(run.waiting.begin()->first, "not looked at");
    EXPECT_EQ(run.end, kMonday + Seconds(15));
}

TEST(Engine, APolicyOfOriginRejectsWhatFitsNoQueue) {
    Site site = site_of(1, 8);
    add_queue(site.machine, "submit");
    site.machine.server["default_queue"] = "submit";
    const Schedule run = run_of(trace_of({{0, 1, 10, 600}, {1, 1, 10, 90000}}), site,
                                "create queue batch queue_type=execution, started=True, enabled=True\n"
                                "set queue batch resources_max.walltime=01:00:00\n"
                                "create policy o\n"
                                "set policy o algorithm=origin, submit_queue=submit, batch_queues=batch\n");
    EXPECT_THAT(starts(run), ElementsAre(0, -1));
    EXPECT_EQ(run.outcomes[1].how, JobEnd::rejected);
    EXPECT_THAT(run.policies, ElementsAre("o"));
    ASSERT_EQ(run.rejections.size(), 1U);
}

// Prime time from 08:00 to 17:00.
constexpr const char* kOffice =
    "create time_window office\n"
    "set time_window office rrule='FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', start_time=0800, end_time=1700\n"
    "set time_window office type=prime\n";

TEST(Engine, AReasonIsToldOfAPolicyThatIsNoLongerInForce) {
    const std::string changes = std::string(kStrict) + kOffice + "set sched default policy='p:strict'\n";
    const Schedule run = run_of(trace_of({{7 * 3600, 8, 10, 10}}), site_of(1, 2), changes);
    EXPECT_THAT(starts(run), ElementsAre(-1));
    ASSERT_EQ(run.waiting.size(), 1U);
    EXPECT_NE(run.waiting.begin()->first, "not looked at");
}

TEST(Engine, EndsEarlyWhenAStopIsRequested) {
    const Site site = site_of(1, 2);
    const auto variant = variant_of_policies(site, {});
    ASSERT_TRUE(variant);
    const auto cluster = Cluster::make(variant->machine);
    ASSERT_TRUE(cluster);
    std::stop_source stop;
    EngineOptions options;
    options.stop = stop.get_token();
    const Trace trace = trace_of({{0, 1, 10, 10}});
    EXPECT_TRUE(simulate(trace, *cluster, variant->snapshot, site.zone, options));
    stop.request_stop();
    EXPECT_FALSE(simulate(trace, *cluster, variant->snapshot, site.zone, options));
}

// The policy for all time is in force from 08:00 to 17:00, and the policy `strict` outside these hours.
TEST(Engine, PoliciesSwitchAtTheBoundaryOfPrimeTime) {
    const std::string changes =
        std::string(kStrict) + kOffice + "set sched default policy='default_policy,np:strict'\n";
    constexpr std::int64_t kEight = 8 * 3600;
    const Trace trace =
        trace_of({{kEight - 3600, 1, 7200, 7200}, {kEight - 3000, 2, 100, 100}, {kEight - 2000, 1, 50, 50}});
    const Schedule run = run_of(trace, site_of(1, 2), changes);
    EXPECT_THAT(starts(run), ElementsAre(kEight - 3600, kEight + 3600, kEight));
    EXPECT_THAT(run.policies, ElementsAre("strict", "default_policy"));
    ASSERT_EQ(run.prime.size(), 1U);
    EXPECT_EQ(run.prime[0].start, kMonday + Seconds(kEight));
    EXPECT_EQ(run.prime[0].end, run.end);
    EXPECT_FALSE(run.outcomes[0].prime);
    EXPECT_TRUE(run.outcomes[2].prime);
}

// ann's second job waits because of her limit of one job, and gains no eligible time. bob's job waits for
// CPUs, and gains eligible time.
TEST(Engine, EligibleTimeIsCountedByWhatJobsWaitForIfTheServerDoes) {
    const std::string policy =
        "create policy p job_sort_formula=eligible_time\n"
        "set server max_run='[u:PBS_GENERIC=1]'\n";
    const Trace trace =
        trace_of({{0, 1, 100, 100}, {0, 1, 100, 100, "carl"}, {1, 1, 30, 30}, {50, 2, 20, 20, "bob"}});
    EXPECT_THAT(starts(run_of(trace, site_of(1, 2), policy)), ElementsAre(0, 0, 100, 130));
    EXPECT_THAT(starts(run_of(trace, site_of(1, 2), policy + "set server eligible_time_enable=True\n")),
                ElementsAre(0, 0, 120, 100));
}

TEST(Engine, StartsAreEstimatedWhereAPlaceIsKept) {
    // At first the second job is expected to start at 200, when the first job's walltime ends. But the first
    // job already ends at 100.
    const Schedule run = run_of(trace_of({{0, 2, 100, 200}, {10, 2, 50, 60}, {20, 1, 50, 50}}), site_of(1, 2),
                                "set policy default_policy strict_ordering=True, backfill_depth=1\n");
    EXPECT_THAT(starts(run), ElementsAre(0, 100, 150));
    ASSERT_EQ(run.estimates.size(), 2U);
    EXPECT_EQ(run.estimates.at(1).first, kMonday + Seconds(200));
    EXPECT_EQ(run.estimates.at(1).last, kMonday + Seconds(200));
    EXPECT_EQ(run.estimates.at(2).first, kMonday + Seconds(160)) << "told at 100";
}

// The first two jobs make a load of 2, the threshold at which no further job starts.
TEST(Engine, LoadsAreTheCpusInUse) {
    const Trace trace = trace_of({{0, 1, 100, 100}, {1, 1, 100, 100}, {2, 1, 50, 50}});
    const char* const closed = "create policy closed\nset policy closed load_thresholds=\"load_avg >= 2\"\n";
    EngineOptions options;
    options.loads_by_cpus = true;
    EXPECT_THAT(starts(run_of(trace, site_of(1, 4), closed, options)), ElementsAre(0, 1, 100));
    EXPECT_THAT(starts(run_of(trace, site_of(1, 4), closed)), ElementsAre(-1, -1, -1)) << "nothing is known";
    const char* const spread =
        "create policy spread\nset policy spread load_formula=load_avg, node_sort_key=\"load_formula LOW\", "
        "load_thresholds=\"load_avg >= 2\"\n";
    EXPECT_THAT(starts(run_of(trace, site_of(2, 4), spread, options)), ElementsAre(0, 1, 2));
}

TEST(Engine, TheSameTraceGivesTheSameSchedule) {
    std::vector<Job> jobs;
    jobs.reserve(400);
    for (int i = 0; i < 400; ++i)
        jobs.push_back(
            {i * 7 % 1000 / 10 * 10, 1 + i % 5, 30 + i * 37 % 500, 600, "user" + std::to_string(i % 7)});
    Trace trace = trace_of(jobs);
    sort_by_submission(trace);
    const Schedule first = run_of(trace, site_of(4, 4), kStrict);
    const Schedule second = run_of(trace, site_of(4, 4), kStrict);
    EXPECT_EQ(starts(first), starts(second));
    EXPECT_EQ(first.cycles, second.cycles);
    EXPECT_EQ(first.started, 400);
}

// The jobs never use more CPUs than the machine has.
TEST(Engine, NeverMoreCpusThanTheMachineHas) {
    std::vector<Job> jobs;
    jobs.reserve(300);
    for (int i = 0; i < 300; ++i) jobs.push_back({i * 3, 1 + i * 11 % 9, 20 + i * 53 % 400, 500});
    const Trace trace = trace_of(jobs);
    const Schedule run = run_of(trace, site_of(4, 4));
    std::map<Instant, std::int64_t> change;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        ASSERT_NE(run.outcomes[i].start, Instant{}) << i;
        change[run.outcomes[i].start] += trace.jobs[i].cpus;
        change[run.outcomes[i].end] -= trace.jobs[i].cpus;
    }
    std::int64_t in_use = 0;
    std::int64_t most = 0;
    for (const auto& [at, more] : change) most = std::max(most, in_use += more);
    EXPECT_LE(most, 16);
    EXPECT_GE(most, 14) << "the machine isn't used";
}

TEST(Engine, JobsOfAQueueThatIsNotThereGoToTheDefaultOne) {
    Trace trace = trace_of({{0, 1, 10, 10}});
    trace.jobs[0].queue = trace.queues.number("nowhere");
    const Schedule run = run_of(trace, site_of(1, 2));
    EXPECT_THAT(starts(run), ElementsAre(0));
    EXPECT_THAT(run.elsewhere, ElementsAre(Pair("nowhere", 1)));
    Site site = site_of(1, 2);
    add_queue(site.machine, "another");
    const Schedule refused = run_of(trace, site);
    EXPECT_THAT(starts(refused), ElementsAre(-1));
    EXPECT_THAT(refused.refused, ElementsAre(Pair(HasSubstr("nowhere"), 1)));
}

TEST(Engine, ProgressEndsWithAllJobs) {
    EngineOptions options;
    std::vector<std::size_t> done;
    options.progress = [&](const Progress& progress) {
        done.push_back(progress.done);
        EXPECT_EQ(progress.all, 2000U);
    };
    std::vector<Job> jobs;
    jobs.reserve(2000);
    for (int i = 0; i < 2000; ++i) jobs.push_back({i * 10, 1, 5, 10});
    run_of(trace_of(jobs), site_of(1, 4), {}, options);
    EXPECT_GT(done.size(), 2U);
    EXPECT_TRUE(std::ranges::is_sorted(done));
    EXPECT_EQ(done.back(), 2000U);
}

TEST(Engine, ATraceWithoutJobsIsAnError) {
    const Site site = site_of(1, 2);
    const auto variant = variant_of_policies(site, {});
    const auto cluster = Cluster::make(variant->machine);
    const auto none = simulate(trace_of({}), *cluster, variant->snapshot, site.zone);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error(), HasSubstr("no job to simulate"));
    const auto empty = Cluster::make(Machine{});
    const auto nowhere = simulate(trace_of({{0, 1, 1}}), *empty, variant->snapshot, site.zone);
    ASSERT_FALSE(nowhere);
    EXPECT_THAT(nowhere.error(), HasSubstr("no vnode with CPUs"));
}

}  // namespace
}  // namespace pbs::simulate::test
