// Simulates jobs that make room for others by preemption: when they run, and how much work is lost.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/cases.h"
#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Site express_site(std::int64_t nodes, std::int64_t cpus) {
    Site site = site_of(nodes, cpus);
    add_queue(site.machine, "express");
    site.machine.queues["express"]["Priority"] = "160";
    site.machine.server["default_queue"] = "workq";
    return site;
}

std::string order(const std::string& methods) {
    return "set policy default_policy preempt_order='" + methods + "'\n";
}

std::vector<std::pair<std::int64_t, std::int64_t>> runs_of(const Schedule& run, std::size_t job) {
    std::vector<std::pair<std::int64_t, std::int64_t>> runs;
    run.for_each_run(job, [&](Instant from, Instant until, std::int64_t) {
        runs.emplace_back((from - kMonday).count(), (until - kMonday).count());
    });
    return runs;
}

using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;

// The second job preempts the first one, and runs in its place from 40 to 70 seconds.
class Preempted : public testing::Test {
  protected:
    Trace trace = trace_of({{0, 4, 100, 150}, {40, 4, 30, 30, "bob", "express", "chem"}});
    Site site = express_site(1, 4);
    EngineOptions options;
    Schedule run_by(const std::string& methods) { return run_of(trace, site, order(methods), options); }
};

TEST_F(Preempted, BySuspensionGoesOnWhereItWas) {
    const Schedule run = run_by("SCR");
    EXPECT_EQ(runs_of(run, 0), (Runs{{0, 40}, {70, 130}}));
    EXPECT_EQ(runs_of(run, 1), (Runs{{40, 70}}));
    EXPECT_EQ(run.outcomes[0].how, JobEnd::finished);
    EXPECT_EQ(run.started, 2) << "each counts once";
    const PreemptedJob& job = run.preempted.at(0);
    EXPECT_EQ(job.queue, "workq");
    EXPECT_THAT(job.preempted.by, ElementsAre(1, 0, 0, 0));
    EXPECT_EQ(job.preempted.suspended, Seconds(30));
    EXPECT_EQ(job.preempted.lost, Seconds(0));
    const Report r = make_report("x", trace, run, 13);
    EXPECT_DOUBLE_EQ(r.all.usage.used, 4 * 130);
    EXPECT_DOUBLE_EQ(r.all.usage.share(), 1);
    EXPECT_THAT(r.waits, ElementsAre(0, 0));
    EXPECT_DOUBLE_EQ(r.all.jobs.slowdown.max, 1.3);
    EXPECT_EQ(r.series.cpus_in_use, std::vector<double>(13, 4));
    EXPECT_THAT(r.series.jobs_waiting, ElementsAre(0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0));
}

TEST_F(Preempted, BySuspensionItsWalltimeStandsStill) {
    trace.jobs[0].run_time = Seconds(200);
    const Schedule run = run_by("S");
    EXPECT_EQ(runs_of(run, 0), (Runs{{0, 40}, {70, 180}})) << "150 seconds in all";
    EXPECT_EQ(run.outcomes[0].how, JobEnd::killed);
}

TEST_F(Preempted, ByRequeuingBeginsAnew) {
    const Schedule run = run_by("R");
    EXPECT_EQ(runs_of(run, 0), (Runs{{0, 40}, {70, 170}}));
    const PreemptedJob& job = run.preempted.at(0);
    EXPECT_THAT(job.preempted.by, ElementsAre(0, 0, 1, 0));
    EXPECT_EQ(job.preempted.lost, Seconds(40));
    EXPECT_EQ(job.preempted.queued_again, Seconds(30));
    const Report r = make_report("x", trace, run);
    EXPECT_DOUBLE_EQ(r.all.usage.used, 4 * 170);
    EXPECT_DOUBLE_EQ(r.all.jobs.slowdown.max, 1.7);
    EXPECT_DOUBLE_EQ(r.preemption.all.cpu_seconds_lost, 160);
}

TEST_F(Preempted, ByCheckpointingOnlyWhereTheyCanBe) {
    EXPECT_EQ(runs_of(run_by("C"), 0), (Runs{{0, 100}}));
    EXPECT_EQ(runs_of(run_by("CR"), 0), (Runs{{0, 40}, {70, 170}})) << "the next method";
    options.checkpoints = true;
    const Schedule run = run_by("CR");
    EXPECT_EQ(runs_of(run, 0), (Runs{{0, 40}, {70, 130}}));
    EXPECT_THAT(run.preempted.at(0).preempted.by, ElementsAre(0, 1, 0, 0));
    EXPECT_EQ(run.preempted.at(0).preempted.lost, Seconds(0));
}

