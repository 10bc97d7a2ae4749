// Tests simulations in which a program schedules over the C API (--external): docs/fifo_scheduler.cc, and
// scheduler_program, which does the steps that a test names.
#include "tools/simulate/external.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/simulate/support.h"
#include "tools/simulate/moldable.h"

namespace pbs::simulate::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class ExternalProgram : public testing::Test {
  protected:
    ExternalProgram() : folder_(*values::TemporaryFolder::make("external_test")) {}

    // Simulates the trace with the program, or returns the error.
    static Result<Schedule> simulate_with(const std::string& command, const Trace& trace, const Site& site,
                                          const std::string& changes = {},
                                          std::chrono::seconds patience = std::chrono::seconds(60),
                                          EngineOptions options = {}) {
        const auto variant = changes.empty() ? variant_of_policies(site, {}, true)
                                             : variant_of_changes(site, {"changes.qmgr", changes}, true);
        if (!variant) return tl::unexpected(variant.error());
        EXPECT_THAT(variant->notes,
                    testing::Each(HasSubstr("has no effect: a program of the site orders and starts jobs")));
        const auto cluster = Cluster::make(variant->machine);
        if (!cluster) return tl::unexpected(cluster.error());
        auto program = ExternalScheduler::start({command, patience, options.cycle_interval});
        if (!program) return tl::unexpected(program.error());
        options.external = &*program;
        return simulate(trace, *cluster, variant->snapshot, site.zone, options);
    }
    static Schedule fifo(const Trace& trace, const Site& site, const std::string& changes = {},
                         const EngineOptions& options = {}) {
        auto run = simulate_with(FIFO_SCHEDULER, trace, site, changes, std::chrono::seconds(60), options);
        if (run) return *std::move(run);
        ADD_FAILURE() << run.error();
        return {};
    }
    std::string steps(const std::string& steps) const {
        return fmt::format("{} {} {}", SCHEDULER_PROGRAM, folder_.file("said"), steps);
    }
    Schedule done(const std::string& words, const Trace& trace, const Site& site,
                  const std::string& changes = {}) const {
        auto run = simulate_with(steps(words), trace, site, changes);
        if (run) return *std::move(run);
        ADD_FAILURE() << run.error();
        return {};
    }
    std::string error_of(const std::string& command, const Trace& trace, const Site& site,
                         int patience = 60) const {
        const auto run = simulate_with(command, trace, site, {}, std::chrono::seconds(patience));
        return run ? "no error" : run.error();
    }
    // Returns what scheduler_program has written about its first steps.
    std::vector<std::string> said(std::size_t count) const {
        std::ifstream file(folder_.file("said"));
        std::vector<std::string> lines;
        for (std::string line; lines.size() < count && std::getline(file, line);) lines.push_back(line);
        lines.resize(count);
        return lines;
    }

    values::TemporaryFolder folder_;
};

constexpr const char* kInOrder =
    "create policy strict\n"
    "set policy strict strict_ordering=True, backfill_depth=0\n"
    "set sched default policy=strict\n";

Trace random_jobs(std::uint32_t seed, int jobs) {
    Random random{std::mt19937(seed)};
    std::vector<Job> list;
    std::int64_t at = 0;
    for (int i = 0; i < jobs; ++i) {
        at += random.chance(30) ? 0 : random.pick(1, 100);
        list.push_back({at, random.pick(1, 4), random.pick(1, 300), random.chance(50) ? 200 : -1});
    }
    return trace_of(list);
}

// The example program starts each job when a policy that goes by the order alone starts it.
TEST_F(ExternalProgram, FifoIsTheStrictOrder) {
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
        const Trace trace = random_jobs(seed, 200);
        const Schedule by_policy = run_of(trace, site_of(1, 8), kInOrder);
        const Schedule by_program = fifo(trace, site_of(1, 8), kInOrder);
        EXPECT_EQ(by_program.started, 200);
        EXPECT_THAT(by_program.refused_starts, IsEmpty());
        EXPECT_EQ(by_program.end, by_policy.end);
        EXPECT_EQ(starts(by_program), starts(by_policy)) << "seed " << seed;
        EXPECT_EQ(by_program.policies, by_policy.policies);
    }
}

