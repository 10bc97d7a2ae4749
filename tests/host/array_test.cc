// Tests job arrays from their submission to their end, with a scheduler that starts jobs in their order.

#include "server_plugin/host/state/array.h"
#include "server_plugin/host/cycle/cycle.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/run_reports.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using ifl::RequestType;

class ArrayTest : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        begin_plugin();
        make_queue("q");
        make_node("n1", "2");
    }
    void TearDown() override {
        end_plugin();
        ServerTest::TearDown();
    }
    void begin_plugin() {
        auto plugin = Plugin::load({PBS_FIFO_PLUGIN, folder_, "svr", "", 0}, *log_);
        ASSERT_TRUE(plugin) << plugin.error().message;
        plugin_ = std::move(*plugin);
        server_->parts.plugin = plugin_.get();
        ASSERT_TRUE(server_->start_plugin());
    }
    void end_plugin() {
        server_->parts.plugin = nullptr;
        plugin_->stop(0);
        plugin_.reset();
    }
    // Ends the server and starts it again.
    void restart() {
        end_plugin();
        open_server();
        begin_plugin();
    }

    std::string submit_array(const std::string& indices, ifl::Attributes more = {}) {
        more.push_back(attribute("array_indices_submitted", indices));
        return submit(user(), more, "q");
    }
    // Runs cycles until no cycle is wanted. Returns the number of cycles.
    int schedule() {
        Cycles cycles(*server_);
        int count = 0;
        while (server_->cycles_wanted() && ++count < 100) cycles.run_wanted();
        return count;
    }
    std::vector<std::string> started() {
        std::vector<std::string> ids;
        for (const JobStart& start : std::exchange(executor_.started, {})) ids.push_back(start.id.job);
        return ids;
    }
    void end(const std::string& id, int exit_status = 0) {
        RunReport report = ended(id, exit_status);
        report.id.run = server_->state.job(id)->attributes.integer("run_count", 0);
        executor_.reports.push_back(report);
        take_run_events(*server_);
    }
    int ask_manage(RequestType type, const std::string& id, ifl::Attributes attributes = {},
                   const std::string& extend = {}) {
        return ask(root(), type, ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, id, std::move(attributes)}, extend)
            .code;
    }
    int del(const std::string& id, const std::string& extend = {}) {
        return ask_manage(RequestType::delete_job, id, {}, extend);
    }
    int rerun(const std::string& id) { return ask(root(), RequestType::rerun_job, ifl::JobId{id}).code; }
    int signal(const std::string& id, const std::string& name) {
        return ask(root(), RequestType::signal_job, ifl::SignalJob{id, name}).code;
    }
    // Returns the objects of a job's status with their states: "12[].svr B, 12[1].svr R".
    std::string listed(const std::string& id, std::string extend = {}) {
        const ifl::Reply reply = ask(root(), RequestType::status_job, ifl::Status{id, {}}, std::move(extend));
        if (reply.code != 0) return std::to_string(reply.code);
        std::string out;
        for (const auto& object : std::get<ifl::StatusReply>(reply.body).objects)
            for (const auto& one : object.attributes)
                if (one.name == "job_state")
                    out += (out.empty() ? "" : ", ") + object.name.substr(0, object.name.find('.')) + " " +
                           one.value;
        return out;
    }
};

TEST_F(ArrayTest, StartsItsSubjobsOneCycleAfterTheOther) {
    const std::string id = submit_array("1-5");
    ASSERT_EQ(id, "0[].svr");
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "1-5");
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    EXPECT_EQ(job_shows(id, "array"), "True");
    EXPECT_EQ(schedule(), 3) << "two that start one each, and one that finds no room";
    EXPECT_THAT(started(), ElementsAre("0[1].svr", "0[2].svr"));
    EXPECT_EQ(job_shows(id, "job_state"), "B");
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "3-5");
    EXPECT_EQ(job_shows(id, "array_state_count"), "Queued:3 Running:2 Exiting:0 Expired:0");
    EXPECT_THAT(job_shows(id, "comment"), HasSubstr("Job Array Began at "));
    end("0[1].svr");
    schedule();
    EXPECT_THAT(started(), ElementsAre("0[3].svr"));
    EXPECT_EQ(listed(id, "t"), "0[] B, 0[1] X, 0[2] R, 0[3] R");
    EXPECT_EQ(listed("0[2-5]"), "0[2] R, 0[3] R, 0[4] Q, 0[5] Q");
    EXPECT_EQ(listed("0[1]"), "0[1] X");
    EXPECT_EQ(listed("0[4-6]"), "15001");
    EXPECT_EQ(listed(""), "0[] B") << "subjobs are shown when they are asked for";
    for (const char* index : {"2", "3", "4", "5"}) {
        end("0[" + std::string(index) + "].svr");
        schedule();
    }
    EXPECT_EQ(listed(id), "15001");
    EXPECT_TRUE(server_->state.jobs().empty());
}

