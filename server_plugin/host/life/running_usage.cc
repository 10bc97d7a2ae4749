#include "server_plugin/host/life/running_usage.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {

void RunningUsage::look() {
    const Handles& running = server_.state.server_usage().jobs;
    const std::size_t count = std::min({running.size(), running.size() / kTicks + 1, kMostAtOnce});
    std::vector<uint64_t> due;
    due.reserve(count);
    for (auto next = running.upper_bound(last_); due.size() < count; ++next) {
        if (next == running.end()) next = running.begin();
        due.push_back(*next);
    }
    for (const uint64_t handle : due) look_at(handle);
    if (!due.empty()) last_ = due.back();
}

void RunningUsage::look_at(uint64_t handle) {
    const Job* job = server_.state.job(handle);
    if (job == nullptr || job->state != job_state::kRunning) return;
    const auto used = server_.parts.executor.used(run_id(*job));
    if (!used) return;
    Job changed = *job;
    set_used(changed, *used);
    if (changed.attributes == job->attributes) return;
    server_.state.put(std::move(changed));
    if (server_.parts.plugin != nullptr)
        server_.parts.plugin->job_changed(server_.now(), *server_.state.job(handle), server_.state);
}

}  // namespace pbs::host
