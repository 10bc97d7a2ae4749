// Tests cycles that go on while requests are handled: which decisions are carried out if objects have changed
// meanwhile.
#include "server_plugin/host/cycle/cycle.h"

#include <sqlite3.h>

#include "server_plugin/host/life/run_reports.h"
#include "sqlite/mark.h"
#include "tests/failing_lookups.h"
#include "tests/host/apply_decisions.h"
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
        client::Options options{PBS_FIFO_PLUGIN, folder_, "svr", "", server_->now()};
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
    // Runs the wanted cycles, and returns their number.
    int schedule(Cycles& cycles) {
        int count = 0;
        while (server_->cycles_wanted() && ++count < 20) {
            cycles.run_wanted();
            cycles.cycle_finished();
        }
        return count;
    }
    // Submits jobs a, b and c, and begins a cycle that decides to start all of them.
    void begin(Cycles& cycles) {
        for (std::string* id : {&a, &b, &c}) *id = submit(user(), {}, "q");
        cycles.run_wanted();
        ASSERT_TRUE(cycles.busy());
        ASSERT_FALSE(cycles.has_decisions());
        ASSERT_EQ(states(), "QQQ");
    }
    // Moves the clock, and does what the server does each second. Returns the number of cycles.
    int later(Cycles& cycles, int64_t seconds) {
        move_clock(seconds);
        for (int i = 0; i < 10; ++i) cycles.look_at_clock();
        return schedule(cycles);
    }
    // Returns how often a start has failed, and its job was queued again.
    size_t failed_starts() const {
        const std::string text = log_text();
        size_t count = 0;
        for (size_t at = 0; (at = text.find("Requeueing job", at)) != std::string::npos; ++at) ++count;
        return count;
    }
    std::string states() {
        return job_shows(a, "job_state") + job_shows(b, "job_state") + job_shows(c, "job_state");
    }

    std::string a, b, c;
};

// If a cycle only sets comments of waiting jobs, the comments are written, and not the jobs' rows.
TEST_F(CycleTest, ACommentIsWrittenAlone) {
    for (std::string* id : {&a, &b, &c}) *id = submit(user(), {}, "q");
    const auto decision = [&](const std::string& id, Decision::Kind kind) {
        Decision one;
        one.kind = kind;
        one.job = server_->state.job(id)->handle;
        one.text = "Not Running: no room";
        one.accrue_type = 2;
        return one;
    };
    const auto sql = [&](const char* text) {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open((folder_ + "/server.db").c_str(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
    };
    sql("CREATE TRIGGER fails BEFORE UPDATE ON job BEGIN SELECT RAISE(ABORT, 'it is written'); END");
    using enum Decision::Kind;
    const int64_t now = server_->now();
    ASSERT_TRUE(apply_decisions(*server_, now + 100, {decision(a, comment), decision(b, comment)}));
    EXPECT_EQ(job_shows(a, "comment"), "Not Running: no room");
    EXPECT_EQ(job_shows(a, "mtime"), std::to_string(now + 100));
    EXPECT_EQ(server_->state.job(a)->attributes.text("comment").data(),
              server_->state.job(b)->attributes.text("comment").data());
    ASSERT_TRUE(apply_decisions(*server_, now + 200, {decision(a, comment)}));
    EXPECT_EQ(job_shows(a, "mtime"), std::to_string(now + 100)) << "it says nothing new";
    sql("DROP TRIGGER fails");
    // The same transaction may have another decision about the job, before or after the comment.
    ASSERT_TRUE(apply_decisions(*server_, now + 300, {decision(c, comment), decision(c, accrue)}));
    ASSERT_TRUE(apply_decisions(*server_, now + 300, {decision(b, accrue), decision(b, comment)}));
    open_server();
    for (const std::string& id : {a, b, c}) EXPECT_EQ(job_shows(id, "comment"), "Not Running: no room") << id;
    EXPECT_EQ(server_->state.job(c)->attributes.text("accrues_as"), "2");
    EXPECT_EQ(server_->state.job(c)->mtime, now + 300);
}

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

TEST_F(CycleTest, NoJobStartsFromAQueueThatWasStoppedDuringTheCycle) {
    Cycles cycles(*server_);
    begin(cycles);
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "started", "f"), 0);
    cycles.cycle_finished();
    EXPECT_EQ(states(), "QQQ");
    EXPECT_THAT(log_text(), HasSubstr("decision dropped: queue q is not started"));
}

