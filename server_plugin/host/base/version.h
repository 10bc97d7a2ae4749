// The server's version.
#pragma once

#include <string_view>

namespace pbs::host {

// The version as the attribute pbs_version tells it.
std::string_view server_version();

}  // namespace pbs::host
