// What happens to a job from its queueing to its end, as steps of a Change.
//
// The room life/ holds such steps: of jobs (this file), of arrays (array_life.h), of dependencies (depend.h),
// of preemption (preempt.h) and of reservations (reservation_life.h, new_reservation.h); and what the loop
// does with jobs now and then (run_reports.h, routing.h, ended_runs.h). A step changes copies, and leaves for
// after the commit what can't be taken back: records, mail, processes. What state a job comes to is
// advance()'s (state/job_state.h) to say. For example, a job is started by
//   Change change(server, now);
//   auto done = start_job(change, change.job(current), places, {});
//   if (done) done = change.commit();  // the runner starts it afterwards
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/life/queue_rules.h"
#include "server_plugin/host/run/runner.h"
#include "server_plugin/host/state/job_state.h"

namespace pbs::host {

// Puts a job into a queue: rank, qtime, defaults and user as the queue wants them; checks first. Works on
// jobs that are in no queue yet and on those to be moved.
Result<void> enter_queue(Change& change, Job& job, const Queue& queue, Entry entry);
// The same in two parts. The first one makes of the job what the queue wants; what it makes depends on the
// setup (State::setup) and on the second, not on what other jobs there are.
Result<void> fit_to_queue(Job& job, const Queue& queue, Server& server);
Result<void> enter_fitted(Change& change, Job& job, const Queue& queue, Entry entry);

// Writes a line about the job into the log, once the change is committed.
void log_job(Change& change, const Job& job, std::string text);

// Marks the job as starting on these places and, after the commit, has the runner start it. If the runner
// can't, the job goes back to its queue, held, with the reason as its comment.
Result<void> start_job(Change& change, Job& job, const std::vector<Place>& places, std::string_view comment);

// The run has ended: accounting, history or removal, or back into the queue.
void end_job(Change& change, Job& job, const RunReport& report);

// The accounting record, the line in the log and the mail of a deletion.
void note_deletion(Change& change, const Job& job, std::string_view requestor);

// Ends a job that isn't running: deletes it, or keeps it as history. `requestor` is user@host.
void delete_waiting_job(Change& change, Job& job, std::string_view requestor);

// Ends the processes of a running job at once, if it has any yet; what becomes of it is job.at_end.
Result<void> kill_job(Server& server, const Job& job);
// The same once the change is committed, if the job is still there.
void kill_after(Change& change, const Job& job);
// The same as kill_job(), after the signal to end and its queue's kill_delay.
Result<void> terminate_job(Server& server, const Job& job);

// The policy says that the job can never run: it is deleted, and its owner told why.
void reject_job(Change& change, Job& job, std::string_view text);

// Ends a job, running or not, with an accounting record and mail that say why.
void abort_job(Change& change, Job& job, const std::string& why);

// Ends a job, of which nothing runs any more: it is history if that is kept, otherwise gone. `end` is
// terminated, finished, failed or moved.
void retire(Change& change, Job& job, JobEvent end);

// Records of the runner and of accounting.
RunId run_id(const Job& job);
AccountedJob accounted(const Job& job, const State& state);
AccountedJob accounted_at_queueing(const Job& job, const State& state);

// Mail to the owner or Mail_Users, if Mail_Points asks for this point ('a', 'b', 'e'); 'a' is the default.
void mail_job(Server& server, const Job& job, char point, std::string_view text);

// The same whatever Mail_Points says: for what the owner wouldn't find out otherwise.
void send_mail(Server& server, const Job& job, std::string_view text);

// resources_used, by what the runner has seen.
void set_used(Job& job, const ExitRecord& seen);

// Takes the oldest finished jobs out of the history when job_history_duration is over.
Result<void> purge_history(Server& server, int64_t now);

// Jobs whose Execution_Time has come.
Result<void> wake_waiting(Server& server, int64_t now);

}  // namespace pbs::host
