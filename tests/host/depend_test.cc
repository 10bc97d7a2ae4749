#include "server_plugin/host/life/depend.h"

#include <fmt/format.h>

#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/routing.h"
#include "server_plugin/host/life/run_reports.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;

class Depend : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("q");
        make_node("n1", "100");
        ASSERT_EQ(set(PBS_OBJ_SERVER, "", "job_history_enable", "t"), 0);
    }
    std::string job(const std::string& depend = {}) { return job_of(user(), depend); }
    std::string job_of(const Identity& who, const std::string& depend) {
        ifl::Attributes attributes;
        if (!depend.empty()) attributes.push_back(attribute("depend", depend));
        return submit(who, attributes, "q");
    }
    ifl::Reply alter(const std::string& id, const std::string& depend) {
        return ask(user(), ifl::RequestType::modify_job,
                   ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, id, {attribute("depend", depend)}});
    }
    int remove(const std::string& id) {
        const int code =
            ask(user(), ifl::RequestType::delete_job, ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, id, {}}).code;
        settle();
        return code;
    }
    int run(const std::string& id) {
        const int code = ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code;
        settle();
        return code;
    }
    void report(RunReport one) {
        executor_.reports.push_back(std::move(one));
        take_run_events(*server_);
        settle();
    }
    void script_runs(const std::string& id) {
        RunReport session;
        session.id = run_id(*server_->state.job(id));
        session.session = 4711;
        report(session);
    }
    void end(const std::string& id, int status) { report(ended(id, status)); }
    void run_to_end(const std::string& id, int status) {
        ASSERT_EQ(run(id), 0) << id;
        script_runs(id);
        end(id, status);
    }
    // Settles dependencies, as the loop does between requests. Returns the number of transactions that this
    // takes.
    int settle() {
        for (int parts = 1;; ++parts) {
            const auto more = settle_dependencies(*server_, server_->now());
            EXPECT_TRUE(more) << more.error().message;
            if (!more || !*more) return parts;
        }
    }
    // Returns a job's state, holds and substate: "H s 22".
    std::string state(const std::string& id) {
        return fmt::format("{} {} {}", job_shows(id, "job_state", "x"), job_shows(id, "Hold_Types", "x"),
                           job_shows(id, "substate", "x"));
    }
    std::string depend(const std::string& id) { return job_shows(id, "depend", "x"); }
    static std::string number(const std::string& id) { return id.substr(0, id.find('.')); }
    static std::string at(const std::string& id) { return id + "@svr"; }

    static inline const std::string held = "H s 22";
    static inline const std::string queued = "Q n 10";
    static inline const std::string ended_by_server = "F s 92";
};

TEST_F(Depend, IsShownAtBothEndsAsOpenpbsShowsIt) {
    const std::string a = job();
    const std::string b = job("afterok:" + number(a));
    const std::string c = job("afternotok:" + a + ",afterany:" + at(a));
    const std::string d = job("after:" + a);
    EXPECT_EQ(state(a), queued);
    for (const std::string& id : {b, c, d}) EXPECT_EQ(state(id), held);
    EXPECT_EQ(depend(a),
              fmt::format("beforeok:{},beforenotok:{},beforeany:{},before:{}", at(b), at(c), at(c), at(d)));
    EXPECT_EQ(depend(b), "afterok:" + at(a));
    EXPECT_EQ(depend(c), fmt::format("afternotok:{},afterany:{}", at(a), at(a)));
    EXPECT_EQ(job_shows(b, "comment"), "");
    EXPECT_EQ(job_shows(b, "etime"), "");
    EXPECT_THAT(accounting_text(), HasSubstr(fmt::format(" depend=afterok:{} ", at(a))));
}

// A type of dependency on a job, and whether the waiting job is released when that job starts, when it ends
// with exit status 0, and when it ends with 1.
struct Outcome {
    const char* type;
    bool at_start;
    bool at_0;
    bool at_1;
};
class DependOutcome : public Depend, public testing::WithParamInterface<Outcome> {};

