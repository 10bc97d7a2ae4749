// A cycle: non-prime time that starts early in idle queues.

#include <algorithm>

#include "server_plugin/scheduler/framework/cycle_parts.h"

namespace pbs::sched {

// Close enough to the boundary?
bool Cycle::early_is_possible() const {
    if (!state_.prime_now || s_.np_drain_backtime == Seconds(0) || s_.np_drain_idletime == Seconds(0) ||
        !s_.nonprime_drain_sys.holds(in_.now))
        return false;
    const auto boundary = state_.prime->boundary();
    return boundary && *boundary - in_.now <= s_.np_drain_backtime;
}

// And nothing has run in the queue for long enough?
bool Cycle::may_go_early(const QueueView& view) const {
    return early_is_possible() && !view.early && view.running == 0 && view.queue->idle_since != Instant{} &&
           in_.now - view.queue->idle_since > s_.np_drain_idletime;
}

// Is there a job that only prime time keeps from starting in the queue?
bool Cycle::wants_to_go_early(QueueView& view) {
    if (!may_go_early(view)) return false;
    view.early = true;
    const bool wanted = std::ranges::any_of(view.refused_for_prime, [&](JobSlot slot) {
        Candidate job = candidate(ordered(slot, JobClass::normal));
        set_walltime(job, view);
        // What is reserved for the job itself doesn't stand in its way.
        const auto set_own = [&](bool begun) {
            for (Reservation& reservation : state_.reservations)
                if (reservation.job == slot) reservation.begun = begun;
        };
        set_own(true);
        Verdict verdict;
        const bool starts = !ask_queue(job, view, verdict);
        set_own(false);
        return starts;
    });
    view.early = false;
    return wanted;
}

// In the order that is kept.
std::vector<OrderedJob> Cycle::normal_jobs() const {
    std::vector<OrderedJob> jobs;
    const PendingJobs& pending = *pending_;
    for (const LaneId lane : pending.lanes_of(JobClass::normal))
        for (PendingJobs::Position at; pending.settle(lane, at); ++at.index)
            jobs.push_back({pending.job(lane, at), JobClass::normal,
                            static_cast<std::uint32_t>(pending.size_of(lane, at).nodes),
                            pending.signature_of(lane, at), 0});
    return jobs;
}

// Queues that don't observe prime time any more go through the normal jobs in non-prime order.
void Cycle::start_non_prime_early() {
    for (QueueView* view : batch_) {
        if (!wants_to_go_early(*view)) continue;
        const auto next_prime = state_.prime->next_start(*state_.prime->boundary());
        in_.memory->early_until[view->slot] = next_prime.value_or(Instant::max());
        view->early = true;
    }
    if (std::ranges::none_of(batch_, &QueueView::early)) return;
    std::vector<OrderedJob> normal = normal_jobs();
    std::vector<bool> gone(t_.jobs.handle.size(), false);
    for (const Started& started : started_) gone[started.job] = true;
    refusal_of_.assign(t_.jobs.handle.size(), 0);
    for (std::uint32_t i = 0; i < refused_.size(); ++i) {
        refusal_of_[refused_[i].job] = i + 1;
        if (answers_[refused_[i].answer].rejected) gone[refused_[i].job] = true;
    }
    std::erase_if(normal, [&](const OrderedJob& job) { return gone[job.job]; });
    forget_answers();
    give_up_head();
    only_early_ = true;
    consider_again(JobClass::normal, std::move(normal), false);
    only_early_ = false;
}

}  // namespace pbs::sched
