// Decisions to weigh the processes of running jobs (reprioritize), with the built plugin.
#include "server_plugin/host/cycle/cycle.h"
#include "server_plugin/host/life/run_reports.h"
#include "tests/host/plugin_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kFails = "its cpu.weight can't be set: no weight today";
constexpr const char* kWorks = "the cpu.weight of jobs can be set again";

class WeightsOfJobs : public PluginServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        for (const char* name : {"/server_priv", "/sched_priv"})
            std::filesystem::create_directories(folder_ + name);
    }
    // Loads the plugin for a machine whose control groups have a cpu.weight, or have none.
    void load(bool weighs) {
        client::Options options{PBS_POLICY_PLUGIN, folder_, "svr", "UTC", server_->now(), kFirstChange};
        options.weighs = weighs;
        auto loaded = Plugin::load(std::move(options), *log_);
        ASSERT_TRUE(loaded) << loaded.error().message;
        plugin_ = std::move(*loaded);
        server_->parts.plugin = plugin_.get();
        ASSERT_TRUE(server_->start_plugin());
        make_queue("q");
        make_node("n1", "8");
        for (const auto& [name, value] : {std::pair("weighted_priority", "True"),
                                          {"tickets_functional", "10000"},
                                          {"functional_weights", "user=1"},
                                          {"functional_shares", "[u:PBS_GENERIC=10],[u:other=30]"}})
            ASSERT_EQ(set(PBS_OBJ_POLICY, "default_policy", name, value), 0) << name;
    }
    std::string warnings() {
        const ifl::Reply reply = manage(root(), PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy",
                                        {attribute("reprioritize", "True")});
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        return text != nullptr ? text->text : std::string();
    }
    int times_logged(std::string_view text) const {
        const std::string log = log_text();
        int times = 0;
        for (auto at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++times;
        return times;
    }
    // Carries out a cycle at this many seconds after the test's begin.
    void cycle(Cycles& cycles, int64_t later) {
        move_clock(later);
        server_->want_cycle(PBS_SCH_SCHEDULE_CMD);
        cycles.run_wanted();
        while (cycles.busy()) cycles.go_on();
    }
    // Submits jobs with these numbers of CPUs, starts them, and makes them run. Returns their ids.
    std::vector<std::string> run_jobs(Cycles& cycles, std::initializer_list<const char*> all) {
        std::vector<std::string> ids;
        for (const char* cpus : all)
            ids.push_back(submit(user(), {attribute("Resource_List.ncpus", cpus)}, "q"));
        cycle(cycles, 0);
        for (const std::string& id : ids) report(begun(id));
        return ids;
    }
    void report(RunReport one) {
        executor_.reports.push_back(std::move(one));
        take_run_events(*server_);
    }
    // Moves the clock to so many seconds after the test's begin, and looks. Calls repeatedly, because one
    // call may end before all weights are tried.
    void look(Cycles& cycles, int64_t later) {
        move_clock(later);
        for (int i = 0; i < 10; ++i) cycles.look_at_clock();
    }
};

// The weights of a machine that has them, with `reprioritize` turned on.
class JobWeights : public WeightsOfJobs {
  protected:
    void SetUp() override {
        WeightsOfJobs::SetUp();
        ASSERT_NO_FATAL_FAILURE(load(true));
        (void)warnings();
    }
};

TEST_F(WeightsOfJobs, AreGivenToTheirProcesses) {
    ASSERT_NO_FATAL_FAILURE(load(true));
    EXPECT_THAT(warnings(), Not(HasSubstr("reprioritize")));
    Cycles cycles(*server_);
    const auto ids = run_jobs(cycles, {"2", "1"});
    EXPECT_EQ(job_shows(ids[0], "job_state") + job_shows(ids[1], "job_state"), "RR");
    EXPECT_THAT(executor_.weights, IsEmpty());
    cycle(cycles, 31);
    // Both jobs have the same number of tickets. The first job has two CPUs, so it has half as many for each.
    ASSERT_EQ(executor_.weights.size(), 2U);
    EXPECT_EQ(executor_.weights[0].first.job, ids[0]);
    EXPECT_EQ(executor_.weights[0].second, 67);
    EXPECT_EQ(executor_.weights[1].first.job, ids[1]);
    EXPECT_EQ(executor_.weights[1].second, 133);
    cycle(cycles, 62);
    EXPECT_EQ(executor_.weights.size(), 2U) << "they are as before";
}

TEST_F(JobWeights, AreTriedAgainAfterAFailure) {
    Cycles cycles(*server_);
    const auto ids = run_jobs(cycles, {"2", "1"});
    executor_.fail_weights = true;
    cycle(cycles, 31);
    look(cycles, 32);
    EXPECT_EQ(times_logged(kFails), 0) << "a job may have ended just now";
    look(cycles, 61);
    look(cycles, 92);
    EXPECT_EQ(times_logged(kFails), 1);
    EXPECT_THAT(executor_.weights, IsEmpty());
    executor_.fail_weights = false;
    look(cycles, 93);
    EXPECT_THAT(executor_.weights, IsEmpty()) << "too early";
    EXPECT_EQ(times_logged(kWorks), 0);
    look(cycles, 122);
    ASSERT_EQ(executor_.weights.size(), 2U);
    EXPECT_EQ(executor_.weights[0].first.job, ids[0]);
    EXPECT_EQ(executor_.weights[0].second, 67);
    EXPECT_EQ(executor_.weights[1].second, 133);
    look(cycles, 200);
    EXPECT_EQ(executor_.weights.size(), 2U) << "they are set";
    EXPECT_EQ(times_logged(kWorks), 1);
}

