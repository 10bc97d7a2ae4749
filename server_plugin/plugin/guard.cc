#include "server_plugin/plugin/guard.h"

#include <string>

namespace pbs::plugin {

void log_escaped(const State& state, std::string_view where, const char* what) noexcept {
    try {
        const std::string line = "internal error in " + std::string(where) + ": " + what;
        state.host.log(PBS_LOG_ERROR, "pbs_policy", line);
    } catch (...) {
        // Log at least the place: there may be no memory for the whole line.
        state.host.log(PBS_LOG_ERROR, "pbs_policy", where);
    }
}

}  // namespace pbs::plugin
