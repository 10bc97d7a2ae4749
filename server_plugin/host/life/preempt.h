// Preemption: how a running job makes room for another, by decision of the policy plugin. What is
// under way is kept in attributes of the jobs (state/preemption.h).
#pragma once

#include <string_view>
#include <vector>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Begins to preempt a running job by the first of `methods` ('S', 'C', 'R', 'D') that it can be by; `for_job`
// is the id of the job that room is made for. False: it can be by none, and is marked so. One that is being
// started yet is preempted once it runs, and one that waits for others to make room waits on at once.
bool preempt(Change& change, Job& job, std::string_view methods, std::string_view for_job);
void preempt_once_it_runs(Change& change, Job& job);

// How people are told of a method: "suspension".
std::string_view way_text(char method);

// A suspended job runs again on its places; after the commit its processes go on.
void resume_preempted(Change& change, Job& job);
// The job, which was started or is to be resumed, is launched only when these runs have gone.
void await(Change& change, Job& job, const std::vector<RunId>& preempted);
// Launches the jobs that have waited long enough, and queues those again that have waited in vain.
void launch_awaiting(Server& server);
// Of a job that waits to be launched there is no process that could be ended: its end is reported all the
// same. False: there may be one.
bool end_unlaunched(Server& server, const Job& job);
RunReport end_of_unlaunched(const Job& job);
// After a crash: goes on with what was under way with a running job.
void recover_preemption(Change& change, Job& job);
}  // namespace pbs::host
