// A cycle: for which of the jobs that have to wait something is kept, and what.

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/cycle_lookahead.h"
#include "server_plugin/scheduler/schedule_log.h"

namespace pbs::sched {
namespace {

// For jobs that no start is found for, so many steps are taken in a cycle, so that it doesn't take long for a
// crowd of them; a step is a matter of microseconds.
constexpr std::int64_t most_vain_steps = 20'000;

}  // namespace

// Of queues that have none of their own: the policy's, but with a sched_config file the server's (PP-748,
// interface 6).
std::int64_t Cycle::backfill_depth() const {
    return s_.from_sched_config && t_.server.backfill_depth >= 0 ? t_.server.backfill_depth
                                                                 : s_.backfill_depth;
}

// Is there any backfilling? A depth of 0 of a queue is about that queue only as long as there is.
bool Cycle::backfills() const {
    return backfill_depth() > 0 ||
           std::ranges::any_of(views_, [](const QueueView& view) { return view.queue->backfill_depth > 0; });
}

// The standard algorithm: the first jobs that wait get reservations, as many as backfill_depth says. Without
// backfilling the first of them holds up all that come after it, or those of its queue if that is what
// doesn't backfill.
void Cycle::help_top_job(const OrderedJob& job, Verdict& verdict, Targets& targets) {
    if (!s_.strict_ordering && job.job_class != JobClass::waiting) return;
    QueueView& view = *targets[0];
    if (is_held_up(view)) return;
    const bool own = view.queue->backfill_depth >= 0;
    const std::int64_t depth = own ? view.queue->backfill_depth : backfill_depth();
    if (depth == 0) {
        if (verdict.waits || verdict.crosses) hold_up(job.job, view);
        return;
    }
    auto& made = reservations_[own ? view.slot : no_slot];
    if (made >= depth || vain_steps_ >= most_vain_steps) return;
    std::uint32_t& no_start = no_start_known(job, verdict, targets);
    if (no_start == verdict.starts + 1) return;
    Candidate top = candidate(job);
    set_walltime(top, view);
    if (reserve_for(top, view))
        ++made;
    else
        no_start = verdict.starts + 1;
}

void Cycle::hold_up(JobSlot job, QueueView& view) {
    (view.queue->backfill_depth == 0 && backfills() ? view.top_job : top_job_) = job;
    ++held_up_;
}

bool Cycle::is_held_up(const QueueView& view) const {
    return top_job_ != no_slot || view.top_job != no_slot;
}

// May the next job that waits get a reservation in its queue, or hold up what comes after it?
bool Cycle::may_hold_up(const QueueView& view) const {
    if (is_held_up(view)) return false;
    const bool own = view.queue->backfill_depth >= 0;
    const std::int64_t depth = own ? view.queue->backfill_depth : backfill_depth();
    if (depth == 0) return true;
    const auto made = reservations_.find(own ? view.slot : no_slot);
    return (made == reservations_.end() || made->second < depth) && vain_steps_ < most_vain_steps;
}

// False if no start is known.
bool Cycle::reserve_for(Candidate& job, QueueView& view) {
    Lookahead ahead(*this, job, view);
    if (ahead.earliest(in_.now)) {
        (void)ahead.reserve();
        return true;
    }
    vain_steps_ += ahead.steps();
    return false;
}

// What the last cycle reserved, if a look ahead would find the same.
bool Cycle::reserve_kept(const Candidate& job) {
    if (!by_events_ || !in_.events->kept) return false;
    const KeptDrain& kept = *in_.events->kept;
    const auto& changed = in_.events->since.changed;
    if (!kept.holds(in_.now) || kept.job != t_.jobs.handle[job.job] || !started_.empty() ||
        kept.vnodes_version != state_.vnodes->version() ||
        std::ranges::find(changed, job.job) != changed.end() || kept.view >= views_.size())
        return false;
    QueueView& view = views_[kept.view];
    if (view.slot != kept.queue || view.host != kept.host) return false;
    state_.reservations.push_back({job.job, kept.start, kept.end, view.number, kept.spare, false});
    log_schedule(ScheduleState::reserving, job.job, view, kept.start, kept.end, kept.placement);
    state_.vnodes->reserve(0, kept.start, kept.placement, *job.request, vnode_share(), kept.gone(t_));
    return true;
}

// For the cycles to come. Where vnodes decided about the start, more of a limit can do nothing for it but let
// the job start at that instant in a queue that is asked before.
void Cycle::keep_drain(const Candidate& job, const QueueView& view,
                       std::span<const QueueView* const> possible, Placement placement,
                       bool decided_by_vnodes) {
    if (in_.events == nullptr) return;
    in_.events->kept.reset();
    // With chunks of several kinds less room can let a job start sooner: the first kind goes elsewhere then.
    if (job.request->chunks.size() != 1 || !started_.empty() || state_.reservations.size() != 1) return;
    const Reservation& made = state_.reservations.front();
    KeptDrain& kept = in_.events->kept.emplace();
    kept.job = t_.jobs.handle[job.job];
    kept.request = *job.request;
    kept.start = made.start;
    kept.end = made.end;
    kept.view = view.number;
    kept.queue = view.slot;
    kept.host = view.host;
    kept.by_vnode = placement;
    std::ranges::sort(kept.by_vnode, {}, &Part::vnode);
    kept.placement = std::move(placement);
    kept.spare = made.spare;
    kept.node_size = state_.node_size;
    kept.vnode_share = vnode_share();
    kept.vnodes_version = state_.vnodes->version();
    for (const QueueView& v : views_) {
        const bool target = std::ranges::find(possible, &v) != possible.end();
        const bool only = std::ranges::count(views_, v.slot, &QueueView::slot) == 1;
        kept.views.push_back({v.number, v.slot, v.pool, v.dedicated, only, target});
    }
    bool before = true;
    for (const QueueView* target : possible) {
        before = before && target != &view;
        const bool may_decide = before || !decided_by_vnodes || target->pool != view.pool;
        for (const Limit& limit : limits_of(state_, job, *target))
            kept.watched.push_back({limit, resource_schedule().demand(limit).used->at(in_.now), may_decide});
    }
}

// Origin: the queue that the job fits soonest is drained for it. False if no start is known in any.
bool Cycle::drain_for(Candidate& job, const Targets& targets) {
    if (vain_steps_ >= most_vain_steps) return false;
    if (reserve_kept(job)) return drained_ = true;
    const bool home_later = static_cast<bool>(execution_type_reason(state_, t_.jobs.queue[job.job]));
    QueueView* soonest = nullptr;
    std::optional<Instant> start;
    std::vector<const QueueView*> possible;
    std::optional<Lookahead> ahead;
    for (QueueView* view : targets) {
        ahead.reset();
        Verdict verdict;
        set_walltime(job, *view);
        const bool refused = static_cast<bool>(ask_queue(job, *view, verdict));
        if (refused ? !(verdict.waits || verdict.later) : !home_later) continue;
        ahead.emplace(*this, job, *view);
        const auto at = ahead->earliest(in_.now);
        if (!at) {
            vain_steps_ += ahead->steps();
            continue;
        }
        possible.push_back(view);
        if (!start || *at < *start) {
            start = at;
            soonest = view;
        }
    }
    if (soonest == nullptr) return false;
    if (!ahead || &ahead->view() != soonest) {
        ahead.reset();
        set_walltime(job, *soonest);
        ahead.emplace(*this, job, *soonest);
        if (!ahead->earliest(in_.now)) return false;
    }
    Placement placement = ahead->reserve();
    keep_drain(job, *soonest, possible, std::move(placement), ahead->decided_by_vnodes());
    return drained_ = true;
}

// A job that is about to start uses what reservations leave.
void Cycle::use_reserved(const Candidate& job, QueueView& view) {
    use_spare(state_, limit_user(job, view, state_.placement), state_.ends(job));
    state_.vnodes->use_reserved(state_.placement, *job.request, vnode_share(), state_.ends(job));
}

}  // namespace pbs::sched
