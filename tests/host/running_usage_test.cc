#include "server_plugin/host/life/running_usage.h"

#include <gtest/gtest.h>

#include <string>

#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/run_reports.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using std::chrono::seconds;

class RunningUsageTest : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("q");
        make_node("n1", "64");
    }
    std::string running_job() {
        std::string id = submit(user(), {}, "q");
        EXPECT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
        return id;
    }
    void report(RunReport one) {
        executor_.reports.push_back(std::move(one));
        take_run_events(*server_);
    }
    void uses(const std::string& id, seconds cput, int64_t mem_kb) {
        ExitRecord& seen = executor_.used_so_far[id];
        seen.walltime = seconds(100);
        seen.cput = cput;
        seen.mem_kb = mem_kb;
    }
};

TEST_F(RunningUsageTest, IsShownWhileTheJobRuns) {
    const std::string id = running_job();
    RunningUsage usage(*server_);
    usage.look();
    EXPECT_EQ(job_shows(id, "resources_used.cput"), "") << "nothing is known yet";
    uses(id, seconds(50), 2048);
    usage.look();
    EXPECT_EQ(job_shows(id, "resources_used.cput"), "00:00:50");
    EXPECT_EQ(job_shows(id, "resources_used.cpupercent"), "50");
    EXPECT_EQ(job_shows(id, "resources_used.mem"), "2048kb");
    EXPECT_EQ(job_shows(id, "resources_used.walltime"), "00:01:40");
    uses(id, seconds(61), 1024);
    usage.look();
    EXPECT_EQ(job_shows(id, "resources_used.cput"), "00:01:01");
}

TEST_F(RunningUsageTest, EachOfManyHasItsTurn) {
    std::vector<std::string> jobs(45);
    for (std::string& id : jobs) id = running_job();
    RunningUsage usage(*server_);
    for (int round = 1; round < 4; ++round) {
        for (const std::string& id : jobs) uses(id, seconds(round), 1);
        for (std::size_t tick = 0; tick < RunningUsage::kTicks; ++tick) usage.look();
        for (const std::string& id : jobs)
            EXPECT_EQ(job_shows(id, "resources_used.cput"), "00:00:0" + std::to_string(round));
        // Then a job ends. It may be the job whose usage would be read next.
        report(ended(jobs.back(), 0));
        jobs.pop_back();
    }
}

TEST_F(RunningUsageTest, AJobThatRunsAgainBeginsAnew) {
    const std::string id = running_job();
    RunningUsage usage(*server_);
    uses(id, seconds(50), 2048);
    usage.look();
    executor_.used_so_far.clear();
    RunReport never;
    never.id = run_id(*server_->state.job(id));
    never.state = RunState::never_started;
    report(never);
    usage.look();
    EXPECT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
    usage.look();
    EXPECT_EQ(job_shows(id, "resources_used.cput"), "");
}

}  // namespace
}  // namespace pbs::host