// With preempt_order "C 50 R", the job is preempted by checkpointing until half of its walltime, and later by
// requeuing. After it was requeued, it goes on from its checkpoint, and the work since the checkpoint is
// lost.
TEST_F(Preempted, ByRequeuingAfterACheckpointLosesWhatCameSince) {
    options.checkpoints = true;
    trace = trace_of({{0, 4, 100, 80}, {20, 4, 10, 10, "bob", "express"}, {80, 4, 10, 10, "bob", "express"}});
    const Schedule run = run_by("C 50 R");
    EXPECT_EQ(runs_of(run, 0), (Runs{{0, 20}, {30, 80}, {90, 170}}));
    EXPECT_EQ(run.preempted.at(0).preempted.lost, Seconds(50));
}

TEST_F(Preempted, ByDeletionIsGone) {
    const Schedule run = run_by("D");
    EXPECT_EQ(runs_of(run, 0), (Runs{{0, 40}}));
    EXPECT_EQ(run.outcomes[0].how, JobEnd::deleted);
    EXPECT_EQ(run.end, kMonday + Seconds(70));
    const Report r = make_report("x", trace, run);
    EXPECT_EQ(r.started, 2);
    EXPECT_EQ(r.never_started, 0);
    EXPECT_DOUBLE_EQ(r.all.jobs.slowdown.max, 1) << "it has none";
    EXPECT_DOUBLE_EQ(r.preemption.all.cpu_seconds_lost, 160);
}

TEST_F(Preempted, NobodyIsWherePreemptionIsOff) {
    const Schedule run = run_of(trace, site, "set policy default_policy preemption=False\n");
    EXPECT_THAT(run.preempted, IsEmpty());
    EXPECT_THAT(starts(run), ElementsAre(0, 100));
}

// A suspended job waits for its own vnode. A job of the express queue holds this vnode for longer than a
// simulation goes on without events.
TEST_F(Preempted, APreemptedJobThatCannotRunAgainIsReported) {
    trace = trace_of({{0, 4, 100, 150}, {40, 4, 30, 30, "bob", "express"}});
    site.machine.queues["workq"]["started"] = "True";
    const Schedule run =
        run_of(trace, site,
               order("R") +
                   "create time_window start\n"
                   "set time_window start rrule='DTSTART:20261123T000000 FREQ=DAILY;COUNT=1', "
                   "start_time=0000, end_time=0001\n"
                   "set queue workq time_window=start\n");
    EXPECT_EQ(runs_of(run, 0), (Runs{{0, 40}}));
    EXPECT_EQ(run.outcomes[0].how, JobEnd::stopped);
    EXPECT_THAT(run.waiting, IsEmpty()) << "it did start";
    const Report r = make_report("x", trace, run);
    EXPECT_EQ(r.preemption.all.stopped, 1);
    EXPECT_EQ(r.started, 2);
}

TEST_F(Preempted, KeepsWhatSuspendedJobsDontGiveBack) {
    site.machine.nodes.clear();
    add_nodes(site.machine, 1, 4, 4LL << 30);
    trace.jobs[0].mem = 3LL << 30;
    trace.jobs[1].mem = 1LL << 30;
    site.machine.server["restrict_res_to_release_on_suspend"] = "ncpus";
    std::vector<std::size_t> held;  // numbers of amounts that job 1 holds on its vnode
    options.holds = [&](std::size_t job, std::span<const sched::Place> places) {
        if (job == 0) held.push_back(places.empty() ? 0 : places.front().amounts.size());
    };
    EXPECT_EQ(runs_of(run_by("S"), 0), (Runs{{0, 40}, {70, 130}}));
    EXPECT_THAT(held, ElementsAre(2, 1, 2, 0));
    trace.jobs[1].mem = 2LL << 30;
    EXPECT_EQ(runs_of(run_by("S"), 0), (Runs{{0, 100}})) << "that would make no room";
}

