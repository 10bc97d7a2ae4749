// Tests Scheduler::explain(), which says what the next cycle does with a job.
#include "server_plugin/scheduler/state/explanation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/quotas.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string id(int job) {
    return fmt::format("{}.server", job);
}

std::vector<std::string> objections(const std::vector<FilterAnswer>& filters) {
    std::vector<std::string> out;
    for (const FilterAnswer& answer : filters)
        if (!answer.why.empty())
            out.push_back(fmt::format("{}{}: {}", answer.decides ? "* " : "", answer.filter, answer.why));
    return out;
}

std::vector<std::string> keys(const Explanation& explanation) {
    std::vector<std::string> out;
    for (const OrderKey& key : explanation.keys)
        out.push_back(fmt::format("{}={}{}", key.name, key.value, key.largest_first ? " (-)" : ""));
    return out;
}

std::vector<std::string> awaited(const QueueAnswers& queue) {
    std::vector<std::string> out;
    for (const Awaited& a : queue.awaited) {
        const auto minutes = (a.until - kMonday).count() / 60;
        out.push_back(fmt::format("until {:02}:{:02} {}", minutes / 60, minutes % 60, a.what));
    }
    return out;
}

struct Explain : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override {
        world.prime_time(8, 17);
        world.vnode({.name = "n", .ncpus = 8});
        world.queue({.name = "batch", .nodes = 4});
        world.configure();
    }
    Explanation explain(int job, Instant now = at(10)) {
        auto found = world.scheduler.explain(now, id(job));
        EXPECT_TRUE(found.has_value());
        return found.value_or(Explanation{});
    }
};

TEST_F(Explain, AJobThatStarts) {
    const int job = world.job({.nodes = 1});
    const Explanation e = explain(job);
    EXPECT_EQ(e.job, id(job));
    EXPECT_EQ(e.sched, "default");
    EXPECT_EQ(e.policy, "p1");
    EXPECT_EQ(e.algorithm, "origin");
    EXPECT_EQ(e.outcome, JobOutcome::starts);
    EXPECT_EQ(e.queue, "batch");
    EXPECT_EQ(e.reason, "");
    ASSERT_EQ(e.queues.size(), 1U);
    EXPECT_EQ(e.queues[0].queue, "batch");
    EXPECT_THAT(objections(e.queues[0].filters), IsEmpty());
    EXPECT_GT(e.queues[0].filters.size(), 5U);
    EXPECT_THAT(objections(e.filters), IsEmpty());
    EXPECT_THAT(world.cycle(at(10)).started, ElementsAre(job)) << "nothing was done by explaining";
}

TEST_F(Explain, TheGateThatDecidesAndTheOthersThatWouldRefuse) {
    s.enforce_prime_time = {true};
    s.prime_time_wallt_limit = Seconds(2 * kHour);
    world.configure();
    const int running = world.job({.nodes = 4, .walltime = 3 * kHour});
    world.run(running, "batch", "n", at(9));
    const int job = world.job({.nodes = 4, .walltime = 4 * kHour});
    const Explanation e = explain(job);
    EXPECT_EQ(e.outcome, JobOutcome::waits);
    EXPECT_EQ(e.queue, "batch");
    EXPECT_EQ(e.reason, "Exceeds primetime walltime limit (02:00:00)");
    ASSERT_EQ(e.queues.size(), 1U);
    EXPECT_THAT(objections(e.queues[0].filters),
                ElementsAre("* prime_limit: Exceeds primetime walltime limit (02:00:00)",
                            "queue_nodes: Not enough free nodes in queue batch: job needs 4, 0 free",
                            "hosts: Not Running: Not enough free nodes available"));
    EXPECT_EQ(e.queues[0].earliest_start, at(15)) << "two hours before the end of prime time";
    EXPECT_THAT(awaited(e.queues[0]),
                ElementsAre("until 12:00 running jobs have ended",
                            "until 15:00 no more of prime time is left than its limit"));
    EXPECT_EQ(world.cycle(at(10)).comment.at(job), e.reason);
}

TEST_F(Explain, WhenEnoughJobsHaveEnded) {
    const int running = world.job({.nodes = 3, .walltime = 3 * kHour});
    world.run(running, "batch", "n", at(9));
    const int job = world.job({.nodes = 2});
    const Explanation e = explain(job);
    EXPECT_EQ(e.outcome, JobOutcome::waits);
    ASSERT_EQ(e.queues.size(), 1U);
    EXPECT_EQ(e.queues[0].earliest_start, at(12));
    EXPECT_EQ(world.cycle(at(12)).comment.count(job), 1U) << "it is one of the running jobs still";
}

