// The reservation of a job that a queue is drained for, kept from one cycle to the next. A cycle may keep
// several, in the order of the job list.
//
// Looking ahead takes time for every running job. But as long as jobs that start leave the job its place, and
// jobs that end can't give it a sooner one, a new look ahead would find the same start, queue and vnodes. So
// each job that starts or ends is only asked whether that still holds, and the amounts that the reservation
// leaves for others are counted up and down with it.
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
        QueueSlot queue = kNoSlot;
        PoolId pool = 0;
        bool dedicated = false;
        bool only = true;    // the queue has no other view
        bool target = true;  // the job could start there
    };
    // A limit that the job has to meet, and how much of it is in use.
    struct Watched {
        LimitNeed limit;
        std::int64_t in_use = 0;
        bool may_decide = true;  // with more of it free the job could start sooner, or elsewhere
    };

    JobHandle job{};
    Request request;
    Instant start{};
    Instant end{};
    std::uint32_t view = 0;  // the number of the view in which the job will start
    QueueSlot queue = kNoSlot;
    std::uint32_t host = 0;
    Placement placement;                    // has chunks of one kind only, so each vnode is there once
    std::vector<Part> by_vnode;             // the parts of `placement` in order of vnodes
    std::vector<Reservation::Spare> spare;  // the amounts that will be left of limits at `start`
    // The least that is left of limits while the job runs: other reservations may begin behind it.
    std::vector<Reservation::Spare> least_spare;
    std::vector<View> views;
    std::vector<Watched> watched;
    // The number of jobs, running in its queue or on that queue's vnodes, that end no sooner than `start`.
    std::int64_t outlasting = 0;
    NodeSize node_size;    // the size of a node by which limits count jobs
    NodeSize vnode_share;  // the size of a node by which shares of vnodes are counted
    std::uint64_t vnodes_version = 0;

    // Notes that a job started. The caller calls this once the job holds its places. O(jobs on those of its
    // vnodes that are reserved).
    void started(const Tables& tables, JobSlot job);
    // Notes that a running job ends. The caller calls this before the job gives back its places, and only for
    // the first reservation of the list. It gives up all others: an end can let their jobs start sooner, and
    // a KeptReservation knows of no other one. O(jobs on its vnodes).
    void ended(const Tables& tables, JobSlot job);
    // Gives the reservation up, after an event about which it can't tell whether it still holds.
    void forget() { holds_ = false; }

    // Would looking ahead at `now` find the same reservation? Not shortly before the start, because a job
    // that has run for its walltime is always expected to end kOverrun from now.
    bool holds(Instant now) const { return holds_ && start >= now + kOverrun; }

    // Is the job one of those that `outlasting` counts? The caller asks while the job holds its places.
    bool outlasts(const Tables& tables, JobSlot job) const;

    // Returns the jobs that run on reserved vnodes and will have ended by the start.
    std::vector<JobSlot> gone(const Tables& tables) const;

    // The time for which a job that has run for its walltime is expected to run on.
    static constexpr Seconds kOverrun{60};

  private:
    // A running job as limits see it. `user` points to `views`.
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