TEST_F(CycleTest, NoJobStartsOnAVnodeThatWentOfflineDuringTheCycle) {
    Cycles cycles(*server_);
    begin(cycles);
    ASSERT_EQ(manage(root(), PBS_CMD_SET, PBS_OBJ_NODE, "n1", {attribute("state", "offline")}).code, 0);
    cycles.cycle_finished();
    EXPECT_EQ(states(), "QQQ");
    EXPECT_TRUE(server_->cycles_wanted());
}

TEST_F(CycleTest, NoJobStartsAfterSchedulingIsSwitchedOff) {
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

// The test's scheduler starts all subjobs of an array with start_within together on n1, and leaves no room
// for a later job. The server refuses these starts each time, because n1 has too few CPUs.
TEST_F(CycleTest, AJobWhoseStartIsRefusedHoldsNoOthersUp) {
    Cycles cycles(*server_);
    const std::string array = submit(
        user(), {attribute("array_indices_submitted", "1-9"), attribute("Resource_List.start_within", "600")},
        "q");
    const std::string other = submit(user(), {}, "q");
    EXPECT_EQ(schedule(cycles), 2) << "the second cycle decides without the array";
    EXPECT_EQ(job_shows(other, "job_state"), "R");
    EXPECT_EQ(job_shows(array, "job_state"), "Q");
    EXPECT_THAT(job_shows(array, "comment"), HasSubstr("Not Running: PBS Error: "));
    EXPECT_THAT(job_shows(array, "comment"), HasSubstr("ncpus on vnode n1"));

    const auto refusals = [&] {
        const std::string text = log_text();
        size_t count = 0;
        for (size_t at = 0; (at = text.find("9 decisions dropped", at)) != std::string::npos; ++at) ++count;
        return count;
    };
    ASSERT_EQ(refusals(), 1u);
    cycles.look_at_clock();
    server_->want_cycle(PBS_SCH_SCHEDULE_CMD);
    schedule(cycles);
    // The first wait of the array may be over already; after each refusal it waits longer.
    for (int later : {100, 200, 300, 400, 500}) {
        move_clock(later);
        for (int i = 0; i < 10; ++i) cycles.look_at_clock();
        schedule(cycles);
    }
    EXPECT_GE(refusals(), 6u) << "the start is tried again";
    EXPECT_LE(refusals(), 7u);
    const size_t before = refusals();
    move_clock(-5000);
    for (int i = 0; i < 10; ++i) cycles.look_at_clock();
    schedule(cycles);
    EXPECT_EQ(refusals(), before + 1) << "the clock was set back";
    ASSERT_EQ(set(PBS_OBJ_NODE, "n1", "resources_available.ncpus", "10"), 0);
    move_clock(600);
    for (int i = 0; i < 10; ++i) cycles.look_at_clock();
    schedule(cycles);
    EXPECT_EQ(job_shows(array, "job_state"), "B");
}

// A start whose user can't be looked up at the moment, and one whose shepherd gives up, aren't repeated at
// once and without end: the job waits longer and longer.
TEST_F(CycleTest, AJobWhoseStartFailsIsTriedAgainLater) {
    Cycles cycles(*server_);
    unanswered_user = user_;
    a = submit(user(), {}, "q");
    unanswered_user.clear();
    ASSERT_EQ(a, std::to_string(PBSE_SYSTEM)) << "who the owner is has to be known";
    move_clock(7);  // the server remembers a failed look-up for some seconds
    a = submit(user(), {}, "q");
    move_clock(9);  // and a look-up for one second
    unanswered_user = user_;
    EXPECT_LE(schedule(cycles), 2);
    EXPECT_EQ(failed_starts(), 1u);
    EXPECT_EQ(job_shows(a, "job_state"), "Q");
    EXPECT_EQ(job_shows(a, "comment"), "Not Running: it could not be started: the user " + user_ +
                                           " can't be looked up: Input/output error");
    later(cycles, 15);
    EXPECT_EQ(failed_starts(), 2u);
    later(cycles, 22);
    EXPECT_EQ(failed_starts(), 3u);
    later(cycles, 23);
    EXPECT_EQ(failed_starts(), 3u) << "it waits for 4 seconds now";
    later(cycles, 30);
    EXPECT_EQ(failed_starts(), 4u);
    unanswered_user.clear();
    later(cycles, 150);
    EXPECT_EQ(job_shows(a, "job_state"), "R");
    // Now its shepherd says that it hasn't started the job.
    RunReport report = ended(a, 0);
    report.state = RunState::never_started;
    report.exit.message = "no room";
    executor_.reports = {report};
    take_run_events(*server_);
    EXPECT_LE(schedule(cycles), 2);
    EXPECT_EQ(job_shows(a, "job_state"), "Q");
    EXPECT_EQ(job_shows(a, "comment"), "Not Running: it could not be started: no room");
    later(cycles, 300);
    EXPECT_EQ(job_shows(a, "job_state"), "R");
}

// Each start of a subjob gives the array another handle of the plugin. The array waits longer and longer all
// the same.
TEST_F(CycleTest, AnArrayWhoseStartsFailIsTriedAgainLaterAndLater) {
    Cycles cycles(*server_);
    executor_.fail_starts = true;
    executor_.failure = PBSE_TRYAGAIN;
    const std::string array = submit(user(), {attribute("array_indices_submitted", "1-9")}, "q");
    schedule(cycles);
    size_t before = failed_starts();
    EXPECT_GE(before, 1u);
    const auto is_tried = [&](int64_t seconds) {
        later(cycles, seconds);
        const size_t now = failed_starts();
        return std::exchange(before, now) != now;
    };
    EXPECT_TRUE(is_tried(5));
    EXPECT_TRUE(is_tried(10));
    EXPECT_FALSE(is_tried(11)) << "it waits for 4 seconds now";
    EXPECT_TRUE(is_tried(20));
    EXPECT_FALSE(is_tried(24)) << "it waits for 8 seconds now";
    EXPECT_TRUE(is_tried(70));
    EXPECT_FALSE(is_tried(80)) << "the failures aren't forgotten yet";
    EXPECT_TRUE(is_tried(400));
    EXPECT_TRUE(is_tried(405)) << "they were forgotten after a long time";
    executor_.fail_starts = false;
    later(cycles, 450);
    EXPECT_FALSE(executor_.started.empty());
    EXPECT_EQ(job_shows(array, "job_state"), "B");
}

// The count of failed starts goes on if a start fails long after its job was put aside.
TEST_F(CycleTest, AStartThatFailsLateIsNotTheFirst) {
    Cycles cycles(*server_);
    executor_.fail_starts = true;
    executor_.failure = PBSE_TRYAGAIN;
    a = submit(user(), {}, "q");
    schedule(cycles);
    for (const int64_t seconds : {5, 10}) later(cycles, seconds);
    ASSERT_EQ(failed_starts(), 3u);
    executor_.fail_starts = false;
    later(cycles, 20);
    ASSERT_EQ(job_shows(a, "substate"), "41");
    later(cycles, 200);
    RunReport report = ended(a, 0);
    report.state = RunState::never_started;
    report.exit.message = "no answer";
    executor_.reports = {report};
    take_run_events(*server_);
    schedule(cycles);
    later(cycles, 205);
    EXPECT_EQ(job_shows(a, "job_state"), "Q") << "it waits for 8 seconds";
    later(cycles, 215);
    EXPECT_EQ(job_shows(a, "job_state"), "R");
}

// If a job is altered while it is put aside, it is tried at once. It is put aside again if the start fails.
TEST_F(CycleTest, AnAlteredJobIsTriedAtOnceAndIsThenPutAside) {
    Cycles cycles(*server_);
    executor_.fail_starts = true;
    executor_.failure = PBSE_TRYAGAIN;
    a = submit(user(), {}, "q");
    schedule(cycles);
    ASSERT_EQ(failed_starts(), 1u);
    EXPECT_EQ(ask(root(), ifl::RequestType::modify_job,
                  ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, a, {attribute("Priority", "5")}})
                  .code,
              0);
    EXPECT_LE(schedule(cycles), 3);
    EXPECT_EQ(failed_starts(), 2u);
    executor_.fail_starts = false;
    later(cycles, 100);
    EXPECT_EQ(job_shows(a, "job_state"), "R");
}