TEST_F(Explain, EarliestStartWithWindowsPrimeTimeAndDedicatedTime) {
    world.hours("batch", world.window("FREQ=DAILY", 6, 11));
    const int running = world.job({.nodes = 4, .walltime = 3 * kHour});
    world.run(running, "batch", "n", at(9));
    const int job = world.job({.nodes = 2, .walltime = 2 * kHour});
    world.configure();
    Explanation e = explain(job);
    EXPECT_EQ(e.queues[0].earliest_start, at(30)) << "at 12 the queue is closed";
    EXPECT_THAT(awaited(e.queues[0]), ElementsAre("until 12:00 running jobs have ended",
                                                  "until 30:00 the queue's time_window opens"));

    world.configuration.dedicated = world.window("FREQ=DAILY", 7, 9);
    world.configure();
    e = explain(job);
    EXPECT_EQ(e.queues[0].earliest_start, at(33)) << "two hours from 6 would run into dedicated time";
    EXPECT_THAT(awaited(e.queues[0]), ElementsAre("until 12:00 running jobs have ended",
                                                  "until 30:00 the queue's time_window opens",
                                                  "until 33:00 dedicated time has ended"));

    world.configuration.dedicated = world.window("FREQ=DAILY", 7, 10);
    world.hours("batch", world.window("FREQ=DAILY", 6, 9));
    world.configure();
    EXPECT_FALSE(explain(job).queues[0].earliest_start) << "it never fits between them";
}

TEST_F(Explain, EarliestStartInAQueueOfAnExecutionType) {
    world.queue({.name = "batch", .nodes = 4, .execution_type = ExecutionType::non_prime});
    const int job = world.job({.nodes = 2, .walltime = 2 * kHour});
    const Explanation e = explain(job);
    EXPECT_EQ(e.queues[0].earliest_start, at(17));
    EXPECT_THAT(awaited(e.queues[0]), ElementsAre("until 17:00 prime time has ended"));
    EXPECT_EQ(explain(job, at(17)).outcome, JobOutcome::starts);
}

TEST_F(Explain, EarliestStartAfterAJobThatHasAReservation) {
    s.max_queued_time = Seconds(2 * kHour);
    world.configure();
    const int running = world.job({.nodes = 3, .walltime = 3 * kHour, .queued = at(9)});
    world.run(running, "batch", "n", at(9));
    const int waiting = world.job({.nodes = 4, .walltime = 5 * kHour, .queued = at(0)});
    const int job = world.job({.nodes = 2, .walltime = kHour, .queued = at(9)});
    EXPECT_EQ(explain(waiting).queues[0].earliest_start, at(12));
    EXPECT_EQ(explain(job).queues[0].earliest_start, at(17)) << "the waiting job goes first";
}

TEST_F(Explain, NoEarliestStartIsKnownOfWhatOtherThingsPrevent) {
    const int running = world.job({.nodes = 4, .walltime = 3 * kHour});
    world.run(running, "batch", "n", at(9));
    world.queue({.name = "batch", .nodes = 4, .acl_users = {"bob"}});
    EXPECT_FALSE(explain(world.job({.nodes = 1})).queues[0].earliest_start);
    world.queue({.name = "batch", .nodes = 90});
    EXPECT_FALSE(explain(world.job({.nodes = 80})).queues[0].earliest_start) << "no vnode is so large";
}

TEST_F(Explain, EachBatchQueueAndTheJobsBeforeIt) {
    s.batch_queues.push_back({"large"});
    world.queue({.name = "large", .nodes = 2});
    world.configure();
    const int first = world.job({.nodes = 4, .walltime = 10 * kMinute});
    const int second = world.job({.nodes = 3, .walltime = 20 * kMinute});
    const Explanation e = explain(second);
    EXPECT_EQ(e.place, 2U);
    EXPECT_EQ(e.jobs, 2U);
    EXPECT_EQ(e.job_class, "normal");
    ASSERT_EQ(e.queues.size(), 2U);
    EXPECT_THAT(objections(e.queues[0].filters),
                ElementsAre("* queue_nodes: Not enough free nodes in queue batch: job needs 3, 0 free",
                            "hosts: Not Running: Not enough free nodes available"));
    EXPECT_THAT(objections(e.queues[1].filters).front(),
                "queue_maximum: Job needs 3 nodes, queue large has 2");
    const auto cycle = world.cycle(at(10));
    EXPECT_THAT(cycle.started, ElementsAre(first));
    EXPECT_EQ(cycle.comment.at(second), e.reason);
}

