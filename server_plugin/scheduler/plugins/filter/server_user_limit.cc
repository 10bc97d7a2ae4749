// max_user_run of the server.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check(const OwnerUse& owner, const Opening& o) {
    const auto limit = o.server->max_user_run;
    if (limit < 0 || owner.running() < limit) return {};
    return Refusal::for_less_of({ReasonCode::server_user_limit, o.slot, 0, limit},
                                {UseKey::Kind::server_user, 0, owner.id()});
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server_user || state.server->max_user_run < 0) return std::nullopt;
    return state.counts->of_user(RunCounts::kEverywhere, key.of) < state.server->max_user_run ? kAnySize
                                                                                              : kNoSize;
}

bool is_open(const Opening& o) {
    return o.server->max_user_run < 0;
}

}  // namespace

extern const Filter kServerUserLimitFilter;
const Filter kServerUserLimitFilter{.name = "server_user_limit",
                                    .traits = by_limits_only | about_entities,
                                    .check = check,
                                    .is_open = is_open,
                                    .leaves = leaves};

}  // namespace pbs::sched
