// What a scheduler remembers from one cycle to the next so that a cycle after single events needn't look at
// all jobs (cycle_events.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server_plugin/scheduler/kept_drain.h"
#include "server_plugin/scheduler/limits.h"
#include "server_plugin/scheduler/waiting_jobs.h"

namespace pbs::sched {

struct Policy;

// What happened since the last cycle.
struct EventsSince {
    bool everything = true;           // more than the following: every job has to be looked at
    bool lost = true;                 // and more jobs changed, or the order of jobs did, than `changed` tells
    std::vector<JobSlot> changed;     // arrived, or aren't what they were; no matter where they are now
    std::vector<VnodeSlot> freed;     // vnodes of which jobs gave something back
    std::vector<QueueSlot> ended_in;  // queues whose jobs ended
    std::uint64_t times_all = 0;      // how often there was more; never forgotten

    void forget();
    // Something that may let any job start.
    void all();
    // The same, and the order of jobs or the queues that they start in may be others.
    void settings_changed();
    void job_changed(JobSlot job);
    void job_ended(QueueSlot queue, std::span<const VnodeSlot> vnodes);

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
    bool hold_up_all = false;          // without backfilling: whatever comes after
    std::vector<QueueSlot> hold_up{};  // whatever of these queues comes after
    bool limits = false;               // limits on running jobs are reserved for
    std::vector<VnodeSlot> vnodes{};   // that have a reservation
};

struct EventMemory {
    EventsSince since;
    WaitingJobs waiting;
    bool waiting_known = false;      // `waiting` has all jobs but those that changed since
    const Policy* policy = nullptr;  // by which they are sorted
    bool prime_now = false;          // and in the order of prime time?
    std::vector<JobHandle> started;  // by the last cycle
    // Of the last cycle that looked for whom queues are drained, in the order of the list, and the vnodes
    // that were reserved.
    std::vector<DrainFor> drains;
    std::vector<VnodeSlot> drained_vnodes;
    std::size_t queued = 0;       // jobs in `waiting`, after the last cycle
    bool passed_over = false;     // no queue could be drained for some of them
    std::vector<KeptDrain> kept;  // what a cycle after events may use instead of looking ahead
    TopJobs top_jobs;             // of the last cycle
    // By queue: was a job refused there, in the last full cycle or since, for what jobs have together of the
    // queue, the server or a limit on users? Only then can the end of any of them let it start on vnodes that
    // gave nothing back.
    std::vector<bool> limited;
    // A few requests (WaitingJobs::Entry) for which batch queues had no room in the last cycles.
    std::vector<std::uint32_t> scarce;
    // Requests (Request::serial) with several kinds of chunks that had no place in the batch queues when
    // Vnodes::changes() was this, since the last full cycle.
    std::vector<std::uint64_t> no_place;
    std::uint64_t no_place_as_of = 0;
    // A class of which nothing_may_start() found jobs that the freed vnodes have room for.
    std::optional<JobClass> class_with_room;
    // The longest walltime of a normal job that any queue takes: since the last full cycle it has become no
    // longer. The largest number: not known.
    std::int64_t longest_normal = INT64_MAX;
    bool by_events = false;       // the last cycle went by events
    std::optional<Instant> last;  // cycle
    Instant last_full{};
};

// Does the policy allow a cycle after single events to look at few jobs? Not those by which one job's start
// or end may let jobs start that it has nothing to do with, or that decide by what isn't told as an event.
bool goes_by_events(const Settings& settings, Instant now);
// The same for the standard algorithm: not with round_robin, whose order is another one whenever a job is
// gone, with a formula that has the time in it, or with more sort keys than fit a WaitingKey.
bool standard_goes_by_events(const Settings& settings);

}  // namespace pbs::sched
