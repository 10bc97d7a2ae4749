// Tests the reports of what jobs got of their wishes. Deadlines are in preemption_test.cc.
#include "tools/simulate/wishes.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Gives a job of the trace a request. Its `ncpus` are the CPUs that the job has in the trace.
void request(Trace& trace, std::size_t job, RequestText text) {
    text["ncpus"] = std::to_string(trace.jobs[job].cpus);
    trace.jobs[job].request = static_cast<std::uint32_t>(trace.requests.size());
    trace.requests.push_back(std::move(text));
}

constexpr const char* kRange = "create resource select_range type=string\n";

// The first job has 6 of the 8 CPUs, the second one the 2 that are left. The last one asks for more than
// there are.
TEST(Ranges, AreReportedWithTheChunksThatJobsHad) {
    Trace trace = trace_of({{0, 2, 100, 200}, {1, 4, 50, 60}, {2, 8, 10, 20}, {3, 10, 10, 20}});
    request(trace, 0, {{"select", "2:ncpus=1"}, {"select_range", "2-6"}});
    request(trace, 1, {{"select", "2:ncpus=2"}, {"select_range", "1,3"}});
    request(trace, 3, {{"select", "10:ncpus=1"}, {"select_range", "10-12"}});
    const Schedule run = run_of(trace, site_of(1, 8));  // it knows the resource without a definition
    EXPECT_THAT(starts(run), ElementsAre(0, 1, 100, -1));
    const Report report = make_report("x", trace, run);
    EXPECT_EQ(report.ranges.jobs, 3);
    EXPECT_EQ(report.ranges.never, 1);
    EXPECT_EQ(report.ranges.fewer, 1);
    EXPECT_DOUBLE_EQ(report.ranges.chunks_asked, (6 + 3) / 2.0);
    EXPECT_DOUBLE_EQ(report.ranges.chunks_had, (6 + 1) / 2.0);
    EXPECT_DOUBLE_EQ(report.ranges.cpus_asked, (6 + 6) / 2.0);
    EXPECT_DOUBLE_EQ(report.ranges.cpus_had, (6 + 2) / 2.0);
    EXPECT_DOUBLE_EQ(report.all.usage.used, 6 * 100 + 2 * 50 + 8 * 10) << "the CPUs that they had count";
    EXPECT_DOUBLE_EQ(report.users.at(0).cpu_seconds, 6 * 100 + 2 * 50 + 8 * 10);

    const Heading heading = make_heading(trace, rrule::Zone::utc());
    EXPECT_THAT(to_text(heading, {report}),
                ContainsRegex("\njobs with a range of chunks *\nall +3\nnever started +1\n"
                              "had fewer than the most +1\nchunks asked for, mean +4.50\n"
                              "chunks had, mean +3.50\nCPUs asked for, mean +6.00\nCPUs had, mean +4.00\n"));
    EXPECT_THAT(to_text(heading, {report, report}), ContainsRegex("chunks had, mean +3.50 +3.50 +0.00\n"));
    const auto json = nlohmann::json::parse(to_json(heading, {report}))["simulations"][0]["ranges"];
    EXPECT_EQ(json["fewer"], 1);
    EXPECT_EQ(json["cpus_had"], 4);
    const Trace plain = trace_of({{0, 1, 5, 10}});
    EXPECT_THAT(to_text(heading, {make_report("x", plain, run_of(plain, site_of(1, 8), kRange))}),
                Not(HasSubstr("range")));
}

// A range without an end goes up to the policy's max_range_chunks. With per_host, only its multiples count. A
// range that can't be read isn't reported.
TEST(Ranges, EndWithThePolicysMost) {
    Trace trace = trace_of({{0, 1, 10, 20}, {0, 2, 10, 20}, {0, 1, 10, 20}});
    request(trace, 0, {{"select", "1:ncpus=1"}, {"select_range", "1-"}});
    request(trace, 1, {{"select", "2:ncpus=1"}, {"select_range", "2-5"}, {"per_host", "2"}});
    request(trace, 2, {{"select", "1:ncpus=1"}, {"select_range", "many"}});
    const Schedule run = run_of(trace, site_of(4, 4),
                                std::string(kRange) + "create resource per_host type=long\n" +
                                    "set policy default_policy max_range_chunks=7\n");
    ASSERT_EQ(run.chunks.size(), 2U);
    EXPECT_EQ(run.chunks.at(0).asked, 7);
    EXPECT_EQ(run.chunks.at(0).had, 7);
    EXPECT_EQ(run.chunks.at(1).asked, 4);
    EXPECT_EQ(run.chunks.at(1).had, 4);
    EXPECT_EQ(run.outcomes[0].cpus, 7);
    EXPECT_FALSE(run.outcomes[2].started());
}