TEST_P(DependOutcome, AJobThatEndsReleasesOrDeletesItsDependents) {
    for (const int status : {0, 1}) {
        const std::string a = job();
        const std::string b = job(fmt::format("{}:{}", GetParam().type, a));
        ASSERT_EQ(run(a), 0);
        EXPECT_EQ(state(b), held) << "before the script runs";
        script_runs(a);
        EXPECT_EQ(state(b), GetParam().at_start ? queued : held);
        end(a, status);
        const bool met = GetParam().at_start || (status == 0 ? GetParam().at_0 : GetParam().at_1);
        EXPECT_EQ(state(b), met ? queued : ended_by_server) << status;
        EXPECT_THAT(log_text(), HasSubstr(b + ";" +
                                          (met ? fmt::format("Dependency on job {} released.", a)
                                               : "Job deleted as result of dependency on job " + a)));
        if (!met) {
            EXPECT_THAT(accounting_text(),
                        HasSubstr(fmt::format(";A;{};Job deleted as result of dependency on job {}", b, a)));
        }
        EXPECT_EQ(depend(a), fmt::format("before{}:{}", std::string(GetParam().type).substr(5), at(b)))
            << (GetParam().at_start ? "" : "as history");
        if (GetParam().at_start) break;
    }
}

INSTANTIATE_TEST_SUITE_P(Types, DependOutcome,
                         testing::Values(Outcome{"afterok", false, true, false},
                                         Outcome{"afternotok", false, false, true},
                                         Outcome{"afterany", false, true, true}));

TEST_F(Depend, AfterIsMetWhenTheScriptRunsOrHasRun) {
    const std::string a = job();
    const std::string b = job("after:" + a);
    ASSERT_EQ(run(a), 0);
    EXPECT_EQ(state(b), held);
    script_runs(a);
    EXPECT_EQ(state(b), queued);
    EXPECT_EQ(state(job("after:" + a)), queued) << "it runs already";
    const std::string c = job();
    const std::string d = job("after:" + c);
    ASSERT_EQ(run(c), 0);
    end(c, 1);  // the job ends without a report of its start
    EXPECT_EQ(state(d), queued);
}

TEST_F(Depend, DeletingARunningJobCountsAsAFailureForItsDependents) {
    const std::string a = job();
    const std::string ok = job("afterok:" + a);
    const std::string not_ok = job("afternotok:" + a);
    const std::string any = job("afterany:" + a);
    const std::string behind = job("afternotok:" + ok);
    ASSERT_EQ(run(a), 0);
    script_runs(a);
    ASSERT_EQ(remove(a), 0);
    EXPECT_EQ(state(any), held) << "it has not ended yet";
    end(a, 271);
    EXPECT_EQ(state(ok), ended_by_server);
    EXPECT_EQ(state(behind), ended_by_server) << "all that waits for a job deleted for its dependency goes";
    EXPECT_EQ(state(not_ok), queued);
    EXPECT_EQ(state(any), queued);
}

TEST_F(Depend, DeletingAWaitingJobDeletesItsDependentsButThoseOfAfterAny) {
    const std::string a = job();
    const std::string ok = job("afterok:" + a);
    const std::string start = job("after:" + a);
    const std::string any = job("afterany:" + a);
    const std::string of_held = job("afterany:" + ok);
    ASSERT_EQ(remove(ok), 0);
    EXPECT_EQ(state(of_held), ended_by_server) << "as in OpenPBS, of a job that waited itself";
    EXPECT_EQ(depend(a), fmt::format("before:{},beforeany:{}", at(start), at(any)));
    ASSERT_EQ(remove(a), 0);
    EXPECT_EQ(state(start), ended_by_server);
    EXPECT_EQ(state(any), queued);
}

TEST_F(Depend, OnAJobOfTheHistory) {
    const std::string good = job();
    run_to_end(good, 0);
    const std::string bad = job();
    run_to_end(bad, 1);
    EXPECT_EQ(state(job("after:" + good)), queued);
    EXPECT_EQ(state(job("afterok:" + good)), queued);
    EXPECT_EQ(state(job("afterany:" + bad)), queued);
    EXPECT_EQ(state(job("afternotok:" + bad)), queued);
    EXPECT_THAT(log_text(), HasSubstr(good + " Job has finished, dependency satisfied"));
    for (const std::string& value :
         {"afternotok:" + good, "afterok:" + bad, "before:" + good, "beforeok:" + good, "beforeany:" + bad}) {
        const std::string rejected = job(value);
        EXPECT_EQ(state(rejected).substr(0, 1), "F") << value;
        EXPECT_THAT(accounting_text(), HasSubstr(fmt::format(";A;{};", rejected)));
        EXPECT_EQ(depend(rejected), at(value));
    }
    EXPECT_THAT(log_text(), HasSubstr(good + " Finished job did not satisfy dependency"));
}