TEST_F(ArrayTest, SubjobsHaveWhatIsTheirs) {
    submit_array("3-7:2", {attribute("Error_Path", "host.example.org:/tmp/e^array_index^x"),
                           attribute("stagein", "/tmp/a^array_index^@host.example.org:/tmp/b")});
    schedule();
    ASSERT_EQ(executor_.started.size(), 2U);
    const JobStart& second = executor_.started[1];
    EXPECT_EQ(second.id.job, "0[5].svr");
    EXPECT_EQ(second.id.run, 1);
    EXPECT_THAT(second.output_path, testing::EndsWith("/none.o0.5"));
    EXPECT_EQ(second.error_path, "host.example.org:/tmp/e5x");
    EXPECT_THAT(second.stage_in, ElementsAre("/tmp/a5@host.example.org:/tmp/b"));
    EXPECT_EQ(second.variables[second.variables.size() - 2],
              (std::pair<std::string, std::string>("PBS_ARRAY_INDEX", "5")));
    EXPECT_EQ(second.variables.back(), (std::pair<std::string, std::string>("PBS_ARRAY_ID", "0[].svr")));
    EXPECT_EQ(job_shows("0[5]", "array_id"), "0[].svr");
    EXPECT_EQ(job_shows("0[5]", "array_index"), "5");
    EXPECT_EQ(job_shows("0[5]", "array"), "");
    EXPECT_EQ(job_shows("0[7]", "array_indices_submitted"), "") << "what is the array's";
    EXPECT_THAT(job_shows("0[7]", "Output_Path"), HasSubstr("^array_index^"));
}

TEST_F(ArrayTest, WhatIsQueuedIsToldWhateverElseIsWanted) {
    const std::string id = submit_array("1-5");
    const auto of_array = [&](std::string extend) {
        const ifl::Reply reply =
            ask(root(), RequestType::status_job, ifl::Status{id, {{.name = "Job_Name"}}}, std::move(extend));
        std::vector<std::string> names;
        for (const auto& a : std::get<ifl::StatusReply>(reply.body).objects.at(0).attributes)
            names.push_back(a.name);
        return names;
    };
    EXPECT_THAT(of_array("t"), ElementsAre("Job_Name", "array_indices_remaining"));
    EXPECT_THAT(of_array(""), ElementsAre("Job_Name"));
}

TEST_F(ArrayTest, SurvivesTheServer) {
    const std::string id = submit_array("1-4");
    schedule();
    end("0[1].svr", 3);
    schedule();
    restart();
    EXPECT_EQ(listed(id, "t"), "0[] B, 0[1] X, 0[2] R, 0[3] R");
    EXPECT_EQ(job_shows(id, "array_state_count"), "Queued:1 Running:2 Exiting:0 Expired:1");
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "4");
    (void)started();
    end("0[3].svr");
    schedule();
    EXPECT_THAT(started(), ElementsAre("0[4].svr"));
    end("0[2].svr");
    EXPECT_EQ(job_shows(id, "Exit_status"), "1");
    set(PBS_OBJ_SERVER, "", "job_history_enable", "True");
    end("0[4].svr");
    EXPECT_EQ(job_shows(id, "job_state", "x"), "F");
    EXPECT_EQ(job_shows(id, "Exit_status", "x"), "1") << "whatever the last one's was";
    EXPECT_THAT(job_shows(id, "comment", "x"), testing::MatchesRegex("Job Array Began at .* and failed"));
    restart();
    EXPECT_EQ(listed(id, "xt"), "0[] F, 0[1] F, 0[2] F, 0[3] F, 0[4] F");
}

