// Preemption: a running job frees its resources for another job, by decision of the policy plugin. Attributes
// of the jobs store the steps under way (state/preemption.h).
#pragma once

#include <string_view>
#include <vector>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Begins to preempt a running job for the job `for_job`, by the first of `methods` ('S', 'C', 'R', 'D') that
// works. Empty `for_job`: the hours of its queue have ended, and the caller sets its comment. False: no
// method works, and the job is marked as not preemptable. A job that is still being started is preempted once
// it runs. A job that itself waits for preempted jobs before its launch goes back to its queue at once.
bool preempt(Change& change, Job& job, std::string_view methods, std::string_view for_job);
void preempt_once_it_runs(Change& change, Job& job);

// The name of a method for users, such as "suspension".
std::string_view way_text(char method);

// Resumes a suspended job on its places; its processes go on after the commit.
void resume_preempted(Change& change, Job& job);
// Makes a job that was started, or is to be resumed, wait until these runs have ended before it is launched.
void await(Change& change, Job& job, const std::vector<RunId>& preempted);
// Launches the waiting jobs whose preempted jobs are gone, and queues those again whose preemptions have
// failed.
void launch_awaiting(Server& server);
// Ends a job that waits to be launched. It has no process, so its end is reported at once. False: the job may
// have processes.
bool end_unlaunched(Server& server, const Job& job);
RunReport end_of_unlaunched(const Job& job);
// Continues the preemption of a running job after a crash of the server.
void recover_preemption(Change& change, Job& job);
}  // namespace pbs::host