TEST_F(Depend, OnAnUnknownJobDeletesTheJob) {
    const std::string id = job("afterok:9999");
    EXPECT_EQ(state(id).substr(0, 1), "F");
    EXPECT_EQ(depend(id), "afterok:9999.svr@svr");
    EXPECT_THAT(log_text(),
                HasSubstr(id + ";Dependency request for job rejected by 9999.svr Unknown Job Id"));
    const std::string records = accounting_text();
    EXPECT_LT(records.find(";Q;" + id), records.find(";A;" + id));
    EXPECT_TRUE(executor_.started.empty());

    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "job_history_enable", "f"), 0);
    const std::string other = job("afterok:9999");
    EXPECT_EQ(job_shows(other, "job_state"), "error 15001");
    const std::string altered = job();
    EXPECT_EQ(alter(altered, "afterany:1:9999").code, 0) << "as in PBS";
    EXPECT_EQ(job_shows(altered, "job_state"), "error 15001");
}

TEST_F(Depend, WrongValuesAreRefusedWithTheirPlace) {
    for (const char* value : {"foo:1", "afterok:", "on:0", "afterok:1.elsewhere", "afterok:1.svr@elsewhere",
                              "afterok:abc", "afterok:1[1.svr"})
        EXPECT_EQ(job(value), std::to_string(PBSE_BADATVAL)) << value;
    EXPECT_EQ(job("afterok:1[1].svr"), std::to_string(PBSE_IVALREQ)) << "a subjob";
    EXPECT_TRUE(server_->state.jobs().empty());
    const std::string id = job();
    EXPECT_EQ(alter(id, "afterok:" + id).code, PBSE_IVALREQ) << "on itself";
    EXPECT_EQ(job(fmt::format("afterany:{}", server_->state.next_sequence)), std::to_string(PBSE_IVALREQ));
    EXPECT_EQ(state(id), queued);
    EXPECT_EQ(depend(id), "");
    ASSERT_EQ(run(id), 0);
    EXPECT_EQ(alter(id, "afterok:1").code, PBSE_MODATRRUN);
}

TEST_F(Depend, BeforeCountsDownOn) {
    const std::string f = job("on:2");
    EXPECT_EQ(state(f), held);
    const std::string g = job("beforeok:" + f);
    EXPECT_EQ(depend(f), "on:1,afterok:" + at(g));
    EXPECT_EQ(depend(g), "beforeok:" + at(f));
    EXPECT_EQ(state(g), queued);
    EXPECT_EQ(alter(g, "beforeok:" + f).code, 0) << "again: counts once";
    EXPECT_EQ(depend(f), "on:1,afterok:" + at(g));
    const std::string h = job("beforeany:" + f);
    EXPECT_EQ(depend(f), fmt::format("afterok:{},afterany:{}", at(g), at(h)));
    const std::string rejected = job("beforeok:" + f);
    EXPECT_EQ(state(rejected).substr(0, 1), "F");
    EXPECT_THAT(accounting_text(), HasSubstr("Invalid Job Dependency"));
    run_to_end(h, 1);
    EXPECT_EQ(state(f), held);
    run_to_end(g, 0);
    EXPECT_EQ(state(f), queued);
}

TEST_F(Depend, OnAnotherUsersJobAsPbsPermits) {
    const std::string theirs = job_of(somebody("daemon"), "on:2");
    ASSERT_THAT(theirs, HasSubstr(".svr"));
    EXPECT_EQ(state(job("afterok:" + theirs)), held);
    for (const char* type : {"beforeok", "runone"}) {
        const std::string id = job(fmt::format("{}:{}", type, theirs));
        EXPECT_EQ(state(id).substr(0, 1), "F") << type;
        EXPECT_THAT(accounting_text(), HasSubstr(";A;" + id + ";Dependency request for job rejected by " +
                                                 theirs + " Unauthorized Request"));
    }
    EXPECT_THAT(depend(theirs), HasSubstr("on:2"));
}

