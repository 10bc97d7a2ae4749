#include "server_plugin/host/life/job_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/mail.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/life/block_answer.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/launch.h"
#include "server_plugin/host/life/new_reservation.h"
#include "server_plugin/host/life/preempt.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/state/accrual.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/preemption.h"
#include "server_plugin/host/state/select_spec.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr int64_t kDefaultHistorySeconds = 14 * 24 * 3600;
constexpr int64_t kDefaultKillDelay = 10;
constexpr int64_t kSecondsUntilNextStagein = 1800;

std::vector<std::pair<std::string, std::string>> pairs_of(const Attributes& attributes,
                                                          std::string_view name) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const AttributeValue& value : attributes.all_of(name))
        out.emplace_back(value.resource(), value.value());
    return out;
}

// Sets the job's attributes from the exit record.
void take_exit(Job& job, const ExitRecord& exit, Server& server, int64_t now) {
    set_attribute(job, "Exit_status", fmt::format("{}", exit.exit_status));
    if (exit.session != 0) set_attribute(job, "session_id", fmt::format("{}", exit.session));
    set_used(job, exit);
    const bool known = exit.ended_at.time_since_epoch().count() > 0;
    job.obittime = known ? server.parts.clock.from_real(exit.ended_at).time_since_epoch().count() : now;
    job.mtime = now;
}

void back_to_queue(Change& change, Job& job) {
    dependencies_at_requeue(change, job);
    advance(job, JobEvent::requeued, change.server().state, change.now());
}

bool keeps_history(const Server& server) {
    return server.state.server.boolean("job_history_enable", false);
}

std::string end_text(const ExitRecord& exit) {
    std::string text = fmt::format("Exit_status={}", exit.exit_status);
    for (const auto& [name, value] : exit.resources_used(1))
        text += fmt::format(" resources_used.{}={}", name, value);
    return text;
}

// Queues a job again whose files couldn't be staged in. The job waits before the next try, and its owner gets
// mail, as in PBS.
void wait_for_files(Change& change, Job& job, const std::string& why) {
    Server& server = change.server();
    server.parts.accounting.rerun(accounted(job, server.state));
    for (const char* name : {"Exit_status", "resources_used"}) unset_attribute(job, name);
    back_to_queue(change, job);
    set_attribute(job, "Execution_Time", fmt::format("{}", change.now() + kSecondsUntilNextStagein));
    advance(job, JobEvent::settled, server.state, change.now());
    set_comment(job, why);
    change.then([&server, waiting = job, why] {
        server.parts.log.job(waiting.id, why);
        send_mail(server, waiting,
                  fmt::format("Files of the job could not be staged in; it is tried again in half "
                              "an hour\n{}",
                              why));
    });
}

}  // namespace

Result<void> fit_to_queue(Job& job, const Queue& queue, Server& server) {
    if (auto ok = set_execution_user(job, server); !ok) return ok;
    return complete_resources(job, queue, server.state);
}

Result<void> enter_queue(Change& change, Job& job, const Queue& queue, Entry entry) {
    if (auto ok = fit_to_queue(job, queue, change.server()); !ok) return ok;
    return enter_fitted(change, job, queue, entry);
}

Result<void> enter_fitted(Change& change, Job& job, const Queue& queue, Entry entry) {
    const State& state = change.server().state;
    if (auto ok = may_enter(job, queue, change.counted(), entry); !ok) return ok;
    job.queue = queue.handle;
    job.queue_name = SharedText(queue.name);
    job.mtime = change.now();
    if (entry != Entry::managed || job.qtime == 0) {
        // Ranks are in microseconds, so that jobs that are queued in the same second stay in order.
        job.queue_rank = std::max(change.now() * 1'000'000, change.server().last_rank + 1);
        change.server().last_rank = job.queue_rank;
        job.qtime = change.now();
    }
    if (job.attributes.text("Checkpoint").empty()) set_attribute(job, "Checkpoint", "u");
    if (job.attributes.text("Hold_Types").empty()) set_attribute(job, "Hold_Types", "n");
    advance(job, JobEvent::settled, state, change.now());
    change.counted().stage(job);
    return {};
}

void log_job(Change& change, const Job& job, std::string text) {
    Log& log = change.server().parts.log;
    change.then([&log, id = job.id, line = std::move(text)] { log.job(id, line); });
}

