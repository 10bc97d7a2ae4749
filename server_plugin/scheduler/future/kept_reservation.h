// A reservation that lasts from one cycle to the next. It is for a job for which a queue is drained. A cycle
// may have several, in the order of the job list.
//
// A look-ahead, the search for the job's start, takes time for every running job. But as long as started jobs
// leave the job its place, and ended jobs can't give it an earlier one, another look-ahead would find the
// same start, queue and vnodes. So each start and end of a job is only checked for that, and updates the
// amounts that the reservation leaves for others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server_plugin/scheduler/model/planning.h"
#include "server_plugin/scheduler/placement/vnodes.h"
#include "server_plugin/scheduler/state/limits.h"
#include "values/sum.h"

namespace pbs::sched {

struct Tables;

class KeptReservation {
  public:
    // A queue on a host, with its number in the cycle that made the reservation.
    struct View {
        std::uint32_t number = 0;
        QueueSlot queue = kNoSlot;
        PoolId pool = 0;
        bool dedicated = false;
        bool only = true;    // the queue has no other view
        bool target = true;  // the job may be placed in this view
    };
    // A limit that the job has to observe, and the amount of it in use.
    struct Watched {
        LimitNeed limit;
        values::Sum in_use{};
        bool may_decide = true;  // if more of the limit were free, the job could start earlier or elsewhere
    };

    JobHandle job{};
    Request request;
    Instant start{};
    Instant end{};
    Planning planning;
    Instant made{};                  // the instant of the cycle that made it
    Instant until = Instant::max();  // the first planned end that is put off once it is reached
    std::uint32_t view = 0;          // the number of the view in which the job will start
    QueueSlot queue = kNoSlot;
    std::uint32_t host = 0;
    Placement placement;                    // its chunks are of one kind, so each vnode comes once
    std::vector<Part> by_vnode;             // the parts of `placement` in order of vnodes
    std::vector<Reservation::Spare> spare;  // the amounts of limits that will be left at `start`
    // The least amounts of limits that are left while the job runs, since later reservations may begin then.
    std::vector<Reservation::Spare> least_spare;
    std::vector<View> views;
    std::vector<Watched> watched;
    // For limits with counters of their own (OwnLimit): how much more is left at `start` than beside
    // the jobs that run when the reservation is stored.
    std::vector<Reservation::Spare> own;
    // The owner and the group by whose jobs' starts and ends the answers of such a limit may change.
    std::optional<std::uint32_t> owner;
    std::optional<std::uint32_t> group;
    // A job, running in its queue or on that queue's vnodes, that ends at `start` or later. Queues are
    // drained only while there is one.
    JobHandle outlasting{};
    NodeSize node_size;    // the size of a node for limits
    NodeSize vnode_share;  // the size of a node for shares of vnodes
    std::uint64_t vnodes_version = 0;

    // Notes that a job started. REQUIRES: the job holds its places. O(jobs on those of its vnodes that are
    // reserved).
    void started(const Tables& tables, JobSlot job);
    // Notes that a running job ends. REQUIRES: the job still holds its places, and this is the first
    // reservation of the list. All other reservations have to be dropped, because an end may let their jobs
    // start earlier, and a KeptReservation doesn't know the others. O(jobs on its vnodes).
    void ended(const Tables& tables, JobSlot job);
    // Drops the reservation, after an event whose effect on it is unknown.
    void forget() { holds_ = false; }

    // Returns whether a look-ahead at `now` would find the same reservation. False shortly before the start,
    // because a job that has overrun its walltime is always expected to end kOverrun from now.
    bool holds(Instant now) const { return holds_ && start >= now + kOverrun && made <= now && now < until; }
    // Bounds `until` by the planned end of a running job that requested no walltime: if the job still runs
    // then, its planned end is put off (default_duration).
    void note_end(const Tables& tables, JobSlot job);

    Instant planned_end(const Tables& tables, JobSlot job) const;

    // Returns the jobs that run on reserved vnodes and will have ended by the start.
    std::vector<JobSlot> gone(const Tables& tables) const;

    // The time for which a job that has overrun its walltime is expected to go on.
    static constexpr Seconds kOverrun{60};

  private:
    // A running job with its use of limits. `user` points to `views`.
    struct InUse {
        std::vector<std::uint32_t> views;
        LimitUser user;
    };
    InUse use_by(const Tables& tables, JobSlot job) const;
    // Returns whether the job is of `owner` or `group`.
    bool is_of_user(const Tables& tables, JobSlot job) const;
    bool ends_by_start(const Tables& tables, JobSlot job) const;
    std::vector<JobSlot> gone_from(const Tables& tables, VnodeSlot vnode) const;
    bool gives_room(const Tables& tables, VnodeSlot vnode, JobSlot ending) const;
    bool leaves_room(const Tables& tables, VnodeSlot vnode, const Part& part) const;

    bool holds_ = true;
};

}  // namespace pbs::sched
