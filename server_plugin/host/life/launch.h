// Hands a job that is marked as starting to the runner.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/host/change/server.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

// What the runner needs of a job; `script` is the path of the script's file.
Result<JobStart> job_start(const Job& job, const Server& server, const std::string& script);

// What the job's Resource_List says of walltime or cput; none: no limit.
std::optional<std::chrono::seconds> time_limit(const Job& job, std::string_view resource);

// The file with the script of a job that runs; removed when the run ends.
std::string script_path(const Server& server, const Job& job);

// Tells the runner the walltime and cput that a running job has now.
void set_limits(Server& server, const Job& job);

// Starts the job (state R, substate PRERUN). What the runner refuses goes back to its queue, held for the
// system, with the reason as its comment.
void launch(Server& server, uint64_t job);

}  // namespace pbs::host