TEST_F(Explain, AJobThatIsRejected) {
    const int job = world.job({.nodes = 9});
    const Explanation e = explain(job);
    EXPECT_EQ(e.outcome, JobOutcome::rejected);
    EXPECT_EQ(e.reason, world.cycle(at(10), false).rejected.at(job));
}

TEST_F(Explain, ThePlaceAndTheKeys) {
    world.job({.nodes = 1, .walltime = kHour});
    const int job = world.job({.nodes = 2, .walltime = 2 * kHour});
    world.queue({.name = "special"});
    s.special_queue = {{"special"}};
    world.configure();
    world.job({.queue = "special", .nodes = 1});
    const Explanation e = explain(job, at(20));
    EXPECT_EQ(e.place, 2U) << "jobs of the special queue go first, and outside of prime time large ones";
    EXPECT_EQ(e.jobs, 3U);
    EXPECT_EQ(e.class_place, 1U);
    EXPECT_EQ(e.class_jobs, 2U);
    EXPECT_THAT(keys(e), ElementsAre("nodes=2 (-)", "walltime=02:00:00", "eligible=Mon Nov 23 00:00:00 2026",
                                     fmt::format("sequence={}", job)));
    EXPECT_FALSE(e.past_usage) << "it isn't sorted by";
    s.sort_by_past_usage = {true};
    world.configure();
    EXPECT_EQ(explain(job, at(20)).past_usage, 0.0);
}

TEST_F(Explain, JobsThatNoCycleLooksAt) {
    const int running = world.job({.nodes = 1});
    world.run(running, "batch", "n", at(9));
    EXPECT_EQ(explain(running).outcome, JobOutcome::not_considered);
    EXPECT_EQ(explain(running).reason, "it runs, since Mon Nov 23 09:00:00 2026");
    EXPECT_EQ(explain(world.job({.state = 'H'})).reason, "it is held");
    EXPECT_EQ(explain(world.job({.state = 'W'})).reason, "it waits for its execution time");
    world.queue({.name = "elsewhere"});
    const Explanation other = explain(world.job({.queue = "elsewhere"}));
    EXPECT_EQ(other.reason, "queue elsewhere is none that policy p1 takes jobs from");
    EXPECT_EQ(other.outcome, JobOutcome::not_considered);
    EXPECT_EQ(other.place, 0U);
    world.queue({.name = "apart", .partition = "p"});
    EXPECT_EQ(explain(world.job({.queue = "apart"})).reason,
              "No scheduler serves queue apart: none has partition p");
    const int job = world.job({.nodes = 1});
    world.scheduler.sched_changed({"default", false, {}, {}});
    EXPECT_EQ(explain(job).reason, "scheduling is off in sched default");
    EXPECT_FALSE(world.scheduler.explain(at(10), "99.server"));
}

TEST_F(Explain, AQueueThatStopsObservingPrimeTimeEarly) {
    s.enforce_prime_time = {true};
    s.nonprime_drain_sys = {true};
    s.np_drain_backtime = Seconds(30 * kMinute);
    s.np_drain_idletime = Seconds(5 * kMinute);
    world.configure();
    world.cycle(at(16));  // from this cycle on, the queue counts as idle
    const int job = world.job({.nodes = 1, .walltime = 4 * kHour});
    const Explanation before = explain(job, at(16, 20));
    EXPECT_EQ(before.outcome, JobOutcome::waits);
    EXPECT_EQ(before.reason, "System draining for non-primetime at 17:00:00");
    for (int twice = 0; twice < 2; ++twice) {
        const Explanation e = explain(job, at(16, 40));
        EXPECT_EQ(e.outcome, JobOutcome::starts) << "explaining leaves no mark";
        ASSERT_EQ(e.queues.size(), 1U);
        EXPECT_THAT(objections(e.queues[0].filters), IsEmpty());
    }
    EXPECT_THAT(world.cycle(at(16, 40)).started, ElementsAre(job));
}

