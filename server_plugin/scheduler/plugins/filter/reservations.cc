// What is reserved for jobs that wait: a job starts before them only if it ends by then, or if they can start
// all the same (origin-facts, "Tests before a job starts": a queue that is being drained for someone else).
// Vnodes are the business of the filter of hosts, which goes before and leaves the place that the job would
// have.

#include <algorithm>

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

bool of_queue(LimitKind kind) {
    return kind == LimitKind::queue_jobs || kind == LimitKind::queue_nodes || kind == LimitKind::queue_amount;
}

// A limit on the jobs of a host may be reserved for: then it matters where there is room.
Refusal check_reservations(CycleState& state, const Asked& job, const User& user, QueueView& view) {
    if (state.reservations.empty() || view.is_reservation) return {};
    const LimitUser use = limit_user(job, user, view, state.placement);
    for (Reservation& reservation : state.reservations) {
        if (reservation.begun || state.ends(job) <= reservation.start) continue;
        for (auto& spare : reservation.spare) {
            const std::int64_t needed = use_of(*state.vnodes, use, spare.key);
            if (needed == 0 || needed <= spare.left) continue;
            spare.refused = true;
            const bool drained = reservation.drains && of_queue(spare.key.kind);
            return {{drained ? ReasonCode::queue_drained : ReasonCode::reserved, view.slot, reservation.job},
                    state.settings->max_jobs > 0 ? blocker::kAnything : blocker::kReserved};
        }
    }
    return {};
}

// Where limits on users are reserved for.
bool reads_user_reservations(const CycleState& state, const QueueView& view) {
    const auto is_of_user = [&](const LimitKey& key) {
        if (key.kind == LimitKind::entity)
            return (key.entity == EntityKind::user || key.entity == EntityKind::group) &&
                   (key.object == EntityUse::kServer || key.object == view.slot);
        return key.kind == LimitKind::server_user || key.kind == LimitKind::server_group ||
               ((key.kind == LimitKind::queue_user || key.kind == LimitKind::queue_group) &&
                key.object == view.slot);
    };
    return std::ranges::any_of(state.reservations, [&](const Reservation& reservation) {
        return std::ranges::any_of(reservation.spare,
                                   [&](const auto& spare) { return is_of_user(spare.key); });
    });
}

}  // namespace

extern const Filter kReservationsFilter;
const Filter kReservationsFilter{
    .name = "reservations",
    .attributes =
        "max_queued_time, interactive_long_wait, strict_ordering, backfill_depth, help_starving_jobs",
    .traits = by_limits_only,
    .check = check_reservations,
    .reads_user = reads_user_reservations};

}  // namespace pbs::sched