TEST_F(Preempted, IsReported) {
    const Schedule run = run_by("R");
    const Heading heading = make_heading(trace, rrule::Zone::utc());
    const std::vector<Report> one = {make_report("x", trace, run)};
    const std::string text = to_text(heading, one);
    EXPECT_THAT(text, HasSubstr("preempted      jobs  suspended  checkpointed  requeued  deleted"));
    EXPECT_THAT(text, HasSubstr("all               1          0             0         1        0"));
    EXPECT_THAT(text, HasSubstr("0:00:30\n  queue workq     1"));
    EXPECT_THAT(text, HasSubstr("  group staff     1"));
    EXPECT_THAT(text, HasSubstr("  user ann        1"));
    const auto json = nlohmann::json::parse(to_json(heading, one))["simulations"][0]["preemption"];
    EXPECT_EQ(json["jobs"], 1);
    EXPECT_EQ(json["requeued"], 1);
    EXPECT_EQ(json["suspended"], 0);
    EXPECT_EQ(json["cpu_seconds_lost"], 160);
    EXPECT_EQ(json["users"][0]["user"], "ann");
    EXPECT_EQ(json["queues"][0]["seconds_queued_again"], 30);
    // A report of two simulations, of which the first has no preemption.
    const Schedule none = run_of(trace, site, "set policy default_policy preemption=False\n");
    const std::vector<Report> two = {make_report("a", trace, none), one[0]};
    EXPECT_THAT(to_text(heading, two), HasSubstr("preempted      jobs A  B  times A  B  B - A"));
    EXPECT_THAT(to_text(heading, {two[0]}), testing::Not(HasSubstr("preempted")));
    EXPECT_FALSE(nlohmann::json::parse(to_json(heading, {two[0]}))["simulations"][0].contains("preemption"));
}

// The CPU time that the suspended job has used counts for its owner, who thereby exceeds his share.
TEST_F(Preempted, SharesCountWhatASuspendedJobHasUsed) {
    for (const std::string formula : {"ncpus*walltime", "cput"}) {
        SCOPED_TRACE(formula);
        const Schedule run = run_of(trace, site,
                                    order("S") +
                                        "create fs_group f1 tree_element = [ann:root = 50, bob:root = 50], "
                                        "decay_time = 1000:00:00, usage_formula = '" +
                                        formula +
                                        "'\n"
                                        "set policy default_policy fairshare_group = f1, fairshare = True\n");
        EXPECT_EQ(runs_of(run, 0), (Runs{{0, 40}, {70, 130}}));
        const auto& rows = run.shares.at(0).view.rows;
        EXPECT_EQ(std::ranges::find(rows, "ann", &sched::ShareRow::name)->usage, 401);
        EXPECT_EQ(std::ranges::find(rows, "bob", &sched::ShareRow::name)->usage, 121);
    }
}

// Each of two jobs exceeds its owner's share once it has run. So the jobs requeue each other in turn, and
// begin anew each time.
TEST(Preemption, JobsThatRequeueEachOtherComeToAnEnd) {
    const Trace trace = trace_of({{0, 4, 36000, 40000}, {10, 4, 36000, 40000, "bob"}});
    const Schedule run = run_of(trace, site_of(1, 4),
                                order("R") +
                                    "create fs_group f1 tree_element = [ann:root = 50, bob:root = 50], "
                                    "decay_time = 10000:00:00, usage_formula = 'ncpus*walltime'\n"
                                    "set policy default_policy fairshare_group = f1, fairshare = True, "
                                    "by_queue = False, preempt_prio = 'normal_jobs, fairshare'\n");
    for (const std::size_t job : {0U, 1U}) {
        EXPECT_EQ(run.outcomes[job].how, JobEnd::finished) << job;
        EXPECT_GT(run.preempted.at(static_cast<std::uint32_t>(job)).preempted.lost, Seconds(36000)) << job;
        EXPECT_LE(run.preempted.at(static_cast<std::uint32_t>(job)).preempted.by[2], 100) << job;
    }
}

Trace random_trace(Random& random) {
    std::vector<Job> jobs;
    std::int64_t submit = 0;
    const int gap = random.pick(20, 200);
    for (int i = 0; i < 100; ++i) {
        submit += random.pick(0, gap);
        const std::int64_t walltime = random.pick(1, 30) * 100;
        jobs.push_back({submit, random.pick(1, random.chance(20) ? 20 : 6),
                        random.chance(10) ? walltime * 2 : walltime * random.pick(0, 10) / 10,
                        random.chance(5) ? -1 : walltime, fmt::format("u{}", random.pick(1, 5)),
                        random.chance(20)   ? "express"
                        : random.chance(10) ? "top"
                                            : "",
                        fmt::format("g{}", random.pick(1, 3))});
    }
    Trace trace = trace_of(jobs);
    for (TraceJob& job : trace.jobs) job.mem = random.pick(1, 8) << 20;
    return trace;
}

