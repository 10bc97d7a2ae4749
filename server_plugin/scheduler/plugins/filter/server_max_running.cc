// max_running of the server.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_server_max_running(CycleState& state, const Asked&, QueueView& view) {
    const auto limit = state.server->max_running;
    if (limit < 0 || state.running < limit) return {};
    return Refusal::for_less_of({ReasonCode::server_full, view.slot, 0, limit}, {UseKey::Kind::server, 0, 0});
}

std::optional<JobSize> leaves_server_max_running(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server || state.server->max_running < 0) return std::nullopt;
    return state.running < state.server->max_running ? kAnySize : kNoSize;
}

bool is_open_server_max_running(const Opening& o) {
    return o.server->max_running < 0;
}

}  // namespace

extern const Filter kServerMaxRunningFilter;
const Filter kServerMaxRunningFilter{.name = "server_max_running",
                                     .traits = by_limits_only,
                                     .check = check_server_max_running,
                                     .is_open = is_open_server_max_running,
                                     .leaves = leaves_server_max_running};

}  // namespace pbs::sched
