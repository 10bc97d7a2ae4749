// Sets the server's clock back and forward by up to years, with starts of the server in between. Whatever the
// clock says, jobs start, each one runs once and has one record of its end, and what was acknowledged stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"
#include "tests/faults/environment.h"

namespace pbs::e2e {
namespace {

int times(const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

TEST(ClockJumps, StopNoJobAndLoseNone) {
    NEEDS(injected_clock);
    constexpr int64_t kHour = 3600;
    constexpr int64_t kDay = 24 * kHour;
    constexpr int64_t kJumps[] = {-400 * kDay, -2 * kDay, -kHour, -1, 1, kHour, 2 * kDay, 500 * kDay};
    const unsigned seed = random_seed();
    SCOPED_TRACE("PBSPOLICY_SEED=" + std::to_string(seed));
    std::mt19937 random(seed);
    Server server;
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure(
        {"create queue workq queue_type=execution, enabled=True, started=True",
         "create node n1 resources_available.ncpus=4",
         "create time_window day rrule=FREQ=DAILY, start_time=0800, end_time=1800, type=prime",
         "create policy p1 estimate_depth=5, backfill_depth=2",
         "create fs_group tree tree_element=[daemon:root=50], decay_time=01:00:00",
         "set policy p1 fairshare=True, fairshare_group=tree",
         "set sched default policy='default_policy,p:p1'",
         "set server default_queue=workq, flatuid=True, job_history_enable=True, eligible_time_enable=True, "
         "job_history_duration=100000:00:00"}));
    int64_t now = kMonday10;
    std::vector<std::string> jobs;
    for (int step = 0; step < 12; ++step) {
        jobs.push_back(server.submit("sleep 0.1\n", {"-l", "walltime=20000:00:00"}));
        ASSERT_NE(jobs.back(), "");
        now += kJumps[random() % std::size(kJumps)];
        server.set_clock(now);
        if (random() % 3 == 0) {
            server.kill9();
            ASSERT_TRUE(server.start());
        }
        jobs.push_back(server.submit("true\n", {"-l", "walltime=20000:00:00"}));
        ASSERT_NE(jobs.back(), "");
        for (const std::string& job : {jobs[jobs.size() - 2], jobs.back()})
            EXPECT_TRUE(server.wait_job_state(job, "F")) << server.command({"qstat", "-f"}).out;
        EXPECT_EQ(server.qmgr("set policy p1 comment=" + std::to_string(step)).exit, 0);
    }
    server.kill9();
    ASSERT_TRUE(server.start());
    EXPECT_EQ(server.attribute("policy p1", "comment"), "11");
    for (const std::string& job : jobs) {
        EXPECT_EQ(server.job(job, "Exit_status"), "0") << job;
        EXPECT_EQ(server.job(job, "run_count"), "1") << job;
        EXPECT_EQ(times(server.accounting(), ";E;" + job + ";"), 1) << server.accounting();
    }
}

}  // namespace
}  // namespace pbs::e2e