TEST_F(ArrayTest, RunsNoMoreAtOnceThanItMay) {
    set(PBS_OBJ_NODE, "n1", "resources_available.ncpus", "8");
    const std::string id = submit_array("1-9", {attribute("max_run_subjobs", "3")});
    schedule();
    EXPECT_EQ(started().size(), 3U);
    EXPECT_EQ(job_shows(id, "comment"), "Not Running: Number of concurrent running subjobs limit reached");
    end("0[2].svr");
    schedule();
    EXPECT_THAT(started(), ElementsAre("0[4].svr"));
    ASSERT_EQ(ask_manage(RequestType::modify_job, id, {attribute("max_run_subjobs", "5")}), 0);
    schedule();
    EXPECT_THAT(started(), ElementsAre("0[5].svr", "0[6].svr"));
    set(PBS_OBJ_SERVER, "", "job_history_enable", "True");
    ASSERT_EQ(del(id), 0);
    for (const char* index : {"1", "3", "4", "5", "6"}) end("0[" + std::string(index) + "].svr", 271);
    EXPECT_THAT(job_shows(id, "comment", "x"),
                testing::MatchesRegex("Job Array Began at .* and terminated by .*@.*"));
    EXPECT_EQ(submit(user(), {attribute("max_run_subjobs", "3")}, "q"), std::to_string(PBSE_NOTARRAY_ATTR));
}

// An array with max_run_subjobs=0 waits until somebody allows more subjobs, as in OpenPBS.
TEST_F(ArrayTest, RunsNothingWhileItMayRunNone) {
    const std::string id = submit_array("1-3", {attribute("max_run_subjobs", "0")});
    const std::string why = "Not Running: Number of concurrent running subjobs limit reached";
    schedule();
    EXPECT_TRUE(started().empty());
    EXPECT_EQ(listed(id), "0[] Q");
    EXPECT_EQ(job_shows(id, "comment"), why);
    ASSERT_EQ(ask_manage(RequestType::modify_job, id, {attribute("max_run_subjobs", "1")}), 0);
    schedule();
    EXPECT_THAT(started(), ElementsAre("0[1].svr"));
    ASSERT_EQ(ask_manage(RequestType::modify_job, id, {attribute("max_run_subjobs", "0")}), 0);
    end("0[1].svr");
    schedule();
    EXPECT_TRUE(started().empty());
    EXPECT_EQ(job_shows(id, "comment"), why);
    EXPECT_EQ(ask_manage(RequestType::modify_job, id, {attribute("max_run_subjobs", "-1")}), PBSE_BADATVAL);
    EXPECT_EQ(submit_array("1-3", {attribute("max_run_subjobs", "-1")}), std::to_string(PBSE_BADATVAL));
    const std::string job = submit(user(), {}, "q");
    EXPECT_EQ(ask_manage(RequestType::modify_job, job, {attribute("max_run_subjobs", "1")}),
              PBSE_NOTARRAY_ATTR);
}

TEST_F(ArrayTest, IsRefusedWhereItIsTooLarge) {
    EXPECT_EQ(submit_array("1-10001"), std::to_string(PBSE_MaxArraySize));
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "max_array_size", "100000"), 0);
    EXPECT_EQ(submit_array("1-100000"), "0[].svr");
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "max_array_size", "3"), 0);
    EXPECT_EQ(submit_array("1-4"), std::to_string(PBSE_MaxArraySize));
    EXPECT_EQ(submit_array("1-6:2"), "1[].svr");
    EXPECT_EQ(submit_array("3-1"), std::to_string(PBSE_BADATVAL));
    EXPECT_EQ(submit_array("1-2", {attribute("interactive", "1234")}), std::to_string(PBSE_NOSUP));
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "max_array_size", "0"), PBSE_BADATVAL);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "q", "max_array_size", "0"), PBSE_BADATVAL);
}

// In memory a waiting subjob is no job of its own: only the array and its running subjobs are jobs.
TEST_F(ArrayTest, CostsAsMuchAsOneJob) {
    set(PBS_OBJ_SERVER, "", "max_array_size", "100000");
    submit_array("1-100000");
    schedule();
    EXPECT_EQ(server_->state.jobs().size(), 3U) << "the array and what runs of it";
    EXPECT_EQ(server_->state.counts().total(), 3);
    end("0[1].svr");
    end("0[2].svr");
    schedule();
    EXPECT_EQ(server_->state.jobs().size(), 3U);
    EXPECT_EQ(job_shows("0[]", "array_indices_remaining"), "5-100000");
}