std::string random_changes(Random& random) {
    const std::array orders = {"S", "R", "D", "C", "SCR", "CR", "RS", "R 50 S", "SC 70 CR 30 D", "CS 40 R"};
    std::string text = order(orders.at(static_cast<std::size_t>(random.pick(0, 9))));
    const auto maybe = [&](int percent, const std::string& directive) {
        if (random.chance(percent)) text += "set " + directive + "\n";
    };
    maybe(40, "policy default_policy strict_ordering=True");
    maybe(40, fmt::format("policy default_policy backfill_depth={}", random.pick(0, 5)));
    maybe(50, "policy default_policy by_queue=False");
    maybe(30, "server restrict_res_to_release_on_suspend=ncpus");
    maybe(20, "server eligible_time_enable=True");
    maybe(30, "server max_run_soft='[u:PBS_GENERIC=2]'");
    maybe(20, "queue workq max_run_res.ncpus='[u:PBS_GENERIC=8]'");
    maybe(
        40,
        "policy default_policy preempt_prio='starving_jobs, express_queue, normal_jobs, server_softlimits', "
        "help_starving_jobs=True, max_starve=01:00:00");
    if (random.chance(30))
        text +=
            "create fs_group f1 tree_element = [g1:root = 50, u1:g1 = 1, u2:g1 = 1, u3:root = 10], "
            "usage_formula = 'ncpus*walltime', decay_time = 10:00:00\n"
            "set policy default_policy fairshare_group = f1, fairshare = True, "
            "preempt_prio='express_queue, normal_jobs, fairshare'\n";
    return text;
}

// Checks three properties with random preemptions: usage is the sum of finished and lost work, no amount of a
// vnode is given to two jobs, and each job ends once.
TEST(PreemptionProperty, NothingIsCountedTwiceAndNothingIsGivenTwice) {
    std::array<std::int64_t, kPreemptMethods.size()> seen{};
    constexpr int kTraces = 12;
    const int count = pbs::test::cases(kTraces);
    for (int seed = 1; seed <= count; ++seed) {
        SCOPED_TRACE(seed);
        Random random{std::mt19937(static_cast<unsigned>(seed))};
        const Trace trace = random_trace(random);
        const std::int64_t nodes = random.pick(1, 6);
        Site site = express_site(nodes, 8);
        site.machine.nodes.clear();
        add_nodes(site.machine, nodes, nodes * 8, 16 << 20);
        add_queue(site.machine, "top");
        site.machine.queues["top"]["Priority"] = "170";
        const std::string changes = random_changes(random);
        EngineOptions options;
        options.checkpoints = random.chance(50);
        options.cycle_interval = Seconds(random.chance(50) ? 1 : random.pick(2, 60));

        // The amounts that a job holds. The key is the vnode and the resource.
        using Held = std::map<std::pair<std::uint64_t, std::uint32_t>, std::int64_t>;
        std::vector<Held> of_jobs(trace.jobs.size());
        Held in_use;
        options.holds = [&](std::size_t job, std::span<const sched::Place> places) {
            for (const auto& [key, amount] : of_jobs[job]) in_use[key] -= amount;
            of_jobs[job].clear();
            for (const sched::Place& place : places)
                for (const sched::Amount& amount : place.amounts)
                    of_jobs[job][{static_cast<std::uint64_t>(place.vnode), amount.resource}] += amount.number;
            for (const auto& [key, amount] : of_jobs[job]) {
                in_use[key] += amount;
                ASSERT_LE(in_use[key], key.second == 0 ? 8 : 16 << 20) << "vnode " << key.first;
            }
        };
        const Schedule run = run_of(trace, site, changes, options);
        for (const auto& [key, amount] : in_use) EXPECT_EQ(amount, 0) << "something is held in the end";

        double used = 0;
        double lost = 0;
        double finished = 0;
        std::int64_t started = 0;
        for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
            const TraceJob& job = trace.jobs[i];
            const Outcome& outcome = run.outcomes[i];
            if (!outcome.started()) continue;
            ++started;
            const auto found = run.preempted.find(static_cast<std::uint32_t>(i));
            const PreemptedJob told = found == run.preempted.end() ? PreemptedJob{} : found->second;
            for (std::size_t m = 0; m < told.preempted.by.size(); ++m) seen[m] += told.preempted.by[m];
            Seconds ran{0};
            Instant last = job.submit;
            run.for_each_run(i, [&](Instant from, Instant until, std::int64_t) {
                EXPECT_LE(last, from) << i;
                EXPECT_LE(from, until) << i;
                ran += until - from;
                last = until;
            });
            EXPECT_EQ(outcome.end, last) << i;
            const Seconds done = ran - told.lost();
            EXPECT_LE(done, job.run_time) << i;
            if (outcome.how == JobEnd::finished) {
                EXPECT_EQ(done, job.run_time) << i;
            }
            if (outcome.how == JobEnd::killed) {
                EXPECT_LT(done, job.run_time) << i;
                EXPECT_GE(done, job.walltime) << i;
                if (told.preempted.by[1] == 0) {
                    EXPECT_EQ(done, job.walltime) << i;
                }
            }
            if (outcome.how == JobEnd::deleted) {
                EXPECT_EQ(done, Seconds(0)) << i;
            }
            if (outcome.how == JobEnd::finished || outcome.how == JobEnd::killed) {
                EXPECT_EQ(outcome.end - outcome.start,
                          ran + told.preempted.suspended + told.preempted.queued_again)
                    << i;
            }
            used += static_cast<double>((ran * job.cpus).count());
            lost += static_cast<double>((told.lost() * job.cpus).count());
            finished += static_cast<double>((done * job.cpus).count());
        }
        EXPECT_EQ(run.started, started);
        const Report report = make_report("x", trace, run);
        EXPECT_DOUBLE_EQ(report.all.usage.used, used);
        EXPECT_DOUBLE_EQ(report.all.usage.used, finished + lost);
        EXPECT_DOUBLE_EQ(report.preemption.all.cpu_seconds_lost, lost);
        double area = 0;
        for (const double cpus : report.series.cpus_in_use) area += cpus * report.series.step;
        EXPECT_NEAR(area, used, 1e-3);
        const Heading heading = make_heading(trace, site.zone);
        options.holds = {};
        EXPECT_EQ(to_json(heading, {report}),
                  to_json(heading, {make_report("x", trace, run_of(trace, site, changes, options))}))
            << "the same each time";
    }
    if (count < kTraces) return;
    for (std::size_t m = 0; m < seen.size(); ++m) EXPECT_GT(seen[m], 0) << "method " << m << " isn't tried";
}

