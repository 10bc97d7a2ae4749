#include "server_plugin/plugin/configuration.h"

#include <fmt/format.h>

namespace pbs::plugin {
namespace {

void tell_unsupported(State& state, const objects::Snapshot& snapshot) {
    std::set<std::string> lines;
    for (std::string& line : sched::unsupported_settings(snapshot)) lines.insert(std::move(line));
    for (const std::string& line : lines) {
        if (!state.said_unsupported.contains(line)) state.host.log(PBS_LOG_WARNING, "configuration", line);
    }
    // Only what holds now is remembered: a setting that is made again is told of again.
    state.said_unsupported = std::move(lines);
}

}  // namespace

std::string adopt_configuration(State& state) {
    const std::shared_ptr<const objects::Snapshot> snapshot = state.store->snapshot();
    tell_unsupported(state, *snapshot);
    const auto adopted = state.scheduler.set_configuration(snapshot);
    state.configuration_error = adopted ? std::string{} : adopted.error().message;
    if (adopted) return {};
    state.host.log(
        PBS_LOG_ERROR, "configuration",
        fmt::format(
            "Revision {} of the configuration can't be scheduled by, the one before stays in force: {}",
            snapshot->revision(), adopted.error().message));
    return adopted.error().message;
}

}  // namespace pbs::plugin
