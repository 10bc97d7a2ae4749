// Preempts running jobs: they free their resources for other jobs, by decision of the policy plugin.
// Attributes of the jobs store the steps under way (state/preemption.h).
#pragma once

#include <string_view>
#include <vector>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Begins to preempt a running job so that the job `for_job` can start, by the first of `methods` ('S', 'C',
// 'R', 'D') that works. With an empty `for_job`, the job is preempted because its queue's hours have ended,
// and the caller sets its comment. Returns false if no method works; the job is then marked as not
// preemptable. A job that is still being started is preempted once it runs. A job that itself waits for
// preempted jobs before it is launched or resumed goes back to its queue, or stays suspended.
bool preempt(Change& change, Job& job, std::string_view methods, std::string_view for_job);
// Begins the preemption of a job that was still being started or resumed when preempt() was called.
void preempt_once_it_runs(Change& change, Job& job);

// Returns the name of a method for users, such as "suspension".
std::string_view way_text(char method);

// Resumes a suspended job on its places; its processes go on after the commit.
void resume_preempted(Change& change, Job& job);
// Makes a job that was started or is to be resumed wait until the runs of the preempted jobs have ended or
// are suspended. Only then is the job launched or resumed.
void await(Change& change, Job& job, const std::vector<RunId>& preempted);
// Launches or resumes each waiting job whose preempted jobs have freed their places. If one of the preempted
// jobs can't be preempted after all, the job that waits for it goes back to its queue, or stays suspended.
void launch_awaiting(Server& server);
// If the job waits to be launched, reports its end at once, because it has no process, and returns true.
// Returns false if the job may have processes.
bool end_unlaunched(Server& server, const Job& job);
RunReport end_of_unlaunched(const Job& job);
// Continues the preemption of a running job after a crash of the server.
void recover_preemption(Change& change, Job& job);
}  // namespace pbs::host
