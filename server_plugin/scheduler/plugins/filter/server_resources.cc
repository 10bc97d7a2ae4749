// What the server has: its resources_available, and what programs of server_dyn_res tell in place of that.

#include "server_plugin/scheduler/plugins/filter/amounts.h"

namespace pbs::sched {
namespace {

constexpr UseKey kServer{UseKey::Kind::server, 0, 0};

Refusal check_server_resources(CycleState& state, const Asked& job, QueueView& view) {
    for (const ServerAmount& amount : state.server_amounts) {
        const std::uint32_t resource = amount.available.resource;
        if (state.is_left_aside(resource)) continue;
        Reason reason = lack_of(state, *job.request, amount.available, amount.in_use,
                                {ReasonCode::server_resource_busy, view.slot, resource});
        if (!reason) continue;
        Refusal refusal = Refusal::for_good(reason);
        if (amount.given_back) refusal.blockers |= blocker::less_of(kServer);
        if (amount.is_told()) {
            refusal.blockers |= blocker::kTold;
            // Nobody knows when the program tells of more. The job has its place in the order meanwhile.
            if (reason.a <= reason.c) refusal.until = Instant::max();
        }
        return refusal;
    }
    return {};
}

std::optional<JobSize> leaves_server_resources(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server) return std::nullopt;
    std::vector<KeptAmount> available;
    std::vector<std::int64_t> in_use;
    for (const ServerAmount& amount : state.server_amounts) {
        if (state.is_left_aside(amount.available.resource)) continue;
        available.push_back(amount.available);
        in_use.push_back(amount.in_use);
    }
    return left_of(available, in_use, *state.resources);
}

bool is_open_server_resources(const Opening& o) {
    return o.server->resources_available.empty() && o.settings->server_dyn_res.empty();
}

}  // namespace

extern const Filter kServerResourcesFilter;
const Filter kServerResourcesFilter{.name = "server_resources",
                                    .attributes = "server_dyn_res, exclude_resources",
                                    .traits = about_room | by_limits_only,
                                    .check = check_server_resources,
                                    .is_open = is_open_server_resources,
                                    .leaves = leaves_server_resources};

}  // namespace pbs::sched
