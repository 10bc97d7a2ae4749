// A cycle: for which of the jobs that have to wait something is kept, and what.

#include "server_plugin/scheduler/cycle_lookahead.h"

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

// The standard algorithm: the first jobs that wait get reservations, as many as backfill_depth says. With
// strict_ordering and no backfilling the first that waits for others to end holds up all that come after it.
bool Cycle::holds_up(const OrderedJob& job, Verdict& verdict, Targets& targets) {
    if (top_job_ != no_slot) return false;
    if (!s_.strict_ordering && job.job_class != JobClass::waiting) return false;
    QueueView& view = *targets[0];
    const bool own = view.queue->backfill_depth >= 0;
    const std::int64_t depth = own ? view.queue->backfill_depth : backfill_depth();
    if (depth == 0) return s_.strict_ordering && verdict.waits;
    auto& made = reservations_[own ? view.slot : no_slot];
    if (made >= depth || vain_steps_ >= most_vain_steps) return false;
    std::uint32_t& no_start = no_start_known(job, verdict, targets);
    if (no_start == verdict.starts + 1) return false;
    Candidate top = candidate(job);
    set_walltime(top, view);
    if (reserve_for(top, view))
        ++made;
    else
        no_start = verdict.starts + 1;
    return false;
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

// Origin: the queue that the job fits soonest is drained for it. False if no start is known in any.
bool Cycle::drain_for(Candidate& job, const Targets& targets) {
    if (vain_steps_ >= most_vain_steps) return false;
    const bool home_later = static_cast<bool>(execution_type_reason(state_, t_.jobs.queue[job.job]));
    QueueView* soonest = nullptr;
    std::optional<Instant> start;
    for (QueueView* view : targets) {
        Verdict verdict;
        set_walltime(job, *view);
        const bool refused = static_cast<bool>(ask_queue(job, *view, verdict));
        if (refused ? !(verdict.waits || verdict.later) : !home_later) continue;
        Lookahead ahead(*this, job, *view);
        const auto at = ahead.earliest(in_.now);
        if (!at) vain_steps_ += ahead.steps();
        if (at && (!start || *at < *start)) {
            start = at;
            soonest = view;
        }
    }
    if (soonest == nullptr) return false;
    set_walltime(job, *soonest);
    return drained_ = reserve_for(job, *soonest);
}

// A job that is about to start uses what reservations leave.
void Cycle::use_reserved(const Candidate& job, QueueView& view) {
    QueueView* const views[] = {&view};
    use_spare(state_, {job.owner, job.group, job.nodes, job.request, view.slot, views, &state_.placement},
              state_.ends(job));
    state_.vnodes->use_reserved(state_.placement, *job.request, vnode_share(), state_.ends(job));
}

}  // namespace pbs::sched
