// The estimated starts of waiting jobs, which last from one cycle to the next.
//
// Estimates are a chain: each job is expected to start as soon as it can if those before it start as
// expected. An estimate for which only the room on vnodes decides stands as long as its place is free of the
// jobs that run and of those before it in the chain, and no vnode that has become freer has room for it
// earlier. So a cycle compares the free amounts over time with those of the last estimation, and then each
// estimate with the vnodes that have become freer: because jobs ended early, or because jobs before it in the
// chain are gone, or have moved, or come later now.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server_plugin/scheduler/future/free_times.h"
#include "server_plugin/scheduler/model/job_table.h"
#include "values/tables.h"

namespace pbs::sched {

struct Policy;

class KeptEstimates {
  public:
    // The request of a job for which only the room on vnodes decides: some chunks of one kind.
    struct Wish {
        std::uint64_t request = 0;  // Request::serial
        PoolId pool = 0;
        std::int64_t chunks = 1;
        Seconds duration{};
        friend bool operator==(const Wish&, const Wish&) = default;
    };
    struct Estimate {
        JobHandle job{};
        std::optional<Wish> wish;        // empty: the estimate holds in its cycle only
        Instant start = Instant::max();  // Instant::max(): no start is known
        Instant end = Instant::max();
        Placement placement{};
        std::vector<Vnodes::Share> shares{};  // of the placement
        std::size_t work = 0;                 // the work of the search that found it
        bool is_found() const { return start != Instant::max(); }
    };
    // A policy, the vnodes and everything else that has to be as it was at the last estimation.
    struct Premises {
        const Policy* policy = nullptr;
        const Vnodes* vnodes = nullptr;
        std::uint64_t vnodes_version = 0;
        std::uint64_t times_settings = 0;  // EventsSince::times_settings
        NodeSize node_size{};
        friend bool operator==(const Premises&, const Premises&) = default;
    };
    // The vnodes of a pool: in their order, and for each vnode its index among these.
    struct Order {
        std::span<const VnodeSlot> vnodes;
        std::span<const std::uint32_t> index;  // by slot; kNoSlot: the pool hasn't the vnode
    };

    // Begins an estimation. `times`: the free amounts by the jobs that run, without estimates. `premises`:
    // nullopt: nothing is kept for the next estimation.
    void begin(FreeTimes times, const std::optional<Premises>& premises, Instant now);
    // Returns the job's estimate of the last estimation, to be moved from; null: there is none. The jobs
    // before it in the old chain that haven't been taken yet come later now, or don't wait any more: their
    // vnodes become freer. O(1) if the order is as it was.
    Estimate* take(JobHandle job);
    // Gives up the place of an old estimate, because the job is expected elsewhere.
    void give_up(const Estimate& old);
    // Adds an estimate to the new chain.
    void add(Estimate estimate);
    // Notes that a job has started between two jobs of the chain: its shares of vnodes until its end.
    void start(std::span<const Vnodes::Share> shares, const rrule::Interval& when);
    // The new chain.
    const std::vector<Estimate>& list() const { return list_; }

    // Returns whether the place of an old estimate is free, in the new chain.
    bool has_its_place(const Estimate& old, const FreeTimes::Needs& needs) const;
    // Returns the first place for one chunk, before that of the old estimate, on vnodes that have become
    // freer. If it has several chunks, any place on its own vnodes counts, too. nullopt: there is none.
    template <class MayUse>
    std::optional<FreeTimes::Place> freer_place(const Estimate& old, const FreeTimes::Needs& needs,
                                                const Order& order, const MayUse& may_use) const;
    FreeTimes& times() { return times_; }
    // Returns the amounts that the new chain leaves on a vnode at an instant, as if the vnode took jobs.
    Row left_at(VnodeSlot vnode, Instant when) const;

    // Ends an estimation, and keeps its chain for the next one.
    void end();
    void clear();

  private:
    // A vnode that has become freer in an interval, with the most that it has of each column then.
    struct Freer {
        VnodeSlot vnode = kNoSlot;
        rrule::Interval when;
        std::vector<std::int64_t> most{};
    };
    void free(VnodeSlot vnode, rrule::Interval when);
    void find_most_again(VnodeSlot vnode);

    std::optional<Premises> premises_;
    Instant now_{};
    FreeTimes base_;   // at the last estimation, without estimates
    FreeTimes times_;  // during an estimation, with the new chain
    std::vector<Estimate> old_;
    std::vector<bool> taken_;                        // by index in old_
    std::size_t next_ = 0;                           // the index in old_ behind the last one that was passed
    values::HashMap<JobHandle, std::size_t> index_;  // in old_; filled when the order has changed
    std::vector<Estimate> list_;
    std::vector<Freer> freer_;
    std::vector<std::uint32_t> freer_at_;  // by vnode: its index in freer_, plus 1; 0: it has none
};

template <class MayUse>
std::optional<FreeTimes::Place> KeptEstimates::freer_place(const Estimate& old, const FreeTimes::Needs& needs,
                                                           const Order& order, const MayUse& may_use) const {
    // The place of the last chunk: vnodes behind it in the order aren't reached.
    FreeTimes::Place best{old.start, kNoSlot, 0};
    for (const Part& part : old.placement) best.index = std::max(best.index, order.index[part.vnode]);
    const bool several = old.wish->chunks > 1;
    bool found = false;
    for (const Freer& freer : freer_) {
        if (freer.when.start >= old.end || !FreeTimes::is_met(needs, freer.most.data())) continue;
        const std::uint32_t index = order.index[freer.vnode];
        if (index == kNoSlot) continue;
        const bool own = several && old.is_found() && std::ranges::any_of(old.placement, [&](const Part& p) {
                             return p.vnode == freer.vnode;
                         });
        if (own) return FreeTimes::Place{now_, freer.vnode, index};
        // At the same instant, an earlier vnode is better. The job has to run at a time at which the vnode is
        // freer.
        const bool may_tie = best.start != Instant::max() && index < best.index;
        const Instant start = times_.earliest(
            freer.vnode, needs, std::max(now_, freer.when.start - old.wish->duration + Seconds(1)),
            old.wish->duration, std::min(freer.when.end, may_tie ? best.start + Seconds(1) : best.start));
        const FreeTimes::Place place{start, freer.vnode, index};
        if (start == Instant::max() || !place.is_before(best) || !may_use(freer.vnode)) continue;
        best = place;
        found = true;
    }
    return found ? std::optional(best) : std::nullopt;
}

}  // namespace pbs::sched
