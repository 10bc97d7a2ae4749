#include "server_plugin/host/life/job_life.h"

#include "server_plugin/host/life/ended_runs.h"
#include "server_plugin/host/life/run_reports.h"
#include "tests/host/apply_decisions.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;

class JobLife : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("q");
        make_node("n1", "4");
        ASSERT_EQ(set(PBS_OBJ_SERVER, "", "job_history_enable", "t"), 0);
    }
    std::string running_job(ifl::Attributes attributes = {}) {
        std::string id = submit(user(), std::move(attributes), "q");
        EXPECT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
        return id;
    }
    void report(RunReport one) {
        executor_.reports.push_back(std::move(one));
        take_run_events(*server_);
    }
    Decision run_on_n1(const std::string& id, int64_t ncpus, const std::string& queue = {}) {
        Decision decision;
        decision.kind = Decision::Kind::run;
        decision.job = server_->state.job(id)->handle;
        if (!queue.empty()) decision.queue = server_->state.queue(queue)->handle;
        decision.text = "Started by the test";
        decision.places = {
            {server_->state.node("n1")->handle, "n1", {{server_->state.resources.find("ncpus")->id, ncpus}}}};
        return decision;
    }
};

TEST_F(JobLife, AnEndedJobIsHistoryWithItsExitStatus) {
    const std::string id = running_job();
    EXPECT_EQ(job_shows(id, "substate"), "41");
    RunReport session;
    session.id = run_id(*server_->state.job(id));
    session.session = 4711;
    report(session);
    EXPECT_EQ(job_shows(id, "substate"), "42");
    EXPECT_EQ(job_shows(id, "session_id"), "4711");
    report(ended(id, 3));
    EXPECT_EQ(job_shows(id, "job_state"), "error 15139");
    EXPECT_EQ(job_shows(id, "job_state", "x"), "F");
    EXPECT_EQ(job_shows(id, "Exit_status", "x"), "3");
    EXPECT_EQ(job_shows(id, "substate", "x"), "93");
    EXPECT_EQ(job_shows(id, "exec_vnode", "x"), "(n1:ncpus=1)");
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n1", "resources_assigned.ncpus"), "0");
    EXPECT_THAT(accounting_text(), HasSubstr(";S;" + id));
    EXPECT_THAT(accounting_text(), HasSubstr(";E;" + id));
    EXPECT_TRUE(executor_.forgotten.empty()) << "not before the end is on the disk";
    ASSERT_TRUE(settle_ended_runs(*server_));
    EXPECT_EQ(executor_.forgotten.size(), 1U);
}

// The comments have OpenPBS's texts.
TEST_F(JobLife, TheCommentOfAnEndedJobTellsHowItEnded) {
    const std::pair<int, std::string> endings[] = {
        {0, "finished"},
        {3, "failed"},
        {exit_status::kKilledMem, "exceeded resource mem"},
        {exit_status::kKilledVmem, "exceeded resource vmem"},
        {exit_status::kKilledCput, "exceeded resource cput"},
        {exit_status::kKilledWalltime, "exceeded resource walltime"}};
    for (const auto& [status, ending] : endings) {
        const std::string id = running_job();
        const std::string begun = job_shows(id, "comment");
        ASSERT_THAT(begun, HasSubstr("Job run at "));
        report(ended(id, status));
        EXPECT_EQ(job_shows(id, "comment", "x"), begun + " and " + ending);
    }
    const std::string running = running_job();
    const std::string waits = submit(user(), {attribute("Hold_Types", "u")}, "q");
    for (const std::string& id : {running, waits}) {
        const std::string before = job_shows(id, "comment");
        ASSERT_EQ(
            ask(root(), ifl::RequestType::delete_job, ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, id, {}}).code,
            0);
        if (id == running) report(ended(id, 271));
        EXPECT_THAT(job_shows(id, "comment", "x"), testing::StartsWith(before + " and terminated by root@"));
    }
}

TEST_F(JobLife, WithoutHistoryAnEndedJobIsGone) {
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "job_history_enable", "f"), 0);
    const std::string id = running_job();
    report(ended(id, 0));
    EXPECT_TRUE(server_->state.jobs().empty());
}

