#include "server_plugin/host/life/preempt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/checkpoint.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/launch.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/preemption.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// This letter in place of a method in `preempting` means: the job is being started or resumed, and is
// preempted once it runs.
constexpr char kOnceItRuns = '-';

void note(Change& change, const Job& job, std::string text) {
    Server& server = change.server();
    change.then([&server, id = job.id, line = std::move(text)] { server.parts.log.job(id, line); });
}

bool suspend(Change& change, Job& job, std::string_view for_job) {
    Server& server = change.server();
    if (job.substate != substate::kRunning || !server.parts.executor.signal(run_id(job), 0)) return false;
    const auto released = server.state.server.list("restrict_res_to_release_on_suspend");
    advance(job, JobEvent::preempted, server.state, change.now(),
            fmt::format("{}", fmt::join(released, ",")));
    if (!for_job.empty())
        set_comment(job, fmt::format("Not Running: Preempted by suspension for job {}", for_job));
    change.then([&server, handle = job.handle] {
        const Job* suspended = server.state.job(handle);
        if (suspended == nullptr) return;
        // suspend() fails only if the job has ended meanwhile.
        if (auto done = server.parts.executor.suspend(run_id(*suspended)); !done)
            server.parts.log.error(suspended->id,
                                   fmt::format("it can't be suspended: {}", done.error().message));
        server.parts.accounting.suspended(accounted(*suspended, server.state));
    });
    change.want_cycle(PBS_SCH_SCHEDULE_TERM);
    return true;
}

// Ends the job's processes after the commit.
void end_by(Change& change, const Job& job, char method) {
    Server& server = change.server();
    change.then([&server, handle = job.handle, method] {
        const Job* ending = server.state.job(handle);
        if (ending == nullptr || !ending->running() || !is_preempting(*ending)) return;
        const auto done = method == 'D' ? terminate_job(server, *ending) : kill_job(server, *ending);
        if (done) return;
        // The job may have just ended, and its report be on the way. Otherwise the next method is tried.
        server.parts.log.job(
            ending->id, fmt::format("preemption by {} failed: {}", way_text(method), done.error().message));
        Change next(server, server.now());
        Job& current = next.job(*ending);
        const std::string id = current.id;
        const Preempting so_far = preempting_of(current);
        advance(current, JobEvent::to_be_ended, server.state, next.now());
        (void)preempt(next, current, so_far.left, so_far.for_job);
        if (auto stored = next.commit(); !stored) server.parts.log.error(id, stored.error().message);
    });
}

bool requeue(Change& change, Job& job) {
    if (!job.attributes.boolean("Rerunable", true)) return false;
    advance(job, JobEvent::to_be_requeued, change.server().state, change.now());
    end_by(change, job, 'R');
    return true;
}

bool remove(Change& change, Job& job, std::string_view for_job) {
    Server& server = change.server();
    note_deletion(change, job, fmt::format("Scheduler@{}", server.state.host_name));
    advance(job, JobEvent::deleted, server.state, change.now());
    set_comment(job, fmt::format("Preempted by deletion {}", occasion_of_preemption(for_job)));
    end_by(change, job, 'D');
    return true;
}

// Runs the site's checkpoint program after the commit. When poll_checkpoints() reports the outcome, ends the
// job, or tries the next method. Returns false if the job can't be checkpointed.
bool checkpoint(Change& change, Job& job) {
    Server& server = change.server();
    if (!may_checkpoint(server, job)) return false;
    advance(job, JobEvent::to_be_requeued, server.state, change.now());  // the program may end the job itself
    change.then([&server, handle = job.handle] {
        const Job* running = server.state.job(handle);
        if (running == nullptr) return;
        begin_checkpoint(server, *running, [&server, handle](const Result<void>& written) {
            const Job* known = server.state.job(handle);
            if (known == nullptr || known->state != job_state::kRunning || !is_preempting(*known)) return;
            const Preempting so_far = preempting_of(*known);
            if (so_far.method != 'C') return;
            Change next(server, server.now());
            Job& current = next.job(*known);
            const std::string id = current.id;
            if (written) {
                server.parts.accounting.checkpointed(accounted(current, server.state));
                end_by(next, current, 'C');
            } else {
                server.parts.log.job(current.id, fmt::format("preemption by checkpointing failed: {}",
                                                             written.error().message));
                advance(current, JobEvent::to_be_ended, server.state, next.now());
                (void)preempt(next, current, so_far.left, so_far.for_job);
            }
            if (auto stored = next.commit(); !stored) server.parts.log.error(id, stored.error().message);
        });
    });
    return true;
}

