// Preemption: how a running job makes room for another, by decision of the policy plugin.
//
// What is under way is kept in attributes of the jobs that nobody is shown, so that it goes on after a crash:
//   preempting       of a job that makes room: the id of the other one, and the methods that are left to try
//   awaits           of a job that is to start: the runs of those that make room for it. It holds its places
//                    as a running job does, and is launched when all of them have gone
//   not_preemptable  of a running job with which all methods have failed
//   released         of a suspended job: which resources it has given back, if not all
//   suspended_at     since when an operator has suspended it
//   suspended_for    how many seconds a running job was suspended in all: its walltime stood still
// sched_preempted says since when a job has been suspended, or when it was requeued, until it runs again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// The substate of a job that was preempted by suspension, as PBS numbers it.
namespace substate {
inline constexpr int kSchedSuspended = 45;
}

// Begins to preempt a running job by the first of `methods` ('S', 'C', 'R', 'D') that it can be by; `for_job`
// is the id of the job that room is made for. False: it can be by none, and is marked so. One that is being
// started yet is preempted once it runs, and one that waits for others to make room waits on at once.
bool preempt(Change& change, Job& job, std::string_view methods, std::string_view for_job);
void preempt_once_it_runs(Change& change, Job& job);

// How people are told of a method: "suspension".
std::string_view way_text(char method);

// Has the job been suspended by a decision, so that it has given back its places?
bool is_preempted(const Job& job);
// Is it on its way out? For which job, by its id; empty: it isn't.
bool is_preempting(const Job& job);
std::string preempted_by(const Job& job);
// Does it wait for others to make room before it is launched?
bool is_awaiting(const Job& job);

// A suspended job runs again on its places; after the commit its processes go on.
void resume_preempted(Change& change, Job& job);
// The job that was started is launched only when these jobs have gone.
void await(Job& job, const std::vector<RunId>& preempted);
// Launches the jobs that have waited long enough, and queues those again that have waited in vain.
void launch_awaiting(Server& server);
// Of a job that waits to be launched there is no process that could be ended: its end is reported all the
// same. False: there may be one.
bool end_unlaunched(Server& server, const Job& job);
RunReport end_of_unlaunched(const Job& job);
// After a crash: goes on with what was under way with a running job.
void recover_preemption(Change& change, Job& job);
// The job is queued again, or starts: what was noted of preemption, but for when, is forgotten.
void forget_preemption(Job& job);

// An operator suspends a job, or resumes it: its walltime stands still.
void note_suspension(Job& job, bool suspended, int64_t now);
// The suspended seconds of a job that runs, or is suspended; and how long it has run.
int64_t suspended_seconds(const Job& job);
int64_t elapsed_seconds(const Job& job);

// What a job holds of its places now, and what a suspended one has given back of them.
std::vector<Place> held_places(const Job& job, const ResourceTable& resources);
std::vector<Place> released_places(const Job& job, const ResourceTable& resources);

}  // namespace pbs::host
