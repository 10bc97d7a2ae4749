// The usage of shares that a simulation begins with, as `pbs_fairshare -F json` writes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/trace.h"

namespace pbs::simulate {

// What entities had used of an fs_group, as one scheduler keeps it.
struct ShareUsage {
    std::string sched;
    std::string group;
    std::vector<sched::UsageRow> entities;
};

// Usage of groups follows from that of their entities, in whatever tree is simulated. Errors name the file
// and the place in it.
Result<std::vector<ShareUsage>> read_share_usage(std::string_view text, const std::string& name);

}  // namespace pbs::simulate