TEST(ExplainStandard, StrictOrderingStarvingAndScores) {
    World world;
    Settings& s = world.policy();
    s.strict_ordering = true;
    s.backfill_depth = 0;
    s.max_starve = Seconds(kHour);
    s.job_sort_formula = "2 * ncpus";
    world.queue({.name = "work"});
    world.vnode({.name = "n", .ncpus = 8, .mem = 64 * kGb});
    const int running = world.job({.queue = "work", .ncpus = 4, .walltime = 4 * kHour});
    world.run(running, "work", "n", at(0));
    world.configure();
    const int top = world.job({.queue = "work", .ncpus = 8, .queued = at(0)});
    const int small = world.job({.queue = "work", .ncpus = 1, .queued = at(4, 59)});
    auto e = world.scheduler.explain(at(5), id(small));
    ASSERT_TRUE(e);
    EXPECT_EQ(e->algorithm, "standard");
    EXPECT_EQ(e->job_class, "normal");
    EXPECT_EQ(e->place, 2U);
    EXPECT_EQ(e->reason, "Not Running: Job would break strict sorted order");
    EXPECT_THAT(
        objections(e->filters),
        ElementsAre(fmt::format("* strict_ordering: {} (job {} is to start first)", e->reason, id(top))));
    EXPECT_THAT(keys(*e), testing::IsSupersetOf({"starving=no", "queue=work", "formula=2 (-)"}));
    e = world.scheduler.explain(at(5), id(top));
    EXPECT_EQ(e->job_class, "starving");
    EXPECT_EQ(e->reason, "Not Running: Insufficient amount of resource: ncpus (R: 8 A: 4 T: 8)");
}

// A queue may leave prime time early. It then observes the next prime time again.
TEST(ExplainEarly, TheEarliestStartIsReckonedWithTheQueueAsItIsThen) {
    World world;
    Settings& s = world.origin({"batch"});
    world.queue({.name = "batch"});
    world.prime_time(8, 17);
    s.enforce_prime_time = {true};
    s.prime_time_wallt_limit = Seconds(2 * kHour);
    s.nonprime_drain_sys = {true};
    s.np_drain_backtime = Seconds(30 * kMinute);
    s.np_drain_idletime = Seconds(5 * kMinute);
    world.vnode({.name = "n", .ncpus = 8});
    world.configure();
    world.cycle(at(16));
    const int first = world.job({.ncpus = 8, .walltime = 17 * kHour});
    ASSERT_THAT(world.cycle(at(16, 40)).started, ElementsAre(first)) << "until 9:40";
    const int next = world.job({.ncpus = 8, .walltime = 5 * kHour});
    const auto e = world.scheduler.explain(at(16, 50), id(next));
    ASSERT_TRUE(e && e->queues.size() == 1);
    EXPECT_EQ(e->queues[0].earliest_start, at(24 + 17)) << "not in the prime time of Tuesday";
}

TEST_F(Explain, AnOptionThatComesIntoForceBeforeTheStart) {
    s.enforce_prime_time = {true};
    s.nonprime_drain_sys = {false, at(11)};
    world.configure();
    world.run(world.job({.nodes = 3, .walltime = 10 * kHour}), "batch", "n", at(9));
    world.run(world.job({.nodes = 1, .walltime = 3 * kHour}), "batch", "n", at(9));
    const int job = world.job({.nodes = 1, .walltime = 6 * kHour});
    EXPECT_EQ(explain(job).queues[0].earliest_start, at(12)) << "the queue isn't empty before 19:00";
}

TEST_F(Explain, TheQueueThatIsDrainedForTheJob) {
    const int running = world.job({.nodes = 3, .walltime = 4 * kHour});
    world.run(running, "batch", "n", at(9));
    const int head = world.job({.nodes = 4, .walltime = kHour});
    const int other = world.job({.nodes = 1, .walltime = 9 * kHour});
    const Explanation e = explain(head);
    EXPECT_EQ(e.outcome, JobOutcome::waits);
    EXPECT_EQ(e.queues.at(0).drained_until, at(13));
    const Explanation behind = explain(other);
    EXPECT_FALSE(behind.queues.at(0).drained_until);
    EXPECT_THAT(objections(behind.queues[0].filters),
                testing::Contains("reservations: Queue batch is being drained for job " + id(head)));
}

