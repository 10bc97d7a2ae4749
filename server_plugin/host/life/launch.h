// Hands jobs that are marked as starting over to the runner.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/host/change/server.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// Collects the runner's data for a job. `script` is the script's text. PBSE_TRYAGAIN: a look-up has failed.
Result<JobStart> job_start(const Job& job, Server& server, std::string script);

// Returns the limit that the job's Resource_List sets for walltime or cput; nullopt: no limit.
std::optional<std::chrono::seconds> time_limit(const Job& job, std::string_view resource);

// Passes the present limits of a running job's walltime and cput to the runner.
void set_limits(Server& server, const Job& job);

// Starts the job (state R, substate PRERUN). If that fails, the job goes back to its queue with the reason as
// its comment, and with a system hold unless the reason may pass.
void launch(Server& server, uint64_t job);

}  // namespace pbs::host
