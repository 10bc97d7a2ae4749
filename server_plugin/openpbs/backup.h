// Copies the plugin's store, for `pbs_config backup`.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace pbs::openpbs {

// Copies the store of this PBS_HOME, which may be in use, to a new folder of server_priv/backups, and removes
// all but the latest eight backups. Returns a line for each thing done, like the bundled server; or the
// reason why nothing was done.
tl::expected<std::string, std::string> back_up(const std::string& home, std::int64_t now);

}  // namespace pbs::openpbs