// The queue is open until 01:00 and from 03:00 on. Stops at its close aren't preemptions, and have a table of
// their own.
TEST(AtClose, StopsAreCountedApart) {
    const std::string hours =
        "create time_window nights rrule=FREQ=DAILY, start_time=03:00, end_time=01:00, at_close=";
    const Trace trace = trace_of({{0, 4, 7200, 10000, "ann", "workq"}, {0, 4, 600, 700, "bob", "other"}});
    Site site = site_of(2, 4);
    site.machine.queues["workq"]["started"] = "True";
    add_queue(site.machine, "other");
    const auto run_with = [&](const std::string& at_close) {
        return run_of(trace, site, hours + at_close + "\nset queue workq time_window=nights\n");
    };
    const Schedule run = run_with("suspend");
    EXPECT_EQ(runs_of(run, 0), (Runs{{0, 3600}, {10800, 14400}}));
    EXPECT_THAT(run.preempted.at(0).at_close.by, ElementsAre(1, 0, 0, 0));
    EXPECT_THAT(run.preempted.at(0).preempted.by, ElementsAre(0, 0, 0, 0));
    const Report suspended = make_report("suspend", trace, run);
    EXPECT_EQ(suspended.preemption.all.times, 0);
    EXPECT_EQ(suspended.at_close.all.times, 1);
    EXPECT_DOUBLE_EQ(suspended.at_close.all.suspended, 7200);
    const Heading heading = make_heading(trace, rrule::Zone::utc());
    const std::string text = to_text(heading, {suspended});
    EXPECT_THAT(text, HasSubstr("\nstopped at close  jobs  suspended"));
    EXPECT_THAT(text, testing::Not(HasSubstr("\npreempted ")));
    const std::string json = to_json(heading, {suspended});
    EXPECT_THAT(json, HasSubstr("\"at_close\": {"));
    EXPECT_THAT(json, testing::Not(HasSubstr("\"preemption\"")));

    const Schedule again = run_with("requeue");
    EXPECT_EQ(runs_of(again, 0), (Runs{{0, 3600}, {10800, 18000}}));
    const Report requeued = make_report("requeue", trace, again);
    EXPECT_EQ(requeued.at_close.all.by[2], 1);
    EXPECT_DOUBLE_EQ(requeued.at_close.all.cpu_seconds_lost, 4 * 3600);
    EXPECT_DOUBLE_EQ(requeued.at_close.all.queued_again, 7200);
    EXPECT_EQ(make_report("run", trace, run_with("run")).at_close.all.times, 0);
}