bool preempt_by(Change& change, Job& job, char method, std::string_view for_job) {
    switch (method) {
        case 'S':
            return suspend(change, job, for_job);
        case 'C':
            return checkpoint(change, job);
        case 'R':
            return requeue(change, job);
        case 'D':
            return remove(change, job, for_job);
        default:
            return false;
    }
}

// Writes a run as the attribute `awaits` lists it. The text has the run's number, because the job may end and
// start again.
std::string run_text(const RunId& run) {
    return fmt::format("{}/{}", run.job, run.run);
}

std::vector<std::string_view> awaited_by(const Job& job) {
    std::vector<std::string_view> runs;
    std::string_view left = job.attributes.text(preemption::kAwaits);
    while (!left.empty()) {
        const auto comma = std::min(left.find(','), left.size());
        runs.push_back(left.substr(0, comma));
        left.remove_prefix(std::min(comma + 1, left.size()));
    }
    return runs;
}

enum class Room { there, coming, not_coming };

Room room_for(const Job& job, const State& state) {
    Room room = Room::there;
    for (const std::string_view run : awaited_by(job)) {
        const Job* other = state.job(run.substr(0, run.find('/')));
        if (other == nullptr || !other->running() || is_preempted(*other) || run_text(run_id(*other)) != run)
            continue;
        if (is_preempting(*other)) {
            room = Room::coming;
        } else if (other->attributes.has(preemption::kNotPreemptable)) {
            return Room::not_coming;
        }
    }
    return room;
}

void launch_one(Server& server, const Job& current) {
    Change change(server, server.now());
    Job& job = change.job(current);
    if (job.substate == substate::kSchedSuspended) {
        resume_preempted(change, job);
        preempt_once_it_runs(change, job);
    } else {
        advance(job, JobEvent::launched, server.state, change.now());
        change.then([&server, handle = job.handle] { launch(server, handle); });
    }
    if (auto done = change.commit(); !done) server.parts.log.error(current.id, done.error().message);
}

// Queues again a job that couldn't be launched, or suspends again one that couldn't be resumed.
void back_to_wait(Change& change, Job& job) {
    advance(job, JobEvent::not_launched, change.server().state, change.now());
    if (job.state == job_state::kSuspended) return;
    RunReport report;
    report.id = run_id(job);
    report.state = RunState::never_started;
    end_job(change, job, report);
}

void wait_again(Server& server, const Job& current) {
    server.parts.log.job(current.id, "not started: a job could not be preempted");
    Change change(server, server.now());
    Job& job = change.job(current);
    back_to_wait(change, job);
    change.want_cycle(PBS_SCH_SCHEDULE_TERM);
    if (auto done = change.commit(); !done) server.parts.log.error(current.id, done.error().message);
}

}  // namespace

std::string_view way_text(char method) {
    switch (method) {
        case 'S':
            return "suspension";
        case 'C':
            return "checkpointing";
        case 'R':
            return "requeuing";
        default:
            return "deletion";
    }
}