TEST_F(Explain, TestOnlyIsTold) {
    const int job = world.job({.nodes = 1});
    EXPECT_FALSE(explain(job).test_only);
    s.test_only = {true};
    world.configure();
    EXPECT_TRUE(explain(job).test_only);

    world.run(job, "batch", "n", at(9));
    const int waits = world.job({.nodes = 4, .walltime = kHour});
    s.test_only = {.from = at(23)};
    world.configure();
    const auto earliest = explain(waits).queues.at(0).earliest_start;
    ASSERT_TRUE(earliest && *earliest < at(23));
    EXPECT_FALSE(explain(waits).test_only);
    s.test_only = {.from = *earliest};
    world.configure();
    EXPECT_TRUE(explain(waits).test_only) << "by the earliest start";
}

std::vector<std::string> layers(const QueueAnswers& queue) {
    std::vector<std::string> out;
    for (const Layer& l : queue.layers)
        out.push_back(fmt::format("{} {}: {} of {} for {}{}{}", l.resource, l.name, l.free, l.total, l.asked,
                                  l.lacks ? ", short" : "", l.narrowest ? ", narrowest" : ""));
    return out;
}

TEST(Layers, NameTheNarrowest) {
    World world;
    world.queue({.name = "work",
                 .available_ncpus = 8,
                 .limits = {{.entity = EntityKind::user, .resource = ncpus, .most = 6}}});
    const Amount available[] = {{ncpus, 20, {}}};
    ServerRecord server;
    server.resources_available = available;
    world.server(server);
    world.policy().quotas.push_back(quota({.rules = {{"each", "users={*} to ncpus=7,mem=3gb,jobs=5"}}}));
    world.vnode({.name = "a", .ncpus = 4, .mem = 8 * kGb});
    world.vnode({.name = "b", .ncpus = 16, .mem = 8 * kGb, .free = false});
    world.configure();
    const int running = world.job({.queue = "work", .ncpus = 3, .mem = kGb});
    world.run(running, "work", "a", at(9));
    const int job = world.job({.queue = "work", .ncpus = 4, .mem = kGb});
    const auto told = world.scheduler.explain(at(10), id(job));
    ASSERT_TRUE(told);
    EXPECT_THAT(
        layers(told->queues[0]),
        ElementsAre("ncpus server_resources: 17 of 20 for 4",
                    "ncpus queue_max_run_res_user: 3 of 6 for 4, short",
                    "ncpus queue_resources: 5 of 8 for 4", "ncpus quota q1: 4 of 7 for 4",
                    "ncpus vnodes: 1 of 20 for 4, short, narrowest",
                    "mem quota q1: 2gb of 3gb for 1gb, narrowest", "mem vnodes: 7gb of 16gb for 1gb"));
    const int starts = world.job({.queue = "work", .ncpus = 1});
    const auto other = world.scheduler.explain(at(10), id(starts));
    ASSERT_TRUE(other);
    EXPECT_THAT(layers(other->queues[0]), IsEmpty()) << "nothing refuses it";
}

// Time lifts some refusals. The words for what a start then waits for follow "when", so there have to be
// some.
TEST(Awaited, HasWordsForEveryReason) {
    using enum ReasonCode;
    Interner strings;
    const std::uint32_t label = strings.id("night (guests): ncpus");
    const std::string plain = awaited_text({ReasonCode::other}, strings);
    EXPECT_NE(plain, "");
    for (int code = 0; code <= static_cast<int>(ReasonCode::place_too_large); ++code)
        EXPECT_NE(awaited_text({static_cast<ReasonCode>(code), 0, label}, strings), "") << code;
    // Those with an instant in a look-ahead, except the own words of a rule.
    for (const ReasonCode code :
         {queue_closed, suspended_until, dedicated_time, dedicated_unknown, into_dedicated, not_dedicated,
          past_dedicated, prime_limit, nonprime_drain, prime_only, non_prime_only, prime_boundary,
          window_boundary, over_quota, above_quota, hosts_busy, hosts_at_threshold})
        EXPECT_NE(awaited_text({code, 0, label}, strings), plain) << static_cast<int>(code);
    EXPECT_EQ(awaited_text({over_quota, 0, label}, strings), "quota night doesn't hold");
}

}  // namespace
}  // namespace pbs::sched::test