TEST_F(ExternalProgram, TheSameEachTime) {
    const Trace trace = random_jobs(7, 300);
    const Site site = site_of(5, 4);
    const Schedule first = fifo(trace, site);
    const Schedule second = fifo(trace, site);
    EXPECT_EQ(first.started, 300);
    EXPECT_EQ(starts(first), starts(second));
    EXPECT_EQ(first.cycles, second.cycles);
    const auto json = [&](const Schedule& run) {
        return to_json(make_heading(trace, site.zone), {make_report("fifo", trace, run)});
    };
    EXPECT_EQ(json(first), json(second));
}

// The program asks for tested starts, so the policy's filters decide: ann may have one running job.
TEST_F(ExternalProgram, StartsAreTestedByThePolicy) {
    const Schedule run = fifo(trace_of({{0, 1, 100}, {0, 1, 100}, {0, 1, 100, -1, "bob"}}), site_of(1, 8),
                              "set server max_run = \"[u:PBS_GENERIC=1]\"\n"
                              "set sched default policy = default_policy\n");
    EXPECT_THAT(starts(run), ElementsAre(0, 100, 0));
    ASSERT_EQ(run.refused_starts.size(), 1U);
    EXPECT_THAT(run.refused_starts.begin()->first, HasSubstr("limit"));
}

TEST_F(ExternalProgram, ChangesHaveTheSimulatedTime) {
    const Schedule run =
        done("register record wait 60 start 1.trace n1 wait 5 poll wait 30 wait 30 wait 3600",
             trace_of({{0, 2, 100}, {10, 1, 5}}), site_of(1, 2));
    EXPECT_THAT(starts(run), ElementsAre(10, -1));
    EXPECT_THAT(said(9), ElementsAre("register: done", "record: at 0", "wait 60: at 10 2.traceQ",
                                     "start 1.trace n1: done", "wait 5: at 10 1.traceR", "wait 0: at 10",
                                     "wait 30: at 40", "wait 30: at 70", "wait 3600: at 110 -1"));
}

// A program that never waits lets a second go by each time when it is told the same again.
TEST_F(ExternalProgram, APollTakesASecond) {
    const Schedule run =
        done("register record poll poll poll wait 0 poll poll start 2.trace n1 start 1.trace n1",
             trace_of({{0, 1, 5}, {3, 1, 5}}), site_of(1, 2));
    EXPECT_THAT(starts(run), ElementsAre(3, 3));
    EXPECT_THAT(said(9), ElementsAre("register: done", "record: at 0", "wait 0: at 0", "wait 0: at 1",
                                     "wait 0: at 1", "wait 0: at 2", "wait 0: at 2", "wait 0: at 3 2.traceQ",
                                     "start 2.trace n1: done"));
}

TEST_F(ExternalProgram, ARecordTakesASecondIfNothingIsNew) {
    const Schedule run = done("record record record start 1.trace n1 record record record",
                              trace_of({{0, 1, 3}}), site_of(1, 2));
    EXPECT_THAT(starts(run), ElementsAre(2));
    EXPECT_THAT(said(7), ElementsAre("record: at 0", "record: at 1", "record: at 2", "start 1.trace n1: done",
                                     "record: at 2", "record: at 3", "record: at 4"));
}

TEST_F(ExternalProgram, TooManyJobsOnAVnode) {
    const Schedule run = done(
        "register record start 1.trace n1 start 1.trace n2 start 2.trace n1 start 2.trace '(n1:ncpus=1)' "
        "start 3.trace n9 start 9.trace n1 start 3.trace '(n2:ncpus=-1)' start 3.trace '(n2:cows=1)' "
        "start 3.trace '(n2:ncpus' start 3.trace '(n2:ncpus)' start 3.trace n2:ncpus=x checked 3.trace n1",
        trace_of({{0, 4, 100}, {0, 1, 100}, {0, 2, 100}}), site_of(2, 4));
    EXPECT_THAT(starts(run), ElementsAre(0, -1, -1));
    const std::vector<std::string> lines = said(14);
    EXPECT_EQ(lines[2], "start 1.trace n1: done");
    EXPECT_THAT(lines[3], HasSubstr(": 15016 ")) << "a job that runs";
    EXPECT_THAT(lines[4], HasSubstr(": 15044 Resource temporarily unavailable: ncpus on vnode n1"));
    EXPECT_THAT(lines[5], HasSubstr(": 15044 Resource temporarily unavailable: ncpus on vnode n1"));
    EXPECT_THAT(lines[6], HasSubstr(": 15062 Unknown node n9"));
    EXPECT_THAT(lines[7], HasSubstr(": 15001 "));
    EXPECT_THAT(lines[8], HasSubstr(": 15044 an amount below 0 on vnode n2"));
    EXPECT_THAT(lines[9], HasSubstr(": 15035 Unknown resource: cows"));
    EXPECT_THAT(lines[10], HasSubstr(": 15014 "));
    EXPECT_THAT(lines[11], HasSubstr(": 15014 Illegal value \"ncpus\": expected resource=amount"));
    EXPECT_THAT(lines[12], HasSubstr(": 15014 "));
    EXPECT_THAT(lines[13], HasSubstr(": 15044 "));
    std::int64_t refused = 0;
    for (const auto& [reason, times] : run.refused_starts) refused += times;
    EXPECT_EQ(refused, 11);
    const Report report = make_report("program", trace_of({{0, 4, 100}, {0, 1, 100}, {0, 2, 100}}), run);
    EXPECT_EQ(report.refused_starts, 11);
    const Heading heading;
    EXPECT_THAT(to_text(heading, {report}),
                HasSubstr("11 starts that the program asked for were refused:\n"
                          "          2  Resource temporarily unavailable: ncpus"));
    EXPECT_THAT(to_json(heading, {report}), HasSubstr("\"refused_starts\": 11,"));
}