// While the directory service doesn't answer, the start of a user's further jobs doesn't ask it again.
TEST_F(CycleTest, AUserWhoCannotBeLookedUpIsLookedUpOnceForAllHisJobs) {
    Cycles cycles(*server_);
    a = submit(user(), {}, "q");
    move_clock(9);
    unanswered_user = user_;
    schedule(cycles);
    ASSERT_EQ(failed_starts(), 1u);
    unanswered_user.clear();
    EXPECT_EQ(submit(user(), {}, "q"), std::to_string(PBSE_SYSTEM));
    later(cycles, 20);
    EXPECT_EQ(job_shows(a, "job_state"), "R");
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

// A qrun, answered as on a connection: if it can't be answered at once, it goes on in steps.
struct Qrun {
    Qrun(Server& server, const Identity& who, const std::string& id)
        : request{ifl::RequestType::run_job, who.user, ifl::RunJob{id, "", 0}, {}},
          context{server, who, server.now(), request, session} {
        reply = begin_answer(context);
    }
    Steps::Remaining step() {
        std::optional<ifl::Reply> instead;
        const auto left = go_on(context, out, false, instead);
        if (instead) reply = *std::move(instead);
        if (left == Steps::Remaining::nothing) context.rest.reset();
        return left;
    }
    ifl::Request request;
    Session session;
    ifl::StatusParts out;
    Context context;
    ifl::Reply reply;
};

TEST_F(CycleTest, AnOperatorWhoStartsAJobWaitsForItsEndAndTheNextOneForHim) {
    Cycles cycles(*server_);
    begin(cycles);
    const std::string d = submit(user(), {}, "q");
    const Identity who = root();
    Qrun run(*server_, who, d);
    ASSERT_NE(run.context.rest, nullptr);
    EXPECT_EQ(run.step(), Steps::Remaining::later);
    cycles.cycle_finished();
    EXPECT_EQ(states(), "RRR");
    EXPECT_EQ(job_shows(d, "job_state"), "Q");
    server_->want_cycle(PBS_SCH_SCHEDULE_CMD);
    cycles.run_wanted();
    EXPECT_FALSE(cycles.busy());
    EXPECT_EQ(run.step(), Steps::Remaining::nothing);
    EXPECT_EQ(run.reply.code, 0);
    EXPECT_EQ(job_shows(d, "job_state"), "R");
    cycles.run_wanted();
    EXPECT_TRUE(cycles.busy());
}

TEST_F(CycleTest, AnOperatorWhoWaitsIsToldWhatHasBecomeOfTheJob) {
    Cycles cycles(*server_);
    begin(cycles);
    const Identity who = root();
    Qrun run(*server_, who, a);
    ASSERT_EQ(run.step(), Steps::Remaining::later);
    cycles.cycle_finished();
    EXPECT_EQ(run.step(), Steps::Remaining::nothing);
    EXPECT_EQ(run.reply.code, PBSE_BADSTATE) << "the cycle has started it";
}

TEST_F(CycleTest, AnOperatorWhoGoesAwayKeepsNobodyWaiting) {
    Cycles cycles(*server_);
    begin(cycles);
    const Identity who = root();
    std::optional<Qrun> run(std::in_place, *server_, who, a);
    ASSERT_EQ(run->step(), Steps::Remaining::later);
    run.reset();
    cycles.cycle_finished();
    server_->want_cycle(PBS_SCH_SCHEDULE_CMD);
    cycles.run_wanted();
    EXPECT_TRUE(cycles.busy());
}

TEST_F(CycleTest, AVnodeThatWasGivenAnotherJobIsLookedAtAgain) {
    const std::string other = submit(user(), {attribute("Resource_List.ncpus", "99")}, "q");
    Cycles cycles(*server_);
    begin(cycles);
    // There is room beside the other job, but only the plugin knows whether one of the jobs wants the vnode
    // for itself.
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

TEST_F(CycleTest, ARejectionIsDroppedIfTheConfigurationHasChanged) {
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

// The database's mark has the number of the last commit that was brought to the disk. Comments don't change
// it.
TEST_F(CycleTest, CommentsWaitForNoDiskAndStartsDo) {
    const auto marked = [this] { return (*sqlite::read_mark(folder_ + "/server.db"))->number; };
    const std::string d = submit(user(), {attribute("Resource_List.ncpus", "99")}, "q");
    Cycles cycles(*server_);
    server_->want_cycle(PBS_SCH_SCHEDULE_CMD);
    cycles.run_wanted();
    auto before = marked();
    cycles.cycle_finished();
    EXPECT_EQ(job_shows(d, "comment"), "Too large");
    EXPECT_EQ(marked(), before);
    begin(cycles);
    before = marked();
    cycles.cycle_finished();
    EXPECT_EQ(states(), "RRR");
    EXPECT_GT(marked(), before);
    open_server();
    EXPECT_EQ(job_shows(d, "comment"), "Too large") << "it has outlived the server";
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

// ---- A cycle that waits, because the plugin's thread works on an explanation.

class WaitingCycle : public CycleTest {
  protected:
    static constexpr uint64_t kTicket = 7;

    void SetUp() override {
        CycleTest::SetUp();
        ifl::StatusParts out;
        const auto asked =
            plugin_->status_part(server_->now(), PBS_OBJ_EXPLANATION, "1.svr", {}, root(), {}, kTicket, out);
        ASSERT_EQ(asked.error().code, PBSE_TRYAGAIN);
        for (std::string* id : {&a, &b, &c}) *id = submit(user(), {}, "q");
    }
};

TEST_F(WaitingCycle, BeginsWhenThatIsOver) {
    Cycles cycles(*server_);
    cycles.run_wanted();
    EXPECT_TRUE(cycles.busy());
    EXPECT_TRUE(server_->cycle_waits);
    EXPECT_EQ(states(), "QQQ");
    cycles.run_wanted();
    cycles.cycle_finished();
    EXPECT_TRUE(server_->cycle_waits) << "nothing else lets it begin";
    plugin_->abandon(kTicket);
    cycles.work_finished();
    EXPECT_FALSE(server_->cycle_waits);
    EXPECT_TRUE(cycles.busy());
    cycles.work_finished();  // reports finished work, though none was in progress
    EXPECT_EQ(states(), "QQQ");
    cycles.cycle_finished();
    EXPECT_EQ(states(), "RRR");
    EXPECT_FALSE(cycles.busy());
}

TEST_F(WaitingCycle, IsForgottenOnceSchedulingIsOff) {
    Cycles cycles(*server_);
    cycles.run_wanted();
    ASSERT_TRUE(server_->cycle_waits);
    ASSERT_EQ(set(PBS_OBJ_SCHED, "default", "scheduling", "f"), 0);
    plugin_->abandon(kTicket);
    cycles.work_finished();
    EXPECT_FALSE(server_->cycle_waits || cycles.busy());
    EXPECT_EQ(states(), "QQQ");
}

TEST_F(WaitingCycle, ComesBeforeOtherExplanations) {
    Cycles cycles(*server_);
    cycles.run_wanted();
    ASSERT_TRUE(server_->cycle_waits);
    const ifl::Request request{ifl::RequestType::status_scheduler, "", ifl::Status{c, {}},
                               "object=explanation"};
    Session session;
    const Identity who = root();
    Context context{*server_, who, server_->now(), request, session};
    (void)begin_answer(context);
    ASSERT_NE(context.rest, nullptr);
    ifl::StatusParts out;
    std::optional<ifl::Reply> reply;
    EXPECT_EQ(go_on(context, out, false, reply), Steps::Remaining::later);
    // The server hasn't passed the status request to the plugin. Otherwise the plugin would work on it now,
    // and the waiting cycle couldn't begin.
    plugin_->abandon(kTicket);
    cycles.work_finished();
    EXPECT_FALSE(server_->cycle_waits);
    EXPECT_EQ(go_on(context, out, false, reply), Steps::Remaining::later);
    cycles.cycle_finished();
    EXPECT_EQ(states(), "RRR");
    server_->want_cycle(PBS_SCH_SCHEDULE_CMD);
    cycles.run_wanted();
    EXPECT_TRUE(server_->cycle_waits) << "now it has been asked";
    context.rest.reset();
    cycles.work_finished();
    EXPECT_FALSE(server_->cycle_waits) << "and who asked has left";
}

TEST_F(CycleTest, TwoWantedCyclesMergeUnderTheMoreTellingTrigger) {
    for (const int first : {PBS_SCH_SCHEDULE_NEW, PBS_SCH_CONFIGURE}) {
        server_->want_cycle(first);
        server_->want_cycle(first == PBS_SCH_CONFIGURE ? PBS_SCH_SCHEDULE_NEW : PBS_SCH_CONFIGURE);
        EXPECT_EQ(server_->take_wanted_cycles().at(""), PBS_SCH_CONFIGURE);
    }
    EXPECT_EQ(Server::more_telling(PBS_SCH_SCHEDULE_CMD, PBS_SCH_CONFIGURE), PBS_SCH_CONFIGURE);
    EXPECT_EQ(Server::more_telling(PBS_SCH_POLICY_SWITCH, PBS_SCH_CONFIGURE), PBS_SCH_POLICY_SWITCH);
    EXPECT_EQ(Server::more_telling(PBS_SCH_SCHEDULE_TERM, PBS_SCH_SCHEDULE_NEW), PBS_SCH_SCHEDULE_TERM);
}

// ---- Expected starts of jobs.

class EstimateTest : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("q");
        make_node("n1", "8");
        id_ = submit(user(), {}, "q");
    }
    void expect_start(int64_t start) {
        Decision decision;
        decision.kind = Decision::Kind::estimate;
        decision.job = server_->state.job(id_)->handle;
        decision.start = start;
        const uint64_t node = server_->state.node("n1")->handle;
        if (start != 0)
            decision.places = {{node, "n1", {{server_->state.resources.find("ncpus")->id, 2}}, false}};
        ASSERT_TRUE(apply_decisions(*server_, server_->now(), {decision}));
    }
    std::string start() { return job_shows(id_, "estimated.start_time"); }
    int alter(ifl::Attributes attributes) { return alter(std::move(attributes), root()); }
    int alter(ifl::Attributes attributes, const Identity& who) {
        return ask(who, ifl::RequestType::modify_job, ifl::Manage{2, PBS_OBJ_JOB, id_, std::move(attributes)})
            .code;
    }
    int ask_holds(ifl::RequestType type) {
        return ask(root(), type, ifl::Manage{2, PBS_OBJ_JOB, id_, {attribute("Hold_Types", "o")}}).code;
    }
    std::string id_;
};

TEST_F(EstimateTest, IsShownUntilItIsTakenBack) {
    EXPECT_EQ(start(), "");
    expect_start(5000);
    EXPECT_EQ(start(), "5000");
    EXPECT_EQ(job_shows(id_, "estimated.exec_vnode"), "(n1:ncpus=2)");
    EXPECT_EQ(job_shows(id_, "comment"), "") << "it says nothing of why";
    expect_start(0);
    EXPECT_EQ(start(), "");
    EXPECT_EQ(job_shows(id_, "estimated.exec_vnode"), "");
}

TEST_F(EstimateTest, AJobThatIsHeldHasNone) {
    expect_start(5000);
    ASSERT_EQ(ask_holds(ifl::RequestType::hold_job), 0);
    EXPECT_EQ(start(), "");
    expect_start(6000);  // an estimate of a cycle that began before the hold
    EXPECT_EQ(start(), "");
    ASSERT_EQ(ask_holds(ifl::RequestType::release_job), 0);
    EXPECT_EQ(start(), "") << "until it is told again";
}

TEST_F(EstimateTest, AJobThatStartedHasNone) {
    expect_start(5000);
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id_, "n1", 0}).code, 0);
    EXPECT_EQ(start(), "");
}

