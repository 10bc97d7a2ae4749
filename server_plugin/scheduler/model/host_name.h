// Names of hosts.
#pragma once

#include <string_view>

namespace pbs::sched {

// The same if they are equal without regard to case, or if one is the other without its domain.
bool same_host_name(std::string_view a, std::string_view b);

}  // namespace pbs::sched
