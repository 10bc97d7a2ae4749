// The names of the host that the process runs on.
#pragma once

#include <string_view>

namespace pbs::values {

// Returns whether `name` names this host, with or without its domain.
bool is_this_host(std::string_view name);

}  // namespace pbs::values