Result<void> start_job(Change& change, Job& job, const std::vector<Place>& places, std::string_view comment) {
    Server& server = change.server();
    if (!may_happen(job, JobEvent::started)) return fail(PBSE_BADSTATE);
    if (auto ok = dependencies_at_start(change, job); !ok) return ok;
    advance(job, JobEvent::started, server.state, change.now());
    job.places = places;
    job.exec_vnode =
        SharedText(exec_vnode_text(places, server.state.resources, job.attributes.text("schedselect")));
    job.exec_host = SharedText(exec_host_text(places, server.state));
    set_comment(job, comment.empty() ? run_comment(job, change.now()) : std::string(comment));
    if (job.attributes.boolean("create_resv_from_job", false)) reserve_for_started(change, job);
    const uint64_t handle = job.handle;
    const int64_t waited = job.stime - (job.etime > 0 ? job.etime : job.qtime);
    change.then([&server, handle, waited] {
        server.counters.job_started(waited);
        launch(server, handle);
    });
    return {};
}

void set_used(Job& job, const ExitRecord& seen) {
    const int64_t ncpus = amount_of(Type::integer, job.attributes.text("Resource_List", "ncpus"));
    static const AttributeDef& used = *job_table().find("resources_used");
    for (auto& [name, value] : seen.resources_used(static_cast<int>(std::max<int64_t>(ncpus, 1))))
        job.attributes.set(used, name, value);
}

void retire(Change& change, Job& job, JobEvent end) {
    dependencies_at_end(change, job);
    note_block_answer(change, job);
    advance(job, end, change.server().state, change.now());
    change.counted().forget(job.handle);
    if (!keeps_history(change.server())) change.remove(job);
}

void end_job(Change& change, Job& job, const RunReport& report) {
    // A deletion that was acknowledged holds, although the job was never started.
    if (report.state == RunState::never_started && job.deleted)
        return end_job(change, job, end_of_unlaunched(job));
    Server& server = change.server();
    const RunId id = report.id;
    change.then([&server, id] {
        server.ended_runs.push_back(id);
        server.counters.job_ended();
    });
    change.want_cycle(PBS_SCH_SCHEDULE_TERM);
    if (report.state == RunState::never_started) {
        const std::string& why = report.exit.message;
        server.parts.log.job(
            job.id, fmt::format("Requeueing job: it had not been started{}{}", why.empty() ? "" : ": ", why));
        back_to_queue(change, job);
        if (why.empty() || job.state != job_state::kQueued) return;
        set_comment(job, fmt::format("Not Running: it could not be started: {}", why));
        const Job* array = job.is_subjob() ? server.state.job_of_sequence(job.array) : nullptr;
        const uint64_t waiting = array == nullptr ? job.handle : array->handle;
        change.then([&server, waiting] { server.failed_starts.push_back(waiting); });
        return;
    }
    take_exit(job, report.exit, server, change.now());
    // Report the final usage to the plugin while the plugin still takes the job for running, because fair
    // shares count the usage.
    if (server.parts.plugin != nullptr) server.parts.plugin->job_changed(change.now(), job, server.state);
    const bool lost = report.state == RunState::lost;
    const bool unstaged = report.exit.exit_status == exit_status::kStageInFailed;
    if (unstaged && !job.deleted) return wait_for_files(change, job, report.exit.message);
    const bool again = !job.deleted && (job.at_end != Job::AtEnd::finish ||
                                        (lost && job.attributes.boolean("Rerunable", true)));
    if (again && !lost) set_attribute(job, "Exit_status", fmt::format("{}", exit_status::kRerun));
    // Write the accounting record before the commit. If the server dies between the two, the next server
    // handles the end again and doesn't repeat the record. A record that is written after the commit could be
    // lost.
    const AccountedJob record = accounted(job, server.state);
    const std::string text = end_text(report.exit);
    if (again) {
        const std::string preempted = preempted_by(job);
        server.parts.accounting.rerun(record);
        if (!report.exit.output_note.empty()) server.parts.log.job(job.id, report.exit.output_note);
        server.parts.log.job(job.id,
                             lost ? "Requeueing job: it was lost: " + report.exit.message : "Job Rerun");
        if (report.may_still_run) set_attribute(job, "Hold_Types", "s");
        back_to_queue(change, job);
        if (!preempted.empty() && job.state == job_state::kQueued)
            set_comment(job, fmt::format("Not Running: Preempted by requeuing for job {}", preempted));
        if (report.may_still_run)
            set_comment(job, fmt::format("job held, it may still run: {}", report.exit.message));
        return;
    }
    const std::string message = report.exit.message;
    const std::string note = report.exit.output_note;
    if (!note.empty()) set_comment(job, note);
    const Job ended = job;
    server.parts.accounting.ended(record);
    change.then([&server, record, ended, text, message, note] {
        server.parts.log.job(ended.id, text);
        if (!message.empty()) server.parts.log.job(ended.id, message);
        if (!note.empty()) {
            server.parts.log.job(ended.id, note);
            send_mail(server, ended, fmt::format("Output files are not where they were to be\n{}", note));
        }
        const bool aborted = record.exit_status < 0;
        mail_job(server, ended, aborted ? 'a' : 'e',
                 aborted ? fmt::format("Aborted by PBS Server\n{}\n{}", message, text)
                         : fmt::format("Execution terminated\n{}", text));
    });
    if (note.empty()) set_end_comment(job, end_of(job), {});
    retire(change, job, end_of(job));
}