TEST_F(ExternalProgram, PlacesOfAllForms) {
    const Schedule run = done(
        "register start 1.trace n1+n2 start 2 '(n3:ncpus=2)' start 3.trace - tasks 4.trace n3 1 "
        "tasks 4.trace n8 1 checked 4.trace '(n3:ncpus=1)' node n3 node n9",
        trace_of({{0, 8, 100}, {0, 2, 100}, {0, 1, 100}, {0, 1, 100}}), site_of(3, 4));
    EXPECT_THAT(starts(run), ElementsAre(0, 0, 0, 0));
    const std::vector<std::string> lines = said(9);
    EXPECT_EQ(lines[5], "tasks 4.trace n8: 15062 no host n8");
    EXPECT_THAT(lines[6], HasSubstr(": 15016 "));
    EXPECT_EQ(lines[7],
              "node n3: Mom=n3 state=free resources_available.host=n3 "
              "resources_available.vnode=n3 resources_available.ncpus=4");
    EXPECT_THAT(lines[8], HasSubstr(": 15062 "));
}

TEST_F(ExternalProgram, RerunsDeletesAndComments) {
    const Trace trace = trace_of({{0, 1, 100}, {0, 1, 100}, {0, 1, 100}, {0, 1, 100}});
    const Schedule run = done(
        "register record start 1.trace n1 start 2.trace n1 wait 0 wait 30 rerun 1.trace delete 2.trace "
        "delete 3.trace comment 4.trace later estimate 4.trace 1795392500 alter 4.trace Priority 5 "
        "rerun 4.trace rerun 2.trace delete 2.trace wait 0 start 1.trace n1",
        trace, site_of(1, 4));
    EXPECT_EQ(run.outcomes[0].how, JobEnd::finished);
    EXPECT_EQ(run.outcomes[0].end, kMonday + Seconds(130)) << "it ran anew from its beginning";
    EXPECT_EQ(run.outcomes[1].how, JobEnd::deleted);
    EXPECT_EQ(run.outcomes[2].how, JobEnd::rejected);
    EXPECT_THAT(run.rejections, ElementsAre(Pair("deleted by the program that schedules", 1)));
    EXPECT_THAT(run.waiting, ElementsAre(Pair("later", 1)));
    EXPECT_EQ(run.estimates.at(3).last, kMonday + Seconds(500));
    const auto lines = said(16);
    EXPECT_EQ(lines[5], "wait 30: at 30");
    EXPECT_THAT(lines[11], HasSubstr(": 15029 Priority: in a simulation"));
    EXPECT_THAT(lines[12], HasSubstr(": 15016 ")) << "a rerun of a job that waits";
    EXPECT_THAT(lines[13], HasSubstr(": 15001 "));
    EXPECT_THAT(lines[14], HasSubstr(": 15001 "));
    EXPECT_EQ(lines[15], "wait 0: at 30 1.traceQ 4.traceQ -2 -3");
    const PreemptCounts& stops = run.preempted.at(0).preempted.by;
    EXPECT_THAT(stops, ElementsAre(0, 0, 1, 0));
}