// The server answers nobody while it tries weights again. So it stops after a short while, and goes on with
// the others in the next second.
TEST_F(JobWeights, AreTriedAgainOneAfterTheOtherIfATryTakesLong) {
    Cycles cycles(*server_);
    run_jobs(cycles, {"4", "2", "1"});
    executor_.fail_weights = true;
    cycle(cycles, 31);
    executor_.fail_weights = false;
    executor_.weight_takes_us = 25'000;
    move_clock(62);
    for (const std::size_t tried : {1U, 2U, 3U, 3U}) {
        cycles.look_at_clock();
        EXPECT_EQ(executor_.weights.size(), tried);
    }
}

TEST_F(JobWeights, AreNotTriedAgainOnceTheJobHasEnded) {
    Cycles cycles(*server_);
    const auto ids = run_jobs(cycles, {"2", "1"});
    executor_.fail_weights = true;
    cycle(cycles, 31);
    for (const std::string& id : ids) report(ended(id, 0));
    look(cycles, 62);
    EXPECT_EQ(times_logged(kFails), 0);
}

TEST_F(JobWeights, AreNotTriedAgainWhileTheJobIsBeingEnded) {
    Cycles cycles(*server_);
    const auto ids = run_jobs(cycles, {"2", "1"});
    executor_.fail_weights = true;
    cycle(cycles, 31);
    for (const std::string& id : ids) {
        ask(root(), ifl::RequestType::delete_job, ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, id, {}});
        ASSERT_EQ(job_shows(id, "job_state"), "E");
    }
    look(cycles, 62);
    executor_.fail_weights = false;
    look(cycles, 93);
    EXPECT_EQ(times_logged(kFails), 0);
    EXPECT_THAT(executor_.weights, IsEmpty());
}

// A job whose files are being staged in has no control group yet, however long that takes.
TEST_F(JobWeights, WaitUntilTheJobsScriptRuns) {
    Cycles cycles(*server_);
    std::vector<std::string> ids;
    for (const char* cpus : {"2", "1"})
        ids.push_back(submit(user(), {attribute("Resource_List.ncpus", cpus)}, "q"));
    cycle(cycles, 0);
    executor_.fail_weights = true;
    for (const int64_t later : {31, 62, 93}) cycle(cycles, later);
    for (const int64_t later : {94, 125, 156}) look(cycles, later);
    EXPECT_EQ(times_logged(kFails), 0);
    executor_.fail_weights = false;
    report(begun(ids[1]));
    look(cycles, 157);
    ASSERT_EQ(executor_.weights.size(), 1U);
    EXPECT_EQ(executor_.weights[0].first.job, ids[1]);
    EXPECT_EQ(executor_.weights[0].second, 133);
    report(begun(ids[0]));
    look(cycles, 158);
    ASSERT_EQ(executor_.weights.size(), 2U);
    EXPECT_EQ(executor_.weights[1].first.job, ids[0]);
    EXPECT_EQ(executor_.weights[1].second, 67);
}

TEST_F(JobWeights, AreSaidToWorkOnceTheLastJobThatFailsHasEnded) {
    Cycles cycles(*server_);
    const auto ids = run_jobs(cycles, {"2", "1"});
    executor_.fail_weights = true;
    cycle(cycles, 31);
    look(cycles, 62);
    ASSERT_EQ(times_logged(kFails), 1);
    executor_.fail_weights = false;
    executor_.weightless = ids[0];
    look(cycles, 93);
    ASSERT_EQ(executor_.weights.size(), 1U);
    EXPECT_EQ(times_logged(kWorks), 0) << "one still fails";
    report(ended(ids[0], 0));
    look(cycles, 94);
    EXPECT_EQ(times_logged(kWorks), 1);
    EXPECT_EQ(times_logged(kFails), 1);
}

TEST_F(JobWeights, AreNotSaidToWorkBecauseNoJobIsLeft) {
    Cycles cycles(*server_);
    const auto ids = run_jobs(cycles, {"2", "1"});
    executor_.fail_weights = true;
    cycle(cycles, 31);
    look(cycles, 62);
    for (const std::string& id : ids) report(ended(id, 0));
    look(cycles, 93);
    EXPECT_EQ(times_logged(kFails), 1);
    EXPECT_EQ(times_logged(kWorks), 0);
}

TEST_F(WeightsOfJobs, HaveNoEffectWithoutControlGroups) {
    ASSERT_NO_FATAL_FAILURE(load(false));
    EXPECT_THAT(warnings(),
                HasSubstr("policy default_policy: reprioritize has no effect: jobs of this server "
                          "have no control groups with a cpu.weight; its log says why"));
    Cycles cycles(*server_);
    submit(user(), {attribute("Resource_List.ncpus", "2")}, "q");
    submit(user(), {attribute("Resource_List.ncpus", "1")}, "q");
    for (const int64_t later : {0, 31, 62}) cycle(cycles, later);
    EXPECT_EQ(executor_.started.size(), 2U);
    EXPECT_THAT(executor_.weights, IsEmpty());
}

}  // namespace
}  // namespace pbs::host
