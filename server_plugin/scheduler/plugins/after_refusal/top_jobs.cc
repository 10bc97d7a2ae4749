// A cycle of the standard algorithm: for which of the jobs that have to wait something is kept, and what.
// Origin's is in drain.cc.

#include "server_plugin/scheduler/framework/cycle_lookahead.h"
#include "server_plugin/scheduler/model/sort_unique.h"

namespace pbs::sched {

// Of queues that have none of their own: the policy's, but with a sched_config file the server's (PP-748,
// interface 6).
std::int64_t Cycle::backfill_depth() const {
    return s_.from_sched_config && t_.server.backfill_depth >= 0 ? t_.server.backfill_depth
                                                                 : s_.backfill_depth;
}

// Is there any backfilling? As long as there is, a depth of 0 of a queue is about that queue only, and jobs
// for which the policy's depth of 0 counts get no reservations and hold up nothing.
bool Cycle::backfills() const {
    return backfill_depth() > 0 ||
           std::ranges::any_of(views_, [](const QueueView& view) { return view.queue->backfill_depth > 0; });
}

extern const AfterRefusal top_jobs_after_refusal;
const AfterRefusal top_jobs_after_refusal{
    .refused = [](Cycle& cycle, const OrderedJob& job, Verdict& verdict,
                  Targets& targets) { cycle.help_top_job(job, verdict, targets); },
    .wants = [](const Cycle& cycle, const Targets& targets,
                JobClass job_class) { return cycle.may_help_next(targets, job_class); },
    .begin = [](Cycle& cycle) { cycle.release_for_top_jobs(); },
    .settle = nullptr,
};

// The standard algorithm: the first jobs that wait get reservations, as many as backfill_depth says. Without
// backfilling the first of them holds up all that come after it, or those of its queue if that is what
// doesn't backfill.
void Cycle::help_top_job(const OrderedJob& job, Verdict& verdict, Targets& targets) {
    if (!s_.strict_ordering && job.job_class != JobClass::overdue) return;
    if (targets.empty()) return;
    QueueView& view = *targets[0];
    if (is_held_up(view)) return;
    const bool own = view.queue->backfill_depth >= 0;
    const std::int64_t depth = own ? view.queue->backfill_depth : backfill_depth();
    if (depth == 0) {
        if (!own && backfills()) return;
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

// Does the next job of the class that waits matter to others? It may get a reservation, or hold others up.
bool Cycle::may_help_next(const Targets& targets, JobClass job_class) const {
    if (targets.empty()) return false;
    const QueueView& view = *targets[0];
    return view.queue->started && (s_.strict_ordering || job_class == JobClass::overdue) && may_hold_up(view);
}

// What was refused for jobs that came before. They are looked at again, and may be others now.
void Cycle::release_for_top_jobs() {
    const TopJobs& before = in_.events->top_jobs;
    if (before.limits) lifted_ |= blocker::reserved;
    auto& freed = in_.events->since.freed;
    freed.insert(freed.end(), before.vnodes.begin(), before.vnodes.end());
    sort_unique(freed);
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
    if (depth == 0) return own || !backfills();
    const auto made = reservations_.find(own ? view.slot : no_slot);
    return (made == reservations_.end() || made->second < depth) && vain_steps_ < most_vain_steps;
}

// False if no start is known.
bool Cycle::reserve_for(Candidate& job, QueueView& view) {
    Lookahead ahead(*this, job, view);
    if (ahead.earliest(in_.now)) {
        ahead.reserve();
        return true;
    }
    vain_steps_ += ahead.steps();
    return false;
}

// A job that is about to start uses what reservations leave.
void Cycle::use_reserved(const Candidate& job, QueueView& view) {
    use_spare(state_, limit_user(job, job.user, view, state_.placement), state_.ends(job));
    state_.vnodes->use_reserved(state_.placement, *job.request, vnode_share(), state_.ends(job));
}

}  // namespace pbs::sched
