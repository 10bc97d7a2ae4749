// Compares names of hosts.
#pragma once

#include <string_view>

namespace pbs::sched {

// Do the two names mean the same host? They do if they are equal without regard to case, or if one is the
// other without its domain.
bool same_host_name(std::string_view a, std::string_view b);

}  // namespace pbs::sched
