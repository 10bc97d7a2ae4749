#include "server_plugin/host/recovery.h"

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/host/change.h"
#include "server_plugin/host/clock.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/log.h"

namespace pbs::host {
namespace {

void now_running(Job& job, const RunReport& report) {
    if (job.state == job_state::running) job.substate = substate::running;
    if (report.session != 0) set_attribute(job, "session_id", fmt::format("{}", report.session));
}

// The job of a report, if it is that run of it.
const Job* job_of(const Server& server, const RunReport& report) {
    const Job* job = server.state.job(report.id.job);
    return job != nullptr && job->running() && run_id(*job) == report.id ? job : nullptr;
}

void apply(Change& change, const RunReport& report, std::vector<RunId>& to_terminate) {
    Server& server = change.server();
    const Job* current = job_of(server, report);
    if (current == nullptr) return;
    Job& job = change.job(*current);
    if (report.state != RunState::running) {
        end_job(change, job, report);
        return;
    }
    now_running(job, report);
    server.parts.log.job(job.id, fmt::format("running, session {}", report.session));
    // Its end was asked for before the server stopped.
    if (job.deleted || job.at_end != Job::AtEnd::finish) to_terminate.push_back(report.id);
}

}  // namespace

std::vector<RunId> running_starts(const State& state) {
    std::vector<RunId> runs;
    for (const auto& [handle, job] : state.jobs())
        if (job.running()) runs.push_back(run_id(job));
    return runs;
}

int64_t earliest_start(const State& state, int64_t now) {
    int64_t earliest = now;
    for (const auto& [handle, job] : state.jobs())
        if (job.running()) earliest = std::min(earliest, job.stime);
    return earliest;
}

Result<void> recover_jobs(Server& server, const std::vector<RunReport>& reports,
                          const std::vector<RunReport>& strays) {
    Change change(server, server.now());
    std::vector<RunId> to_terminate;
    for (const RunReport& report : reports) apply(change, report, to_terminate);
    if (auto done = change.commit(); !done) return done;
    for (const RunReport& stray : strays) {
        if (stray.state != RunState::running) continue;
        server.parts.log.error(stray.id.job, "a run that the database does not know is ended");
        to_terminate.push_back(stray.id);
    }
    for (const RunId& id : to_terminate) (void)server.parts.executor.terminate(id, std::chrono::seconds(10));
    return {};
}

void take_run_events(Server& server) {
    std::vector<RunReport>& reports = server.unstored_reports;
    for (RunReport& report : server.parts.executor.events()) reports.push_back(std::move(report));
    if (reports.empty()) return;
    Change change(server, server.now());
    std::vector<RunId> to_terminate;
    for (const RunReport& report : reports) {
        // A stray's, or that of a job that has been forced away.
        if (job_of(server, report) == nullptr && report.state != RunState::running)
            server.parts.executor.forget(report.id);
        apply(change, report, to_terminate);
    }
    if (auto done = change.commit(); !done) {
        // The runner tells of an end once only: it is tried again at the next tick.
        server.parts.log.error("jobs",
                               fmt::format("can not store what became of jobs: {}", done.error().message));
        return;
    }
    reports.clear();
    for (const RunId& id : to_terminate) (void)server.parts.executor.terminate(id, std::chrono::seconds(10));
}

}  // namespace pbs::host