TEST_F(Depend, QalterReplacesTheTypesThatItNames) {
    const std::string a = job();
    const std::string b = job();
    const std::string c = job();
    const std::string waits = job(fmt::format("afterok:{}:{}", a, b));
    ASSERT_EQ(alter(waits, fmt::format("afterok:{}", b)).code, 0);
    EXPECT_EQ(depend(waits), "afterok:" + at(b));
    EXPECT_EQ(depend(a), "");
    ASSERT_EQ(alter(waits, "afterany:" + c).code, 0);
    EXPECT_EQ(depend(waits), fmt::format("afterok:{},afterany:{}", at(b), at(c)));
    ASSERT_EQ(alter(waits, "").code, 0);
    EXPECT_EQ(depend(waits), "");
    EXPECT_EQ(state(waits), queued);
    EXPECT_EQ(depend(b), "");
    ASSERT_EQ(alter(waits, "on:1").code, 0);
    ASSERT_EQ(alter(waits, "on:2").code, 0);
    EXPECT_EQ(depend(waits), "on:2");
    ASSERT_EQ(alter(a, "beforeok:" + waits).code, 0);
    ASSERT_EQ(alter(b, "beforeok:" + waits).code, 0);
    EXPECT_EQ(depend(waits), fmt::format("afterok:{}:{}", at(a), at(b)));
    ASSERT_EQ(alter(c, "on:1").code, 0);
    ASSERT_EQ(alter(a, "beforeok:" + c).code, 0);
    settle();
    EXPECT_EQ(depend(a), "beforeok:" + at(c));
    EXPECT_EQ(depend(waits), "afterok:" + at(b));
}

TEST_F(Depend, ACycleWaitsUntilOneIsDeleted) {
    const std::string a = job();
    const std::string b = job("afterok:" + a);
    ASSERT_EQ(alter(a, "afterok:" + b).code, 0);
    EXPECT_EQ(depend(a), fmt::format("beforeok:{},afterok:{}", at(b), at(b)));
    EXPECT_EQ(state(a), held);
    ASSERT_EQ(remove(a), 0);
    EXPECT_EQ(state(b), ended_by_server);
    EXPECT_FALSE(server_->state.dependencies.work());
}

TEST_F(Depend, HoldsOfOthersStay) {
    const std::string a = job();
    const std::string b =
        submit(user(), {attribute("depend", "afterok:" + a), attribute("Hold_Types", "u")}, "q");
    EXPECT_EQ(state(b), "H us 22");
    run_to_end(a, 0);
    EXPECT_EQ(job_shows(b, "Hold_Types"), "u");
    EXPECT_EQ(job_shows(b, "job_state"), "H");
    const std::string c = job();
    const std::string d = job("afterok:" + c);
    const ifl::Manage release{PBS_CMD_SET, PBS_OBJ_JOB, d, {attribute("Hold_Types", "s")}};
    EXPECT_EQ(ask(user(), ifl::RequestType::release_job, release).code, PBSE_PERM);
    EXPECT_EQ(ask(root(), ifl::RequestType::release_job, release).code, 0);
    EXPECT_EQ(state(d), queued) << "a manager lets it run";
    EXPECT_EQ(depend(d), "afterok:" + at(c));
    ASSERT_EQ(run(d), 0);
    script_runs(d);
    run_to_end(c, 1);
    EXPECT_EQ(job_shows(d, "job_state"), "E") << "it can't be met: killed, though it runs";
    ASSERT_FALSE(executor_.signals.empty());
    EXPECT_EQ(executor_.signals.back().second, 9);
    end(d, 265);
    EXPECT_EQ(job_shows(d, "job_state", "x"), "F");
}

TEST_F(Depend, RunoneHoldsTheOthersAndThenDeletesThem) {
    const std::string a = job();
    const std::string b = job("runone:" + a);
    const std::string c = job("runone:" + b);
    EXPECT_EQ(depend(a), fmt::format("runone:{}:{}", at(b), at(c)));
    EXPECT_EQ(depend(b), fmt::format("runone:{}:{}", at(a), at(c)));
    EXPECT_EQ(depend(c), fmt::format("runone:{}:{}", at(a), at(b)));
    EXPECT_EQ(state(a), queued);
    ASSERT_EQ(run(b), 0);
    EXPECT_EQ(state(a), "H s 20");
    EXPECT_EQ(state(c), "H s 20");
    EXPECT_EQ(run(a), PBSE_BADSTATE);
    const std::string late = job("runone:" + c);
    EXPECT_EQ(state(late).substr(0, 3), "H s");
    ASSERT_EQ(ask(root(), ifl::RequestType::rerun_job, ifl::JobId{b}).code, 0);
    end(b, 265);
    EXPECT_EQ(state(a), queued) << "none runs any more";
    EXPECT_EQ(state(b), queued);
    ASSERT_EQ(remove(c), 0);
    EXPECT_EQ(depend(a), fmt::format("runone:{}:{}", at(b), at(late)));
    run_to_end(a, 1);
    EXPECT_EQ(state(b), ended_by_server);
    EXPECT_EQ(state(late), ended_by_server);
    EXPECT_EQ(job("runone:9999"), std::to_string(PBSE_IVALREQ));
}

