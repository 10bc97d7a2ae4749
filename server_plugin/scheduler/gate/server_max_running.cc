// max_running of the server.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate&, QueueView& view) {
    const auto limit = state.server->max_running;
    if (limit < 0 || state.running < limit) return {};
    return {Because::server_full, view.slot, 0, limit};
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server || state.server->max_running < 0) return std::nullopt;
    return state.running < state.server->max_running ? any_size : no_size;
}

bool is_open(const CycleState& state, const QueueView&) {
    return state.server->max_running < 0;
}

}  // namespace

extern const Gate server_max_running_gate;
const Gate server_max_running_gate{"server_max_running", "",      waits_for_jobs, always,  check,
                                   by_server_use,        nullptr, is_open,        nullptr, leaves};

}  // namespace pbs::sched
