// Reads the usage of shares with which a simulation begins, in the form that `pbs_fairshare -F json` writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/trace.h"

namespace pbs::simulate {

// The usage of the entities of an fs_group, as one scheduler keeps it.
struct ShareUsage {
    std::string sched;
    std::string group;
    std::vector<sched::UsageRow> entities;
};

// Reads the usage of entities. The usage of groups is skipped: it follows from the entities, whatever tree is
// simulated. Errors name the file and the position.
Result<std::vector<ShareUsage>> read_share_usage(std::string_view text, const std::string& name);

}  // namespace pbs::simulate
