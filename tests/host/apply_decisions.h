// Carries out decisions without a cycle.
#pragma once

#include <string>
#include <vector>

#include "server_plugin/host/cycle/apply_decisions.h"

namespace pbs::host {

// Carries out decisions in order, in one transaction. The jobs are started after its commit. A decision that
// doesn't fit any more, because the job is gone or the vnode is full, is dropped.
inline Result<void> apply_decisions(Server& server, int64_t now, const std::vector<Decision>& decisions) {
    std::vector<std::string> preempted;
    bool failed = false;
    Weights weights(server);
    DecisionBatch batch(server, now, preempted, failed, weights, nullptr);
    for (const Decision& decision : decisions) (void)batch.apply(decision);
    return batch.commit();
}

}  // namespace pbs::host
