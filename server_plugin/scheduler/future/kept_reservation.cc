#include "server_plugin/scheduler/future/kept_reservation.h"

#include <algorithm>
#include <iterator>

#include "server_plugin/scheduler/future/gone_jobs.h"
#include "server_plugin/scheduler/model/sort_unique.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

KeptReservation::InUse KeptReservation::use_by(const Tables& t, JobSlot slot) const {
    InUse result;
    const QueueSlot of = t.jobs.queue[slot];
    std::int64_t dedicated_views = 0;
    for (const View& v : views) {
        if (v.queue != of || !(v.only || t.vnodes.holds_in(v.pool, slot))) continue;
        result.views.push_back(v.number);
        dedicated_views += v.dedicated ? 1 : 0;
    }
    result.user = {t.jobs.entities(slot),
                   job_nodes(t, node_size, slot),
                   &t.requests[t.jobs.request[slot]],
                   t.jobs.walltime[slot],
                   of,
                   result.views,
                   dedicated_views,
                   nullptr,
                   {}};
    return result;
}

bool KeptReservation::is_of_user(const Tables& t, JobSlot slot) const {
    return owner == t.jobs.owner[slot] || group == t.jobs.group[slot];
}

Instant KeptReservation::planned_end(const Tables& t, JobSlot slot) const {
    return planning.end(t.jobs, slot, made, t.queues[t.jobs.queue[slot]].hours);
}

bool KeptReservation::ends_by_start(const Tables& t, JobSlot slot) const {
    return planned_end(t, slot) <= start;
}

void KeptReservation::note_end(const Tables& t, JobSlot slot) {
    if (planning.repeats(t.jobs.walltime[slot])) until = std::min(until, planned_end(t, slot));
}

// Returns the jobs on a vnode that will have ended by the start.
std::vector<JobSlot> KeptReservation::gone_from(const Tables& t, VnodeSlot vnode) const {
    std::vector<JobSlot> jobs;
    add_gone(
        t, vnode, start, [&](JobSlot other) { return planned_end(t, other); }, jobs);
    return jobs;
}

std::vector<JobSlot> KeptReservation::gone(const Tables& t) const {
    std::vector<JobSlot> jobs;
    for (const Part& part : placement) {
        const auto of_vnode = gone_from(t, part.vnode);
        jobs.insert(jobs.end(), of_vnode.begin(), of_vnode.end());
    }
    sort_unique(jobs);
    return jobs;
}

// Returns whether the vnode, once the job `ending` is gone, will have free amounts by the start for a chunk
// of the job with the reservation.
bool KeptReservation::gives_room(const Tables& t, VnodeSlot vnode, JobSlot ending) const {
    const bool of_targets =
        std::ranges::any_of(views, [&](const View& v) { return v.target && t.vnodes.is_of(v.pool, vnode); });
    if (!of_targets) return false;
    std::vector<JobSlot> jobs = gone_from(t, vnode);
    if (!ends_by_start(t, ending)) jobs.push_back(ending);
    return t.vnodes.fits_any_chunk(vnode, jobs, request, vnode_share);
}

// Returns whether the part reserved on a vnode still fits there.
bool KeptReservation::leaves_room(const Tables& t, VnodeSlot vnode, const Part& part) const {
    return t.vnodes.fits_parts(vnode, gone_from(t, vnode), std::span(&part, 1), request, vnode_share);
}

void KeptReservation::started(const Tables& t, JobSlot slot) {
    if (!holds_) return;
    if (t.vnodes.version() != vnodes_version || is_of_user(t, slot)) return forget();
    note_end(t, slot);
    const InUse user = use_by(t, slot);
    for (Watched& w : watched) w.in_use += use_of(t.vnodes, user.user, w.limit.key);
    if (ends_by_start(t, slot)) return;
    for (Reservation::Spare& s : spare) s.left -= use_of(t.vnodes, user.user, s.key);
    for (Reservation::Spare& s : least_spare) {
        s.left -= use_of(t.vnodes, user.user, s.key);
        if (s.left < 0) return forget();
    }
    for (const VnodeSlot vnode : t.vnodes.held_by(slot)) {
        const auto part = std::ranges::lower_bound(by_vnode, vnode, {}, &Part::vnode);
        if (part == by_vnode.end() || part->vnode != vnode) continue;
        if (!leaves_room(t, vnode, *part)) return forget();
    }
}

void KeptReservation::ended(const Tables& t, JobSlot slot) {
    if (!holds_) return;
    if (t.vnodes.version() != vnodes_version || is_of_user(t, slot)) return forget();
    if (t.jobs.handle[slot] == outlasting) return forget();
    const InUse user = use_by(t, slot);
    for (Watched& w : watched) {
        const std::int64_t use = use_of(t.vnodes, user.user, w.limit.key);
        // If there was enough of the limit while the ended job used some, less use changes nothing.
        if (use != 0 && w.may_decide && w.in_use + w.limit.amount > w.limit.capacity) return forget();
        w.in_use -= use;
    }
    if (!ends_by_start(t, slot))
        for (auto* all : {&spare, &least_spare})
            for (Reservation::Spare& s : *all) s.left += use_of(t.vnodes, user.user, s.key);
    for (const VnodeSlot vnode : t.vnodes.held_by(slot))
        if (gives_room(t, vnode, slot)) return forget();
}

}  // namespace pbs::sched
