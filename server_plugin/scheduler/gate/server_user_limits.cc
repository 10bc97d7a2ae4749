// max_user_run and max_group_run of the server.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    const ServerLimits& server = *state.server;
    const auto at = RunCounts::everywhere;
    if (server.max_user_run >= 0 && state.counts->of_user(at, job.owner) >= server.max_user_run)
        return {Because::server_user_limit, view.slot, 0, server.max_user_run};
    if (server.max_group_run >= 0 && state.counts->of_group(at, job.group) >= server.max_group_run)
        return {Because::server_group_limit, view.slot, 0, server.max_group_run};
    return {};
}

Blockers blockers(const CycleState&, const Candidate& job, const QueueView&, const Reason& reason) {
    const bool of_user = reason.because == Because::server_user_limit;
    return blocker::less_of(of_user ? UseKey{UseKey::Kind::server_user, 0, job.owner}
                                    : UseKey{UseKey::Kind::server_group, 0, job.group});
}

std::optional<JobSize> leaves(const CycleState& state, const UseKey& key) {
    const ServerLimits& server = *state.server;
    const auto at = RunCounts::everywhere;
    if (key.kind == UseKey::Kind::server_user && server.max_user_run >= 0)
        return state.counts->of_user(at, key.of) < server.max_user_run ? any_size : no_size;
    if (key.kind == UseKey::Kind::server_group && server.max_group_run >= 0)
        return state.counts->of_group(at, key.of) < server.max_group_run ? any_size : no_size;
    return std::nullopt;
}

unsigned reads(const CycleState& state, const QueueView&) {
    return (state.server->max_user_run >= 0 ? reads_owner : 0U) |
           (state.server->max_group_run >= 0 ? reads_group : 0U);
}

bool is_open(const CycleState& state, const QueueView& view) {
    return reads(state, view) == 0;
}

}  // namespace

extern const Gate server_user_limits_gate;
const Gate server_user_limits_gate{
    "server_user_limits", "", waits_for_jobs, always, check, blockers, reads, is_open, nullptr, leaves};

}  // namespace pbs::sched