TEST_F(ArrayTest, SubjobsOfItAreDeleted) {
    const std::string id = submit_array("1-9");
    schedule();
    EXPECT_EQ(del("0[9]"), 0);
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "3-8");
    EXPECT_EQ(del("0[9]"), PBSE_NOHISTARRAYSUBJOB);
    EXPECT_EQ(del("0[10]"), PBSE_IVALREQ);
    EXPECT_EQ(del("0[10-12]"), PBSE_UNKJOBID);
    EXPECT_EQ(del("0[2-6:2]"), 0);
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "3,5,7-8");
    ASSERT_EQ(executor_.terminated.size(), 1U);
    EXPECT_EQ(executor_.terminated[0].job, "0[2].svr");
    EXPECT_EQ(listed("0[2]"), "0[2] E");
    EXPECT_EQ(del("0[2]"), PBSE_BADSTATE);
    end("0[2].svr", 271);
    EXPECT_EQ(listed("0[2]"), "0[2] X");
    EXPECT_EQ(del("1[]"), PBSE_UNKJOBID);
    EXPECT_EQ(del("0"), PBSE_UNKJOBID);
    EXPECT_EQ(del(id), 0);
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "-");
    EXPECT_EQ(executor_.terminated.back().job, "0[1].svr");
    EXPECT_EQ(listed(id), "0[] B") << "until what ran has gone";
    end("0[1].svr", 271);
    EXPECT_EQ(listed(id), "15001");
    EXPECT_THAT(accounting_text(), HasSubstr(";D;0[9].svr;"));
    EXPECT_THAT(accounting_text(), HasSubstr(";D;0[].svr;"));
    EXPECT_THAT(accounting_text(), Not(HasSubstr(";D;0[4].svr;")));
}

// A subjob may be deleted while its shepherd looks up its user. If the look-up then fails, the subjob must
// not come back.
TEST_F(ArrayTest, ADeletedSubjobThatWasNeverStartedEnds) {
    const std::string id = submit_array("1-3");
    schedule();
    EXPECT_THAT(started(), ElementsAre("0[1].svr", "0[2].svr"));
    const auto never_started = [&](const std::string& subjob) {
        RunReport report = ended(subjob, 0);
        report.state = RunState::never_started;
        report.exit.message = "the user can't be looked up";
        executor_.reports.push_back(report);
        take_run_events(*server_);
    };
    EXPECT_EQ(del("0[2]"), 0);
    never_started("0[2].svr");
    EXPECT_EQ(listed("0[2]"), "0[2] X");
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "3");
    schedule();
    EXPECT_THAT(started(), ElementsAre("0[3].svr"));
    EXPECT_EQ(del(id), 0);
    never_started("0[1].svr");
    EXPECT_EQ(listed(id), "0[] B");
    never_started("0[3].svr");
    EXPECT_EQ(listed(id), "15001");
    EXPECT_TRUE(server_->state.jobs().empty());
}

TEST_F(ArrayTest, TheLastThatWaitsIsDeletedAndItEnds) {
    const std::string id = submit_array("1-3");
    schedule();
    end("0[1].svr");
    end("0[2].svr");
    EXPECT_EQ(del("0[3]"), 0);
    EXPECT_EQ(listed(id), "15001");
    EXPECT_EQ(submit_array("1-3"), "1[].svr");
    EXPECT_EQ(del("1[1-3]"), 0) << "none has run";
    EXPECT_EQ(listed("1[]"), "15001");
    EXPECT_THAT(accounting_text(), Not(HasSubstr(";E;1[].svr;")));
}

TEST_F(ArrayTest, IsHeldAndReleased) {
    const std::string id = submit_array("1-9");
    schedule();
    (void)started();
    ASSERT_EQ(ask_manage(RequestType::hold_job, id, {attribute("Hold_Types", "u")}), 0);
    EXPECT_EQ(job_shows(id, "job_state"), "H");
    end("0[1].svr");
    schedule();
    EXPECT_TRUE(started().empty());
    EXPECT_EQ(ask_manage(RequestType::hold_job, "0[3]", {attribute("Hold_Types", "u")}), PBSE_IVALREQ);
    EXPECT_EQ(ask_manage(RequestType::release_job, "0[3-4]"), PBSE_IVALREQ);
    ASSERT_EQ(ask_manage(RequestType::release_job, id, {attribute("Hold_Types", "u")}), 0);
    EXPECT_EQ(job_shows(id, "job_state"), "B");
    EXPECT_THAT(job_shows(id, "comment"), HasSubstr("Job Array Began at "));
    schedule();
    EXPECT_THAT(started(), ElementsAre("0[3].svr"));
}

