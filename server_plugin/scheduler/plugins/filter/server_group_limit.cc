// max_group_run of the server.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_server_group_limit(const GroupUse& group, const Opening& o) {
    const auto limit = o.server->max_group_run;
    if (limit < 0 || group.running() < limit) return {};
    return Refusal::for_less_of({ReasonCode::server_group_limit, o.slot, 0, limit},
                                {UseKey::Kind::server_group, 0, group.id()});
}

std::optional<JobSize> leaves_server_group_limit(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server_group || state.server->max_group_run < 0) return std::nullopt;
    return state.counts->of_group(RunCounts::kEverywhere, key.of) < state.server->max_group_run ? kAnySize
                                                                                                : kNoSize;
}

bool is_open_server_group_limit(const Opening& o) {
    return o.server->max_group_run < 0;
}

}  // namespace

extern const Filter kServerGroupLimitFilter;
const Filter kServerGroupLimitFilter{.name = "server_group_limit",
                                     .traits = by_limits_only | about_entities,
                                     .check = check_server_group_limit,
                                     .is_open = is_open_server_group_limit,
                                     .leaves = leaves_server_group_limit};

}  // namespace pbs::sched
