// enforce_no_shares: jobs of entities without a share of the machine never start. (PP-748, interface 4)

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/framework/shares.h"

namespace pbs::sched {
namespace {

Refusal check_no_shares(CycleState& state, const Candidate& job, const JobTable&, QueueView& view) {
    if (state.shares == nullptr || !state.shares->tree.group().enforce_no_shares) return {};
    if (state.shares->tree.share(state.shares->entity(*state.tables, job.job)) > 0) return {};
    return Refusal::for_good({ReasonCode::no_shares, view.slot});
}

}  // namespace

extern const Filter kNoSharesFilter{
    .name = "no_shares",
    .attributes = "fairshare, enforce_no_shares",
    .traits = by_limits_only | before_turns,
    .check = OfJob(check_no_shares),
    .wanted = [](const Settings& s, Instant) { return s.fairshare && s.enforce_no_shares; }};

}  // namespace pbs::sched
