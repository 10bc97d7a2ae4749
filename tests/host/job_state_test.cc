// Tests the table of job states: its rows, and random sequences of events, for a single job and for the jobs
// of a server.
#include "server_plugin/host/state/job_state.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/preempt.h"
#include "server_plugin/host/life/run_reports.h"
#include "server_plugin/host/state/preemption.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using E = JobEvent;

std::string state_text(const Job& job) {
    return std::string(1, job.state) + "/" + std::to_string(job.substate) +
           (is_awaiting(job) ? " awaits" : "");
}

struct Path {
    std::vector<E> events;
    std::string_view end;
};

class JobStates : public testing::TestWithParam<Path> {};

TEST_P(JobStates, FollowFromTheEvents) {
    const State state;
    Job job;
    for (const E event : GetParam().events) {
        ASSERT_TRUE(may_happen(job, event)) << state_text(job);
        advance(job, event, state, 100, "text");
        EXPECT_EQ(broken_invariant(job), std::nullopt) << state_text(job);
    }
    EXPECT_EQ(state_text(job), GetParam().end);
}

INSTANTIATE_TEST_SUITE_P(
    OfAJob, JobStates,
    testing::Values(
        Path{{}, "T/0"}, Path{{E::settled}, "Q/10"}, Path{{E::settled, E::started}, "R/41"},
        Path{{E::settled, E::started, E::running}, "R/42"},
        Path{{E::settled, E::started, E::running, E::suspended}, "S/43"},
        Path{{E::settled, E::started, E::running, E::suspended, E::resumed}, "R/42"},
        Path{{E::settled, E::started, E::awaits}, "R/41 awaits"},
        Path{{E::settled, E::started, E::awaits, E::launched}, "R/41"},
        Path{{E::settled, E::started, E::running, E::preempting, E::preempted}, "S/45"},
        Path{{E::settled, E::started, E::running, E::preempted, E::awaits}, "R/45 awaits"},
        Path{{E::settled, E::started, E::running, E::preempted, E::awaits, E::not_launched}, "S/45"},
        Path{{E::settled, E::started, E::running, E::preempted, E::awaits, E::unpreempted}, "R/42"},
        Path{{E::settled, E::started, E::running, E::preempted, E::awaits, E::deleted}, "E/50"},
        Path{{E::settled, E::started, E::awaits, E::deleted}, "E/50 awaits"},
        Path{{E::settled, E::started, E::running, E::to_be_requeued, E::requeued}, "Q/10"},
        Path{{E::settled, E::started, E::running, E::deleted, E::terminated}, "F/91"},
        Path{{E::settled, E::started, E::running, E::finished}, "F/92"},
        Path{{E::settled, E::failed}, "F/93"}, Path{{E::settled, E::leaves}, "T/2"},
        Path{{E::settled, E::leaves, E::settled}, "T/2"},
        Path{{E::settled, E::leaves, E::commit_sent}, "T/3"},
        Path{{E::settled, E::leaves, E::commit_sent, E::returned}, "Q/10"},
        Path{{E::settled, E::leaves, E::commit_sent, E::moved}, "M/94"}));

TEST(JobState, FollowsFromHoldsAndTime) {
    const State state;
    Job job;
    set_attribute(job, "Execution_Time", "200");
    advance(job, E::settled, state, 100);
    EXPECT_EQ(state_text(job), "W/30");
    set_attribute(job, "Hold_Types", "u");
    advance(job, E::settled, state, 100);
    EXPECT_EQ(state_text(job), "H/20");
    advance(job, E::depends, state, 100);
    EXPECT_EQ(state_text(job), "H/22");
    advance(job, E::settled, state, 100);
    EXPECT_EQ(state_text(job), "H/22") << "it still depends on others";
    advance(job, E::depends_no_more, state, 100);
    EXPECT_EQ(state_text(job), "H/20");
    set_attribute(job, "Hold_Types", "n");
    advance(job, E::settled, state, 200);
    EXPECT_EQ(state_text(job), "Q/10");
}