TEST_F(ArrayTest, IsAlteredMovedAndOrderedAsAWhole) {
    make_queue("other");
    const std::string id = submit_array("1-9");
    const std::string job = submit(user(), {}, "q");
    const auto move = [&](RequestType type, const std::string& one, const std::string& where) {
        return ask(root(), type, ifl::MoveJob{one, where}).code;
    };
    EXPECT_EQ(ask_manage(RequestType::modify_job, "0[2]", {attribute("Priority", "5")}), PBSE_IVALREQ);
    EXPECT_EQ(ask_manage(RequestType::modify_job, id, {attribute("Priority", "5")}), 0);
    EXPECT_EQ(move(RequestType::move_job, "0[2]", "other"), PBSE_IVALREQ);
    EXPECT_EQ(move(RequestType::move_job, id, "other"), 0);
    EXPECT_EQ(move(RequestType::order_job, "0[2]", job), PBSE_IVALREQ);
    EXPECT_EQ(move(RequestType::order_job, id, job), 0);
    EXPECT_EQ(job_shows(id, "queue"), "q");
    schedule();
    EXPECT_EQ(job_shows("0[1]", "Priority"), "5");
    EXPECT_EQ(move(RequestType::move_job, id, "other"), PBSE_BADSTATE) << "it has begun";
    EXPECT_EQ(move(RequestType::order_job, id, job), PBSE_BADSTATE);
    EXPECT_EQ(ask(root(), RequestType::message_job, ifl::MessageJob{"0[1]", 1, "hello"}).code, PBSE_NOSUP);
    EXPECT_EQ(ask(root(), RequestType::locate_job, ifl::JobId{id}).code, 0);
    EXPECT_EQ(ask(root(), RequestType::locate_job, ifl::JobId{"0[1]"}).code, 0);
    EXPECT_EQ(ask(root(), RequestType::locate_job, ifl::JobId{"0[9]"}).code, PBSE_UNKJOBID);
}

TEST_F(ArrayTest, RunningSubjobsAreSignalled) {
    const std::string id = submit_array("1-9");
    EXPECT_EQ(signal(id, "TERM"), PBSE_BADSTATE) << "it hasn't begun";
    schedule();
    EXPECT_EQ(signal(id, "USR1"), 0);
    EXPECT_EQ(executor_.signals.size(), 2U);
    EXPECT_EQ(signal("0[2-5]", "USR2"), 0);
    EXPECT_EQ(executor_.signals.size(), 3U);
    EXPECT_EQ(signal("0[3-5]", "USR2"), PBSE_BADSTATE);
    EXPECT_EQ(signal("0[3]", "USR2"), PBSE_BADSTATE);
    EXPECT_EQ(signal("0[10]", "USR2"), PBSE_UNKJOBID);
    EXPECT_EQ(signal("0[1]", "suspend"), 0);
    EXPECT_EQ(listed("0[1-2]"), "0[1] S, 0[2] R");
    EXPECT_EQ(signal(id, "resume"), 0) << "the one that isn't suspended is passed over";
    EXPECT_EQ(listed("0[1-2]"), "0[1] R, 0[2] R");
}

TEST_F(ArrayTest, ASubjobRunsAgain) {
    const std::string id = submit_array("1-3");
    schedule();
    EXPECT_EQ(rerun("0[3]"), PBSE_BADSTATE);
    EXPECT_EQ(rerun("0[4]"), PBSE_IVALREQ);
    EXPECT_EQ(rerun("0[1]"), 0);
    (void)started();
    server_->take_wanted_cycles();
    end("0[1].svr", 265);
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "1,3");
    EXPECT_EQ(listed("0[1]"), "0[1] Q");
    EXPECT_EQ(job_shows("0[1]", "run_count"), "1");
    restart();
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "1,3");
    server_->want_cycle(PBS_SCH_SCHEDULE_NEW);
    schedule();
    ASSERT_EQ(executor_.started.size(), 1U);
    EXPECT_EQ(executor_.started[0].id, (RunId{"0[1].svr", 2}));
    EXPECT_EQ(server_->state.jobs().size(), 3U);
}

