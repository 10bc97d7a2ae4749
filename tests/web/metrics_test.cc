#include "tools/web/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/web/status.h"

namespace pbs::web {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const StatusOf counters("counters", {{"version", "0.1.0"},
                                     {"started", "1800000000"},
                                     {"duration_bounds", "0.1 1"},
                                     {"wait_bounds", "60"},
                                     {"cycles", "3 1.5 2 3", "new job"},
                                     {"decisions", "7", "run"},
                                     {"jobs_considered", "20"},
                                     {"decisions_dropped", "0"},
                                     {"cycles_failed", "0"},
                                     {"requests", "5 0.2 5 5", "StatusJob"},
                                     {"requests_refused", "1", "StatusJob"},
                                     {"commits", "9 0.3 9 9"},
                                     {"waits", "7 100 6"},
                                     {"jobs_ended", "2"},
                                     {"queue", "Transit:0 Queued:4 Running:2", "batch"},
                                     {"queue", "Transit:0 Queued:1 Running:0", "night"},
                                     {"vnodes", "3", "free"},
                                     {"log_lines_lost", "0"}});
const StatusOf sched("default",
                     {{"scheduling", "True"}, {"prime_time", "False"}, {"active_policy", "night"}});

TEST(MetricsTest, WhatTheServerCounts) {
    const std::string text = metrics(counters.get(), sched.get());
    EXPECT_THAT(text, HasSubstr("\npbs_up 1\n"));
    EXPECT_THAT(text, HasSubstr("\npbs_jobs{queue=\"batch\",state=\"Queued\"} 4\n"));
    EXPECT_THAT(text, HasSubstr("\npbs_cycle_duration_seconds_bucket{trigger=\"new job\",le=\"0.1\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("\npbs_job_wait_duration_seconds_bucket{le=\"60\"} 6\n"));
    EXPECT_THAT(text, HasSubstr("\npbs_sched_policy_info{sched=\"default\",policy=\"night\"} 1\n"));
    EXPECT_THAT(text, AllOf(HasSubstr("\npbs_sched_scheduling{sched=\"default\"} 1\n"),
                            HasSubstr("\npbs_sched_prime_time{sched=\"default\"} 0\n"),
                            HasSubstr("\npbs_sched_configuration_error{sched=\"default\"} 0\n")));
}

TEST(MetricsTest, CountersOfQuotas) {
    StatusOf use("q1", {{"rule", "guests"},
                        {"of", "bob", "users"},
                        {"of", "long", "queues"},
                        {"used", "3gb", "mem"},
                        {"limit", "4gb", "mem"},
                        {"enabled", "True"},
                        {"in_force", "True"}});
    use.add("q1",
            {{"rule", "night"}, {"used", "2", "ncpus"}, {"limit", "4", "ncpus"}, {"in_force", "False"}});
    const std::vector<std::pair<std::string, const batch_status*>> quotas{{"default", use.get()}};
    const std::string text = metrics(counters.get(), sched.get(), quotas);
    const std::string labels =
        R"({sched="default",quota="q1",rule="guests",key="users=bob,queues=long",resource="mem"} )";
    EXPECT_THAT(text, HasSubstr("\npbs_quota_used" + labels + "3221225472\n"));
    EXPECT_THAT(text, HasSubstr("\npbs_quota_limit" + labels + "4294967296\n"));
    EXPECT_THAT(text, Not(HasSubstr("night\",key")));
}

TEST(MetricsTest, AServerThatIsDownOrCountsNothingHasFewerMetrics) {
    EXPECT_EQ("# HELP pbs_up Whether the server answers.\n# TYPE pbs_up gauge\npbs_up 0\n",
              metrics(nullptr, nullptr));
    EXPECT_THAT(
        metrics(nullptr, sched.get()),
        AllOf(HasSubstr("pbs_up 1\n"), HasSubstr("pbs_sched_prime_time"), Not(HasSubstr("pbs_jobs"))));
}

TEST(MetricsTest, PrometheusFindsNothingWrongWithThem) {
    const char* const promtool = PBS_PROMTOOL;
    if (*promtool == '\0') GTEST_SKIP() << "promtool (Debian's package prometheus) isn't installed";
    std::FILE* pipe = popen((std::string(promtool) + " check metrics").c_str(), "w");
    ASSERT_NE(nullptr, pipe);
    const std::string text = metrics(counters.get(), sched.get());
    EXPECT_EQ(text.size(), std::fwrite(text.data(), 1, text.size(), pipe));
    EXPECT_EQ(0, pclose(pipe)) << text;
}

}  // namespace
}  // namespace pbs::web
