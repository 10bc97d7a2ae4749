// Tests past usage over several starts of the host: usage is charged once, decays, and is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"
#include "objects/store.h"
#include "objects/usage_store.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::DoubleNear;
using ::testing::ElementsAre;

class PastUsage : public ::testing::Test {
  protected:
    // Starts a host on the test's folder, with a policy with algorithm = origin that orders jobs by past
    // usage.
    std::unique_ptr<FakeHost> bring_up(int64_t now = kMonday10) {
        auto host = std::make_unique<FakeHost>(folder.home());
        host->now = now;
        host->bring_up();
        host->queue(kSubmit, "submit");
        host->queue(kBatch, "batch", 8, 12 * 3600);
        EXPECT_EQ(host->manager(PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy",
                                {{"algorithm", "origin"},
                                 {"submit_queue", "submit"},
                                 {"batch_queues", "batch"},
                                 {"avoid_fragmentation", "False"}})
                      .code,
                  0);
        host->vnode(kVnode, "n1", 8);
        return host;
    }
    // Reads the usage of a user in the group staff from the store's file, without the plugin.
    double stored(const std::string& user) const {
        auto store =
            objects::Store::open((folder.home() / "server_priv/policy.db").string(), {.time_zone = "UTC"},
                                 std::chrono::sys_seconds{std::chrono::seconds{kMonday10}});
        EXPECT_TRUE(store.has_value());
        const auto state = objects::UsageStore(*store).load("past_usage");
        EXPECT_TRUE(state.has_value());
        for (const objects::Usage& row : state->usage) {
            if (row.user == user && row.group == "staff") return row.amount;
        }
        return 0;
    }
    // Returns a job that runs on a node for two hours.
    static Job running(uint64_t handle, const std::string& owner = "alice") {
        return {.handle = handle,
                .queue = kBatch,
                .owner = owner,
                .state = 'R',
                .walltime = 7200,
                .vnode = kVnode};
    }

    FakeHost folder;  // provides the folder; not used as a host
};

TEST_F(PastUsage, AStartIsChargedAndSavedByTheNextTick) {
    auto host = bring_up();
    host->tick();
    host->job(running(1));
    EXPECT_EQ(host->next_deadline(), host->now) << "there is something to save";
    host->tick();
    EXPECT_GT(host->next_deadline(), host->now);
    host.reset();
    EXPECT_DOUBLE_EQ(stored("alice"), 2.0);
}

TEST_F(PastUsage, ARestartChargesNothingTwice) {
    auto host = bring_up();
    host->job(running(1));
    host->tick();
    host.reset();
    host = bring_up();
    host->job(running(1));
    host->tick();
    host.reset();
    EXPECT_DOUBLE_EQ(stored("alice"), 2.0);
}

TEST_F(PastUsage, AStartThatTheStoreDoesNotKnowIsChargedAtTheNextStart) {
    // The host died after the job's start, before the plugin had saved the charge for it. At the next start
    // the host reports the job before start().
    bring_up().reset();
    FakeHost host(folder.home());
    ASSERT_EQ(host.init(), 0);
    host.introduce();
    host.queue(kBatch, "batch", 8, 12 * 3600);
    host.vnode(kVnode, "n1", 8);
    host.job(running(7));
    ASSERT_EQ(host.start(), 0);
    host.tick();
    host.stop();
    EXPECT_DOUBLE_EQ(stored("alice"), 2.0);
}

TEST_F(PastUsage, StopSavesWhatIsLeft) {
    auto host = bring_up();
    host->job(running(1));
    host.reset();
    EXPECT_DOUBLE_EQ(stored("alice"), 2.0);
}

TEST_F(PastUsage, DecaysEveryDayAndCatchesUp) {
    auto host = bring_up();
    host->tick();
    host->job(running(1));
    host->tick();
    host->job_removed(1);
    host->now += 86400;
    host->tick();
    host.reset();
    EXPECT_THAT(stored("alice"), DoubleNear(2.0 * 0.75, 1e-9));
    host = bring_up(kMonday10 + 4 * 86400 + 60);
    host->tick();
    host.reset();
    EXPECT_THAT(stored("alice"), DoubleNear(2.0 * 0.75 * 0.75 * 0.75 * 0.75, 1e-9));
}

TEST_F(PastUsage, DecidesWhoComesFirstAfterARestart) {
    auto host = bring_up();
    host->job(running(1, "alice"));
    host->tick();
    host.reset();
    host = bring_up();
    host->job({.handle = 2, .queue = kSubmit, .owner = "alice", .ncpus = 4});
    host->job({.handle = 3, .queue = kSubmit, .owner = "bob", .ncpus = 4});
    std::vector<uint64_t> order;
    for (const Decision& decision : host->cycle()) order.push_back(decision.job);
    EXPECT_THAT(order, ElementsAre(3, 2));
}

// Migrates a file of past usage while a job starts.
TEST_F(PastUsage, WhatIsChargedDuringAMigrationIsAddedToIt) {
    auto host = bring_up();
    const Change file{"migrate.decay_usage", "decay_usage\nMon\nstaff:alice 100\nstaff:bob 10\n"};
    ASSERT_EQ(host->ask(1, PBS_OBJ_CONFIGURATION, "", file).code, PBSE_TRYAGAIN);
    host->job(running(1));
    host->tick();
    const Answer answer = host->await(1, PBS_OBJ_CONFIGURATION, "", file);
    ASSERT_EQ(answer.code, 0) << answer.text;
    host->job(running(2, "bob"));
    host->tick();
    host.reset();
    EXPECT_DOUBLE_EQ(stored("alice"), 102.0);
    EXPECT_DOUBLE_EQ(stored("bob"), 12.0);
    // A second migration of the file doesn't change usage that the server has charged since the first.
    host = bring_up();
    host->job(running(1));
    host->job(running(2, "bob"));
    EXPECT_EQ(host->await(1, PBS_OBJ_CONFIGURATION, "", file).code, 0);
    host.reset();
    EXPECT_DOUBLE_EQ(stored("alice"), 102.0);
}

}  // namespace
}  // namespace pbs::plugin_test
