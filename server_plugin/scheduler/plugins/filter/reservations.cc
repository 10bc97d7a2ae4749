// Reservations for waiting jobs: another job may start now only if it ends by the reserved start, or if the
// waiting job can start then in spite of it (origin-facts, "Tests before a job starts": a queue that is being
// drained for someone else). The filter on hosts, which comes first, has checked vnodes and stored the job's
// place in the state.

#include <algorithm>

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

// Refuses the job if a reservation leaves too little of a limit. For a limit on the jobs of hosts, the job's
// place matters, too.
Refusal check_reservations(CycleState& state, const JobNeeds& job, const User& user, QueueView& view) {
    if (state.reservations.empty() || view.is_reservation) return {};
    Vnodes::Shares shares;
    const LimitUser use = limit_user(state, job, user, view, state.placement, shares);
    for (Reservation& reservation : state.reservations) {
        if (reservation.begun || state.ends(job) <= reservation.start) continue;
        for (auto& spare : reservation.spare) {
            const std::int64_t needed = use_of(*state.vnodes, use, spare.key);
            if (needed == 0 || needed <= spare.left) continue;
            spare.refused = true;
            const bool drained = reservation.drains && spare.key.use.scope == UseScope::view;
            return {{drained ? ReasonCode::queue_drained : ReasonCode::reserved, view.slot, reservation.job},
                    state.settings->max_jobs > 0 ? blocker::kAnything : blocker::kReserved};
        }
    }
    return {};
}

// Returns whether the limit is on users or groups in this queue.
bool is_of_user(const UseKey& use, const QueueView& view) {
    return (use.is_of_owner() || use.is_of_group()) &&
           (use.scope != UseScope::queue || use.object == view.slot);
}

// Returns whether `holds` of a part of a limit that a reservation keeps.
bool any_spare(const CycleState& state, auto holds) {
    return std::ranges::any_of(state.reservations, [&](const Reservation& reservation) {
        return std::ranges::any_of(reservation.spare, holds);
    });
}

// Returns whether a reservation keeps a part of a limit on users or groups in this queue.
bool limits_users(const CycleState& state, const QueueView& view) {
    return any_spare(state, [&](const Reservation::Spare& spare) { return is_of_user(spare.key.use, view); });
}

// Returns after how many starts of the owner or group a reservation may leave too little of a limit for a job
// of this user in the queue. Looks at limits on users or groups, and at limits with counters of their own.
std::int64_t limits_user_after(CycleState& state, const User& user, const QueueView& view) {
    std::int64_t starts = kNever;
    for (const Reservation& reservation : state.reservations)
        for (const Reservation::Spare& spare : reservation.spare) {
            if (spare.key.use.scope != UseScope::own) {
                if (is_of_user(spare.key.use, view)) return 0;
                continue;
            }
            const auto exceeds_after = spare.key.limit->exceeds_after;
            if (exceeds_after == nullptr) return 0;
            starts = std::min(starts, exceeds_after(state, user, spare.key, spare.left.value()));
            if (starts == 0) return 0;
        }
    return starts;
}

}  // namespace

extern const Filter kReservationsFilter{
    .name = "reservations",
    .attributes =
        "max_queued_time, interactive_long_wait, strict_ordering, backfill_depth, help_starving_jobs",
    .traits = by_limits_only,
    .check = check_reservations,
    // Limits with counters of their own may be on users, even if no other filter reads the user.
    .reads_user =
        [](const CycleState& state, const QueueView& view) {
            return std::ranges::any_of(state.own_limits, &OwnLimit::reads_user) || limits_users(state, view);
        },
    .refuses_after = limits_user_after};

}  // namespace pbs::sched
