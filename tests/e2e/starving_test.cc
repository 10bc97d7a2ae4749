// Tests a starving job (one that has waited for long), with and without backfilling.
#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

class Starving : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(injected_clock);
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({
            "create queue work queue_type=execution, enabled=True, started=True",
            "create queue other queue_type=execution, enabled=True, started=True",
            "set server default_queue=work, job_history_enable=True",
            "create node n1 resources_available.ncpus=8",
            "set policy default_policy max_starve=00:10:00, backfill_depth=0",
        }));
    }
    std::string job(const std::string& queue, const std::string& resources) const {
        return server.submit("sleep 60\n", {"-q", queue, "-l", resources});
    }
    // Returns the job's state and the first 60 characters of its comment, after a cycle.
    std::string state_and_comment(const std::string& id) const {
        EXPECT_TRUE(wait_for([&] { return server.job(id, "comment") != "(none)"; }));
        return server.job(id, "job_state") + ": " + server.job(id, "comment").substr(0, 60);
    }

    Server server;
};

TEST_F(Starving, WithoutBackfillingItHoldsTheOthers) {
    const std::string running = job("work", "ncpus=6,walltime=1:00:00");
    ASSERT_TRUE(server.wait_job_state(running, "R"));
    const std::string starves = job("work", "ncpus=8,walltime=1:00:00");
    const std::string not_yet = job("other", "ncpus=1,walltime=2:00:00");
    EXPECT_TRUE(server.wait_job_state(not_yet, "R")) << "it doesn't starve yet";

    server.set_clock(kMonday10 + 20 * 60);
    const std::string same = job("work", "ncpus=1,walltime=0:01:00");
    const std::string other = job("other", "ncpus=1,walltime=0:01:00");
    for (const std::string& id : {same, other})
        EXPECT_EQ(state_and_comment(id), "Q: Not Running: Draining system to allow starving job to run")
            << id;
    EXPECT_EQ(server.job(starves, "job_state"), "Q");

    ASSERT_TRUE(server.configure({"set policy default_policy backfill_depth=1"}));
    EXPECT_TRUE(server.wait_job_state(same, "RF")) << "it ends before the starving job can start";
}

// With backfill_depth 0, the starving job holds up all jobs of its queue, but none of other queues.
TEST_F(Starving, InAQueueWithoutBackfillingItHoldsThatQueue) {
    ASSERT_TRUE(
        server.configure({"set policy default_policy backfill_depth=1", "set queue work backfill_depth=0"}));
    ASSERT_TRUE(server.wait_job_state(job("work", "ncpus=6,walltime=1:00:00"), "R"));
    ASSERT_NE(job("work", "ncpus=8,walltime=1:00:00"), "");
    server.set_clock(kMonday10 + 20 * 60);
    const std::string same = job("work", "ncpus=1,walltime=0:01:00");
    EXPECT_EQ(state_and_comment(same), "Q: Not Running: Draining system to allow starving job to run");
    EXPECT_TRUE(server.wait_job_state(job("other", "ncpus=1,walltime=0:01:00"), "RF"));
    EXPECT_EQ(server.job(same, "job_state"), "Q");
}

}  // namespace
}  // namespace pbs::e2e