TEST_F(ArrayTest, AllOfItRunsAgain) {
    const std::string id = submit_array("1-3");
    EXPECT_EQ(rerun(id), PBSE_BADSTATE);
    schedule();
    end("0[1].svr", 1);
    schedule();
    (void)started();
    EXPECT_EQ(rerun(id), 0);
    EXPECT_EQ(executor_.signals.size(), 2U);
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "1");
    end("0[2].svr", 265);
    end("0[3].svr", 265);
    schedule();
    ASSERT_EQ(executor_.started.size(), 2U);
    EXPECT_EQ(executor_.started[0].id, (RunId{"0[1].svr", 2})) << "no run has the number of another one";
    EXPECT_EQ(executor_.started[1].id, (RunId{"0[2].svr", 2}));
    end("0[1].svr");
    end("0[2].svr");
    schedule();
    set(PBS_OBJ_SERVER, "", "job_history_enable", "True");
    end("0[3].svr");
    EXPECT_EQ(job_shows(id, "Exit_status", "x"), "0") << "of the last runs";
}

TEST_F(ArrayTest, AStartThatFailsHoldsTheSubjob) {
    const std::string id = submit_array("1-3");
    executor_.fail_starts = true;
    schedule();
    EXPECT_EQ(job_shows(id, "job_state"), "B");
    EXPECT_EQ(listed("0[1-3]"), "0[1] H, 0[2] H, 0[3] H");
    EXPECT_THAT(job_shows("0[1]", "comment"), HasSubstr("no start today"));
    executor_.fail_starts = false;
    restart();
    ASSERT_EQ(ask_manage(RequestType::release_job, id, {attribute("Hold_Types", "s")}), 0);
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "1-3");
    schedule();
    EXPECT_EQ(executor_.started.size(), 2U);
}

TEST_F(ArrayTest, IsAccountedFor) {
    submit_array("1-2");
    schedule();
    end("0[1].svr");
    end("0[2].svr", 1);
    const std::string records = accounting_text();
    EXPECT_THAT(records, HasSubstr(";Q;0[].svr;"));
    EXPECT_THAT(records, HasSubstr(";S;0[].svr;"));
    EXPECT_THAT(records, HasSubstr("array_indices=1-2 "));
    EXPECT_THAT(records, HasSubstr(";S;0[2].svr;"));
    EXPECT_THAT(records, HasSubstr(";E;0[1].svr;"));
    const std::string last = records.substr(records.find(";E;0[].svr;"));
    EXPECT_THAT(last, HasSubstr(" Exit_status=1 "));
    EXPECT_THAT(last, Not(HasSubstr("start=0")));
    EXPECT_THAT(records, Not(HasSubstr(";Q;0[1]")));
}

TEST_F(ArrayTest, JobsWaitForIt) {
    set(PBS_OBJ_SERVER, "", "job_history_enable", "True");
    const std::string id = submit_array("1-2");
    const std::string after = submit(user(), {attribute("depend", "after:" + id)}, "q");
    const std::string ok = submit(user(), {attribute("depend", "afterok:" + id)}, "q");
    const std::string failed = submit_array("1-2", {attribute("depend", "afternotok:" + id)});
    EXPECT_EQ(submit(user(), {attribute("depend", "afterok:0[1].svr")}, "q"), std::to_string(PBSE_IVALREQ));
    EXPECT_EQ(job_shows(id, "depend"),
              "before:" + after + "@svr,beforeok:" + ok + "@svr,beforenotok:" + failed + "@svr");
    const auto settle = [&] {
        while (*settle_dependencies(*server_, server_->now())) {
        }
    };
    schedule();
    settle();
    EXPECT_EQ(job_shows(after, "job_state"), "Q");
    end("0[1].svr", 1);
    end("0[2].svr");
    settle();
    EXPECT_EQ(job_shows(ok, "job_state", "x"), "F");
    EXPECT_EQ(job_shows(failed, "job_state"), "Q");
}

