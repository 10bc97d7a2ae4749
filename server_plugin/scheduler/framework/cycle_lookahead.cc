#include "server_plugin/scheduler/framework/cycle_lookahead.h"

#include <algorithm>

#include "server_plugin/scheduler/log/schedule_log.h"
#include "server_plugin/scheduler/model/sort_unique.h"

namespace pbs::sched {

ResourceSchedule::Holding Cycle::holding_of(JobSlot job, QueueSlot queue, const QueueView& view) const {
    ResourceSchedule::Holding h;
    h.owner = t_.jobs.owner[job];
    h.group = t_.jobs.group[job];
    h.nodes = nodes_of(job);
    h.request = t_.jobs.request[job];
    h.queue = queue;
    h.views = {view.number};
    h.dedicated_views = view.dedicated ? 1 : 0;
    return h;
}

// All running jobs, the reservations that were kept, then the jobs that were started since the last question.
ResourceSchedule& Cycle::resource_schedule() {
    if (!schedule_.is_in_cycle())
        schedule_.begin_cycle(state_, t_, keeps_schedule() ? in_.events->since.times_all : 0);
    for (; scheduled_reservations_ < reserved_kept_; ++scheduled_reservations_) {
        const KeptReservation& kept = in_.events->kept[scheduled_reservations_];
        const JobSlot job = state_.reservations[scheduled_reservations_].job;
        auto h = holding_of(job, kept.queue, views_[kept.view]);
        h.reservation = static_cast<std::uint32_t>(scheduled_reservations_);
        state_.vnodes->shares_of(kept.placement, t_.requests[h.request], vnode_share(), h.shares);
        schedule_.add(std::move(h), {kept.start, kept.end});
    }
    for (; scheduled_ < started_.size(); ++scheduled_) {
        const Started& started = started_[scheduled_];
        auto h = holding_of(started.job, started.view->slot, *started.view);
        state_.vnodes->shares_of(started.placement, t_.requests[h.request], vnode_share(), h.shares);
        schedule_.add(std::move(h), {in_.now, started.end});
    }
    return schedule_;
}

Cycle::Lookahead::Lookahead(Cycle& cycle, Candidate& job, QueueView& view)
    : c_(cycle),
      job_(job),
      view_(view),
      prime_(cycle.state_.prime),
      prime_ahead_(*prime_),
      prime_change_(cycle.state_.prime_change),
      prime_enforced_(cycle.state_.prime_enforced),
      prime_now_(cycle.state_.prime_now),
      view_now_(view) {
    ResourceSchedule& schedule = c_.resource_schedule();
    limits_ = limits_of(c_.state_, job, job.user, view);
    for (const Limit& limit : limits_) demands_.push_back(schedule.demand(limit));
    for (const auto& [column, amount] : c_.state_.vnodes->totals(*job.request, c_.vnode_share()))
        demands_.push_back(schedule.demand_of_pool(view.pool, column, amount));
    events_ = schedule.events();
    c_.state_.prime = &prime_ahead_;
    c_.state_.looking_ahead = true;
}

void Cycle::Lookahead::go_back() {
    if (!away_) return;
    away_ = false;
    while (done_ > 0) count(events_[--done_], false);
    c_.state_.vnodes->settle(view_.pool);
    CycleState& state = c_.state_;
    state.now = c_.in_.now;
    state.prime = prime_;
    state.prime_change = prime_change_;
    state.prime_enforced = prime_enforced_;
    state.prime_now = prime_now_;
    state.looking_ahead = false;
    view_ = view_now_;
}

void Cycle::Lookahead::set_clock(Instant at) {
    if (c_.state_.now == at) return;
    c_.state_.now = at;
    c_.set_up_time();
    c_.set_time(view_);
}

// Everything that ends or begins by then.
void Cycle::Lookahead::go_to(Instant at) {
    while (done_ < events_.size() && events_[done_].at <= at) count(events_[done_++], true);
    c_.state_.vnodes->settle(view_.pool);
}

// Counts a job out that ends, and one in that begins; backwards the other way round. Only what the filters
// ask of this job in this queue.
void Cycle::Lookahead::count(const ResourceSchedule::Event& event, bool forward) {
    CycleState& state = c_.state_;
    const ResourceSchedule::Holding& h = c_.schedule_.holding(event);
    const Request& request = c_.schedule_.request(h);
    const int sign = event.begins == forward ? 1 : -1;
    state.vnodes->look_ahead(h.shares, -sign);
    state.running += sign;
    for (std::size_t i = 0; i < state.server_in_use.size(); ++i)
        state.server_in_use[i] +=
            sign * number_of(request.totals, state.server->resources_available[i].resource).value_or(0);
    state.dedicated_running += sign * h.dedicated_views;
    for (const std::uint32_t view : h.views) {
        if (view != view_.number) continue;
        view_.running += sign;
        view_.nodes += sign * h.nodes;
        for (std::size_t i = 0; i < view_.in_use.size(); ++i)
            view_.in_use[i] +=
                sign * number_of(request.totals, view_.queue->resources_available[i].resource).value_or(0);
        if (event.begins && forward) view_.empties = std::max(view_.empties, h.end);
    }
    if (h.owner == job_.user.owner || h.group == job_.user.group)
        state.counts->count(h.queue, h.owner, h.group, sign);
    if (event.begins) {
        state.reservations[h.reservation].begun = forward;
        state.vnodes->suspend(h.reservation, forward);
    }
}

void Cycle::Lookahead::await(std::string_view what, Instant until) {
    const auto known = std::ranges::find(awaited_, what, &Awaited::what);
    if (known == awaited_.end())
        awaited_.push_back({what, until});
    else
        known->until = std::max(known->until, until);
}

// A filter about time refuses: until when it does at least.
std::optional<Instant> Cycle::Lookahead::refused_until() {
    const auto waits = [&](const Refusal& refusal) {
        const Instant until = refusal.until.value_or(Instant::max());
        await(awaited_text(refusal.reason), until);
        return until;
    };
    if (const Refusal refusal = execution_type_refusal(c_.state_, c_.t_.jobs.queue[job_.job]))
        return waits(refusal);
    for (const Filter* filter : c_.p_.filters) {
        if ((filter->traits & about_time) == 0 || !is_wanted(*filter)) continue;
        if (const Refusal refusal = c_.check(*filter, job_, view_)) return waits(refusal);
    }
    return std::nullopt;
}

// Of the other ones, the refusal of the first that refuses.
Refusal Cycle::Lookahead::refused_now() {
    for (const Filter* filter : c_.p_.filters) {
        if ((filter->traits & about_time) != 0 || !is_wanted(*filter)) continue;
        if (Refusal refusal = c_.check(*filter, job_, view_)) return refusal;
    }
    return {};
}

Instant Cycle::Lookahead::last_end() const {
    const ResourceSchedule& schedule = c_.schedule_;
    const auto concerns = [&](const ResourceSchedule::Event& event) {
        const ResourceSchedule::Holding& h = schedule.holding(event);
        const auto on_vnodes = [&](const Vnodes::Share& share) {
            return c_.state_.vnodes->is_of(view_.pool, share.vnode);
        };
        return !event.begins &&
               (std::ranges::count(h.views, view_.number) > 0 || std::ranges::any_of(h.shares, on_vnodes));
    };
    const auto last = std::find_if(events_.rbegin(), events_.rend(), concerns);
    return last == events_.rend() ? c_.in_.now : last->at;
}

std::optional<Instant> Cycle::Lookahead::earliest(Instant from, Instant until) {
    const CycleState& state = c_.state_;
    if (c_.not_started_reason(c_.t_.jobs.queue[job_.job]) || !job_.request->unsupported.empty() ||
        !state.vnodes->large_enough(view_.pool, *job_.request, c_.vnode_share()))
        return std::nullopt;
    Instant at = from;
    for (int refusals = 0; refusals < most_refusals;) {
        ++steps_;
        const auto enough = earliest_of_all(demands_, at, job_.walltime);
        if (!enough) return std::nullopt;
        if (*enough > at) {
            await(awaited_jobs, *enough);
            decided_by_vnodes_ = decided_by_time_ = false;
        }
        at = *enough;
        too_late_ = at > until;
        if (too_late_) return std::nullopt;
        set_clock(at);
        if (const auto refused = refused_until()) {
            if (*refused <= at || *refused == Instant::max()) return std::nullopt;
            at = *refused;
            decided_by_vnodes_ = false;
            decided_by_time_ = true;
            ++refusals;
            continue;
        }
        go_to(at);
        const Refusal refusal = refused_now();
        if (!refusal) return at;
        // The next end of a job may lift it, or the instant that it names, whichever is first.
        std::optional<Instant> next;
        if (refusal.waits_for_jobs() && done_ < events_.size()) next = events_[done_].at;
        decided_by_time_ = refusal.until && *refusal.until > at && (!next || *refusal.until < *next);
        if (decided_by_time_) next = refusal.until;
        if (!next || *next == Instant::max()) return std::nullopt;
        at = *next;
        decided_by_vnodes_ = (refusal.blockers & blocker::room) != 0;
        await(decided_by_time_ ? awaited_text(refusal.reason) : awaited_jobs, at);
        refusals = decided_by_time_ ? refusals + 1 : 0;
    }
    return std::nullopt;
}

void Cycle::Lookahead::reserve() {
    CycleState& state = c_.state_;
    const auto id = static_cast<std::uint32_t>(state.reservations.size());
    const rrule::Interval when{state.now, state.ends(job_)};
    Placement placement = std::exchange(state.placement, {});
    const LimitUser user = limit_user(job_, job_.user, view_, placement);
    // Of those before it that start while it runs.
    use_spare(state, user, when.end);
    state.vnodes->use_reserved(placement, *job_.request, c_.vnode_share(), when.end);

    Reservation reservation{job_.job, when.start, when.end, view_.number, {}, false, false, {}};
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        const std::int64_t used = demands_[i].used->max_in({when.start, when.start + Seconds(1)});
        reservation.spare.push_back({limits_[i].key, limits_[i].capacity - used - limits_[i].amount});
    }
    if (const auto most = state.place_rules(job_).max_jobs_on_host; most > 0) {
        std::vector<std::uint32_t> hosts;
        for (const Part& part : placement) hosts.push_back((*state.vnodes)[part.vnode].host);
        sort_unique(hosts);
        for (const std::uint32_t host : hosts)
            reservation.spare.push_back(
                {{LimitKind::host_jobs, host, 0}, most - state.vnodes->jobs_on_host(host) - 1});
    }
    state.reservations.push_back(std::move(reservation));
    // Jobs that haven't ended by then move it on, and others may start before it.
    state.instants->insert(when.start);
    c_.log_schedule(ScheduleState::reserving, job_.job, view_, when.start, when.end, placement);
    state.vnodes->reserve(id, when.start, placement, *job_.request, c_.vnode_share());
    auto holding = c_.holding_of(job_.job, view_.slot, view_);
    holding.reservation = id;
    state.vnodes->shares_of(placement, *job_.request, c_.vnode_share(), holding.shares);
    go_back();
    c_.schedule_.add(std::move(holding), when);
    state.reservations.back().placement = std::move(placement);
}

}  // namespace pbs::sched
