// Tests the log lines about settings of queues that the policy in force doesn't act on. They are written when
// such a policy comes into force, and when such a setting is made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kOrigin =
    "queue q1: Priority has no effect with policy o1: it belongs to algorithm standard";

class QueueSettings : public testing::Test {
  protected:
    void SetUp() override {
        host_.bring_up();
        ASSERT_EQ(host_.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "o1", {{"algorithm", "origin"}}).code, 0);
    }
    void queue(uint64_t handle, const std::string& name, int32_t priority, int64_t depth = -1,
               const std::string& partition = {}) {
        pbs_queue_record record{};
        record.size = sizeof record;
        record.queue = handle;
        record.name = {name.data(), name.size()};
        record.flags = PBS_QUEUE_EXECUTION | PBS_QUEUE_STARTED | PBS_QUEUE_ENABLED;
        record.priority = priority;
        record.max_running = record.max_user_run = record.max_group_run = -1;
        record.backfill_depth = depth;
        record.partition = {partition.data(), partition.size()};
        host_.plugin.queue_changed(host_.plugin.self, &record);
    }
    void assign(const std::string& slots) {
        ASSERT_EQ(host_.set(PBS_OBJ_SCHED, "default", "policy", slots).code, 0);
    }
    // Runs a cycle. Returns the log's lines about queues since the last call.
    std::vector<std::string> told() {
        host_.tick();
        host_.cycle();
        std::vector<std::string> lines;
        for (const std::string& line : host_.log)
            if (const auto at = line.find("queue q"); at != std::string::npos)
                lines.push_back(line.substr(at));
        host_.log.clear();
        return lines;
    }

    FakeHost host_;
};

TEST_F(QueueSettings, PeersAreThoseOfThePolicyInForce) {
    queue(1, "q1", 0);
    EXPECT_EQ(host_.peer_queue(), "");
    ASSERT_EQ(host_.set(PBS_OBJ_POLICY, "default_policy", "peer_queue", "q1 b@svr1:15101").code, 0);
    EXPECT_EQ(host_.peer_queue(), "q1 b@svr1:15101");
    ASSERT_EQ(host_.set(PBS_OBJ_POLICY, "o1", "peer_queue", "q1 c@svr2").code, 0);
    assign("o1");
    EXPECT_EQ(host_.peer_queue(), "") << "Origin's algorithm has no peers";
}

TEST_F(QueueSettings, AHostThatPullsNothingIsToldThatPeersAreNotActedOn) {
    constexpr const char* kLine =
        "policy default_policy: peer_queue has no effect: no jobs are pulled from other servers";
    queue(1, "q1", 0);
    EXPECT_THAT(host_.set(PBS_OBJ_POLICY, "default_policy", "peer_queue", "q1 b@svr1").warnings,
                ElementsAre(kLine));
    EXPECT_EQ(host_.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"], kLine);
    EXPECT_THAT(host_.set(PBS_OBJ_POLICY, "default_policy", "comment", "x").warnings, IsEmpty());
    host_.stop();
    FakeHost other;
    other.host.pulls = 1;
    other.bring_up();
    other.queue(1, "q1");
    EXPECT_THAT(other.set(PBS_OBJ_POLICY, "default_policy", "peer_queue", "q1 b@svr1").warnings, IsEmpty());
    EXPECT_EQ(other.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"], "");
}

TEST(OpenpbsServer, IsToldThatItsLogIsNotThePolicys) {
    FakeHost host;
    host.host.has_pbs_sched = 1;
    host.own_sched = 1;
    host.bring_up();
    EXPECT_THAT(host.set(PBS_OBJ_POLICY, "default_policy", "log_event", "255").warnings,
                ElementsAre("policy default_policy: log_event has no effect: in an OpenPBS server the "
                            "scheduler keeps no log of its own"));
    EXPECT_THAT(host.set(PBS_OBJ_POLICY, "default_policy", "log_event", "255").warnings, IsEmpty());
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "algorithm", "external").code, 0);
    EXPECT_THAT(host.set(PBS_OBJ_POLICY, "default_policy", "log_event", "127").warnings, IsEmpty());
}

