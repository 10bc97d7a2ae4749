#include "server_plugin/plugin/guard.h"

#include <string>

namespace pbs::plugin {

void log_escaped(const State& state, std::string_view where, const char* what) noexcept {
    try {
        const std::string line = "internal error in " + std::string(where) + ": " + what;
        state.host.log(PBS_LOG_ERROR, "pbs_policy", line);
    } catch (...) {
        // There is no memory for the whole line, so log only the place.
        state.host.log(PBS_LOG_ERROR, "pbs_policy", where);
    }
}

}  // namespace pbs::plugin