TEST(JobState, WhatCannotHappenHasNoRow) {
    Job job;
    for (const E event :
         {E::awaits, E::running, E::resumed, E::unpreempted, E::requeued, E::moved, E::leaves})
        EXPECT_FALSE(may_happen(job, event)) << static_cast<int>(event);
    const State state;
    advance(job, E::settled, state, 100);
    advance(job, E::finished, state, 100);
    for (int event = 0; event <= static_cast<int>(E::moved); ++event)
        EXPECT_EQ(may_happen(job, static_cast<E>(event)), static_cast<E>(event) == E::settled) << event;
}

TEST(JobState, ARunLeavesNothingBehind) {
    const State state;
    Job job;
    for (const E event : {E::settled, E::started, E::running, E::preempting, E::to_be_requeued})
        advance(job, event, state, 100, "7.svr R");
    job.places = {Place{}};
    advance(job, E::requeued, state, 150);
    EXPECT_EQ(job.attributes.integer("sched_preempted", 0), 150);
    EXPECT_FALSE(is_preempting(job));
    EXPECT_EQ(job.stime, 0);
    EXPECT_EQ(job.at_end, Job::AtEnd::finish);
    EXPECT_TRUE(job.places.empty());
    advance(job, E::started, state, 200);
    EXPECT_FALSE(job.attributes.has("sched_preempted"));
    EXPECT_EQ(job.attributes.integer("run_count", 0), 2);
}

// The invariants hold after every sequence of events that the table allows.
TEST(JobState, InvariantsHoldOnRandomWalks) {
    const State state;
    for (unsigned seed = 1; seed <= 500; ++seed) {
        std::mt19937 random(seed);
        const auto pick = [&](int most) { return std::uniform_int_distribution(0, most)(random); };
        Job job;
        std::string walk = state_text(job);
        for (int64_t now = 100; now < 160; ++now) {
            if (pick(4) == 0) set_attribute(job, "Hold_Types", pick(1) == 0 ? "n" : "u");
            if (pick(4) == 0) set_attribute(job, "Execution_Time", std::to_string(now + pick(20) - 10));
            const E event = static_cast<E>(pick(static_cast<int>(E::moved)));
            const bool of_an_array = event == E::began || event == E::made_subjob;
            if (of_an_array || !may_happen(job, event)) continue;
            // Callers of advance() set a system hold on a job that depends on others, and mark a waiting job
            // as deleted only to end it.
            if (event == E::depends) set_attribute(job, "Hold_Types", "s");
            if (event == E::deleted && !job.running()) continue;
            advance(job, event, state, now, "text");
            walk += " " + std::to_string(static_cast<int>(event)) + ":" + state_text(job);
            ASSERT_EQ(broken_invariant(job), std::nullopt) << "seed " << seed << ": " << walk;
        }
    }
}