TEST_F(EstimateTest, IsNotKeptFromOneStartOfTheServerToTheNext) {
    expect_start(5000);
    open_server();
    EXPECT_EQ(start(), "");
    EXPECT_EQ(job_shows(id_, "job_state"), "Q");
}

TEST_F(EstimateTest, IsSetByManagersAlone) {
    const auto estimated = attribute("estimated.start_time", "5000");
    for (const Identity& who : {user(), root()})
        EXPECT_EQ(submit(who, {estimated}, "q"), std::to_string(PBSE_ATTRRO));
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "operators", "oper@*"), 0);
    for (const Identity& who : {user(), somebody("oper")}) EXPECT_EQ(alter({estimated}, who), PBSE_ATTRRO);
    EXPECT_EQ(start(), "");
    (void)server_->take_wanted_cycles();
    EXPECT_EQ(alter({estimated}), 0);
    EXPECT_EQ(start(), "5000");
    EXPECT_EQ(job_shows(id_, "estimated.exec_vnode"), "");
    EXPECT_EQ(server_->take_wanted_cycles().size(), 0u) << "no decision depends on it";
}

TEST_F(EstimateTest, HasAStartAndPerhapsAPlace) {
    const auto place = attribute("estimated.exec_vnode", "(n1:ncpus=2)");
    EXPECT_EQ(alter({place}), PBSE_BADATVAL) << "a place without a start";
    EXPECT_EQ(alter({place, attribute("estimated.start_time", "5000"), attribute("comment", "soon")}), 0);
    EXPECT_EQ(start(), "5000");
    EXPECT_EQ(job_shows(id_, "estimated.exec_vnode"), "(n1:ncpus=2)");
    EXPECT_EQ(job_shows(id_, "comment"), "soon");
    EXPECT_EQ(alter({attribute("estimated.start_time", "6000")}), 0);
    EXPECT_EQ(start(), "6000");
    EXPECT_EQ(job_shows(id_, "estimated.exec_vnode"), "(n1:ncpus=2)");
    for (const auto& [name, value, code] :
         {std::tuple("start_time", "-1", PBSE_BADATVAL), std::tuple("start_time", "noon", PBSE_BADATVAL),
          std::tuple("exec_vnode", "(n9:ncpus=2)", PBSE_UNKNODE), std::tuple("walltime", "5", PBSE_NOSUP)})
        EXPECT_EQ(alter({attribute(std::string("estimated.") + name, value)}), code) << name << value;
    EXPECT_EQ(start(), "6000") << "after what was refused";
    EXPECT_EQ(alter({attribute("estimated.start_time", "")}), 0);
    EXPECT_EQ(start(), "");
}