TEST_F(ArrayTest, AnOperatorRunsSubjobs) {
    const std::string id = submit_array("1-9");
    (void)server_->take_wanted_cycles();
    const auto run = [&](const std::string& one) {
        return ask(root(), RequestType::run_job, ifl::RunJob{one, "", 0}).code;
    };
    EXPECT_EQ(run(id), PBSE_IVALREQ);
    EXPECT_EQ(run("0[10]"), PBSE_IVALREQ);
    EXPECT_EQ(run("0[7]"), 0);
    EXPECT_EQ(run("0[7]"), PBSE_BADSTATE);
    EXPECT_EQ(run("0[7-9]"), PBSE_RESCUNAV) << "the 8 starts, and there is no room for more";
    EXPECT_THAT(started(), ElementsAre("0[7].svr", "0[8].svr"));
    EXPECT_EQ(run("0[7-8]"), PBSE_BADSTATE);
    EXPECT_EQ(job_shows(id, "array_indices_remaining"), "1-6,9");
}

// The subjobs of an array with start_within start in one transaction. The test's scheduler gives them a vnode
// even if they don't fit there.
TEST_F(ArrayTest, StartsSubjobsTogetherOrNone) {
    ASSERT_EQ(
        manage(root(), PBS_CMD_CREATE, PBS_OBJ_RESOURCE, "start_within", {attribute("type", "long")}).code,
        0);
    const ifl::Attributes at_once{attribute("Resource_List.start_within", "60")};
    const std::string three = submit_array("1-3", at_once);
    schedule();
    EXPECT_THAT(started(), testing::IsEmpty()) << "n1 has two CPUs";
    EXPECT_EQ(job_shows(three, "job_state"), "Q");
    EXPECT_EQ(job_shows(three, "array_indices_remaining"), "1-3");
    EXPECT_EQ(job_shows(three, "array_state_count"), "Queued:3 Running:0 Exiting:0 Expired:0");
    ASSERT_EQ(del(three), 0);

    const std::string two = submit_array("1-2", at_once);
    schedule();
    const std::string number = two.substr(0, two.find('['));
    EXPECT_THAT(started(), ElementsAre(number + "[1].svr", number + "[2].svr"));
    EXPECT_EQ(job_shows(two, "job_state"), "B");
    EXPECT_EQ(job_shows(two, "array_state_count"), "Queued:0 Running:2 Exiting:0 Expired:0");
    restart();
    EXPECT_EQ(job_shows(two, "array_state_count"), "Queued:0 Running:2 Exiting:0 Expired:0");
    end(number + "[1].svr");
    end(number + "[2].svr");
    EXPECT_EQ(listed(two), "15001");
}

// Together start as many as max_run_subjobs permits; the others start one by one, as soon as they may.
TEST_F(ArrayTest, StartsAsManyTogetherAsMayRun) {
    ASSERT_EQ(
        manage(root(), PBS_CMD_CREATE, PBS_OBJ_RESOURCE, "start_within", {attribute("type", "long")}).code,
        0);
    ASSERT_EQ(set(PBS_OBJ_NODE, "n1", "resources_available.ncpus", "9"), 0);
    const std::string id = submit_array(
        "1-9:2", {attribute("Resource_List.start_within", "0"), attribute("max_run_subjobs", "3")});
    const std::string number = id.substr(0, id.find('['));
    schedule();
    EXPECT_THAT(started(), ElementsAre(number + "[1].svr", number + "[3].svr", number + "[5].svr"));
    end(number + "[3].svr");
    schedule();
    EXPECT_THAT(started(), ElementsAre(number + "[7].svr"));
    EXPECT_EQ(job_shows(id, "array_state_count"), "Queued:1 Running:3 Exiting:0 Expired:1");
}

// A subjob that is deleted while the array waits doesn't start with the others.
TEST_F(ArrayTest, WithoutTheDeletedOneTheyStartTogether) {
    ASSERT_EQ(
        manage(root(), PBS_CMD_CREATE, PBS_OBJ_RESOURCE, "start_within", {attribute("type", "long")}).code,
        0);
    const std::string id = submit_array("1-3", {attribute("Resource_List.start_within", "60")});
    const std::string number = id.substr(0, id.find('['));
    schedule();
    EXPECT_THAT(started(), testing::IsEmpty());
    ASSERT_EQ(del(number + "[2].svr"), 0);
    schedule();
    EXPECT_THAT(started(), ElementsAre(number + "[1].svr", number + "[3].svr"));
}

}  // namespace
}  // namespace pbs::host