// Makes random requests, reports of the runner and preemptions, on a server without a plugin.
class JobStatesOfAServer : public ServerTest, public testing::WithParamInterface<unsigned> {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        make_queue("q");
        make_node("n1", "100");
        ASSERT_EQ(set(PBS_OBJ_SERVER, "", "job_history_enable", "t"), 0);
    }

    void walk(unsigned seed, int steps) {
        random_.seed(seed);
        for (int step = 0; step < steps; ++step) {
            const std::string done = act();
            check("seed " + std::to_string(seed) + ", step " + std::to_string(step) + ": " + done);
            if (HasFailure()) return;
        }
        check_accounting();
        check_restart();
    }

  private:
    int pick(int most) { return std::uniform_int_distribution(0, most)(random_); }
    const std::string& any_id() { return ids_[static_cast<size_t>(pick(static_cast<int>(ids_.size()) - 1))]; }

    int request(ifl::RequestType type, ifl::RequestBody body, std::string extend = {}) {
        return ask(root(), type, std::move(body), std::move(extend)).code;
    }
    int hold(ifl::RequestType type, const std::string& id) {
        return request(type, ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, id, {attribute("Hold_Types", "u")}});
    }
    void report(RunReport one) {
        executor_.reports.push_back(std::move(one));
        take_run_events(*server_);
    }

    std::string act() {
        const int kind = ids_.empty() ? 0 : pick(11);
        if (kind <= 1) {
            ids_.push_back(submit(user(), {attribute("Rerunable", pick(3) == 0 ? "n" : "y")}, "q"));
            return "submit";
        }
        const std::string id = any_id();
        const std::string what = " " + id;
        switch (kind) {
            case 2:
            case 3:
                (void)request(ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0});
                return "run" + what;
            case 4:
                (void)hold(ifl::RequestType::hold_job, id);
                return "hold" + what;
            case 5:
                (void)hold(ifl::RequestType::release_job, id);
                return "release" + what;
            case 6:
                (void)request(ifl::RequestType::signal_job,
                              ifl::SignalJob{id, pick(1) == 0 ? "suspend" : "resume"});
                return "suspend or resume" + what;
            case 7:
                (void)request(ifl::RequestType::rerun_job, ifl::JobId{id});
                return "rerun" + what;
            case 8:
                (void)request(ifl::RequestType::delete_job, ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, id, {}});
                return "delete" + what;
            case 9:
                return preempt_or_resume(id) + what;
            default:
                return report_of(id) + what;
        }
    }

    std::string preempt_or_resume(const std::string& id) {
        const Job* job = server_->state.job(id);
        if (job == nullptr) return "nothing";
        Change change(*server_, server_->now());
        if (is_preempted(*job)) {
            resume_preempted(change, change.job(*job));
        } else if (job->state == job_state::kRunning && !is_preempting(*job)) {
            (void)preempt(change, change.job(*job), pick(1) == 0 ? "SR" : "RD", any_id());
        }
        EXPECT_TRUE(change.commit());
        return "preempt or resume";
    }

    // Makes the runner report that a job's script runs, or that its run has ended. Returns the report's name.
    std::string report_of(const std::string& id) {
        const Job* job = server_->state.job(id);
        if (job == nullptr || !job->running()) return "nothing";
        if (pick(1) == 0) {
            RunReport running;
            running.id = run_id(*job);
            running.session = 4711;
            report(std::move(running));
            return "running";
        }
        ++ends_[id];
        report(ended(id, pick(1)));
        return "ended";
    }

    void check(const std::string& after) {
        StateCounts counts;
        for (const auto& [handle, job] : server_->state.jobs()) {
            EXPECT_EQ(broken_invariant(job), std::nullopt)
                << after << ": " << job.id << " is " << state_text(job);
            counts.add(job.state, 1);
            EXPECT_EQ(server_->state.running_jobs().contains(handle), job.running()) << after;
        }
        EXPECT_EQ(server_->state.counts().text(), counts.text()) << after;
    }

    // Checks that each start of a job has an S record, and each end of a run a record that says how the run
    // ended.
    void check_accounting() {
        std::map<std::string, int> starts;
        std::map<std::string, int> ends;
        std::istringstream lines(accounting_text());
        for (std::string line; std::getline(lines, line);) {
            const auto type = line.find(';') + 1;
            const std::string id = line.substr(type + 2, line.find(';', type + 2) - type - 2);
            if (line[type] == 'S') ++starts[id];
            if (line[type] == 'E' || line[type] == 'R') ++ends[id];
        }
        std::map<std::string, int> started;
        for (const JobStart& start : executor_.started) ++started[start.id.job];
        EXPECT_EQ(starts, started);
        EXPECT_EQ(ends, ends_);
    }

    void check_restart() {
        std::map<std::string, std::string> before;
        for (const auto& [handle, job] : server_->state.jobs())
            before[job.id] = state_text(job) + (job.deleted ? " deleted" : "") +
                             (job.at_end == Job::AtEnd::requeue ? " requeue" : "");
        open_server();
        std::map<std::string, std::string> after;
        for (const auto& [handle, job] : server_->state.jobs())
            after[job.id] = state_text(job) + (job.deleted ? " deleted" : "") +
                            (job.at_end == Job::AtEnd::requeue ? " requeue" : "");
        EXPECT_EQ(after, before);
    }

    std::mt19937 random_;
    std::vector<std::string> ids_;
    std::map<std::string, int> ends_;
};

TEST_P(JobStatesOfAServer, StatesAndRecordsAgreeOnRandomWalks) {
    walk(GetParam(), 150);
}
INSTANTIATE_TEST_SUITE_P(Seeds, JobStatesOfAServer, testing::Range(1U, 5U));

}  // namespace
}  // namespace pbs::host
