// The memory of a scheduler from one cycle to the next, so that a cycle after single events needn't look at
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
#include "server_plugin/scheduler/state/own_states.h"

namespace pbs::sched {

struct Policy;

// Events since the last cycle.
struct EventsSince {
    // More happened than the lists below tell: look at every job.
    bool everything = true;
    // Jobs that aren't in `changed` changed as well, or the order of the jobs did.
    bool lost = true;
    std::vector<JobSlot> changed;  // jobs that arrived or were altered, whatever has become of them since
    std::vector<VnodeSlot> freed;  // vnodes on which a job ended
    std::vector<UseKey> less_of;   // limits that count fewer jobs now, because one of them ended
    bool started = false;          // a job started to run, by a cycle or by an operator
    bool started_alone = false;    // a job that started has vnodes for itself
    bool told = false;             // a program of server_dyn_res reported another amount
    std::uint64_t times_all = 0;   // the number of calls of all() since the scheduler was made

    void forget();
    // Notes an event that may let any job start.
    void all();
    // Notes an event that may let any job start, and may have changed the order of the jobs or the queues
    // that they start in.
    void settings_changed();
    void job_changed(JobSlot job);
    void job_started(bool alone) {
        started = true;
        started_alone = started_alone || alone;
    }
    void amount_told() { told = true; }
    void job_ended(QueueSlot queue, const Entities& whose, std::span<const VnodeSlot> vnodes);

    // With more entries than this, looking at all jobs costs no more.
    static constexpr std::size_t kMostChanged = 65536;
    static constexpr std::size_t kMostFreed = 64;
};

struct EventMemory {
    EventsSince since;
    PendingJobs pending;
    bool pending_known = false;      // `pending` has all jobs but those that changed since
    const Policy* policy = nullptr;  // the policy that `pending` is sorted by
    bool prime_now = false;          // `pending` is in the order of prime time
    std::vector<JobHandle> started;  // the jobs that the last cycle started
    std::set<Instant> instants;      // the instants at which time may lift a refusal
    // Limited uses that weren't full when last looked at. Jobs that wait for less of such a use, but are too
    // large for any vnode, weren't looked at since: they wait for room on vnodes.
    std::vector<UseKey> open;
    Blockers always_open = 0;  // the blockers of further such uses, for which the list has no room
    // Reservations that a cycle after events may use instead of looking ahead.
    std::vector<KeptReservation> kept;
    OwnStates own;                   // data that rules keep
    std::vector<QueueSlot> held_up;  // queues whose jobs weren't looked at behind one that held them up
    bool refused_by_sets = false;    // a waiting job was refused as CycleState::refused_by_sets counts
    ResourceSchedule schedule;       // running jobs only
    std::optional<Instant> last;     // the last cycle
    Instant last_full{};
};

}  // namespace pbs::sched
