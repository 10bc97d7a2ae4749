// `list quota`: shows which schedulers use a quota now.

#include "server_plugin/plugin/requests/show.h"

namespace pbs::plugin {

QuotasInForce::QuotasInForce(State& state, sched::Instant now) {
    if (state.adopted == nullptr) return;
    for (const auto& [sched, folder] : state.sched_priv) {
        // pbs_sched knows no quotas.
        if (state.has_pbs_sched(sched)) continue;
        const objects::Object* policy = state.adopted->policy(state.scheduler.status(now, sched).policy);
        if (policy == nullptr) continue;
        for (const std::string& quota : policy->list("quotas")) {
            std::string& scheds = scheds_[quota];
            scheds += (scheds.empty() ? "" : ",") + sched;
        }
    }
}

std::string_view QuotasInForce::scheds_of(std::string_view quota) const {
    const auto found = scheds_.find(quota);
    return found == scheds_.end() ? std::string_view() : found->second;
}

}  // namespace pbs::plugin