TEST_F(ExternalProgram, LearnsTheOutcomeOfAStartWithoutStarting) {
    done(
        "register start 1.trace n1 ask 2.trace n1 ask 2.trace n2 ask 2.trace - ask 1.trace n1 ask 9.trace n1 "
        "ask 2.trace n9 start 2.trace n2",
        trace_of({{0, 4, 100}, {0, 2, 100}}), site_of(2, 4));
    EXPECT_THAT(
        said(9),
        ElementsAre("register: done", "start 1.trace n1: done",
                    "ask 2.trace n1: outcome=waits reason=Not Running: Insufficient amount of resource: "
                    "ncpus (R: 2 A: 0 T: 4 on vnode n1) location=n1 filters=several",
                    "ask 2.trace n2: outcome=starts location=n2 filters=several",
                    "ask 2.trace -: outcome=starts location= filters=several",
                    HasSubstr("ask 1.trace n1: outcome=not considered reason=it runs, since"),
                    HasSubstr(": 15001 "), HasSubstr(": 15062 "), "start 2.trace n2: done"));
}

TEST_F(ExternalProgram, SuspendsAndResumes) {
    const Schedule run = done(
        "register start 1.trace n1 record wait 30 signal 1.trace suspend signal 1.trace suspend start "
        "1.trace n1 wait 0 wait 50 signal 1.trace resume signal 1.trace resume signal 1.trace SIGTERM",
        trace_of({{0, 1, 100}, {3600, 1, 1}}), site_of(1, 4));
    EXPECT_EQ(run.outcomes[0].end, kMonday + Seconds(150)) << "50 seconds were those of the suspension";
    const auto lines = said(11);
    EXPECT_EQ(lines[4], "signal 1.trace suspend: done");
    EXPECT_THAT(lines[5], HasSubstr(": 15016 ")) << "it is suspended already";
    EXPECT_THAT(lines[6], HasSubstr(": 15016 ")) << "it doesn't start anew";
    EXPECT_EQ(lines[7], "wait 0: at 30 1.traceS");
    EXPECT_EQ(lines[9], "signal 1.trace resume: done");
    EXPECT_THAT(lines[10], HasSubstr(": 15016 "));
}

TEST_F(ExternalProgram, ASuspendedJobKeepsItsResources) {
    const Schedule run = done(
        "register start 1.trace n1 record signal 1.trace suspend start 2.trace n1 checked 2.trace - "
        "ask 2.trace n1 signal 1.trace resume start 2.trace n1 wait 0 wait 3600 start 2.trace n1",
        trace_of({{0, 4, 100}, {0, 4, 100}}), site_of(1, 4));
    const auto lines = said(12);
    EXPECT_EQ(lines[3], "signal 1.trace suspend: done");
    EXPECT_THAT(lines[4], HasSubstr(": 15044 Resource temporarily unavailable: ncpus on vnode n1"));
    EXPECT_THAT(lines[5], HasSubstr(": 15044 ")) << "a start that the policy tests";
    EXPECT_THAT(lines[6], HasSubstr("outcome=waits reason=Not Running: Insufficient amount of resource: "
                                    "ncpus (R: 4 A: 0 T: 4"));
    EXPECT_EQ(lines[7], "signal 1.trace resume: done");
    EXPECT_THAT(lines[8], HasSubstr(": 15044 ")) << "the CPUs are those of the job that goes on";
    EXPECT_EQ(lines[11], "start 2.trace n1: done") << "the other job has ended";
    EXPECT_THAT(starts(run), ElementsAre(0, 100));
}

TEST_F(ExternalProgram, DeletesAndRerunsSuspendedJobs) {
    const Schedule run = done(
        "register start 1.trace n1 start 2.trace n2 record wait 30 signal 1.trace suspend signal 2.trace "
        "suspend wait 0 wait 20 delete 1.trace rerun 2.trace wait 0 start 3.trace n1 start 2.trace n2",
        trace_of({{0, 4, 100}, {0, 4, 100}, {0, 4, 100}}), site_of(2, 4));
    const auto lines = said(14);
    EXPECT_EQ(lines[9], "delete 1.trace: done");
    EXPECT_EQ(lines[10], "rerun 2.trace: done");
    EXPECT_EQ(lines[11], "wait 0: at 50 2.traceQ -1");
    EXPECT_EQ(lines[12], "start 3.trace n1: done") << "in the place of the deleted job";
    EXPECT_EQ(lines[13], "start 2.trace n2: done");
    EXPECT_EQ(run.outcomes[0].how, JobEnd::deleted);
    EXPECT_EQ(run.outcomes[0].end, kMonday + Seconds(50));
    EXPECT_EQ(run.outcomes[1].how, JobEnd::finished);
    EXPECT_EQ(run.outcomes[1].end, kMonday + Seconds(150)) << "it ran anew from its beginning";
    EXPECT_THAT(run.rejections, IsEmpty());
    const Stops& deleted = run.preempted.at(0).preempted;
    EXPECT_THAT(deleted.by, ElementsAre(1, 0, 0, 1));
    EXPECT_EQ(deleted.lost, Seconds(30));
    EXPECT_EQ(deleted.suspended, Seconds(20));
    const Stops& requeued = run.preempted.at(1).preempted;
    EXPECT_THAT(requeued.by, ElementsAre(1, 0, 1, 0));
    EXPECT_EQ(requeued.lost, Seconds(30));
    EXPECT_EQ(requeued.suspended, Seconds(20));
    EXPECT_EQ(run.preempted.at(0).runs.size(), 1U) << "it ran once";
}

