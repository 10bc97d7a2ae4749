// Jobs for which only the room on vnodes decides. The free amounts of vnodes over time tell their starts, and
// the starts are kept from cycle to cycle until an event moves them (KeptEstimates).
#pragma once

#include <chrono>
#include <optional>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/framework/after_refusal.h"
#include "server_plugin/scheduler/framework/future.h"
#include "server_plugin/scheduler/future/kept_estimates.h"

namespace pbs::sched {

class PlainJobs : CyclePart {
  public:
    using Estimate = KeptEstimates::Estimate;
    // The farthest start that is expected. A later one depends on the end of a job without a walltime, which
    // is unknown.
    static constexpr std::chrono::years kFarthest{1};
    struct Plain {
        KeptEstimates::Wish wish;
        FreeTimes::Needs needs;
        const Chunk* chunk = nullptr;
    };

    explicit PlainJobs(const CycleParts& parts)
        : CyclePart(parts.context), future_(parts.future), are_any_(may_be_plain()) {}

    // Returns whether the free amounts of vnodes over time are known.
    bool are_any() const { return are_any_; }
    // Begins a chain with the jobs that run or were started, and the reservations. REQUIRES: are_any().
    void begin(KeptEstimates& chain);
    // Returns what a job needs. nullopt: only a look-ahead can find its start.
    std::optional<Plain> of(const Candidate& job, QueueView& view);
    // Returns whether no filter about time refuses the job at the instant. May be false by mistake.
    bool may_start_at(Instant at, const Candidate& job, const QueueView& view) const;
    // Returns the estimate of a plain job behind those of the chain; `old`: the last one, which is moved from
    // if it stands (`is_kept`). nullopt: only a look-ahead can find it.
    std::optional<Estimate> find(const Candidate& job, const QueueView& view, const Plain& plain,
                                 Estimate* old, KeptEstimates& chain, bool& is_kept);
    // Returns the estimate of a plain job of several chunks, behind those of the chain. nullopt: only a
    // look-ahead can find it.
    std::optional<Estimate> find_several(const Candidate& job, const QueueView& view, const Plain& plain,
                                         KeptEstimates& chain);

  private:
    // The vnodes of a pool.
    struct Pool {
        bool is_plain = false;             // their order is fixed, and jobs share each of them
        std::vector<std::uint32_t> index;  // KeptEstimates::Order::index
    };

    bool may_be_plain();
    FreeTimes free_times();
    const Pool& pool(PoolId id);
    bool is_unlimited(const Candidate& job, QueueView& view);
    Estimate estimate(const Candidate& job, const Plain& plain, Instant start, Placement placement) const;

    Future& future_;
    bool are_any_;
    std::unordered_map<PoolId, Pool> pools_;
};

}  // namespace pbs::sched
