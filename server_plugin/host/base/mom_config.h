// HOME/mom_priv/config: the site's settings for running jobs, in the format of MoM's configuration.
//   $enforce mem        a job whose processes have more memory than it asked for is killed
//   $enforce !mem       such a job isn't killed
//   $enforce vmem       a job with more virtual memory than it asked for is killed; !vmem: it isn't
//   $action checkpoint_abort SECONDS !PROGRAM ARGUMENT...    writes a checkpoint of a job (checkpoint.h)
//   $max_load NUMBER    with load_balancing, no job starts from this load average on
//   $ideal_load NUMBER  and then none until the average has fallen below this one
//   $source_login_batch false    a job's script isn't run by a login shell; true: it is
//   # text              a comment
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/machine_load.h"

namespace pbs::host {

// The program of "$action checkpoint_abort", which writes checkpoints (checkpoint.h). It is killed after
// `timeout`.
struct CheckpointAction {
    std::chrono::seconds timeout{0};
    std::string program;
    std::vector<std::string> arguments;
};

struct MomConfig {
    std::optional<CheckpointAction> checkpoint;
    bool enforce_mem = false;
    bool enforce_vmem = false;
    bool login_shell = true;  // scripts of jobs run in a login shell
    LoadLimits load;
    // Notes for the log, each with the file's name: the numbers of lines that have no effect, or the reason
    // why the file isn't read.
    std::vector<std::string> notes;
};

// Reads the file. If there is no file, or if users other than root and the server's user can write to it,
// returns the defaults, which enforce nothing.
MomConfig read_mom_config(const std::string& home);
MomConfig parse_mom_config(std::string_view text, const std::string& name);

}  // namespace pbs::host