// Another scheduler preempts the first job, and resumes it after the second.
TEST_F(ExternalProgram, DoesNotResumePreemptedJobs) {
    const Trace trace = trace_of({{0, 4, 100, 200, "ann", "work2"}, {10, 4, 30, 30, "bob", "express2"}});
    const std::string second =
        "create policy urgent preempt_order = S\n"
        "create sched second partition = two\n"
        "set sched second policy = urgent\n"
        "create queue work2 queue_type = execution, enabled = True, started = True, partition = two\n"
        "create queue express2 queue_type = execution, enabled = True, started = True, partition = two, "
        "Priority = 160\n"
        "create node n2 resources_available.ncpus = 4, partition = two\n";
    Site site = site_of(1, 4);
    site.machine.server["default_queue"] = "workq";
    const Schedule run = done("register record wait 60 signal 1.trace resume", trace, site, second);
    const auto lines = said(4);
    EXPECT_THAT(lines[2], AllOf(HasSubstr("wait 60: at 10"), HasSubstr("1.traceS"), HasSubstr("2.traceR")));
    EXPECT_THAT(lines[3], HasSubstr(": 15016 "));
    EXPECT_EQ(run.outcomes[0].end, kMonday + Seconds(130));
    EXPECT_EQ(run.outcomes[1].start, kMonday + Seconds(10));
}

// A moldable job runs as much longer as its place is smaller.
TEST_F(ExternalProgram, ChoosesTheCpusOfMoldableJobs) {
    Trace trace = trace_of({{0, 8, 100}, {0, 8, 100}});
    make_moldable(trace, 4);
    Site site = site_of(1, 16);
    site.machine.resources.try_emplace("select_range", Values{{"type", "string"}});
    const Schedule run = done("register start 1.trace '(n1:ncpus=4)' start 2.trace n1", trace, site);
    EXPECT_EQ(run.outcomes[0].cpus, 4);
    EXPECT_EQ(run.outcomes[0].end, kMonday + Seconds(200));
    EXPECT_EQ(run.outcomes[1].cpus, 2) << "at a vnode's name the least, as in a server";
    EXPECT_EQ(run.outcomes[1].end, kMonday + Seconds(400));
}

// The vnode n2 says nothing of CPUs, so it has room for any number of them.
TEST_F(ExternalProgram, AMoldableJobHasNoOtherCpusThanItsRange) {
    Trace trace = trace_of({{0, 8, 100, 100}});
    make_moldable(trace, 2);
    Site site = site_of(1, 16);
    site.machine.resources.try_emplace("select_range", Values{{"type", "string"}});
    site.machine.nodes.try_emplace("n2");
    const Schedule run = done(
        "register start 1.trace '(n1:ncpus=3)' start 1.trace '(n1:ncpus=9)' start 1.trace '(n1:mem=1gb)' "
        "start 1.trace '(n2:ncpus=9223372036854775807)+(n2:ncpus=9223372036854775807)' "
        "start 1.trace '(n1:ncpus=2)+(n1:ncpus=2)'",
        trace, site);
    const auto lines = said(6);
    EXPECT_THAT(lines[1], HasSubstr(": 15014 place: found 3 CPUs, expected 4 to 8 (--moldable)"));
    EXPECT_THAT(lines[2], HasSubstr(": 15014 place: found 9 CPUs, "));
    EXPECT_THAT(lines[3], HasSubstr(": 15014 place: found 0 CPUs, "));
    EXPECT_THAT(lines[4], HasSubstr(": 15014 place: found 9223372036854775807 CPUs, "));
    EXPECT_THAT(lines[5], HasSubstr(": done"));
    EXPECT_EQ(run.outcomes[0].end, kMonday + Seconds(200));
    EXPECT_EQ(run.outcomes[0].how, JobEnd::finished) << "no walltime ends it";
}

