// Reads the usage of shares with which a simulation begins, as `pbs_fairshare -F json` writes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/trace.h"

namespace pbs::simulate {

// Usage of the entities of an fs_group, as one scheduler keeps it.
struct ShareUsage {
    std::string sched;
    std::string group;
    std::vector<sched::UsageRow> entities;
};

// Reads the usage of entities. Usage of groups isn't needed: it follows from the entities, in whatever tree
// is simulated. Errors name the file and the position.
Result<std::vector<ShareUsage>> read_share_usage(std::string_view text, const std::string& name);

}  // namespace pbs::simulate