TEST(OpenpbsServer, IsToldThatAnExternalAlgorithmForATimeHasNoEffect) {
    FakeHost host;
    host.host.has_pbs_sched = 1;
    host.own_sched = 1;
    host.bring_up();
    const auto shown = [&] { return host.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"]; };
    EXPECT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "e1", {{"algorithm", "external"}}).code, 0);
    EXPECT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy,np:e1").code, 0);
    EXPECT_THAT(shown(), testing::HasSubstr("policy e1: algorithm external has no effect"));
    EXPECT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "e1").code, 0);
    EXPECT_EQ(shown(), "") << "the host hasn't yet said that the scheduler is pbs_sched's";
}

TEST(OwnServer, IsToldThatNoDynamicResourcesAreAskedForAProgramThatSchedules) {
    constexpr const char* kLine =
        "policy default_policy: server_dyn_res has no effect: its programs run for cycles, and a program of "
        "the site schedules";
    FakeHost host;
    host.bring_up();
    ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "server_dyn_res", "mem !/bin/true").code, 0);
    EXPECT_THAT(host.set(PBS_OBJ_POLICY, "default_policy", "algorithm", "external").warnings,
                ElementsAre(kLine))
        << "it had an effect before";
    EXPECT_EQ(host.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"], kLine);
    EXPECT_THAT(host.set(PBS_OBJ_POLICY, "default_policy", "comment", "x").warnings, IsEmpty());
    EXPECT_THAT(host.set(PBS_OBJ_POLICY, "default_policy", "server_dyn_res", "mem !/bin/false").warnings,
                ElementsAre(kLine));
    EXPECT_THAT(host.set(PBS_OBJ_POLICY, "default_policy", "algorithm", "standard").warnings, IsEmpty());
}

TEST_F(QueueSettings, ToldWhenThePolicyComesIntoForce) {
    queue(1, "q1", 5);
    queue(2, "q2", 0);
    EXPECT_THAT(told(), IsEmpty());
    assign("o1");
    EXPECT_THAT(told(), ElementsAre(kOrigin));
    EXPECT_THAT(told(), IsEmpty()) << "once";
    queue(2, "q2", 0, 3);
    EXPECT_THAT(told(), ElementsAre("queue q2: backfill_depth has no effect with policy o1: it belongs to "
                                    "algorithm standard"));
    queue(1, "q1", 5);
    EXPECT_THAT(told(), IsEmpty()) << "something else of it has changed";
    assign("default_policy");
    EXPECT_THAT(told(), IsEmpty());
    host_.plugin.queue_removed(host_.plugin.self, 2);
    assign("o1");
    EXPECT_THAT(told(), ElementsAre(kOrigin)) << "again";
}

TEST_F(QueueSettings, ToldWhenAPolicyChanges) {
    queue(1, "q1", 5);
    assign("default_policy");
    EXPECT_THAT(told(), IsEmpty());
    ASSERT_EQ(host_.set(PBS_OBJ_POLICY, "default_policy", "by_queue", "False").code, 0);
    EXPECT_THAT(told(),
                ElementsAre("queue q1: Priority has no effect with policy default_policy without by_queue "
                            "or round_robin or queue_priority in job_sort_formula"));
}

// The test begins on Monday, at 10:00; prime time begins at 11:00.
TEST_F(QueueSettings, ToldWhenTheTimeSwitchesPolicies) {
    queue(1, "q1", 5);
    ASSERT_EQ(
        host_
            .manager(
                PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "office",
                {{"type", "prime"}, {"rrule", "FREQ=DAILY"}, {"start_time", "11:00"}, {"end_time", "12:00"}})
            .code,
        0);
    assign("default_policy,p:o1");
    EXPECT_THAT(told(), IsEmpty());
    host_.now += 3600;
    EXPECT_THAT(told(), ElementsAre(kOrigin));
}

// Without a sched_config file PBS's defaults are in force, in which by_queue is off.
TEST_F(QueueSettings, ToldWithTheFileOfTheScheduler) {
    queue(1, "q1", 5);
    ASSERT_EQ(host_.set(PBS_OBJ_SCHED, "default", "policy", "", PBS_OP_UNSET).code, 0);
    EXPECT_THAT(told(),
                ElementsAre("queue q1: Priority has no effect with policy sched_config without by_queue or "
                            "round_robin or queue_priority in job_sort_formula"));
}

TEST_F(QueueSettings, QueuesOfAnotherPartitionAreAnothersMatter) {
    queue(1, "q1", 5, -1, "elsewhere");
    assign("o1");
    EXPECT_THAT(told(), IsEmpty());
}

}  // namespace
}  // namespace pbs::plugin_test
