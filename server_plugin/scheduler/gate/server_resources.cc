// resources_available of the server.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    const auto& available = state.server->resources_available;
    for (std::size_t i = 0; i < available.size(); ++i) {
        if (!state.resources->consumable(available[i].resource)) continue;
        const auto asked = number_of(job.request->totals, available[i].resource);
        if (asked && state.server_in_use[i] + *asked > available[i].number)
            return {Because::server_resource_busy,
                    view.slot,
                    available[i].resource,
                    *asked,
                    available[i].number - state.server_in_use[i],
                    available[i].number};
    }
    return {};
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server) return std::nullopt;
    return left_of(state.server->resources_available, state.server_in_use, *state.resources);
}

bool is_open(const CycleState& state, const QueueView&) {
    return state.server->resources_available.empty();
}

}  // namespace

extern const Gate server_resources_gate;
const Gate server_resources_gate{"server_resources",
                                 "",
                                 waits_for_jobs | about_room,
                                 always,
                                 check,
                                 by_server_use,
                                 nullptr,
                                 is_open,
                                 nullptr,
                                 leaves};

}  // namespace pbs::sched