void note_deletion(Change& change, const Job& job, std::string_view requestor) {
    Server& server = change.server();
    change.then([&server, deleted = job, by = std::string(requestor)] {
        server.parts.accounting.deleted(deleted.id, by);
        server.parts.log.job(deleted.id, fmt::format("Job to be deleted at request of {}", by));
        if (by != deleted.attributes.text("Job_Owner"))
            mail_job(server, deleted, 'a', fmt::format("Job deleted at request of {}", by));
    });
}

void delete_waiting_job(Change& change, Job& job, std::string_view requestor) {
    note_deletion(change, job, requestor);
    advance(job, JobEvent::deleted, change.server().state, change.now());
    set_end_comment(job, JobEvent::terminated, requestor);
    retire(change, job, JobEvent::terminated);
}

Result<void> kill_job(Server& server, const Job& job) {
    if (end_unlaunched(server, job)) return {};
    return server.parts.executor.signal(run_id(job), 9);
}

void take_up(Change& change, const Job& job) {
    change.then([&server = change.server(), told = job.told_as(), now = change.now()] {
        if (server.parts.plugin != nullptr) server.parts.plugin->take_up(now, told, server.state);
    });
}

void kill_after(Change& change, const Job& job) {
    change.then([&server = change.server(), handle = job.handle] {
        if (const Job* ending = server.state.job(handle)) (void)kill_job(server, *ending);
    });
}

Result<void> terminate_job(Server& server, const Job& job) {
    if (end_unlaunched(server, job)) return {};
    const Queue* queue = server.state.queue(job.queue);
    const int64_t delay =
        queue == nullptr ? kDefaultKillDelay : queue->attributes.integer("kill_delay", kDefaultKillDelay);
    return server.parts.executor.terminate(run_id(job), std::chrono::seconds(delay));
}

void reject_job(Change& change, Job& job, std::string_view text) {
    Server& server = change.server();
    set_comment(job, text);
    const Job rejected = job;
    const std::string reason(text);
    change.then([&server, rejected, reason] {
        server.parts.accounting.aborted(rejected.id, reason);
        server.parts.log.job(rejected.id, fmt::format("By the scheduling policy: {}", reason));
        mail_job(server, rejected, 'a', fmt::format("Aborted by PBS Server\n{}", reason));
        tell_reason(server, rejected, reason);
    });
    if (job.is_array() && !close_array(change, job)) return;
    retire(change, job, JobEvent::failed);
}

void abort_job(Change& change, Job& job, const std::string& why) {
    Server& server = change.server();
    change.then([&server, ended = job, why] {
        server.parts.accounting.aborted(ended.id, why);
        server.parts.log.job(ended.id, why);
        mail_job(server, ended, 'a', fmt::format("Aborted by PBS Server\n{}", why));
        tell_reason(server, ended, why);
    });
    if (job.is_array() && !close_array(change, job)) return;
    if (!job.running()) {
        retire(change, job, JobEvent::finished);
        return;
    }
    advance(job, JobEvent::deleted, server.state, change.now());
    kill_after(change, job);
}

RunId run_id(const Job& job) {
    return RunId{job.id, job.attributes.integer("run_count", 0)};
}

