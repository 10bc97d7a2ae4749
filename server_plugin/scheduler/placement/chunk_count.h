// The class ChunkCount: bounds the number of chunks for which vnodes have room, while their amounts change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/placement/vnodes.h"

namespace pbs::sched {

// Counts, for each kind of a request's chunks, how many fit on the vnodes of a pool, each vnode alone, and
// leave reservations their amounts. A search for a place gives no more than that, because other rules only
// take from it. So a look-ahead needn't search at the end of each job while the counts are too small.
//
// Only the first kMostKinds kinds are counted: each takes a list of all vnodes, and time at each change. The
// others only leave the bound less tight.
class ChunkCount {
  public:
    static constexpr std::size_t kMostKinds = 16;

    // `ends`: the job's end if it started now. O(vnodes x kinds). REQUIRES: no vnodes of the pool give
    // pieces of chunks (Vnodes::divides()). All arguments have to outlive the object.
    ChunkCount(const Vnodes& vnodes, PoolId pool, const Request& request, const NodeSize& node_size,
               Instant ends);

    // Counts these vnodes again: their amounts may have changed, or reservations have begun on them. The
    // job's end mustn't be earlier than at the last call. Other vnodes needn't be counted again: a later end
    // can only bring further reservations. Ignores vnodes of other pools. O(vnodes and their reservations).
    void take_up(std::span<const VnodeSlot> changed, Instant ends);
    // Returns false if there is no place for the request.
    bool may_fit() const;

  private:
    struct Kind {
        Row needs;
        std::int64_t wanted = 0;
        std::int64_t fit = 0;                  // the sum of `on_vnode`
        std::vector<std::int64_t> on_vnode{};  // by slot
    };
    std::int64_t room_on(VnodeSlot vnode, const Chunk& chunk, const Row& needs, Instant ends) const;

    const Vnodes& vnodes_;
    PoolId pool_;
    const Request& request_;
    std::vector<Kind> kinds_;  // of the request's first chunks, in their order
};

}  // namespace pbs::sched
