// Walks through jobs in the order of queueing, over several steps of an answer. Jobs may be added and removed
// between the steps: each job that exists all the time comes exactly once; new jobs don't come.
#pragma once

#include <cstdint>
#include <optional>

#include "server_plugin/host/state/state.h"

namespace pbs::host {

class JobCursor {
  public:
    // Walks through the jobs of this queue, or of all queues.
    explicit JobCursor(const State& state, std::optional<uint64_t> queue = std::nullopt)
        : queue_(queue), last_(state.jobs().empty() ? 0 : state.jobs().rbegin()->first) {}

    // Returns the next job, which may be a finished one; nullptr: there are no more.
    const Job* next(const State& state) {
        if (queue_) {
            const auto& handles = state.queue_jobs(*queue_);
            const auto at = handles.upper_bound(reached_);
            return at == handles.end() ? nullptr : met(state.job(*at));
        }
        const auto at = state.jobs().upper_bound(reached_);
        return at == state.jobs().end() ? nullptr : met(&at->second);
    }

  private:
    const Job* met(const Job* job) {
        reached_ = job->handle;
        return reached_ > last_ ? nullptr : job;
    }

    std::optional<uint64_t> queue_;
    uint64_t reached_ = 0;
    uint64_t last_;
};

}  // namespace pbs::host