// A job that is longer than its queue's hours is queued again each time, until it isn't stopped any more.
TEST(AtClose, AJobThatIsLongerThanTheHoursEnds) {
    const Trace trace = trace_of({{0, 4, 100000, -1}});
    Site site = site_of(1, 4);
    site.machine.queues["workq"]["started"] = "True";
    const Schedule run =
        run_of(trace, site,
               "create time_window nights rrule=FREQ=DAILY, start_time=03:00, end_time=01:00, "
               "at_close=requeue\nset queue workq time_window=nights\n");
    EXPECT_EQ(run.outcomes[0].how, JobEnd::finished);
    EXPECT_EQ(run.preempted.at(0).at_close.by[2], 100);
}

// A job may be stopped by another job and by its queue's hours. Each has its own table; the last stop of a
// job that doesn't run again counts there.
TEST(AtClose, StopsOfBothKindsAreToldApart) {
    const Trace trace = trace_of({{0, 4, 7200, 10000}, {600, 4, 60, 60, "bob", "express"}});
    Site site = express_site(1, 4);
    site.machine.queues["workq"]["started"] = "True";
    const Schedule run =
        run_of(trace, site,
               order("S") +
                   "create time_window nights\n"
                   "set time_window nights rrule='DTSTART:20261123T000000 FREQ=DAILY;COUNT=1', "
                   "start_time=00:00, end_time=01:00, at_close=suspend\n"
                   "set queue workq time_window=nights\n");
    const Report report = make_report("x", trace, run);
    EXPECT_EQ(report.preemption.all.times, 1);
    EXPECT_EQ(report.at_close.all.times, 1);
    EXPECT_EQ(report.preemption.all.stopped, 0);
    EXPECT_EQ(report.at_close.all.stopped, 1);
}

// Of four jobs on one CPU two start by their deadlines, one 100 seconds late, and one asks for more than
// there is.
TEST(Deadlines, AreReported) {
    Trace trace =
        trace_of({{0, 1, 300, 300}, {0, 1, 100, 300}, {0, 1, 100, 300}, {0, 2, 10, 10}, {0, 1, 5, 10}});
    const char* deadlines[] = {"202611230001", "202611230005", "202611230005", "202611230100"};
    for (std::size_t i = 0; i < std::size(deadlines); ++i) {
        trace.jobs[i].request = static_cast<std::uint32_t>(trace.requests.size());
        trace.requests.push_back({{"ncpus", std::to_string(trace.jobs[i].cpus)}, {"deadline", deadlines[i]}});
    }
    Site site = site_of(1, 1);
    const Schedule run = run_of(trace, site, "create resource deadline type=string\n");
    const Report report = make_report("x", trace, run);
    EXPECT_EQ(report.deadlines.jobs, 4);
    EXPECT_EQ(report.deadlines.in_time, 2);
    EXPECT_EQ(report.deadlines.never, 1);
    EXPECT_DOUBLE_EQ(report.deadlines.late.mean, 100);
    const Heading heading = make_heading(trace, rrule::Zone::utc());
    const std::string text = to_text(heading, {report});
    EXPECT_THAT(text, testing::ContainsRegex(
                          "\njobs with a deadline *\nall +4\nstarted in time +2\nnever started +1\n"
                          "late, mean +0:01:40\n"));
    EXPECT_THAT(to_json(heading, {report}), HasSubstr("\"in_time\": 2"));
    EXPECT_THAT(to_text(heading, {report, report}), HasSubstr("B - A"));
    const Trace plain = trace_of({{0, 1, 5, 10}});
    EXPECT_THAT(to_text(heading, {make_report("x", plain, run_of(plain, site))}),
                testing::Not(HasSubstr("deadline")));
}

}  // namespace
}  // namespace pbs::simulate::test
