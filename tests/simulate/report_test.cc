#include "tools/simulate/report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/simulate/support.h"

namespace pbs::simulate::test {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(BoundedSlowdown, IsNeverBelowOneAndShortJobsCountAsTenSeconds) {
    EXPECT_DOUBLE_EQ(bounded_slowdown(Seconds(0), Seconds(100)), 1);
    EXPECT_DOUBLE_EQ(bounded_slowdown(Seconds(100), Seconds(100)), 2);
    EXPECT_DOUBLE_EQ(bounded_slowdown(Seconds(99), Seconds(1)), 10);
    EXPECT_DOUBLE_EQ(bounded_slowdown(Seconds(2), Seconds(1)), 1);
    EXPECT_DOUBLE_EQ(bounded_slowdown(Seconds(50), Seconds(0)), 5);
}

TEST(Distribution, PercentilesAreNearestRanks) {
    std::vector<double> values;
    for (int i = 200; i > 0; --i) values.push_back(i);
    const Distribution d = distribution(values);
    EXPECT_DOUBLE_EQ(d.mean, 100.5);
    EXPECT_DOUBLE_EQ(d.median, 100);
    EXPECT_DOUBLE_EQ(d.p90, 180);
    EXPECT_DOUBLE_EQ(d.p99, 198);
    EXPECT_DOUBLE_EQ(d.max, 200);
    EXPECT_DOUBLE_EQ(distribution({7}).median, 7);
    EXPECT_DOUBLE_EQ(distribution({7}).p99, 7);
    EXPECT_DOUBLE_EQ(distribution({}).max, 0);
}

// Job 1 has both CPUs from 0 to 100 seconds. Job 2 has one CPU from 100 to 150, and job 3 the other one from
// 100 to 300.
class ThreeJobs : public testing::Test {
  protected:
    Trace trace = trace_of({{0, 2, 100, 100, "ann"}, {10, 1, 50, 60, "bob"}, {20, 1, 200, 200, "ann"}});
    Schedule run = run_of(trace, site_of(1, 2));
};

TEST_F(ThreeJobs, FiguresAreAsByHand) {
    const Report r = make_report("x", trace, run, 3);
    EXPECT_EQ(r.submitted, 3U);
    EXPECT_EQ(r.started, 3);
    EXPECT_EQ(r.never_started, 0);
    EXPECT_DOUBLE_EQ(r.all.usage.used, 200 + 50 + 200);
    EXPECT_DOUBLE_EQ(r.all.usage.available, 600);
    EXPECT_DOUBLE_EQ(r.all.usage.share(), 0.75);
    EXPECT_DOUBLE_EQ(r.all.jobs.wait.mean, (0 + 90 + 80) / 3.0);
    EXPECT_DOUBLE_EQ(r.all.jobs.wait.median, 80);
    EXPECT_DOUBLE_EQ(r.all.jobs.wait.max, 90);
    EXPECT_DOUBLE_EQ(r.all.jobs.slowdown.mean, (1 + 2.8 + 1.4) / 3);
    EXPECT_DOUBLE_EQ(r.all.jobs.slowdown.max, 2.8);
    EXPECT_EQ(r.prime.jobs.jobs, 0);
    EXPECT_EQ(r.non_prime.jobs.jobs, 3);
    ASSERT_EQ(r.users.size(), 2U);
    EXPECT_EQ(r.users[0].name, "ann");
    EXPECT_DOUBLE_EQ(r.users[0].cpu_seconds, 400);
    EXPECT_EQ(r.users[1].jobs, 1);
    ASSERT_EQ(r.sizes.size(), 2U);
    EXPECT_EQ(r.sizes[0].name, "1");
    EXPECT_EQ(r.sizes[1].name, "2");
    EXPECT_THAT(r.waits, ElementsAre(0, 80, 90));
    // The series has three steps of 100 seconds. Two CPUs are in use in the first, 1.5 on average in the
    // second, and one in the third.
    EXPECT_THAT(r.series.cpus_in_use, ElementsAre(DoubleEq(2), DoubleEq(1.5), DoubleEq(1)));
    EXPECT_THAT(r.series.jobs_waiting, ElementsAre(DoubleEq(1.7), DoubleEq(0), DoubleEq(0)));
}

TEST_F(ThreeJobs, PrimeTimeIsApart) {
    run.prime = {{kMonday + Seconds(50), kMonday + Seconds(120)},
                 {kMonday + Seconds(200), kMonday + Seconds(300)}};
    run.outcomes[1].prime = run.outcomes[2].prime = true;
    const Report r = make_report("x", trace, run);
    EXPECT_EQ(r.prime.jobs.jobs, 2);
    EXPECT_EQ(r.non_prime.jobs.jobs, 1);
    // CPU seconds in prime time: job 1, 50 s on 2 CPUs; job 2, 20 s; job 3, 20 s and 100 s.
    EXPECT_DOUBLE_EQ(r.prime.usage.used, 100 + 20 + 120);
    EXPECT_DOUBLE_EQ(r.prime.usage.available, 2 * 170);
    EXPECT_DOUBLE_EQ(r.non_prime.usage.used, 450 - 240);
    EXPECT_DOUBLE_EQ(r.non_prime.usage.available, 2 * 130);
}

TEST_F(ThreeJobs, TheSeriesAddsUpToTheUsage) {
    for (const std::size_t points : {1U, 2U, 7U, 100U, 600U}) {
        const Report r = make_report("x", trace, run, points);
        double sum = 0;
        for (const double cpus : r.series.cpus_in_use) sum += cpus * r.series.step;
        EXPECT_NEAR(sum, r.all.usage.used, 1e-6) << points;
    }
}

TEST_F(ThreeJobs, EstimatesAreHeldAgainstStarts) {
    run.estimates = {{1, {kMonday + Seconds(40), kMonday + Seconds(90)}},
                     {2, {kMonday + Seconds(400), kMonday + Seconds(100)}}};
    run.outcomes.push_back({});
    run.estimates[3] = {kMonday + Seconds(1), kMonday + Seconds(1)};
    trace.jobs.push_back(trace.jobs[0]);  // add a job that never starts
    const std::vector<Report> one = {make_report("x", trace, run)};
    const EstimateReport& r = one[0].estimates;
    EXPECT_EQ(r.told, 3);
    EXPECT_EQ(r.started, 2);
    EXPECT_DOUBLE_EQ(r.first.off.mean, (60 + 300) / 2.0);
    EXPECT_DOUBLE_EQ(r.first.off.median, 60);
    EXPECT_EQ(r.first.later, 1);
    EXPECT_DOUBLE_EQ(r.last.off.mean, 5);
    EXPECT_EQ(r.last.later, 1);
    const Heading heading = make_heading(trace, rrule::Zone::utc());
    EXPECT_THAT(to_text(heading, one), HasSubstr("the first one told          2  0:03:00  0:01:00  0:05:00"));
    const auto json = nlohmann::json::parse(to_json(heading, one))["simulations"][0]["estimates"];
    EXPECT_EQ(json["jobs"], 3);
    EXPECT_EQ(json["last"]["off"]["max"], 10);
    const std::vector<Report> two = {one[0], make_report("y", trace, run)};
    EXPECT_THAT(to_text(heading, two), HasSubstr("estimated start, off by  jobs A  B   mean A        B"));
}

TEST_F(ThreeJobs, OneOfAThingIsNotMany) {
    run.cycles = run.cpus = 1;
    run.elsewhere = {{"gone", 1}};
    Heading heading = make_heading(trace, rrule::Zone::utc());
    heading.jobs = 1;
    const std::string text = to_text(heading, {make_report("x", trace, run)});
    EXPECT_THAT(text, HasSubstr("jobs.swf: 1 job\n"));
    EXPECT_THAT(text, HasSubstr("Machine   1 vnode, 1 CPU\n"));
    EXPECT_THAT(text, HasSubstr(" started in 1 cycle\n"));
    EXPECT_THAT(text, HasSubstr("there is no queue gone: 1 job went to the default queue\n"));
}

TEST_F(ThreeJobs, TableOfOne) {
    const std::string text = to_text(make_heading(trace, rrule::Zone::utc()), {make_report("x", trace, run)});
    EXPECT_THAT(text, HasSubstr("Trace     jobs.swf: 3 jobs\n"));
    EXPECT_THAT(text, HasSubstr("Policy    default_policy\nMachine   1 vnode, 2 CPUs\n"
                                "Time      2026-11-23 00:00:00 to 2026-11-23 00:05:00 (UTC)\n"
                                "Jobs      3 started in 4 cycles\n"));
    EXPECT_THAT(text, HasSubstr("utilisation               75.0%     0.0%      75.0%\n"));
    EXPECT_THAT(text, HasSubstr("bounded slowdown, mean     1.73     0.00       1.73\n"));
    EXPECT_THAT(text, HasSubstr("  longest               0:01:30  0:00:00    0:01:30\n"));
}

TEST_F(ThreeJobs, TableOfTwoHasTheDifference) {
    const Schedule other = run_of(trace, site_of(1, 4));
    const std::string text = to_text(make_heading(trace, rrule::Zone::utc()),
                                     {make_report("a", trace, run), make_report("b", trace, other)}, 1);
    EXPECT_THAT(text, HasSubstr("A         a\n"));
    EXPECT_THAT(text, HasSubstr("B         b\n"));
    EXPECT_THAT(text, HasSubstr("  longest               0:01:30  0:00:00  -0:01:30\n"));
    EXPECT_THAT(text, HasSubstr("jobs started                  3        3         0\n"));
    EXPECT_THAT(text, HasSubstr("and 1 users with less CPU time"));
}

TEST_F(ThreeJobs, JsonHasTheSameFigures) {
    trace.left_out["no run time is known"] = 2;
    const auto json = nlohmann::json::parse(
        to_json(make_heading(trace, rrule::Zone::utc()), {make_report("x", trace, run, 10)}));
    EXPECT_EQ(json["trace"], "jobs.swf");
    EXPECT_EQ(json["left_out"][0]["jobs"], 2);
    ASSERT_EQ(json["simulations"].size(), 1U);
    const auto& one = json["simulations"][0];
    EXPECT_EQ(one["policies"][0], "default_policy");
    EXPECT_EQ(one["all"]["utilisation"], 0.75);
    EXPECT_EQ(one["all"]["wait"]["max"], 90);
    EXPECT_EQ(one["non_prime"]["jobs"], 3);
    EXPECT_EQ(one["users"][1]["user"], "bob");
    EXPECT_EQ(one["sizes"][0]["cpus"], "1");
    EXPECT_EQ(one["series"]["cpus_in_use"].size(), 10U);
    EXPECT_EQ(one["begin"], 1795392000);
}

TEST(Report, SizesAreClassesOfPowersOfTwo) {
    std::vector<Job> jobs;
    for (const std::int64_t cpus : {1, 2, 3, 4, 5, 8, 9, 16}) jobs.push_back({0, cpus, 10});
    const Trace trace = trace_of(jobs);
    const Report r = make_report("x", trace, run_of(trace, site_of(1, 64)));
    std::vector<std::string> names;
    for (const Group& size : r.sizes) names.push_back(size.name + ":" + std::to_string(size.jobs));
    EXPECT_THAT(names, ElementsAre("1:1", "2:1", "3-4:2", "5-8:2", "9-16:2"));
}

// The quota allows each user two of the four CPUs. So the third job waits for its owner's first job, though
// two CPUs are idle.
TEST(Report, TheReportHasTheUseOfQuotas) {
    const Schedule run = run_of(trace_of({{0, 2, 100, 100}, {10, 1, 50, 60}, {20, 1, 50, 60}}), site_of(1, 4),
                                "create quota q1\n"
                                "set quota q1 rule.each = \"users={*} to ncpus=2\"\n"
                                "set quota q1 rule.none = \"to jobs=5\"\n"
                                "set quota q1 enabled = True\n"
                                "set policy default_policy quotas = q1\n");
    EXPECT_THAT(starts(run), ElementsAre(0, 100, 100));
    const Report report =
        make_report("q", trace_of({{0, 2, 100, 100}, {10, 1, 50, 60}, {20, 1, 50, 60}}), run);
    ASSERT_EQ(report.quotas.size(), 1U);
    const QuotaReport& quota = report.quotas[0];
    EXPECT_EQ(quota.name, "q1 (each): ncpus");
    EXPECT_EQ(quota.limit, "2");
    EXPECT_EQ(quota.most, "2");
    EXPECT_EQ(quota.jobs, 2);
    EXPECT_EQ(quota.held, 90);
    EXPECT_EQ(quota.idle, 90 * 2);
    EXPECT_EQ(quota.full, 150);
    EXPECT_THAT(to_text(make_heading(trace_of({{0, 2, 100, 100}}), rrule::Zone::utc()), {report}),
                HasSubstr("q1 (each): ncpus      2          2"));
}

}  // namespace
}  // namespace pbs::simulate::test
