// Copies of the plugin's store, for `pbs_config backup`.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace pbs::openpbs {

// Copies the store of this PBS_HOME, which may be in use, to a new folder of server_priv/backups, of which
// the latest eight are kept. What was done, a line each, as the bundled server tells it; or why nothing was.
tl::expected<std::string, std::string> back_up(const std::string& home, std::int64_t now);

}  // namespace pbs::openpbs
