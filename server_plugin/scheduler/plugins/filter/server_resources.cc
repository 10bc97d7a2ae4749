// resources_available of the server.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check(CycleState& state, const Asked& job, QueueView& view) {
    const auto& available = state.server->resources_available;
    for (std::size_t i = 0; i < available.size(); ++i) {
        if (!state.resources->consumable(available[i].resource)) continue;
        const auto asked = number_of(job.request->totals, available[i].resource);
        if (asked && state.server_in_use[i] + *asked > available[i].number)
            return Refusal::for_less_of(
                {ReasonCode::server_resource_busy, view.slot, available[i].resource, *asked,
                 available[i].number - state.server_in_use[i], available[i].number},
                {UseKey::Kind::server, 0, 0});
    }
    return {};
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server) return std::nullopt;
    return left_of(state.server->resources_available, state.server_in_use, *state.resources);
}

bool is_open(const Opening& o) {
    return o.server->resources_available.empty();
}

}  // namespace

extern const Filter kServerResourcesFilter;
const Filter kServerResourcesFilter{.name = "server_resources",
                                    .traits = about_room | by_limits_only,
                                    .check = check,
                                    .is_open = is_open,
                                    .leaves = leaves};

}  // namespace pbs::sched
