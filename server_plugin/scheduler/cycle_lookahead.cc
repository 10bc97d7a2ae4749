// A cycle: when a job that has to wait could start, and what is kept for it until then.

#include <algorithm>

#include "server_plugin/scheduler/cycle_parts.h"
#include "server_plugin/scheduler/schedule_log.h"

namespace pbs::sched {

// Of queues that have none of their own: the policy's, but with a sched_config file the server's (PP-748,
// interface 6).
std::int64_t Cycle::backfill_depth() const {
    return s_.from_sched_config && t_.server.backfill_depth >= 0 ? t_.server.backfill_depth
                                                                 : s_.backfill_depth;
}

// The standard algorithm: the first jobs that wait for others to end get reservations, as many as
// backfill_depth says; with strict_ordering and no backfilling they hold up all that come after them.
bool Cycle::holds_up(const OrderedJob& job, const Verdict& verdict, const Targets& targets) {
    if (!verdict.waits || top_job_ != no_slot) return false;
    if (!s_.strict_ordering && job.job_class != JobClass::waiting) return false;
    QueueView& view = *targets[0];
    const bool own = view.queue->backfill_depth >= 0;
    const std::int64_t depth = own ? view.queue->backfill_depth : backfill_depth();
    if (depth == 0) return s_.strict_ordering;
    auto& made = reservations_[own ? view.slot : no_slot];
    if (made >= depth) return false;
    ++made;
    Candidate top = candidate(job);
    set_walltime(top, view);
    reserve_for(top, view);
    return false;
}

void Cycle::reserve_for(Candidate& job, QueueView& view) {
    if (const auto at = earliest_start(job, view)) reserve_at(*at, job, view);
}

// Origin: the queue that the job fits soonest is drained for it.
void Cycle::drain_for(Candidate& job, const Targets& targets) {
    QueueView* soonest = nullptr;
    std::optional<Instant> start;
    for (QueueView* view : targets) {
        Verdict verdict;
        set_walltime(job, *view);
        if (!ask_queue(job, *view, verdict) || !verdict.waits) continue;
        const auto at = earliest_start(job, *view);
        if (at && (!start || *at < *start)) {
            start = at;
            soonest = view;
        }
    }
    if (soonest == nullptr) return;
    drained_ = true;
    set_walltime(job, *soonest);
    reserve_at(*start, job, *soonest);
}

std::vector<Cycle::Ending> Cycle::endings() const {
    std::vector<Ending> list;
    for (QueueSlot q = 0; q < t_.queues.size(); ++q)
        for (const JobSlot job : t_.queues[q].running)
            // What runs longer than it asked for ends any moment, but not now.
            list.push_back({std::max(t_.jobs.end(job), in_.now + Seconds(60)), job, nullptr});
    for (const Started& started : started_) list.push_back({started.end, started.job, &started});
    std::ranges::sort(list, [&](const Ending& a, const Ending& b) {
        return a.end != b.end ? a.end < b.end : t_.jobs.sequence[a.job] < t_.jobs.sequence[b.job];
    });
    return list;
}

// Takes a running job out of everything that is counted (sign -1), or puts it back (1).
void Cycle::end_job(const Ending& ending, int sign) {
    const JobSlot job = ending.job;
    const Request& request = t_.requests[t_.jobs.request[job]];
    if (ending.started != nullptr) {
        if (sign < 0)
            state_.vnodes->give_back(ending.started->placement, request, vnode_share());
        else
            state_.vnodes->take(ending.started->placement, request, vnode_share());
        count_into(*ending.started->view, job, sign);
    } else {
        const QueueSlot slot = t_.jobs.queue[job];
        const bool shared = std::ranges::count(views_, slot, &QueueView::slot) > 1;
        for (QueueView& view : views_)
            if (view.slot == slot && (!shared || state_.vnodes->holds_in(view.pool, job)))
                count_into(view, job, sign);
        if (sign < 0)
            state_.vnodes->release_held(job);
        else
            state_.vnodes->retake_held(job);
    }
    const QueueSlot counted = ending.started != nullptr ? ending.started->view->slot : t_.jobs.queue[job];
    state_.counts->count(counted, t_.jobs.owner[job], t_.jobs.group[job], sign);
    state_.running += sign;
    for (std::size_t i = 0; i < state_.server_in_use.size(); ++i)
        state_.server_in_use[i] +=
            sign * number_of(request.totals, t_.server.resources_available[i].resource).value_or(0);
}

// Would all that waits for running jobs be there at that time?
bool Cycle::could_start(Candidate& job, QueueView& view, Instant at) {
    const Instant now = std::exchange(state_.now, at);
    state_.looking_ahead = true;
    const bool could = std::ranges::all_of(gates_, [&](const Gate* gate) {
        return (gate->traits & waits_for_jobs) == 0 || !gate->check(state_, job, view);
    });
    state_.looking_ahead = false;
    state_.now = now;
    return could;
}

// When enough running jobs have ended for the job to start in the queue. Everything is as before afterwards.
std::optional<Instant> Cycle::earliest_start(Candidate& job, QueueView& view) {
    const auto list = endings();
    std::optional<Instant> start;
    std::size_t ended = 0;
    while (ended < list.size() && !start) {
        const Instant at = list[ended].end;
        while (ended < list.size() && list[ended].end == at) end_job(list[ended++], -1);
        if (could_start(job, view, at)) start = at;
    }
    while (ended > 0) end_job(list[--ended], 1);
    return start;
}

// Keeps what the job needs at `start` from jobs that would still run then.
void Cycle::reserve_at(Instant start, Candidate& job, QueueView& view) {
    const auto list = endings();
    std::size_t ended = 0;
    while (ended < list.size() && list[ended].end <= start) end_job(list[ended++], -1);
    if (could_start(job, view, start)) {
        state_.vnodes->reserve(start, state_.placement, *job.request, vnode_share());
        state_.reserved_for.push_back(job.job);
        log_schedule(ScheduleState::reserving, job.job, view, start, start + job.walltime, state_.placement);
        if (s_.algorithm == Algorithm::origin) {
            view.drained_for = job.job;
            view.drain_until = start;
            view.spare_nodes = view.node_limit < 0 ? INT64_MAX / 2 : view.node_limit - view.nodes - job.nodes;
            const auto most = view.queue->max_running;
            view.spare_jobs = most < 0 ? INT64_MAX / 2 : most - view.running - 1;
        }
    }
    while (ended > 0) end_job(list[--ended], 1);
}

}  // namespace pbs::sched