TEST_F(ExternalProgram, OneIsTheScheduler) {
    error_of(steps("register connect register exit 1"), trace_of({{0, 1, 1}}), site_of(1, 1));
    EXPECT_THAT(said(2), ElementsAre("register: done", HasSubstr("register: 15230 another connection")));
}

TEST_F(ExternalProgram, EndsTooEarly) {
    const Trace trace = trace_of({{0, 1, 10}, {0, 1, 10}, {7, 1, 10}});
    EXPECT_THAT(error_of(steps("register record start 1.trace n1 exit 3"), trace, site_of(1, 4)),
                AllOf(HasSubstr("the program '"),
                      HasSubstr("has ended with exit status 3, with 1 job waiting and 1 to come, at "
                                "2026-11-23 00:00:00 of the simulation")));
    EXPECT_THAT(error_of(steps("register record wait 60 die"), trace, site_of(1, 4)),
                HasSubstr("has ended with exit status 137, with 3 jobs waiting and 0 to come, at 2026-11-23 "
                          "00:00:07"));
    EXPECT_THAT(error_of("/nowhere/program 2>/dev/null", trace, site_of(1, 4)),
                HasSubstr("has ended with exit status 127, with 2 jobs waiting"));
}

TEST_F(ExternalProgram, MayEndWhenNoJobIsLeftToStart) {
    const Schedule run = done("register start 1.trace n1 exit 0", trace_of({{0, 1, 10}}), site_of(1, 4));
    EXPECT_THAT(starts(run), ElementsAre(0));
    EXPECT_EQ(run.end, kMonday + Seconds(10));
}

TEST_F(ExternalProgram, DoesNothing) {
    const Trace trace = trace_of({{0, 1, 10}});
    const std::string nothing = "has asked for nothing for 1 s, at 2026-11-23 00:00:00 of the simulation";
    EXPECT_THAT(error_of(steps("register record hang"), trace, site_of(1, 4), 1), HasSubstr(nothing));
    EXPECT_THAT(error_of("exec sleep 1000", trace, site_of(1, 4), 1), HasSubstr(nothing));
    EXPECT_THAT(error_of(steps("register repeat start 1.trace n9"), trace, site_of(1, 4), 10),
                HasSubstr("has asked for 10 s without starting a job or letting simulated time go on"));
}

TEST_F(ExternalProgram, IsEndedByAStop) {
    const Site site = site_of(1, 4);
    const auto variant = variant_of_policies(site, {}, true);
    ASSERT_TRUE(variant);
    const auto cluster = Cluster::make(variant->machine);
    ASSERT_TRUE(cluster);
    std::stop_source stop;
    stop.request_stop();
    auto program = ExternalScheduler::start(
        {"exec sleep 1000", std::chrono::seconds(3600), Seconds(1), stop.get_token()});
    ASSERT_TRUE(program);
    EngineOptions options;
    options.external = &*program;
    const auto run = simulate(trace_of({{0, 1, 10}}), *cluster, variant->snapshot, site.zone, options);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error(), "it was stopped");
}

TEST(HeldSignalsTest, AreHeldUntilTheLastObjectIsGone) {
    const HeldSignals outer;
    {
        const HeldSignals inner;
        pthread_kill(pthread_self(), SIGHUP);
    }
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGHUP), 1);
    EXPECT_EQ(sigismember(&pending, SIGTERM), 0);
    sigset_t hup;
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    int taken = 0;
    sigwait(&hup, &taken);
    EXPECT_EQ(taken, SIGHUP);
}

TEST_F(ExternalProgram, LeavesJobsWaiting) {
    const Schedule run = done("register record wait 10", trace_of({{0, 1, 10}, {5, 1, 10}}), site_of(1, 4));
    EXPECT_THAT(starts(run), ElementsAre(-1, -1));
    EXPECT_THAT(run.waiting, ElementsAre(Pair("not looked at", 2)));
}

TEST_F(ExternalProgram, WithLoadsAndLongCycles) {
    EngineOptions options;
    options.loads_by_cpus = true;
    options.cycle_interval = Seconds(60);
    const Schedule run = fifo(trace_of({{0, 1, 10}, {5, 1, 10}, {30, 1, 10}}), site_of(1, 4), {}, options);
    EXPECT_THAT(starts(run), ElementsAre(0, 60, 60));
}

}  // namespace
}  // namespace pbs::simulate::test
