// What is reserved for jobs that wait: a job starts before them only if it ends by then, or if they can start
// all the same (origin-facts, "Tests before a job starts": a queue that is being drained for someone else).
// Vnodes are the business of the gate on hosts, which goes before and leaves the place that the job would
// have.

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

bool of_queue(LimitKind kind) {
    return kind == LimitKind::queue_jobs || kind == LimitKind::queue_nodes || kind == LimitKind::queue_amount;
}

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    if (state.reservations.empty()) return {};
    const LimitUser user = limit_user(job, view, state.placement);
    for (Reservation& reservation : state.reservations) {
        if (reservation.begun || reservation.job == job.job || state.ends(job) <= reservation.start) continue;
        for (auto& spare : reservation.spare) {
            const std::int64_t needed = use_of(*state.vnodes, user, spare.key);
            if (needed == 0 || needed <= spare.left) continue;
            spare.refused = true;
            const bool drained = state.settings->algorithm == Algorithm::origin && of_queue(spare.key.kind);
            return {drained ? Because::queue_drained : Because::reserved, view.slot, reservation.job};
        }
    }
    return {};
}

// A limit on the jobs of a host may be reserved for: then it matters where there is room.
Blockers blockers(const CycleState& state, const Candidate&, const QueueView&, const Reason&) {
    return state.settings->max_jobs > 0 ? blocker::anything : blocker::reserved;
}

// Where limits on users are reserved for.
unsigned reads(const CycleState& state, const QueueView& view) {
    unsigned reads = 0;
    for (const Reservation& reservation : state.reservations) {
        for (const auto& [key, left, refused] : reservation.spare) {
            if (key.kind == LimitKind::server_user ||
                (key.kind == LimitKind::queue_user && key.object == view.slot))
                reads |= reads_owner | reads_job_too;
            if (key.kind == LimitKind::server_group ||
                (key.kind == LimitKind::queue_group && key.object == view.slot))
                reads |= reads_group | reads_job_too;
        }
    }
    return reads;
}

}  // namespace

extern const Gate reservations_gate;
const Gate reservations_gate{
    "reservations",
    "max_queued_time, interactive_long_wait, strict_ordering, backfill_depth, help_starving_jobs",
    waits_for_jobs,
    always,
    check,
    blockers,
    reads};

}  // namespace pbs::sched
