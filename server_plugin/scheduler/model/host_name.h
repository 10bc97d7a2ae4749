// Compares names of hosts.
#pragma once

#include <string_view>

namespace pbs::sched {

// Returns whether the names mean the same host: they are equal except for case, or one equals the other
// without its domain.
bool same_host_name(std::string_view a, std::string_view b);

}  // namespace pbs::sched