TEST_F(Depend, ADependencyOfARoutedJobIsLinkedWhenTheJobIsRouted) {
    make_queue("later");
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "later", "enabled", "f"), 0);
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "route",
                     {attribute("queue_type", "r"), attribute("route_destinations", "later"),
                      attribute("enabled", "t"), attribute("started", "t")})
                  .code,
              0);
    const std::string a = job();
    const std::string b = submit(user(), {attribute("depend", "afterok:" + number(a))}, "route");
    EXPECT_EQ(state(b), queued);
    EXPECT_EQ(depend(b), "afterok:" + at(a));
    EXPECT_EQ(depend(a), "");
    ASSERT_EQ(alter(b, "afterany:" + a).code, 0);
    EXPECT_EQ(depend(b), fmt::format("afterany:{},afterok:{}", at(a), at(a)));
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "later", "enabled", "t"), 0);
    route_jobs(*server_, server_->now() + 60);
    EXPECT_EQ(job_shows(b, "queue"), "later");
    EXPECT_EQ(state(b), held);
    EXPECT_EQ(depend(a), fmt::format("beforeany:{},beforeok:{}", at(b), at(b)));
}

TEST_F(Depend, SurvivesAServerThatDies) {
    const std::string a = job();
    std::vector<std::string> waiting;
    waiting.reserve(250);
    for (int i = 0; i < 250; ++i) waiting.push_back(job("afterok:" + a));
    const std::string before = depend(a);
    open_server();
    EXPECT_EQ(depend(a), before);
    EXPECT_EQ(state(waiting[7]), held);
    ASSERT_EQ(run(a), 0);
    executor_.reports.push_back(ended(a, 0));
    take_run_events(*server_);
    EXPECT_EQ(state(waiting[0]), held) << "the end is stored; those that wait come after it";
    ASSERT_TRUE(settle_dependencies(*server_, server_->now()));
    EXPECT_EQ(state(waiting[0]), queued);
    EXPECT_EQ(state(waiting[249]), held);
    open_server();
    EXPECT_GT(settle(), 1);
    for (const std::string& id : waiting) EXPECT_EQ(state(id), queued);
    EXPECT_FALSE(server_->state.dependencies.work());
}

TEST_F(Depend, AFailedRequestLeavesNoLink) {
    const std::string a = job();
    const std::string b = job(fmt::format("afterok:{},afterany:{}", a, server_->state.next_sequence));
    EXPECT_EQ(b, std::to_string(PBSE_IVALREQ));
    EXPECT_EQ(depend(a), "");
}

TEST_F(Depend, ALongChainGoesWithItsFirst) {
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "job_history_enable", "f"), 0);
    const std::string first = job();
    std::string last = first;
    for (int i = 0; i < 250; ++i) last = job("afterok:" + last);
    EXPECT_EQ(job_shows(last, "substate"), "22");
    ASSERT_EQ(remove(first), 0);
    EXPECT_TRUE(server_->state.jobs().empty());
}

TEST_F(Depend, AJobThatWaitsForMany) {
    std::string value = "afterany";
    std::vector<std::string> parents;
    for (int i = 0; i < 120; ++i) {
        parents.push_back(job());
        value += ":" + parents.back();
    }
    const std::string waits = job(value);
    for (size_t i = 0; i < parents.size(); ++i) {
        EXPECT_EQ(job_shows(waits, "job_state"), "H");
        ASSERT_EQ(remove(parents[i]), 0);
    }
    EXPECT_EQ(state(waits), queued);
    EXPECT_EQ(depend(waits), "");
}

}  // namespace
}  // namespace pbs::host
