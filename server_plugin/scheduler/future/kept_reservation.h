// The reservation of a job that a queue is drained for, kept from one cycle to the next, with those before it
// in the list.
//
// To look ahead takes time for every running job. But as long as what starts leaves the job its place, and
// what ends can't give it a sooner one, a new look ahead would find the same start, queue and vnodes. So the
// jobs that start and end are only asked whether that still holds, and what the reservation leaves for others
// is counted up and down with them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/placement/vnodes.h"
#include "server_plugin/scheduler/state/limits.h"

namespace pbs::sched {

struct Tables;

class KeptReservation {
  public:
    // A queue on a host, as the cycle that made the reservation numbered them.
    struct View {
        std::uint32_t number = 0;
        QueueSlot queue = no_slot;
        PoolId pool = 0;
        bool dedicated = false;
        bool only = true;    // of its queue
        bool target = true;  // a start is known for the job there
    };
    // A limit, how much of it is in use, and whether the job could start sooner, or elsewhere, with more.
    struct Watched {
        Limit limit;
        std::int64_t in_use = 0;
        bool may_decide = true;
    };

    JobHandle job{};
    Request request;
    Instant start{};
    Instant end{};
    std::uint32_t view = 0;  // its number
    QueueSlot queue = no_slot;
    std::uint32_t host = 0;
    Placement placement;                    // of chunks of one kind, so that each vnode is there once
    std::vector<Part> by_vnode;             // the same, in order of vnodes
    std::vector<Reservation::Spare> spare;  // as at `start`
    std::vector<View> views;
    std::vector<Watched> watched;
    bool behind_others = false;   // which hold more of limits later than what runs now
    std::int64_t outlasting = 0;  // of what runs in the queue or on its vnodes, what ends no sooner
    NodeSize node_size;           // by which jobs are counted in limits
    NodeSize vnode_share;         // and in what they have of vnodes
    std::uint64_t vnodes_version = 0;

    // A job runs that didn't: to be told of once it holds its places. O(jobs on its vnodes that are
    // reserved).
    void started(const Tables& tables, JobSlot job);
    // A running job ends: to be told of before it gives back what it holds. O(jobs on its vnodes).
    void ended(const Tables& tables, JobSlot job);
    // Something else happened that this says nothing of.
    void forget() { holds_ = false; }

    // Would looking ahead at `now` find the same? Not for long before the start: what runs over its walltime
    // is thought to end in a minute, always.
    bool holds(Instant now) const { return holds_ && start >= now + overrun; }

    // Is it one of `outlasting`? While it holds its places.
    bool outlasts(const Tables& tables, JobSlot job) const;

    // Of the jobs on the reserved vnodes, those that have ended by the start.
    std::vector<JobSlot> gone(const Tables& tables) const;

    // How long a job is thought to run on that has run for its walltime.
    static constexpr Seconds overrun{60};

  private:
    // What one running job uses of limits.
    struct User {
        std::vector<std::uint32_t> views;
        LimitUser user;
    };
    User user_of(const Tables& tables, JobSlot job) const;
    bool ends_by_start(const Tables& tables, JobSlot job) const;
    std::vector<JobSlot> gone_from(const Tables& tables, VnodeSlot vnode) const;
    bool gives_room(const Tables& tables, VnodeSlot vnode, JobSlot ending) const;
    bool leaves_room(const Tables& tables, VnodeSlot vnode, const Part& part) const;

    bool holds_ = true;
};

}  // namespace pbs::sched
