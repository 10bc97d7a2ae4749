// Preemption: a running job makes room for another, by decision of the policy plugin. The steps under way are
// kept in attributes of the jobs (state/preemption.h).
#pragma once

#include <string_view>
#include <vector>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Begins to preempt a running job by the first of `methods` ('S', 'C', 'R', 'D') that works; `for_job` is the
// id of the job that room is made for. False: no method works, and the job is marked so. A job that is still
// being started is preempted once it runs; a job that itself waits for others to make room goes back to
// waiting at once.
bool preempt(Change& change, Job& job, std::string_view methods, std::string_view for_job);
void preempt_once_it_runs(Change& change, Job& job);

// The name of a method for users: "suspension".
std::string_view way_text(char method);

// Makes a suspended job run again on its places; after the commit its processes go on.
void resume_preempted(Change& change, Job& job);
// Makes a job that was started, or is to be resumed, wait for these runs to end before it is launched.
void await(Change& change, Job& job, const std::vector<RunId>& preempted);
// Launches the jobs for which room has been made, and queues those again that have waited in vain.
void launch_awaiting(Server& server);
// Ends a job that waits to be launched: it has no process to end, so its end is reported right away. False:
// the job may have processes.
bool end_unlaunched(Server& server, const Job& job);
RunReport end_of_unlaunched(const Job& job);
// Continues the preemption of a running job after a crash.
void recover_preemption(Change& change, Job& job);
}  // namespace pbs::host