TEST_F(JobLife, HistoryIsPurgedWhenItsTimeIsOver) {
    const std::string id = running_job();
    report(ended(id, 0));
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "job_history_duration", "1:00:00"), 0);
    ASSERT_TRUE(purge_history(*server_, server_->now() + 3590));
    EXPECT_EQ(server_->state.jobs().size(), 1U);
    ASSERT_TRUE(purge_history(*server_, server_->now() + 3601));
    EXPECT_TRUE(server_->state.jobs().empty());
}

TEST_F(JobLife, ALongHistoryIsPurgedInSlices) {
    constexpr std::size_t kJobs = 501;
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < kJobs; ++i)
        ids.push_back(submit(user(), {attribute("Hold_Types", "u")}, "q"));
    ASSERT_EQ(ask(user(), ifl::RequestType::delete_job_list, ifl::DeleteJobList{ids}).code, 0);
    ASSERT_EQ(server_->state.finished_jobs().size(), kJobs);
    const int64_t later = server_->now() + 366 * 24 * 3600;
    EXPECT_EQ(purge_history(*server_, server_->now()), false) << "all were looked at";
    EXPECT_EQ(purge_history(*server_, later), true) << "one is left";
    EXPECT_EQ(server_->state.finished_jobs().size(), 1U);
    EXPECT_EQ(purge_history(*server_, later), false);
    EXPECT_TRUE(server_->state.jobs().empty());
    EXPECT_EQ(purge_history(*server_, later), false);
}

TEST_F(JobLife, ARerunJobIsQueuedAgainAndRunsUnderAnotherCount) {
    const std::string id = running_job();
    EXPECT_EQ(ask(user(), ifl::RequestType::rerun_job, ifl::JobId{id}).code, PBSE_PERM);
    EXPECT_EQ(ask(root(), ifl::RequestType::rerun_job, ifl::JobId{id}).code, 0);
    report(ended(id, 265));
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    EXPECT_THAT(accounting_text(), HasSubstr(";R;" + id));
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
    ASSERT_EQ(executor_.started.size(), 2U);
    EXPECT_EQ(executor_.started[0].id.run + 1, executor_.started[1].id.run);
}

TEST_F(JobLife, AJobThatIsNotRerunnableIsNotRerun) {
    const std::string id = running_job({attribute("Rerunable", "n")});
    EXPECT_EQ(ask(root(), ifl::RequestType::rerun_job, ifl::JobId{id}).code, PBSE_NORERUN);
    EXPECT_EQ(ask(root(), ifl::RequestType::rerun_job, ifl::JobId{id}, "force").code, 0);
}

TEST_F(JobLife, AJobThatCannotBeStartedIsHeldWithTheReason) {
    executor_.fail_starts = true;
    const std::string id = running_job();
    EXPECT_EQ(job_shows(id, "job_state"), "H");
    EXPECT_EQ(job_shows(id, "Hold_Types"), "s");
    EXPECT_THAT(job_shows(id, "comment"), HasSubstr("no start today"));
}

TEST_F(JobLife, AJobThatCannotBeStartedNowWaits) {
    executor_.fail_starts = true;
    executor_.failure = PBSE_TRYAGAIN;
    const std::string id = running_job();
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    EXPECT_THAT(job_shows(id, "comment"), HasSubstr("no start today"));
    EXPECT_EQ(server_->failed_starts.size(), 1U);
}

// A job may be deleted while its shepherd looks up its user. If the look-up then fails, the job must not come
// back.
TEST_F(JobLife, ADeletedJobThatWasNeverStartedEnds) {
    const std::string deleted = running_job();
    ASSERT_EQ(
        ask(root(), ifl::RequestType::delete_job, ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, deleted, {}}).code,
        0);
    const std::string aborted = running_job();
    Change change(*server_, server_->now());
    abort_job(change, change.job(*server_->state.job(aborted)), "no longer wanted");
    ASSERT_TRUE(change.commit());
    for (const std::string& id : {deleted, aborted}) {
        EXPECT_EQ(job_shows(id, "substate"), "50");
        RunReport never = ended(id, 0);
        never.state = RunState::never_started;
        never.exit.message = "the user can't be looked up";
        report(never);
        EXPECT_EQ(job_shows(id, "substate", "x"), "91");
        EXPECT_THAT(accounting_text(), HasSubstr(";E;" + id));
    }
    EXPECT_TRUE(server_->failed_starts.empty());
}