bool preempt(Change& change, Job& job, std::string_view methods, std::string_view for_job) {
    const State& state = change.server().state;
    if (is_awaiting(job)) {
        note(change, job, fmt::format("Job preempted before its start {}", occasion_of_preemption(for_job)));
        back_to_wait(change, job);
        return true;
    }
    if (job.substate != substate::kRunning) {
        advance(job, JobEvent::preempting, state, change.now(),
                fmt::format("{} {}{}", for_job, kOnceItRuns, methods));
        return true;
    }
    for (std::size_t i = 0; i < methods.size(); ++i) {
        advance(job, JobEvent::preempting, state, change.now(),
                fmt::format("{} {}", for_job, methods.substr(i)));
        if (!preempt_by(change, job, methods[i], for_job)) {
            note(change, job, fmt::format("preemption by {} is not possible", way_text(methods[i])));
            continue;
        }
        note(change, job,
             fmt::format("Job preempted by {} {}", way_text(methods[i]), occasion_of_preemption(for_job)));
        return true;
    }
    advance(job, JobEvent::not_preempted, state, change.now());
    change.want_cycle(PBS_SCH_SCHEDULE_TERM);
    note(change, job, "Job failed to be preempted");
    return false;
}

void preempt_once_it_runs(Change& change, Job& job) {
    const Preempting so_far = preempting_of(job);
    if (so_far.method == kOnceItRuns) (void)preempt(change, job, so_far.left, so_far.for_job);
}

void resume_preempted(Change& change, Job& job) {
    Server& server = change.server();
    advance(job, JobEvent::unpreempted, server.state, change.now());
    set_comment(job, cluster::resumed_comment(job.attributes.text("comment"), job.exec_vnode.text()));
    change.then([&server, handle = job.handle] {
        const Job* resumed = server.state.job(handle);
        if (resumed == nullptr) return;
        if (auto done = server.parts.executor.resume(run_id(*resumed)); !done)
            server.parts.log.error(resumed->id, fmt::format("it can't be resumed: {}", done.error().message));
        server.parts.accounting.resumed(accounted(*resumed, server.state));
        server.parts.log.job(resumed->id, "Job resumed");
    });
}

void await(Change& change, Job& job, const std::vector<RunId>& preempted) {
    std::string runs;
    for (const RunId& run : preempted) runs += (runs.empty() ? "" : ",") + run_text(run);
    advance(job, JobEvent::awaits, change.server().state, change.now(), runs);
}

void launch_awaiting(Server& server) {
    const Handles waiting = server.state.awaiting_jobs();
    for (const uint64_t handle : waiting) {
        const Job* job = server.state.job(handle);
        if (job == nullptr || job->state != job_state::kRunning) continue;
        switch (room_for(*job, server.state)) {
            case Room::there:
                launch_one(server, *job);
                break;
            case Room::not_coming:
                wait_again(server, *job);
                break;
            case Room::coming:
                break;
        }
    }
}

bool end_unlaunched(Server& server, const Job& job) {
    if (!is_awaiting(job) || job.substate == substate::kSchedSuspended) return false;
    server.unstored_reports.push_back(end_of_unlaunched(job));
    return true;
}

RunReport end_of_unlaunched(const Job& job) {
    RunReport report;
    report.id = run_id(job);
    report.state = RunState::ended;
    report.exit.exit_status = exit_status::kFailBeforeFiles;
    report.exit.message = "ended before it was started";
    return report;
}

void recover_preemption(Change& change, Job& job) {
    Server& server = change.server();
    const bool stopped = is_preempted(job) || job.substate == substate::kSuspended ||
                         (is_awaiting(job) && job.substate == substate::kSchedSuspended);
    change.then([&server, run = run_id(job), stopped] {
        (void)(stopped ? server.parts.executor.suspend(run) : server.parts.executor.resume(run));
    });
    const Preempting so_far = preempting_of(job);
    const bool unfinished = so_far.method == 'C' || job.at_end == Job::AtEnd::finish;
    if (!is_preempting(job) || job.deleted || !unfinished) return;
    advance(job, JobEvent::to_be_ended, server.state, change.now());
    (void)preempt(change, job, so_far.left, so_far.for_job);
}

}  // namespace pbs::host