// The first job is stopped after 10 seconds for one of the express queue, and has its 6 CPUs again
// afterwards. Requeued, it gets the number for which there is room then.
TEST(Ranges, StayWithASuspendedJob) {
    Trace trace = trace_of({{0, 2, 100, 300}, {10, 8, 20, 20, "bob", "express"}, {20, 4, 500, 500}});
    request(trace, 0, {{"select", "2:ncpus=1"}, {"select_range", "2-6"}});
    Site site = site_of(1, 8);
    add_queue(site.machine, "express");
    site.machine.queues["express"]["Priority"] = "200";
    site.machine.server["default_queue"] = "workq";
    const auto run_by = [&](const std::string& method) {
        return run_of(trace, site, kRange + ("set policy default_policy preempt_order=" + method + "\n"));
    };
    const auto periods = [](const Schedule& run) {
        std::vector<std::int64_t> all;
        run.for_each_run(0, [&](Instant from, Instant until, std::int64_t cpus) {
            all.insert(all.end(), {(from - kMonday).count(), (until - kMonday).count(), cpus});
        });
        return all;
    };
    const Schedule suspended = run_by("S");
    EXPECT_THAT(periods(suspended), ElementsAre(0, 10, 6, 30, 120, 6));
    EXPECT_EQ(suspended.chunks.at(0).had, 6);
    const Schedule requeued = run_by("R");
    EXPECT_THAT(periods(requeued), ElementsAre(0, 10, 6, 30, 130, 6));
    const Report report = make_report("x", trace, requeued);
    EXPECT_DOUBLE_EQ(report.preemption.all.cpu_seconds_lost, 60);
}

// An ended job adds the CPU time of the CPUs that it had to the usage of its share.
TEST(Ranges, CountInSharesWithTheCpusThatJobsHad) {
    Trace trace = trace_of({{0, 2, 100, 200, "ann"}});
    request(trace, 0, {{"select", "2:ncpus=1"}, {"select_range", "2-6"}});
    const std::string shares =
        "create fs_group f1 tree_element = [ann:root = 1], decay_time = 1000:00:00\n"
        "set policy default_policy by_queue = False, fairshare_group = f1, fairshare = True\n";
    const auto usage = [&](const std::string& formula) {
        const Schedule run = run_of(trace, site_of(1, 8), kRange + shares + formula);
        const auto& rows = run.shares.at(0).view.rows;
        return std::ranges::find(rows, "ann", &sched::ShareRow::name)->usage;
    };
    EXPECT_EQ(usage(""), 601);
    EXPECT_EQ(usage("set fs_group f1 usage_formula = 'ncpus*walltime'\n"), 601);
    trace.jobs[0].cput = Seconds(50);  // on 2 CPUs
    EXPECT_EQ(usage(""), 151);
}

// The first job finds on b all that it prefers, the second one finds half of it on c. The third job has one
// chunk on b, and one on a, which has nothing that the job prefers. The fourth one asks for more CPUs than
// there are.
TEST(MissedPreferences, AreReported) {
    Trace trace =
        trace_of({{0, 1, 100, 100}, {1, 2, 100, 100}, {2, 2, 100, 100}, {3, 9, 1, 1}, {4, 1, 1, 1}});
    for (const std::size_t job : {0U, 1U, 2U, 3U}) {
        const bool two = job == 2;
        request(trace, job,
                {{"select", two ? "2:ncpus=1" : "1:ncpus=" + std::to_string(trace.jobs[job].cpus)},
                 {"prefer", "gpu_model=a100+mem>=64gb"}});
    }
    Site site = site_of(0, 0);
    site.machine.nodes["a"] = {{"resources_available.ncpus", "2"}, {"resources_available.mem", "8gb"}};
    site.machine.nodes["b"] = {{"resources_available.ncpus", "2"},
                               {"resources_available.mem", "64gb"},
                               {"resources_available.gpu_model", "a100"}};
    site.machine.nodes["c"] = {{"resources_available.ncpus", "2"}, {"resources_available.mem", "96gb"}};
    const std::string resources =
        "create resource prefer type=string\ncreate resource gpu_model type=string\n";
    const Schedule run = run_of(trace, site, resources);
    EXPECT_THAT(starts(run), ElementsAre(0, 1, 2, -1, 4));
    const Report report = make_report("x", trace, run);
    EXPECT_EQ(report.preferences.jobs, 4);
    EXPECT_EQ(report.preferences.never, 1);
    EXPECT_EQ(report.preferences.all, 1);
    EXPECT_DOUBLE_EQ(report.preferences.missed, (0 + 1 + 2) / 3.0);
    const Heading heading = make_heading(trace, rrule::Zone::utc());
    EXPECT_THAT(to_text(heading, {report}),
                ContainsRegex("\njobs with preferences *\nall +4\nnever started +1\nhad all +1\n"
                              "missed, mean +1.00\n"));
    const auto json = nlohmann::json::parse(to_json(heading, {report}))["simulations"][0]["preferences"];
    EXPECT_EQ(json["all_met"], 1);
    // Without preferences the vnodes are taken in their order: a; b; c and the rest of a.
    const Report blind = make_report(
        "x", trace, run_of(trace, site, resources + "set policy default_policy preferences=False\n"));
    EXPECT_EQ(blind.preferences.all, 1);
    EXPECT_DOUBLE_EQ(blind.preferences.missed, (2 + 0 + 3) / 3.0);
    const Trace plain = trace_of({{0, 1, 5, 10}});
    EXPECT_THAT(to_text(heading, {make_report("x", plain, run_of(plain, site, resources))}),
                Not(HasSubstr("preferences")));
}

}  // namespace
}  // namespace pbs::simulate::test