TEST_F(JobLife, AReportOfAnEarlierRunIsNotThisRuns) {
    const std::string id = running_job();
    RunReport old = ended(id, 0);
    old.id.run -= 1;
    report(old);
    EXPECT_EQ(job_shows(id, "job_state"), "R");
}

TEST_F(JobLife, WaitingJobsWakeAtTheirTime) {
    const int64_t begin = server_->now() + 100;
    const std::string id = submit(user(), {attribute("Execution_Time", std::to_string(begin))}, "q");
    EXPECT_EQ(job_shows(id, "job_state"), "W");
    ASSERT_TRUE(wake_waiting(*server_, begin - 1));
    EXPECT_EQ(job_shows(id, "job_state"), "W");
    ASSERT_TRUE(wake_waiting(*server_, begin));
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    EXPECT_EQ(job_shows(id, "etime"), std::to_string(begin));
}

TEST_F(JobLife, DecisionsRunMoveAndSetResources) {
    make_queue("batch");
    const std::string id = submit(user(), {attribute("Resource_List.ncpus", "2")}, "q");
    Decision decision = run_on_n1(id, 2, "batch");
    decision.set_resources = {{server_->state.resources.find("ssinodes")->id, "1"}};
    ASSERT_TRUE(apply_decisions(*server_, server_->now(), {decision}));
    EXPECT_EQ(job_shows(id, "job_state"), "R");
    EXPECT_EQ(job_shows(id, "queue"), "batch");
    EXPECT_EQ(job_shows(id, "Resource_List.ssinodes"), "1");
    EXPECT_EQ(job_shows(id, "comment"), "Started by the test");
    EXPECT_EQ(executor_.started.size(), 1U);
}

TEST_F(JobLife, DecisionsNeverTakeMoreThanThereIs) {
    const std::string a = submit(user(), {attribute("Resource_List.ncpus", "3")}, "q");
    const std::string b = submit(user(), {attribute("Resource_List.ncpus", "3")}, "q");
    ASSERT_TRUE(
        apply_decisions(*server_, server_->now(), {run_on_n1(a, 3), run_on_n1(b, 3), run_on_n1(a, 3)}));
    EXPECT_EQ(job_shows(a, "job_state"), "R");
    EXPECT_EQ(job_shows(b, "job_state"), "Q");
    EXPECT_EQ(executor_.started.size(), 1U);
}

TEST_F(JobLife, DecisionsCommentRejectAndMove) {
    make_queue("other");
    const std::string a = submit(user(), {}, "q");
    const std::string b = submit(user(), {}, "q");
    Decision comment{Decision::Kind::comment, server_->state.job(a)->handle, 0, "Not yet", {}, {}};
    Decision move{Decision::Kind::move,
                  server_->state.job(a)->handle,
                  server_->state.queue("other")->handle,
                  "",
                  {},
                  {}};
    Decision reject{Decision::Kind::reject, server_->state.job(b)->handle, 0, "Fits no queue", {}, {}};
    Decision gone{Decision::Kind::comment, 99999, 0, "x", {}, {}};
    ASSERT_TRUE(apply_decisions(*server_, server_->now(), {comment, move, gone, reject}));
    EXPECT_EQ(job_shows(a, "comment"), "Not yet");
    EXPECT_EQ(job_shows(a, "queue"), "other");
    EXPECT_EQ(job_shows(b, "job_state", "x"), "F");
    EXPECT_EQ(job_shows(b, "comment", "x"), "Fits no queue");
}

TEST_F(JobLife, WhatWasAcknowledgedIsThereAtTheNextStart) {
    const std::string queued = submit(
        user(), {attribute("Job_Name", "kept"), attribute("Resource_List.walltime", "77")}, "q", "my script");
    const std::string held = submit(user(), {attribute("Hold_Types", "u")}, "q");
    const std::string running = running_job();
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_RESOURCE, "scratch",
                     {attribute("type", "size"), attribute("flag", "nh")})
                  .code,
              0);
    ASSERT_EQ(set(PBS_OBJ_NODE, "n1", "resources_available.scratch", "5gb"), 0);
    ASSERT_EQ(set(PBS_OBJ_NODE, "n1", "state", "offline"), 0);
    open_server();
    EXPECT_EQ(job_shows(queued, "Job_Name"), "kept");
    EXPECT_EQ(job_shows(queued, "Resource_List.walltime"), "00:01:17");
    EXPECT_EQ(*store_->script(server_->state.job(queued)->sequence), "my script");
    EXPECT_EQ(job_shows(held, "job_state"), "H");
    EXPECT_EQ(job_shows(running, "job_state"), "R");
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n1", "resources_assigned.ncpus"), "1");
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n1", "resources_available.scratch"), "5gb");
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n1", "state"), "offline");
    EXPECT_EQ(submit(user(), {}, "q"), "3.svr");
}

