#include "server_plugin/scheduler/future/kept_tops.h"

#include <algorithm>

#include "server_plugin/scheduler/future/gone_jobs.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {
namespace {

Instant planned_end(const Tables& t, const Planning& planning, JobSlot job, Instant now) {
    return planning.end(t.jobs, job, now, t.queues[t.jobs.queue[job]].hours);
}

}  // namespace

void KeptTops::clear() {
    list.clear();
    whole.reset();
    assumed_.clear();
    freed_.clear();
}

void KeptTops::started(const Tables& t, JobSlot job) {
    if (list.empty()) return;
    const auto known = assumed_.find(t.jobs.handle[job]);
    const bool as_assumed = known != assumed_.end() &&
                            known->second.end == planned_end(t, planning_, job, t.jobs.stime[job]) &&
                            std::ranges::equal(known->second.vnodes, t.vnodes.held_by(job));
    if (!as_assumed) return clear();
    assumed_.erase(known);
}

void KeptTops::ended(const Tables& t, JobSlot job, Instant now) {
    if (list.empty()) return;
    const Instant until = planned_end(t, planning_, job, now);
    if (until <= now) return;
    for (const VnodeSlot vnode : t.vnodes.held_by(job)) {
        Instant& latest = freed_.try_emplace(vnode, until).first->second;
        latest = std::max(latest, until);
    }
    if (freed_.size() > kMostFreed) clear();
}

bool KeptTops::may_be_used(const Tables& t, bool is_late) const {
    return !list.empty() && assumed_.empty() && !is_late && vnodes_version_ == t.vnodes.version();
}

// A vnode that is freer than before gives the job a chunk only if one fits there when all jobs are gone that
// end by the job's start, or before the planned end of the last job that has ended.
bool KeptTops::still_holds(const Tables& t, const Top& top, PoolId pool, const Request& request) const {
    if (top.has_limits && !freed_.empty()) return false;
    const auto end = [&](JobSlot job) { return planned_end(t, planning_, job, t.jobs.stime[job]); };
    return std::ranges::none_of(freed_, [&](const auto& freed) {
        const auto& [vnode, until] = freed;
        if (!t.vnodes.is_of(pool, vnode)) return false;
        std::vector<JobSlot> gone;
        add_gone(t, vnode, std::min(top.start, until - Seconds(1)), end, gone);
        return t.vnodes.fits_any_chunk(vnode, gone, request, node_size_);
    });
}

void KeptTops::cycle_ended(const Tables& t, const Planning& planning, const NodeSize& node_size,
                           std::vector<Assumed> assumed) {
    freed_.clear();
    assumed_.clear();
    planning_ = planning;
    node_size_ = node_size;
    vnodes_version_ = t.vnodes.version();
    if (list.empty()) return;
    for (Assumed& one : assumed) assumed_.emplace(one.job, std::move(one));
}

}  // namespace pbs::sched
