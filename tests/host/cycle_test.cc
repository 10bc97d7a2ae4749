// Cycles that go on beside requests: what becomes of decisions about what has changed meanwhile.
#include "server_plugin/host/cycle.h"

#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

class CycleTest : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        PluginOptions options{PBS_FIFO_PLUGIN, folder_, "svr", "", server_->now()};
        options.cycle_finished = [] {};
        auto plugin = Plugin::load(options, *log_);
        ASSERT_TRUE(plugin) << plugin.error().message;
        plugin_ = std::move(*plugin);
        server_->parts.plugin = plugin_.get();
        ASSERT_TRUE(server_->start_plugin());
        make_queue("q");
        make_node("n1", "8");
        (void)server_->take_wanted_cycles();
    }
    void TearDown() override {
        server_->parts.plugin = nullptr;
        plugin_->stop(0);
        plugin_.reset();
        ServerTest::TearDown();
    }
    // With jobs a, b and c the cycle is under way, and wants to start all of them.
    void begin(Cycles& cycles) {
        for (std::string* id : {&a, &b, &c}) *id = submit(user(), {}, "q");
        cycles.run_wanted();
        ASSERT_TRUE(cycles.busy());
        ASSERT_FALSE(cycles.has_decisions());
        ASSERT_EQ(states(), "QQQ");
    }
    std::string states() {
        return job_shows(a, "job_state") + job_shows(b, "job_state") + job_shows(c, "job_state");
    }

    std::string a, b, c;
};

TEST_F(CycleTest, WhatHasNotChangedIsStarted) {
    Cycles cycles(*server_);
    begin(cycles);
    cycles.run_wanted();
    EXPECT_EQ(states(), "QQQ") << "one at a time";
    cycles.cycle_finished();
    EXPECT_EQ(states(), "RRR");
    EXPECT_FALSE(cycles.busy());
    cycles.cycle_finished();
    EXPECT_EQ(executor_.started.size(), 3u) << "once";
}

TEST_F(CycleTest, JobsThatChangedAreLookedAtAgainAsTheyAreNow) {
    Cycles cycles(*server_);
    begin(cycles);
    ASSERT_EQ(ask(root(), ifl::RequestType::modify_job,
                  ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, a, {attribute("Resource_List.ncpus", "6")}})
                  .code,
              0);
    ASSERT_EQ(ask(root(), ifl::RequestType::delete_job, ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, b, {}}).code,
              0);
    (void)server_->take_wanted_cycles();
    cycles.cycle_finished();
    EXPECT_EQ(job_shows(a, "job_state"), "Q");
    EXPECT_EQ(job_shows(c, "job_state"), "R");
    EXPECT_EQ(executor_.started.size(), 1u);
    ASSERT_EQ(server_->take_wanted_cycles().at("default"), PBS_SCH_SCHEDULE_CMD);
    server_->want_cycle(PBS_SCH_SCHEDULE_CMD);
    cycles.run_wanted();
    cycles.cycle_finished();
    EXPECT_EQ(job_shows(a, "job_state"), "R");
    EXPECT_THAT(job_shows(a, "exec_vnode"), HasSubstr("ncpus=6"));
    EXPECT_FALSE(server_->cycles_wanted());
}

TEST_F(CycleTest, NothingIsStartedFromAQueueThatWasStopped) {
    Cycles cycles(*server_);
    begin(cycles);
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "started", "f"), 0);
    cycles.cycle_finished();
    EXPECT_EQ(states(), "QQQ");
    EXPECT_THAT(log_text(), HasSubstr("decision dropped: queue q is not started"));
}

TEST_F(CycleTest, NothingIsStartedOnAVnodeThatIsOfflineNow) {
    Cycles cycles(*server_);
    begin(cycles);
    ASSERT_EQ(manage(root(), PBS_CMD_SET, PBS_OBJ_NODE, "n1", {attribute("state", "offline")}).code, 0);
    cycles.cycle_finished();
    EXPECT_EQ(states(), "QQQ");
    EXPECT_TRUE(server_->cycles_wanted());
}

TEST_F(CycleTest, NothingIsStartedOnceSchedulingIsOff) {
    Cycles cycles(*server_, milliseconds(0), 1);
    begin(cycles);
    cycles.cycle_finished();
    EXPECT_EQ(states(), "RRQ") << "the first slice is two decisions";
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "scheduling", "f"), 0);
    cycles.go_on();
    EXPECT_EQ(states(), "RRQ");
    EXPECT_FALSE(cycles.busy());
    EXPECT_THAT(log_text(), HasSubstr("scheduling is off now: decisions of the cycle dropped: 1"));
}

TEST_F(CycleTest, RequestsAreAnsweredBetweenSlices) {
    Cycles cycles(*server_, milliseconds(0), 1);
    begin(cycles);
    cycles.cycle_finished();
    ASSERT_EQ(states(), "RRQ");
    ASSERT_TRUE(cycles.has_decisions());
    const std::string d = submit(user(), {}, "q");
    ASSERT_EQ(ask(root(), ifl::RequestType::delete_job, ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, c, {}}).code,
              0);
    for (int turns = 0; cycles.has_decisions() && turns < 5; ++turns) cycles.go_on();
    EXPECT_EQ(executor_.started.size(), 2u);
    EXPECT_EQ(job_shows(d, "job_state"), "Q") << "of the next cycle";
    cycles.run_wanted();
    EXPECT_TRUE(cycles.busy());
    cycles.cycle_finished();
    for (int turns = 0; cycles.has_decisions() && turns < 5; ++turns) cycles.go_on();
    EXPECT_EQ(job_shows(d, "job_state"), "R");
    EXPECT_THAT(log_text(), Not(HasSubstr("decision dropped")));
}

