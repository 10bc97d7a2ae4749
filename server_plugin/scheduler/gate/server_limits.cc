// The server's max_running, max_user_run, max_group_run and resources_available.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    const ServerLimits& server = *state.server;
    const auto at = RunCounts::everywhere;
    if (server.max_running >= 0 && state.running >= server.max_running)
        return {Because::server_full, view.slot, 0, server.max_running};
    if (server.max_user_run >= 0 && state.counts->of_user(at, job.owner) >= server.max_user_run)
        return {Because::server_user_limit, view.slot, 0, server.max_user_run};
    if (server.max_group_run >= 0 && state.counts->of_group(at, job.group) >= server.max_group_run)
        return {Because::server_group_limit, view.slot, 0, server.max_group_run};
    for (std::size_t i = 0; i < server.resources_available.size(); ++i) {
        const KeptAmount& available = server.resources_available[i];
        if (!state.resources->consumable(available.resource)) continue;
        const auto asked = number_of(job.request->totals, available.resource);
        if (asked && state.server_in_use[i] + *asked > available.number)
            return {Because::server_resource_busy, view.slot, available.resource};
    }
    return {};
}

bool reads_user(const CycleState& state, const QueueView&) {
    return state.server->max_user_run >= 0 || state.server->max_group_run >= 0;
}

bool is_open(const CycleState& state, const QueueView&) {
    const ServerLimits& server = *state.server;
    return server.max_running < 0 && server.max_user_run < 0 && server.max_group_run < 0 &&
           server.resources_available.empty();
}

}  // namespace

extern const Gate server_limits_gate;
const Gate server_limits_gate{"server_limits", "", waits_for_jobs, always, check, reads_user, is_open};

}  // namespace pbs::sched
