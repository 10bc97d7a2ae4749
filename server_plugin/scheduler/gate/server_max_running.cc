// max_running of the server.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate&, QueueView& view) {
    const auto limit = state.server->max_running;
    if (limit < 0 || state.running < limit) return {};
    return {Because::server_full, view.slot, 0, limit};
}

bool is_open(const CycleState& state, const QueueView&) {
    return state.server->max_running < 0;
}

}  // namespace

extern const Gate server_max_running_gate;
const Gate server_max_running_gate{"server_max_running", "", waits_for_jobs, always, check, nullptr, is_open};

}  // namespace pbs::sched
