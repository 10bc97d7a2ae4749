// The life of a job from its queueing to its end, as steps of a Change.
//
// The folder life/ has such steps: of jobs (this file), of arrays (array_life.h), of dependencies (depend.h),
// of preemption (preempt.h) and of reservations (reservation_life.h, new_reservation.h). It also has the
// periodic work for jobs (run_reports.h, routing.h, ended_runs.h). A step changes copies of objects. Effects
// that can't be undone, such as mail and processes, follow after the commit. advance() computes a job's next
// state (state/job_state.h). For example, a job is started by
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

// Puts a job, which is new or comes from another queue, into a queue. Checks whether it may enter, and sets
// its rank, qtime, defaults and user as the queue demands.
Result<void> enter_queue(Change& change, Job& job, const Queue& queue, Entry entry);
// fit_to_queue() and enter_fitted() together do what enter_queue() does. fit_to_queue() completes the job as
// the queue demands; its result depends on the setup (State::setup) and the current second, but not on other
// jobs.
Result<void> fit_to_queue(Job& job, const Queue& queue, Server& server);
Result<void> enter_fitted(Change& change, Job& job, const Queue& queue, Entry entry);

// Writes a line about the job to the log after the commit.
void log_job(Change& change, const Job& job, std::string text);

// Marks the job as starting on these places. After the commit the runner starts it. If the runner fails, the
// job goes back to its queue, held unless the reason may pass, with the reason as its comment.
Result<void> start_job(Change& change, Job& job, const std::vector<Place>& places, std::string_view comment);

// Ends the job's run by the runner's report: writes the accounting record, then moves the job to the history,
// removes it, or puts it back into its queue. A deleted job that was never started ends, too.
void end_job(Change& change, Job& job, const RunReport& report);

// Writes the accounting record, the line in the log and the mail of a job's deletion, after the commit.
void note_deletion(Change& change, const Job& job, std::string_view requestor);

// Deletes a job that isn't running: moves it to the history, or removes it if there is none. `requestor` is
// user@host.
void delete_waiting_job(Change& change, Job& job, std::string_view requestor);

// Kills the processes of a running job at once, if it has any. job.at_end decides whether the job is queued
// again.
Result<void> kill_job(Server& server, const Job& job);
// Kills the job's processes after the commit, if the job still exists then.
void kill_after(Change& change, const Job& job);
// Ends the job's processes: with TERM first, and with KILL after the kill_delay of the job's queue.
Result<void> terminate_job(Server& server, const Job& job);

// Deletes a job that can never run under the policy in force, and sends its owner the reason.
void reject_job(Change& change, Job& job, std::string_view text);

// Ends a job, running or not. The accounting record and the mail have the reason.
void abort_job(Change& change, Job& job, const std::string& why);

// Ends a job without processes: moves it to the history, or removes it if there is no history. `end` is the
// event: terminated, finished, failed or moved.
void retire(Change& change, Job& job, JobEvent end);

// Lets the plugin decide about the job again if it was put aside, because this change may lift the refusal
// (Cycles::put_aside()).
void take_up(Change& change, const Job& job);

// These functions collect the job's data for the runner and for accounting records.
RunId run_id(const Job& job);
AccountedJob accounted(const Job& job, const State& state);
AccountedJob accounted_at_queueing(const Job& job, const State& state);

// Sends mail to the owner or Mail_Users, if Mail_Points has this point ('a', 'b', 'e'; the default is 'a').
void mail_job(Server& server, const Job& job, char point, std::string_view text);

// Sends mail to the owner or Mail_Users whatever Mail_Points is, for events that they wouldn't notice
// otherwise.
void send_mail(Server& server, const Job& job, std::string_view text);

// Sets resources_used from the usage that the runner has measured.
void set_used(Job& job, const ExitRecord& seen);

// Removes finished jobs whose job_history_duration is over from the history. Looks at a limited
// number of them, so that the loop's other work doesn't wait. Returns whether there are more to look at: then
// the next call continues with these, else it begins with the first one again.
Result<bool> purge_history(Server& server, int64_t now);

// Queues the jobs whose Execution_Time has come.
Result<void> wake_waiting(Server& server, int64_t now);

}  // namespace pbs::host