AccountedJob accounted(const Job& job, const State& state) {
    const Attributes& a = job.attributes;
    AccountedJob out;
    out.id = job.id;
    out.user = a.text("euser");
    out.group = a.text("egroup");
    out.account = a.text("Account_Name");
    out.project = a.text("project");
    out.name = a.text("Job_Name");
    out.queue = job.queue_name.text();
    if (const Reservation* reservation = state.reservation_of_queue(job.queue)) {
        out.resv_name = reservation->attributes.text("Reserve_Name");
        out.resv_id = reservation->id;
    }
    out.array_indices = a.text("array_indices_submitted");
    out.ctime = job.ctime;
    out.qtime = job.qtime;
    out.etime = job.etime;
    out.start = job.stime;
    out.exec_host = job.exec_host.text();
    out.exec_vnode = job.exec_vnode.text();
    out.resource_list = pairs_of(a, "Resource_List");
    Amounts assigned;
    for (const Place& place : job.places)
        for (const auto& [id, amount] : place.amounts) assigned[id] += amount;
    for (const auto& [id, amount] : assigned)
        if (const Resource* resource = state.resources.by_id(id))
            out.resource_assigned.emplace_back(resource->name, amount_text(resource->type, amount));
    out.session = a.integer("session_id", 0);
    out.end = job.obittime;
    out.exit_status = static_cast<int>(a.integer("Exit_status", 0));
    out.resources_used = pairs_of(a, "resources_used");
    // A job that runs or has ended accrues no more eligible time, so eligible_before is its whole eligible
    // time.
    if (counts_eligible_time(state.server))
        out.eligible_time = amount_text(Type::duration, a.integer("eligible_before", 0));
    out.run_count = a.integer("run_count", 0);
    return out;
}

AccountedJob accounted_at_queueing(const Job& job, const State& state) {
    AccountedJob out = accounted(job, state);
    out.depend = shown_depend(job, state);
    return out;
}

void mail_job(Server& server, const Job& job, char point, std::string_view text) {
    const std::string_view points =
        job.attributes.has("Mail_Points") ? job.attributes.text("Mail_Points") : "a";
    if (job.is_subjob() && points.find('j') == std::string_view::npos) return;
    if (points.find(point) != std::string_view::npos) send_mail(server, job, text);
}

void send_mail(Server& server, const Job& job, std::string_view text) {
    std::vector<std::string> to = job.attributes.list("Mail_Users");
    if (to.empty()) to.emplace_back(job.attributes.text("Job_Owner"));
    const std::string_view name = job.attributes.text("Job_Name");
    server.parts.mailer.send(job.id, to, fmt::format("PBS JOB {}", job.id),
                             fmt::format("PBS Job Id: {}\nJob Name:   {}\n{}\n", job.id, name, text));
}

Result<bool> purge_history(Server& server, int64_t now) {
    // These bound the time that a call takes.
    constexpr size_t kMostLooks = 10'000;
    constexpr size_t kMostRemoved = 500;
    const int64_t keep = server.state.server.integer("job_history_duration", kDefaultHistorySeconds);
    const bool enabled = keeps_history(server);
    const Handles& finished = server.state.finished_jobs();
    Change change(server, now);
    size_t removed = 0;
    auto next = finished.upper_bound(server.purged_up_to);
    for (size_t looks = 0; next != finished.end() && looks < kMostLooks && removed < kMostRemoved; ++looks) {
        const uint64_t handle = *next++;
        server.purged_up_to = handle;
        const Job& job = *server.state.job(handle);
        // Subjobs stay in the history as long as their array, so the array's state and time decide.
        const Job* array = job.is_subjob() ? server.state.job_of_sequence(job.array) : &job;
        const bool live = array != nullptr && !array->history();
        if (enabled && array != nullptr &&
            (live || array->attributes.integer("history_timestamp", array->mtime) + keep > now))
            continue;
        change.remove(job);
        ++removed;
    }
    const bool more = next != finished.end();
    if (!more) server.purged_up_to = 0;
    if (removed == 0) return more;
    if (auto done = change.commit(); !done) return tl::unexpected(done.error());
    return more;
}

Result<void> wake_waiting(Server& server, int64_t now) {
    Change change(server, now);
    bool any = false;
    for (uint64_t handle : server.state.waiting_jobs()) {
        const Job& waiting = *server.state.job(handle);
        if (waiting.attributes.integer("Execution_Time", 0) > now) continue;
        advance(change.job(waiting), JobEvent::settled, server.state, now);
        any = true;
    }
    if (!any) return {};
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
    return change.commit();
}

}  // namespace pbs::host
