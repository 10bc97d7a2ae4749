// What a scheduler remembers from one cycle to the next so that a cycle after single events needn't look at
// all jobs (turns.h).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "server_plugin/scheduler/future/kept_reservation.h"
#include "server_plugin/scheduler/future/resource_schedule.h"
#include "server_plugin/scheduler/pending/pending_jobs.h"
#include "server_plugin/scheduler/state/limits.h"

namespace pbs::sched {

struct Policy;

// What happened since the last cycle.
struct EventsSince {
    bool everything = true;        // more than the following: every job has to be looked at
    bool lost = true;              // and more jobs changed, or the order of jobs did, than `changed` tells
    std::vector<JobSlot> changed;  // arrived, or aren't what they were; no matter where they are now
    std::vector<VnodeSlot> freed;  // vnodes of which jobs gave something back
    std::vector<UseKey> less_of;   // uses that jobs which ended were counted in
    bool started = false;          // a job started to run, by whomever
    std::uint64_t times_all = 0;   // how often there was more; never forgotten

    void forget();
    // Something that may let any job start.
    void all();
    // The same, and the order of jobs or the queues that they start in may be others.
    void settings_changed();
    void job_changed(JobSlot job);
    void job_started() { started = true; }
    void job_ended(QueueSlot queue, std::uint32_t owner, std::uint32_t group,
                   std::span<const VnodeSlot> vnodes);

    // With more than this a look at all jobs is as good.
    static constexpr std::size_t most_changed = 65536;
    static constexpr std::size_t most_freed = 64;
};

// What is kept for a job that a queue is drained for.
struct DrainFor {
    JobHandle job{};
    QueueSlot queue = no_slot;
    std::uint32_t host = 0;
    Instant until{};
    std::vector<Reservation::Spare> spare;  // of each limit
    // Vnodes aside: is what was refused for `before` refused for this too?
    bool holds_back_as_much_as(const DrainFor& before) const;
};

// The standard algorithm: what was refused for the jobs that come before.
struct TopJobs {
    bool limits = false;              // limits on running jobs are reserved for
    std::vector<VnodeSlot> vnodes{};  // that have a reservation
};

struct EventMemory {
    EventsSince since;
    PendingJobs pending;
    bool pending_known = false;      // `pending` has all jobs but those that changed since
    const Policy* policy = nullptr;  // by which they are sorted
    bool prime_now = false;          // and in the order of prime time?
    std::vector<JobHandle> started;  // by the last cycle
    std::set<Instant> instants;      // at which refusals may be lifted
    // Uses of which limits had something left when they were looked at last. Jobs that wait for less of them,
    // but are too large for any vnode, weren't looked at since: room on vnodes is what they wait for.
    std::vector<UseKey> open;
    Blockers always_open = 0;  // of more of them, those that are listed no more
    // Of the last cycle that looked for whom queues are drained, in the order of the list, and the vnodes
    // that were reserved.
    std::vector<DrainFor> drains;
    std::vector<VnodeSlot> drained_vnodes;
    std::vector<KeptReservation> kept;  // what a cycle after events may use instead of looking ahead
    TopJobs top_jobs;                   // of the last cycle
    std::vector<QueueSlot> held_up;     // queues whose jobs weren't looked at behind one that held them up
    ResourceSchedule schedule;          // its part of the running jobs
    std::optional<Instant> last;        // cycle
    Instant last_full{};
};

}  // namespace pbs::sched