TEST_F(EstimateTest, IsIgnoredUnlessTheJobWaits) {
    ASSERT_EQ(alter({attribute("estimated.start_time", "5000")}), 0);
    ASSERT_EQ(ask_holds(ifl::RequestType::hold_job), 0);
    EXPECT_EQ(start(), "");
    // A program that schedules may not know of the hold or of the start yet.
    const auto is_ignored = [&] {
        const auto estimated = attribute("estimated.start_time", "5000");
        const std::string comment = job_shows(id_, "job_state") + " is known";
        EXPECT_EQ(alter({estimated}), 0);
        EXPECT_EQ(alter({attribute("estimated.exec_vnode", "(n1:ncpus=2)")}), 0);
        EXPECT_EQ(alter({estimated, attribute("comment", comment)}), 0);
        EXPECT_EQ(job_shows(id_, "comment"), comment);
        EXPECT_EQ(start(), "");
        EXPECT_EQ(alter({attribute("estimated.start_time", "noon")}), PBSE_BADATVAL);
        EXPECT_EQ(alter({estimated}, user()), PBSE_ATTRRO);
    };
    is_ignored();
    ASSERT_EQ(ask_holds(ifl::RequestType::release_job), 0);
    EXPECT_EQ(start(), "");
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id_, "n1", 0}).code, 0);
    is_ignored();
}

TEST_F(EstimateTest, JobsAreSelectedByIt) {
    const auto selected = [&](const std::string& bound, ifl::Op op) {
        const ifl::Reply reply = ask(user(), ifl::RequestType::select_jobs,
                                     ifl::Select{{attribute("estimated.start_time", bound, op)}, {}});
        EXPECT_EQ(reply.code, 0);
        return std::get<ifl::SelectReply>(reply.body).jobs.size();
    };
    EXPECT_EQ(selected("1", ifl::Op::gt), 0u);
    expect_start(5000);
    EXPECT_EQ(selected("4999", ifl::Op::gt), 1u);
    EXPECT_EQ(selected("5000", ifl::Op::gt), 0u);
}

}  // namespace
}  // namespace pbs::host
