// MAX_DEDICATED_JOBS: how many jobs of dedicated queues run at once.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool wanted(const Settings& s, Instant now) {
    return origin_only(s, now) && s.max_dedicated_jobs > 0;
}

Reason check(CycleState& state, const Candidate&, QueueView& view) {
    const auto limit = state.settings->max_dedicated_jobs;
    if (!view.dedicated || state.dedicated_running < limit) return {};
    return {Because::dedicated_jobs_limit, view.slot, 0, limit};
}

bool is_open(const CycleState&, const QueueView& view) {
    return !view.dedicated;
}

}  // namespace

extern const Gate max_dedicated_jobs_gate;
const Gate max_dedicated_jobs_gate{
    "max_dedicated_jobs", "max_dedicated_jobs", waits_for_jobs, wanted, check, nullptr, is_open};

}  // namespace pbs::sched
