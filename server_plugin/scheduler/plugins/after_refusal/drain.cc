// A cycle of the Origin algorithm: the jobs that a queue is drained for, and until when. These are all
// waiting jobs, all special jobs, and the head of the list: the first job that can't start. (sched-config
// guide, "MAX_QUEUED_TIME"; origin-overview, "Overview Of Operation": the scheduler "goes out of its way" for
// the first job)

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/framework/cycle_lookahead.h"
#include "server_plugin/scheduler/log/schedule_log.h"

namespace pbs::sched {

// Is a queue drained for the next job of the class that can't start? For the head of the list, jobs for which
// none can be drained are passed over, but not without end.
bool Cycle::is_drained_for(JobClass job_class) const {
    constexpr std::size_t most_drained = 64;
    constexpr int most_passed_over = 256;
    if (vain_steps_ >= most_vain_steps) return false;
    if (job_class == JobClass::overdue || job_class == JobClass::special)
        return state_.reservations.size() < most_drained;
    return state_.reservations.empty() && passed_over_ < most_passed_over;
}

extern const AfterRefusal drain_after_refusal;
const AfterRefusal drain_after_refusal{
    .refused = [](Cycle& cycle, const OrderedJob& job, Verdict& verdict,
                  Targets& targets) { cycle.drain_if_wanted(job, verdict, targets); },
    .wants = [](const Cycle& cycle, const Targets&,
                JobClass job_class) { return cycle.is_drained_for(job_class); },
    .begin = nullptr,
    .settle = [](Cycle& cycle) { cycle.release_drained(); },
};

// A job was refused that may start later.
void Cycle::drain_if_wanted(const OrderedJob& job, Verdict& verdict, Targets& targets) {
    if (!is_drained_for(job.job_class)) return;
    std::uint32_t& no_start = no_start_known(job, verdict, targets);
    if (no_start != verdict.starts + 1) {
        Candidate c = candidate(job);
        if (drain_for(c, targets)) return;
        no_start = verdict.starts + 1;
    }
    ++passed_over_;
}

// The queue that the job fits soonest is drained for it: the first listed of two. False if none has to be: no
// start is known in any, or it is later than the last end of a job there, so that it doesn't wait for these.
bool Cycle::drain_for(Candidate& job, const Targets& targets) {
    if (reserve_kept(job)) return true;
    const bool home_later = static_cast<bool>(execution_type_refusal(state_, t_.jobs.queue[job.job]));
    QueueView* soonest = nullptr;
    std::optional<Instant> start;
    std::vector<const QueueView*> possible;
    std::optional<Lookahead> ahead;
    bool by_time = false;
    for (QueueView* view : targets) {
        ahead.reset();
        Verdict verdict;
        set_walltime(job, *view);
        const Reason reason = ask_queue(job, *view, verdict);
        const bool refused = static_cast<bool>(reason);
        by_time = by_time || reason.code == ReasonCode::hpm_not_ready;  // a switch is told as no event
        if (refused ? !(verdict.waits || verdict.later) : !home_later) continue;
        ahead.emplace(*this, job, *view);
        const auto at = ahead->earliest(in_.now, ahead->last_end());
        if (!at) {
            vain_steps_ += ahead->steps();
            by_time = by_time || ahead->too_late();
            continue;
        }
        by_time = by_time || ahead->decided_by_time();
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
    ahead->reserve();
    state_.reservations.back().drains = true;
    if (in_.events == nullptr) return true;
    // Those behind it were found beside another one, or none.
    const std::size_t number = state_.reservations.size() - 1;
    auto& kept = in_.events->kept;
    if (kept.size() > number) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(number), kept.end());
    if (number == 0 && !by_time) keep_reservation(job, *soonest, possible, ahead->decided_by_vnodes());
    return true;
}

// What the last cycle reserved, if a look ahead would find the same: so do those before it then.
bool Cycle::reserve_kept(const Candidate& job) {
    const std::size_t number = state_.reservations.size();
    // Not those behind the first: what an end gives back can let one of them start sooner, unseen by
    // KeptReservation, which knows of no other reservation.
    if (!by_events_ || number > 0 || in_.events->kept.empty()) return false;
    const KeptReservation& kept = in_.events->kept[number];
    const auto& changed = in_.events->since.changed;
    if (!kept.holds(in_.now) || kept.job != t_.jobs.handle[job.job] || !started_.empty() ||
        kept.vnodes_version != state_.vnodes->version() ||
        std::ranges::find(changed, job.job) != changed.end() || kept.view >= views_.size())
        return false;
    QueueView& view = views_[kept.view];
    if (view.slot != kept.queue || view.host != kept.host) return false;
    use_spare(state_, limit_user(job, job.user, view, kept.placement), kept.end);
    state_.vnodes->use_reserved(kept.placement, *job.request, vnode_share(), kept.end);
    state_.reservations.push_back({job.job, kept.start, kept.end, view.number, kept.spare, true, false, {}});
    state_.instants->insert(kept.start);
    log_schedule(ScheduleState::reserving, job.job, view, kept.start, kept.end, kept.placement);
    state_.vnodes->reserve(static_cast<std::uint32_t>(number), kept.start, kept.placement, *job.request,
                           vnode_share(), kept.gone(t_));
    ++reserved_kept_;
    return true;
}

// For the cycles to come, behind those that are kept already. Where vnodes decided about the start, more of a
// limit can do nothing for it but let the job start at that instant in a queue that is asked before.
void Cycle::keep_reservation(const Candidate& job, const QueueView& view,
                             std::span<const QueueView* const> possible, bool decided_by_vnodes) {
    const Reservation& made = state_.reservations.back();
    const Placement& placement = made.placement;
    std::vector<KeptReservation>& all = in_.events->kept;
    // With chunks of several kinds less room can let a job start sooner: the first kind goes elsewhere then.
    if (job.request->chunks.size() != 1 || !started_.empty()) return;
    // Nor where a filter asks for more of what runs in the queue or on hosts than limits do.
    if (s_.max_jobs > 0 || s_.min_jobs > 0 || s_.max_load_percent > 0 || s_.high_systime > 0) return;
    if (std::ranges::any_of(filters_,
                            [](const Filter* filter) { return (filter->traits & by_limits_only) == 0; }))
        return;
    const auto shares_vnode = [&](const KeptReservation& before) {
        return std::ranges::any_of(placement, [&](const Part& part) {
            return std::ranges::find(before.placement.parts, part.vnode, &Part::vnode) !=
                   before.placement.parts.end();
        });
    };
    if (std::ranges::any_of(all, shares_vnode)) return;
    KeptReservation kept;
    kept.job = t_.jobs.handle[job.job];
    kept.request = *job.request;
    kept.start = made.start;
    kept.end = made.end;
    kept.view = view.number;
    kept.queue = view.slot;
    kept.host = view.host;
    kept.by_vnode = placement.parts;
    std::ranges::sort(kept.by_vnode, {}, &Part::vnode);
    kept.placement = placement;
    kept.behind_others = !all.empty();
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
        for (const Limit& limit : limits_of(state_, job, job.user, *target))
            kept.watched.push_back({limit, resource_schedule().demand(limit).used->at(in_.now), may_decide});
    }
    for (QueueSlot q = 0; q < t_.queues.size(); ++q)
        for (const JobSlot other : t_.queues[q].running) kept.outlasting += kept.outlasts(t_, other) ? 1 : 0;
    if (kept.outlasting > 0) all.push_back(std::move(kept));
}

// Before the list is gone through again: the head of it may start now.
void Cycle::give_up_head() {
    const auto is_head = [&](const Reservation& made) {
        const auto job_class = class_of(made.job);
        return job_class != JobClass::overdue && job_class != JobClass::special;
    };
    if (!std::ranges::any_of(state_.reservations, is_head)) return;
    state_.reservations.clear();
    state_.vnodes->clear_reservations();
    schedule_.end_cycle();
    scheduled_ = scheduled_reservations_ = reserved_kept_ = 0;
    passed_over_ = 0;
}

}  // namespace pbs::sched
