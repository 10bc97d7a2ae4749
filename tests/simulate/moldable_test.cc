// Tests moldable jobs, which may start with fewer CPUs than they asked for.
#include "tools/simulate/moldable.h"

#include <gmock/gmock.h>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Trace moldable(const std::vector<Job>& jobs, double factor) {
    Trace trace = trace_of(jobs);
    make_moldable(trace, factor);
    return trace;
}

Schedule run_moldable(const Trace& trace, Site site, const std::string& changes = {},
                      const EngineOptions& options = {}) {
    site.machine.resources["select_range"] = {{"type", "string"}};
    return run_of(trace, site, changes, options);
}

std::vector<std::int64_t> cpus(const Schedule& run) {
    std::vector<std::int64_t> list;
    for (const Outcome& outcome : run.outcomes) list.push_back(outcome.cpus);
    return list;
}

std::vector<std::int64_t> ends(const Schedule& run) {
    std::vector<std::int64_t> list;
    for (const Outcome& outcome : run.outcomes) list.push_back((outcome.end - kMonday).count());
    return list;
}

TEST(Moldable, JobsKeepTheirWork) {
    const Trace trace = moldable({{0, 9, 100, 200}, {0, 7, 100, 60}, {0, 1, 100}, {0, 5, 0, 1}}, 3);
    std::vector<std::int64_t> least;
    std::vector<std::int64_t> walltimes;
    for (const TraceJob& job : trace.jobs) {
        least.push_back(job.least_cpus);
        walltimes.push_back(job.walltime.count());
    }
    EXPECT_THAT(least, ElementsAre(3, 3, 1, 2));
    EXPECT_THAT(walltimes, ElementsAre(600, 140, -1, 3));
    EXPECT_EQ(trace.jobs[0].run_time_with(9), Seconds(100));
    EXPECT_EQ(trace.jobs[0].run_time_with(4), Seconds(225));
    EXPECT_EQ(trace.jobs[1].run_time_with(7), Seconds(60)) << "no longer than its walltime";
    EXPECT_EQ(trace.jobs[3].run_time_with(2), Seconds(0));
    ASSERT_EQ(trace.notes.size(), 1U);
    EXPECT_THAT(trace.notes[0], HasSubstr("--moldable 3: each job may have from 1/3 of its processors"));
    Trace whole = trace_of({{0, 9, 100, 200}});
    whole.jobs[0].request = 0;
    whole.requests.push_back({{"ncpus", "9"}});
    make_moldable(whole, 3);
    EXPECT_EQ(whole.jobs[0].least_cpus, 0) << "it asks for resources of its own";
}

// The second job has the 2 CPUs that are left in place of 4, and so runs twice as long. The third one finds
// fewer than the 3 that it needs.
TEST(Moldable, JobsStartWithTheCpusThatAreFree) {
    const Trace trace = moldable({{0, 6, 100, 120}, {1, 4, 60, 90}, {2, 6, 30, 60}}, 2);
    const Schedule run = run_moldable(trace, site_of(1, 8));
    EXPECT_THAT(starts(run), ElementsAre(0, 1, 100));
    EXPECT_THAT(cpus(run), ElementsAre(6, 2, 6));
    EXPECT_THAT(ends(run), ElementsAre(100, 121, 130));
    const Report report = make_report("x", trace, run);
    EXPECT_DOUBLE_EQ(report.all.usage.used, 600 + 240 + 180);
    EXPECT_EQ(report.ranges.jobs, 3);
    EXPECT_EQ(report.ranges.fewer, 1);
    EXPECT_DOUBLE_EQ(report.ranges.cpus_asked, 16 / 3.0);
    EXPECT_DOUBLE_EQ(report.ranges.cpus_had, 14 / 3.0);
    const Schedule fixed = run_moldable(moldable({{0, 6, 100, 120}, {1, 4, 60, 90}}, 1), site_of(1, 8));
    EXPECT_THAT(starts(fixed), ElementsAre(0, 100));
    EXPECT_TRUE(fixed.chunks.empty());
}

// A job of 10 CPUs on vnodes of 4 asks for 1 to 2 whole ones and 2 CPUs of another. One vnode is taken. A job
// that fits on one vnode isn't divided: the last one finds 2 CPUs on one, and 4 later.
TEST(Moldable, LargeJobsHaveWholeVnodes) {
    const Trace trace = moldable({{0, 4, 500, 500}, {1, 10, 100, 100}, {2, 4, 10, 10}}, 2);
    const Schedule run = run_moldable(trace, site_of(3, 4));
    EXPECT_THAT(starts(run), ElementsAre(0, 1, 2));
    EXPECT_THAT(cpus(run), ElementsAre(4, 6, 2));
    EXPECT_THAT(ends(run), ElementsAre(500, 168, 22));
    EXPECT_EQ(run.chunks.at(1).asked, 2);
    EXPECT_EQ(run.chunks.at(1).had, 1);
    EXPECT_EQ(run.chunks.at(1).cpus_asked, 10);
    // A job of 2500 CPUs on one vnode has chunks of 3, so that it needs no larger max_range_chunks.
    const Schedule large = run_moldable(moldable({{0, 2500, 10, 10}}, 4), site_of(1, 4000));
    EXPECT_EQ(large.chunks.at(0).asked, 833);
    EXPECT_EQ(large.outcomes[0].cpus, 2500);
}

// A checkpointed job keeps its work when it goes on with another number of CPUs: 8 of its 80 CPU-seconds are
// done after 1 second, and the other 72 take 18 seconds on the 4 CPUs that the third job leaves.
TEST(Moldable, CheckpointedJobsKeepTheirWork) {
    Trace trace =
        moldable({{0, 8, 10, 100}, {1, 8, 5, 5, "bob", "express"}, {5, 4, 500, 500, "bob", "express"}}, 2);
    trace.jobs[1].least_cpus = trace.jobs[2].least_cpus = 0;
    Site site = site_of(1, 8);
    add_queue(site.machine, "express");
    site.machine.queues["express"]["Priority"] = "200";
    site.machine.server["default_queue"] = "workq";
    EngineOptions options;
    options.checkpoints = true;
    const Schedule run = run_moldable(trace, site, "set policy default_policy preempt_order=C\n", options);
    EXPECT_EQ(run.outcomes[0].cpus, 4);
    EXPECT_THAT(ends(run), ElementsAre(6 + 18, 6, 506));
}

}  // namespace
}  // namespace pbs::simulate::test