TEST_F(JobLife, RunningJobsAreFoundAgain) {
    const std::string goes_on = running_job({attribute("Resource_List.walltime", "300")});
    const std::string has_ended = running_job();
    const std::string not_started = running_job();
    const std::string lost = running_job({attribute("Rerunable", "n")});
    open_server();
    const auto runs = running_starts(server_->state);
    ASSERT_EQ(runs.size(), 4U);
    std::vector<RunReport> reports(4);
    for (size_t i = 0; i < 4; ++i) reports[i].id = runs[i];
    reports[0].session = 1234;
    reports[1] = ended(has_ended, 7);
    reports[2].state = RunState::never_started;
    reports[3].state = RunState::lost;
    reports[3].exit.exit_status = exit_status::kAbortedAtRestart;
    RunReport stray;
    stray.id = {"99.svr", 1};
    ASSERT_TRUE(recover_jobs(*server_, reports, {stray}));
    EXPECT_EQ(job_shows(goes_on, "job_state"), "R");
    EXPECT_EQ(job_shows(goes_on, "session_id"), "1234");
    // The server passes the limits to the runner again, because they may have been altered just before the
    // server stopped.
    ASSERT_EQ(executor_.limits.size(), 1U);
    EXPECT_EQ(executor_.limits[0].id, runs[0]);
    EXPECT_EQ(executor_.limits[0].walltime, std::chrono::seconds(300));
    EXPECT_EQ(job_shows(has_ended, "Exit_status", "x"), "7");
    EXPECT_EQ(job_shows(not_started, "job_state"), "Q");
    EXPECT_EQ(job_shows(lost, "Exit_status", "x"), "-4");
    ASSERT_EQ(executor_.terminated.size(), 1U);
    EXPECT_EQ(executor_.terminated[0].job, "99.svr");
}

TEST_F(JobLife, TheOwnerIsToldOfOutputThatIsElsewhere) {
    const std::string id = running_job({attribute("Mail_Points", "n")});
    const std::string note =
        "cannot open /gone/out: No such file or directory; the output is in /home/undelivered/x";
    RunReport running;
    running.id = running_starts(server_->state).at(0);
    running.session = 12;
    running.exit.output_note = note;
    report(running);
    EXPECT_EQ(job_shows(id, "comment"), note);
    auto end = ended(id, 0);
    end.exit.output_note = note;
    report(end);
    EXPECT_EQ(job_shows(id, "comment", "x"), note);
    EXPECT_THAT(log_text(), HasSubstr(note));
    EXPECT_THAT(log_text(), HasSubstr("mail to " + user_ + "@"));
}

TEST_F(JobLife, ALostRerunnableJobIsQueuedAgain) {
    const std::string id = running_job();
    open_server();
    RunReport lost;
    lost.id = running_starts(server_->state).at(0);
    lost.state = RunState::lost;
    ASSERT_TRUE(recover_jobs(*server_, {lost}, {}));
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
}

TEST_F(JobLife, ADeleteThatWasAskedBeforeTheStopIsCarriedOut) {
    const std::string id = running_job();
    ASSERT_TRUE(std::get<ifl::DeleteReply>(
                    ask(user(), ifl::RequestType::delete_job_list, ifl::DeleteJobList{{id}}).body)
                    .failed.empty());
    executor_.terminated.clear();
    open_server();
    RunReport running;
    running.id = running_starts(server_->state).at(0);
    ASSERT_TRUE(recover_jobs(*server_, {running}, {}));
    EXPECT_EQ(executor_.terminated.size(), 1U);
    report(ended(id, 271));
    EXPECT_EQ(job_shows(id, "substate", "x"), "91");
}

}  // namespace
}  // namespace pbs::host
