#include "server_plugin/host/life/run_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/life/checkpoint.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/launch.h"
#include "server_plugin/host/life/preempt.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/preemption.h"

namespace pbs::host {
namespace {

void now_running(Change& change, Job& job, const RunReport& report) {
    if (may_happen(job, JobEvent::running))
        advance(job, JobEvent::running, change.server().state, change.now());
    if (report.session != 0) set_attribute(job, "session_id", fmt::format("{}", report.session));
    if (!report.exit.output_note.empty()) set_comment(job, report.exit.output_note);
}

// Returns the job of a report, if the report is about the job's present run; else nullptr.
const Job* job_of(const Server& server, const RunReport& report) {
    const Job* job = server.state.job(report.id.job);
    return job != nullptr && job->running() && run_id(*job) == report.id ? job : nullptr;
}

void apply(Change& change, const RunReport& report, std::vector<RunId>& to_terminate, bool recovers) {
    Server& server = change.server();
    const Job* current = job_of(server, report);
    if (current == nullptr) return;
    const bool unlaunched = report.state == RunState::never_started && is_awaiting(*current);
    const bool ends = current->deleted || current->at_end != Job::AtEnd::finish;
    if (unlaunched && !ends) return;  // the job is yet to be launched
    Job& job = change.job(*current);
    if (unlaunched) {
        end_job(change, job, end_of_unlaunched(job));
        return;
    }
    if (report.state != RunState::running) {
        end_job(change, job, report);
        return;
    }
    now_running(change, job, report);
    dependencies_when_running(change, job);
    server.parts.log.job(job.id, fmt::format("running, session {}", report.session));
    if (!report.exit.output_note.empty()) server.parts.log.job(job.id, report.exit.output_note);
    // Send the limits to the shepherd again: they may have changed just before the server stopped.
    if (recovers) {
        change.then([&server, handle = job.handle] {
            if (const Job* running = server.state.job(handle)) set_limits(server, *running);
        });
        recover_preemption(change, job);
    }
    // The job's deletion or rerun was requested before the server stopped, or before the job ran: end it.
    if (job.deleted || job.at_end != Job::AtEnd::finish)
        to_terminate.push_back(report.id);
    else
        preempt_once_it_runs(change, job);
}

// Changes the jobs as the reports say, and commits. If the handling of a report throws, that report stays in
// `reports`, and the others are removed. After an error all reports stay.
Result<void> apply_all(Server& server, std::vector<RunReport>& reports, std::vector<RunId>& to_terminate,
                       bool recovers = false) {
    std::vector<RunReport> failed;
    const auto apply_some = [&](std::span<const RunReport> some) {
        Change change(server, server.now());
        std::vector<RunId> ends;
        {
            // The accounting records of ends are written before the commit (end_job).
            const Accounting::Together records(server.parts.accounting);
            for (const RunReport& report : some) apply(change, report, ends, recovers);
        }
        // This change may be lost in a crash of the machine: afterwards the runner reports the ends again
        // (ended_runs.h).
        change.need_not_last();
        auto done = change.commit();
        if (done) to_terminate.insert(to_terminate.end(), ends.begin(), ends.end());
        return done;
    };
    Result<void> done;
    if (!guarded(server.parts.log, "jobs", [&] { done = apply_some(reports); })) {
        for (const RunReport& report : reports)
            if (!guarded(server.parts.log, report.id.job, [&] {
                    if (done) done = apply_some({&report, 1});
                }))
                failed.push_back(report);
    }
    if (done) reports = std::move(failed);
    return done;
}

// Writes the accounting records of changes that the last server committed but couldn't record.
void complete_accounting(Server& server, const std::vector<RunReport>& reports) {
    Accounting& accounting = server.parts.accounting;
    const Accounting::Together records(accounting);
    const int64_t since = accounting.gap_begin().time_since_epoch().count();
    for (const auto& [handle, job] : server.state.jobs()) {
        if (job.history()) continue;
        if (!job.is_subjob() && job.ctime >= since && accounting.lacks_queueing(job.id))
            accounting.queued_if_missing(accounted_at_queueing(job, server.state));
        if (job.begun() && job.stime >= since && accounting.lacks_start(job.id, job.stime))
            accounting.started_if_missing(accounted(job, server.state));
    }
    for (const RunReport& report : reports) {
        const Job* job = job_of(server, report);
        if (job != nullptr && report.state != RunState::never_started && job->stime >= since &&
            accounting.lacks_start(job->id, job->stime))
            accounting.started_if_missing(accounted(*job, server.state));
    }
    accounting.forget_beginnings();
}

}  // namespace

std::vector<RunId> running_starts(const State& state) {
    std::vector<RunId> runs;
    for (const uint64_t handle : state.running_jobs()) runs.push_back(run_id(*state.job(handle)));
    return runs;
}

int64_t earliest_start(const State& state, int64_t now) {
    int64_t earliest = now;
    for (const uint64_t handle : state.running_jobs())
        earliest = std::min(earliest, state.job(handle)->stime);
    return earliest;
}

Result<void> recover_jobs(Server& server, const std::vector<RunReport>& reports,
                          const std::vector<RunReport>& strays) {
    complete_accounting(server, reports);
    std::vector<RunId> to_terminate;
    std::vector<RunReport> left = reports;
    if (auto done = apply_all(server, left, to_terminate, true); !done) return done;
    server.unstored_reports = std::move(left);
    for (const RunReport& stray : strays) {
        if (stray.state != RunState::running) continue;
        server.parts.log.error(stray.id.job, "a run of the job that the database does not know is ended");
        to_terminate.push_back(stray.id);
    }
    for (const RunId& id : to_terminate) (void)server.parts.executor.terminate(id, std::chrono::seconds(10));
    return {};
}

namespace {

void take_reports(Server& server) {
    std::vector<RunReport>& reports = server.unstored_reports;
    // The runner reports an event only once: keep what there is no memory for here, for the next tick.
    std::vector<RunReport>& events = server.new_reports;
    if (events.empty()) events = server.parts.executor.events();
    reports.insert(reports.end(), std::move_iterator(events.begin()), std::move_iterator(events.end()));
    events.clear();
    if (reports.empty()) return;
    const Log::Together lines(server.parts.log);
    std::vector<RunId> to_terminate;
    // Forget ended runs that belong to no job. The database doesn't know such a run, or its job was deleted
    // by force.
    for (const RunReport& report : reports)
        if (job_of(server, report) == nullptr && report.state != RunState::running)
            server.parts.executor.forget(report.id);
    if (auto done = apply_all(server, reports, to_terminate); !done) {
        // The runner reports an end only once, so the reports stay in unstored_reports for the next tick.
        server.parts.log.error("jobs",
                               fmt::format("can not store what became of jobs: {}", done.error().message));
        return;
    }
    for (const RunId& id : to_terminate) (void)server.parts.executor.terminate(id, std::chrono::seconds(10));
}

}  // namespace

void take_run_events(Server& server) {
    poll_checkpoints(server);
    take_reports(server);
    launch_awaiting(server);
}

}  // namespace pbs::host
