#pragma once

#include <string_view>

namespace pbs::host {

// Returns the server's version, as in the attribute pbs_version.
std::string_view server_version();

}  // namespace pbs::host