TEST_F(CycleTest, AVnodeThatWasGivenAnotherJobIsLookedAtAgain) {
    const std::string other = submit(user(), {attribute("Resource_List.ncpus", "99")}, "q");
    Cycles cycles(*server_);
    begin(cycles);
    // There is room beside it; but nobody but the plugin knows whether the others want the vnode for
    // themselves.
    ASSERT_EQ(ask(root(), ifl::RequestType::modify_job,
                  ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, other, {attribute("Resource_List.ncpus", "1")}})
                  .code,
              0);
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{other, "n1"}).code, 0);
    (void)server_->take_wanted_cycles();
    cycles.cycle_finished();
    EXPECT_EQ(states(), "QQQ");
    EXPECT_EQ(server_->take_wanted_cycles().at("default"), PBS_SCH_SCHEDULE_CMD);
}

TEST_F(CycleTest, NothingIsRejectedByAConfigurationThatWasChanged) {
    const std::string large = submit(user(), {attribute("Resource_List.ncpus", "100")}, "q");
    Cycles cycles(*server_);
    begin(cycles);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "comment", "corrected"), 0);
    cycles.cycle_finished();
    EXPECT_EQ(states(), "RRR") << "what can be undone is done";
    EXPECT_EQ(job_shows(large, "job_state"), "Q");
    server_->want_cycle(PBS_SCH_SCHEDULE_CMD);
    cycles.run_wanted();
    cycles.cycle_finished();
    EXPECT_EQ(server_->state.job(large), nullptr) << "and rejected by the one that holds now";
}

TEST_F(CycleTest, CommentsAreGivenAlsoToJobsThatChangedButNotToHeldOnes) {
    const std::string d = submit(user(), {attribute("Resource_List.ncpus", "99")}, "q");
    const std::string e = submit(user(), {attribute("Resource_List.ncpus", "99")}, "q");
    Cycles cycles(*server_);
    begin(cycles);
    const auto alter = [&](const std::string& id, ifl::RequestType type, const std::string& name,
                           const std::string& value) {
        return ask(root(), type, ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, id, {attribute(name, value)}}).code;
    };
    ASSERT_EQ(alter(d, ifl::RequestType::modify_job, "Priority", "5"), 0);
    ASSERT_EQ(alter(e, ifl::RequestType::hold_job, "Hold_Types", "o"), 0);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "scheduling", "f"), 0);
    cycles.cycle_finished();
    EXPECT_EQ(job_shows(d, "comment"), "Too large");
    EXPECT_THAT(job_shows(e, "comment"), Not(HasSubstr("Too large")));
}

TEST_F(CycleTest, AStopDropsWhatIsLeft) {
    Cycles cycles(*server_, milliseconds(0), 1);
    begin(cycles);
    cycles.cycle_finished();
    ASSERT_TRUE(cycles.has_decisions());
    server_->stopping = true;
    cycles.go_on();
    EXPECT_FALSE(cycles.busy());
    EXPECT_EQ(executor_.started.size(), 2u);
}

TEST_F(CycleTest, SchedulersHaveTheirCyclesOneAfterTheOther) {
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_SCHED, "other", {attribute("partition", "p")}).code, 0);
    ASSERT_EQ(set(PBS_OBJ_SCHED, "other", "scheduling", "t"), 0);
    Cycles cycles(*server_);
    begin(cycles);
    ASSERT_TRUE(cycles.has_more());
    cycles.cycle_finished();
    EXPECT_EQ(states(), "RRR");
    EXPECT_TRUE(cycles.busy()) << "with the other one's";
    cycles.cycle_finished();
    EXPECT_FALSE(cycles.busy() || cycles.has_more());
}

TEST_F(CycleTest, OfSeveralTriggersTheOneThatSaysMostIsTold) {
    for (const int first : {PBS_SCH_SCHEDULE_NEW, PBS_SCH_CONFIGURE}) {
        server_->want_cycle(first);
        server_->want_cycle(first == PBS_SCH_CONFIGURE ? PBS_SCH_SCHEDULE_NEW : PBS_SCH_CONFIGURE);
        EXPECT_EQ(server_->take_wanted_cycles().at(""), PBS_SCH_CONFIGURE);
    }
    EXPECT_EQ(Server::more_telling(PBS_SCH_SCHEDULE_CMD, PBS_SCH_CONFIGURE), PBS_SCH_CONFIGURE);
    EXPECT_EQ(Server::more_telling(PBS_SCH_POLICY_SWITCH, PBS_SCH_CONFIGURE), PBS_SCH_POLICY_SWITCH);
    EXPECT_EQ(Server::more_telling(PBS_SCH_SCHEDULE_TERM, PBS_SCH_SCHEDULE_NEW), PBS_SCH_SCHEDULE_TERM);
}

}  // namespace
}  // namespace pbs::host
