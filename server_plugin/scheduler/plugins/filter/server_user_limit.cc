// max_user_run of the server.

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_server_user_limit(const OwnerUse& owner, const Opening& o) {
    const auto limit = o.server->max_user_run;
    if (limit < 0 || owner.running() < limit) return {};
    return Refusal::for_less_of({ReasonCode::server_user_limit, o.slot, 0, limit},
                                {UseKey::Kind::server_user, 0, owner.id()});
}

std::optional<JobSize> leaves_server_user_limit(const CycleState& state, const UseKey& key) {
    if (key.kind != UseKey::Kind::server_user || state.server->max_user_run < 0) return std::nullopt;
    return state.counts->of_user(RunCounts::kEverywhere, key.of) < state.server->max_user_run ? kAnySize
                                                                                              : kNoSize;
}

bool is_open_server_user_limit(const Opening& o) {
    return o.server->max_user_run < 0;
}

}  // namespace

extern const Filter kServerUserLimitFilter;
const Filter kServerUserLimitFilter{.name = "server_user_limit",
                                    .traits = by_limits_only | about_entities,
                                    .check = check_server_user_limit,
                                    .is_open = is_open_server_user_limit,
                                    .leaves = leaves_server_user_limit};

}  // namespace pbs::sched
