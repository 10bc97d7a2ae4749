#include "server_plugin/scheduler/framework/lookahead.h"

#include <algorithm>
#include <map>

#include "server_plugin/scheduler/model/sort_unique.h"

namespace pbs::sched {
namespace {

// Returns whether the filter reads the vnodes. A limit reads only the use by jobs.
bool reads_vnodes(const Filter& filter) {
    return (filter.traits & about_room) != 0 && filter.limit() == nullptr;
}

}  // namespace

Lookahead::Lookahead(CycleContext& context, Future& future, Candidate& job, QueueView& view)
    : CyclePart(context),
      future_(future),
      job_(job),
      request_(job.request),
      request_number_(job.request_number),
      view_(view),
      together_(context.together(job.job)),
      prime_(state_.prime),
      prime_ahead_(*prime_),
      prime_change_(state_.prime_change),
      prime_enforced_(state_.prime_enforced),
      prime_now_(state_.prime_now),
      view_now_(view) {
    ++c_.look_aheads;
    ResourceSchedule& schedule = future_.schedule();
    limits_ = limits_of(p_.filters, state_, job, view);
    for (LimitNeed& limit : limits_) {
        limit.amount = of_all(limit.amount);
        demands_.push_back(schedule.demand(limit));
    }
    for (const auto& [column, amount] : state_.vnodes->totals(*job.request, c_.vnode_share()))
        demands_.push_back(schedule.demand_of_pool(view.pool, column, of_all(amount)));
    ends_ = schedule.ends();
    events_ = schedule.added_events();
    add_pauses();
    for (const Filter* filter : p_.filters)
        if ((filter->traits & about_time) != 0) of_time_.push_back(filter);
    find_filters();
    state_.prime = &prime_ahead_;
    state_.looking_ahead = true;
}

Lookahead::~Lookahead() {
    go_back();
    use_own_request();
}

// Adds the pauses of jobs, in which suspended jobs leave their places. This job has to have ended when a
// suspended job goes on. So for this look-ahead, each pause ends earlier by this job's walltime.
void Lookahead::add_pauses() {
    ResourceSchedule& schedule = future_.schedule();
    for (const std::uint32_t number : schedule.pausing()) {
        const ResourceSchedule::Holding& h = schedule.holding(number);
        // A job that is to be suspended in this cycle leaves its place soon.
        const Instant stops = std::max(h.stops, in_.now + KeptReservation::kOverrun);
        const Instant resumes = h.resumes - job_.walltime + Seconds(1);
        if (resumes <= stops) continue;
        with_pauses_.push_back({stops, number, false, h.given_up});
        with_pauses_.push_back({resumes, number, true, h.given_up});
    }
    if (with_pauses_.empty()) return;
    with_pauses_.insert(with_pauses_.end(), events_.begin(), events_.end());
    std::ranges::sort(with_pauses_, {}, &ResourceSchedule::Event::order);
    events_ = with_pauses_;
}

void Lookahead::use_own_request() {
    range_.reset();
    job_.request = request_;
    job_.request_number = request_number_;
}

void Lookahead::go_back() {
    if (!away_) return;
    away_ = false;
    if (applied_) apply_passed(1);
    while (passed_ == nullptr && done_ends_ > 0) count(ends_[--done_ends_], false);
    while (done_ > 0) count(events_[--done_], false);
    if (std::exchange(passed_, nullptr) != nullptr)
        state_.vnodes->leave_ahead();
    else
        state_.vnodes->settle(state_.pool_for(view_, *request_));
    settled_ = true;
    state_.now = in_.now;
    state_.prime = prime_;
    state_.prime_change = prime_change_;
    state_.prime_enforced = prime_enforced_;
    state_.prime_now = prime_now_;
    state_.looking_ahead = false;
    view_ = view_now_;
    c_.set_walltime(job_, view_);
}

void Lookahead::set_clock(Instant at) {
    if (state_.now == at) return;
    state_.now = at;
    c_.set_clock();
    future_.queues().set_time(view_);
    if (view_.facts != facts_) find_filters();
    c_.set_walltime(job_, view_);
}

// Finds the filters that may refuse the job at the instant of the state: leaves out limits that are set for
// nothing, as most are.
void Lookahead::find_filters() {
    facts_ = view_.facts;
    others_.clear();
    searches_first_ = true;
    bool finds_places = false;
    for (const Filter* filter : p_.filters) {
        if ((filter->traits & about_time) != 0) continue;
        if (filter->limit() != nullptr && filter->lets_all_pass(facts_)) continue;
        others_.push_back(filter);
        finds_places = finds_places || (filter->traits & places) != 0;
        searches_first_ = searches_first_ && (finds_places || !reads_vnodes(*filter));
    }
}

// Returns whether the use by jobs whose ends are passed may stay until the next look-ahead, and the shares of
// vnodes decide about places.
bool Lookahead::may_pass_ends() const {
    return with_pauses_.empty() && state_.own_limits.empty() && state_.load_order == 0 &&
           !s_.load_balancing && !state_.vnodes->has_maximal_loads();
}

// Subtracts the use by jobs whose ends are passed from the state (sign -1), or adds it again (sign 1).
void Lookahead::apply_passed(int sign) {
    passed_->apply(state_, t_, view_, entities_of(job_, job_.user), sign);
    applied_ = sign < 0;
}

// Counts all beginnings and ends of jobs up to `at`. A job that the cycle has preempted isn't counted any
// more, and is counted again right before its end. So count the ends of running jobs last.
void Lookahead::go_to(Instant at) {
    if (passed_ != nullptr) {
        if (applied_) apply_passed(1);
        future_.pass(at);
    } else if (!went_ && may_pass_ends()) {
        // Only what is entered has to be left, if an exception comes.
        if (const PassedEnds* passed = future_.pass(at)) {
            state_.vnodes->enter_ahead(state_.pool_for(view_, *request_));
            passed_ = passed;
        }
    }
    went_ = true;
    for (; done_ < events_.size() && events_[done_].at <= at; settled_ = false) count(events_[done_++], true);
    if (passed_ != nullptr) {
        apply_passed(-1);
        const auto to_come = std::ranges::upper_bound(ends_, at, {}, &ResourceSchedule::Event::at);
        done_ends_ = static_cast<std::size_t>(to_come - ends_.begin());
        settled_ = false;
    }
    for (; done_ends_ < ends_.size() && ends_[done_ends_].at <= at; settled_ = false)
        count(ends_[done_ends_++], true);
    if (!chunks_) return;
    const auto changed = state_.vnodes->not_settled();
    chunks_->take_up(changed.subspan(counted_), state_.ends(job_));
    counted_ = changed.size();
}

// Updates the pool's trees for the events that are counted.
void Lookahead::settle() {
    if (std::exchange(settled_, true)) return;
    state_.vnodes->settle(state_.pool_for(view_, *request_));
    counted_ = 0;
}

// Returns whether the free amounts of the vnodes, with the reservations, alone decide how many of the job's
// chunks have room.
bool Lookahead::may_count_chunks() const {
    return searches_first_ && job_.suspended == kNoSlot && !view_.is_reservation && together_ == 1 &&
           state_.named_place == nullptr && state_.vnode_limits.empty() &&
           state_.vnodes->bookings().empty() && view_.queue->hours == nullptr && !t_.requests.wants_hosts() &&
           !t_.vnodes.gives_hosts() && !state_.vnodes->divides(state_.pool_for(view_, *request_));
}

// Returns whether there is no place, because the vnodes have room for too few chunks. Counts the chunks only
// after a search in vain.
bool Lookahead::lacks_room() {
    constexpr int kMostSearches = 1;
    if (!no_room_ || !searches_first_) return false;
    if (!chunks_ && searches_ >= kMostSearches) {
        settle();
        chunks_.emplace(*state_.vnodes, state_.pool_for(view_, *request_), *request_,
                        state_.place_rules(job_).node_size, state_.ends(job_));
    }
    return chunks_ && !chunks_->may_fit();
}

// Adds a job that begins, and removes one that ends; if not `forward`, the opposite.
void Lookahead::count(const ResourceSchedule::Event& event, bool forward) {
    const ResourceSchedule::Holding& h = future_.as_asked_last().holding(event);
    count(h, (event.begins == forward ? 1 : -1) * (h.given_up ? -1 : 1));
    if (!event.begins) return;
    if (forward && std::ranges::count(h.views, view_.number) > 0)
        view_.empties = std::max(view_.empties, h.end);
    if (h.reservation == kNoSlot) return;
    state_.reservations[h.reservation].begun = forward;
    state_.vnodes->suspend(h.reservation, forward);
}

// Adds a job (sign 1), or removes it (sign -1). Changes only the counts that filters read for the job of this
// look-ahead in this queue.
void Lookahead::count(const ResourceSchedule::Holding& h, int sign) {
    const Request& request = t_.requests[h.request];
    state_.vnodes->look_ahead(h.shares, -sign);
    if (t_.queues[h.queue].partition == in_.partition) state_.running += sign;
    state_.count_in_server(request, sign);
    state_.dedicated_running += sign * h.dedicated_views;
    for (const std::uint32_t view : h.views) {
        if (view != view_.number) continue;
        view_.running += sign;
        view_.nodes += sign * h.nodes;
        for (std::size_t i = 0; i < view_.in_use.size(); ++i)
            view_.in_use[i] +=
                values::Sum(
                    number_of(request.totals, view_.queue->resources_available[i].resource).value_or(0)) *
                sign;
    }
    if (h.whose.owner == job_.user.owner || h.whose.group == job_.user.group || h.whose.array != 0 ||
        !state_.counts->entities().watches_nothing())
        t_.count_use(h.queue, {h.whose, &request, h.walltime}, sign);
    for (const OwnLimit* limit : state_.own_limits)
        limit->count(state_,
                     {h.whose, h.nodes, &request, h.walltime, h.queue, h.views, h.dedicated_views, nullptr,
                      h.shares, h.end, &state_, h.began},
                     sign);
}

// Adds a subjob that starts at the instant of the state (sign 1), or removes it again (sign -1).
void Lookahead::charge(const Placement& placement, int sign) {
    Vnodes::Shares shares;
    const LimitUser user = limit_user(state_, job_, job_.user, view_, placement, shares);
    use_spare(state_, user, state_.now, state_.ends(job_), sign);
    state_.vnodes->use_reserved(placement, *job_.request, state_.place_rules(job_, view_), sign);
    const rrule::Interval when{state_.now, state_.ends(job_)};
    count(future_.holding(job_.job, view_, kNoSlot, placement, when), sign);
    settled_ = false;
    settle();
}

// For an array whose subjobs start together: once the first has its place, returns the first refusal of
// another beside those before it.
Refusal Lookahead::refused_together() {
    of_others_.clear();
    if (together_ == 1) return {};
    const Placement first = state_.placement;
    charge(first, 1);
    Refusal refusal;
    while (static_cast<std::int64_t>(of_others_.size()) + 1 < together_) {
        ++steps_;
        refusal = refused_now();
        if (refusal) break;
        charge(of_others_.emplace_back(state_.placement), 1);
    }
    if (refusal) placed_in_vain_ += static_cast<std::int64_t>(of_others_.size()) + 1;
    for (auto placed = of_others_.rbegin(); placed != of_others_.rend(); ++placed) charge(*placed, -1);
    charge(first, -1);
    state_.placement = first;
    return refusal;
}

void Lookahead::await(std::string_view what, Instant until) {
    const auto known = std::ranges::find(awaited_, what, &Awaited::what);
    if (known == awaited_.end())
        awaited_.push_back({std::string(what), until});
    else
        known->until = std::max(known->until, until);
}

// Returns an instant until which a filter about time refuses the job; nullopt: none refuses it.
std::optional<Instant> Lookahead::refused_until() {
    const auto waits = [&](const Refusal& refusal) {
        const Instant until = refusal.until.value_or(Instant::max());
        await(awaited_text(refusal.reason, t_.strings), until);
        return until;
    };
    if (const Refusal refusal = execution_type_refusal(state_, t_.jobs.queue[job_.job]))
        return waits(refusal);
    for (const Filter* filter : of_time_) {
        if (!is_wanted(*filter)) continue;
        if (const Refusal refusal = c_.check(*filter, job_, view_)) return waits(refusal);
    }
    return std::nullopt;
}

// Returns the first refusal of the filters that aren't about time.
Refusal Lookahead::refused_now() {
    for (const Filter* filter : others_) {
        if (!is_wanted(*filter)) continue;
        const bool finds_place = (filter->traits & places) != 0;
        if (finds_place && lacks_room()) return *no_room_;
        if (finds_place) ++c_.searches_ahead;
        if (reads_vnodes(*filter)) settle();
        Refusal refusal = c_.check(*filter, job_, view_);
        if (!refusal) continue;
        if (finds_place && may_count_chunks()) {
            no_room_ = refusal;
            ++searches_;
        }
        return refusal;
    }
    settle();
    return {};
}

// Returns the last end of a job in the queue or on its vnodes; null: there is none.
const ResourceSchedule::Event* Lookahead::last_of(Events events) const {
    const ResourceSchedule& schedule = future_.as_asked_last();
    const auto concerns = [&](const ResourceSchedule::Event& event) {
        const ResourceSchedule::Holding& h = schedule.holding(event);
        const auto on_vnodes = [&](const Vnodes::Share& share) {
            return state_.vnodes->is_of(view_.pool, share.vnode);
        };
        return !event.begins &&
               (std::ranges::count(h.views, view_.number) > 0 || std::ranges::any_of(h.shares, on_vnodes));
    };
    const auto last = std::find_if(events.rbegin(), events.rend(), concerns);
    return last == events.rend() ? nullptr : &*last;
}

Instant Lookahead::last_end() const {
    Instant end = in_.now;
    for (const Events& events : {ends_, events_})
        if (const ResourceSchedule::Event* last = last_of(events)) end = std::max(end, last->at);
    return end;
}

JobSlot Lookahead::last_running() const {
    const ResourceSchedule::Event* last = last_of(ends_);
    return last == nullptr ? kNoSlot : future_.as_asked_last().holding(*last).job;
}

bool Lookahead::is_foreseeable() {
    const ExecutionType type = view_.queue->execution_type;
    const bool by_prime =
        s_.backfill_prime || type == ExecutionType::prime || type == ExecutionType::non_prime;
    if (!by_prime || view_.hours != nullptr) return true;
    const Instant start = state_.now;
    Instant last = in_.now;
    for (const auto& events : {ends_, events_})
        if (!events.empty()) last = std::max(last, events.back().at);
    for (const Booking& booking : state_.vnodes->bookings().list()) last = std::max(last, booking.end);
    // The dedicated time at the start counts, too; if it never ends, the loop below has nothing to do.
    if (view_.dedicated_time) last = std::max(last, view_.dedicated_time->end);
    for (Instant at = in_.now; last < start && at < start;) {
        set_clock(at);
        const auto time = view_.dedicated_time;
        if (!time || time->start >= start) break;
        last = std::max(last, at = time->end);
    }
    set_clock(start);
    const auto boundary = s_.prime.next_change(std::max(last, in_.now) - Seconds(1));
    return start <= last || !boundary || start <= *boundary;
}

// The first beginning or end of a job that isn't counted yet.
std::optional<Instant> Lookahead::next_event() const {
    std::optional<Instant> next;
    if (done_ < events_.size()) next = events_[done_].at;
    if (done_ends_ < ends_.size() && (!next || ends_[done_ends_].at < *next)) next = ends_[done_ends_].at;
    return next;
}

std::optional<Instant> Lookahead::earliest(Instant from, Instant until) {
    use_own_request();
    if (c_.not_started_reason(t_.jobs.queue[job_.job]) || !state_.supports(*job_.request) ||
        !state_.vnodes->large_enough(view_.pool, *job_.request, c_.vnode_share()))
        return std::nullopt;
    Instant at = from;
    for (int refusals = 0; refusals < kMostRefusals;) {
        ++steps_;
        const auto enough = earliest_of_all(demands_, at, job_.walltime);
        if (!enough) return std::nullopt;
        if (*enough > at) {
            await(kAwaitedJobs, *enough);
            decided_by_vnodes_ = decided_by_time_ = false;
        }
        at = *enough;
        too_late_ = at > until;
        if (too_late_) return std::nullopt;
        set_clock(at);
        // If the queue closes while the job runs, the job takes longer: test again with its walltime from
        // `at`.
        if (view_.queue->hours != nullptr && earliest_of_all(demands_, at, job_.walltime) != at) continue;
        if (const auto refused = refused_until()) {
            refused_by_time_ = true;
            if (*refused <= at || *refused == Instant::max()) return std::nullopt;
            at = *refused;
            decided_by_vnodes_ = false;
            decided_by_time_ = true;
            ++refusals;
            continue;
        }
        go_to(at);
        Refusal refusal = refused_now();
        if (!refusal) refusal = refused_together();
        if (!refusal) {
            grow();
            return at;
        }
        if (placed_in_vain_ >= kMostPlacedInVain) return std::nullopt;
        // Either the next end of a job or the instant named in the refusal may lift the refusal; take the
        // first.
        std::optional<Instant> next;
        if (refusal.waits_for_jobs()) next = next_event();
        decided_by_time_ = refusal.until && *refusal.until > at && (!next || *refusal.until < *next);
        if (decided_by_time_) next = refusal.until;
        if (!next || *next == Instant::max()) return std::nullopt;
        at = *next;
        decided_by_vnodes_ = (refusal.blockers & blocker::kRoom) != 0;
        if (decided_by_time_)
            await(awaited_text(refusal.reason, t_.strings), at);
        else
            await(kAwaitedJobs, at);
        refusals = decided_by_time_ ? refusals + 1 : 0;
    }
    return std::nullopt;
}

// Finds the greatest number of chunks with which a job with a select_range could start at the instant of the
// state.
void Lookahead::grow() {
    if (!RangeSearch::is_for(c_, job_)) return;
    range_.emplace(c_, job_);
    range_->grow(view_, [this] {
        ++steps_;
        return !refused_now();
    });
}

void Lookahead::reserve() {
    hold(true);
}

void Lookahead::expect() {
    hold(false);
}

void Lookahead::hold(bool is_kept) {
    const auto first = static_cast<std::uint32_t>(state_.reservations.size());
    const rrule::Interval when{state_.now, state_.ends(job_)};
    std::vector<Placement> placements{std::exchange(state_.placement, {})};
    std::ranges::move(of_others_, std::back_inserter(placements));
    if (range_) {
        range_->keep();
        // Set the amounts of the limits for the number of chunks that was found.
        const std::vector<LimitNeed> limits = limits_of(p_.filters, state_, job_, view_);
        for (LimitNeed& limit : limits_) {
            const auto grown = std::ranges::find(limits, limit.key, &LimitNeed::key);
            if (grown != limits.end()) limit.amount = grown->amount;
        }
    }
    // Each place is held beside those before it.
    for (const Placement& placement : placements) {
        const auto id = static_cast<std::uint32_t>(state_.reservations.size());
        hold(placement, when);
        state_.vnodes->reserve(id, when, placement, *job_.request, c_.vnode_share());
        if (placements.size() > 1) count(future_.holding(job_.job, view_, id, placement, when), 1);
    }
    for (std::uint32_t i = 0; placements.size() > 1 && i < placements.size(); ++i)
        count(future_.holding(job_.job, view_, first + i, placements[i], when), -1);
    if (is_kept) {
        // Wake the scheduler at the reserved start. If jobs haven't ended by then, the reservation begins
        // later, and other jobs may start before it.
        state_.instants->insert(when.start);
        for (const auto& log : c_.logs)
            log->reserved(job_.job, view_, when.start, when.end, placements.front());
    }
    go_back();
    for (std::uint32_t i = 0; i < placements.size(); ++i) {
        future_.add(job_.job, view_, first + i, placements[i], when);
        state_.reservations[first + i].placement = std::move(placements[i]);
    }
}

// Makes a reservation for a place of the job.
void Lookahead::hold(const Placement& placement, const rrule::Interval& when) {
    Vnodes::Shares shares;
    const LimitUser user = limit_user(state_, job_, job_.user, view_, placement, shares);
    // Charge the job to the spare capacity of earlier reservations that start while it runs.
    use_spare(state_, user, when.start, when.end);
    state_.vnodes->use_reserved(placement, *job_.request, state_.place_rules(job_, view_));

    Reservation reservation{job_.job, when.start, when.end, view_.number, {}, false, false, {}};
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        const std::int64_t used = demands_[i].used->max_in({when.start, when.start + Seconds(1)});
        reservation.spare.push_back(
            {limits_[i].key, values::Sum(limits_[i].capacity) - used - limits_[i].amount});
    }
    const PlaceRules rules = state_.place_rules(job_);
    std::map<std::uint32_t, std::int64_t> most_on_host;
    for (const Part& part : placement)
        if (const auto most = state_.vnodes->most_jobs_beside(part.vnode, rules); most != INT64_MAX)
            most_on_host[(*state_.vnodes)[part.vnode].host] = most;
    for (const auto& [host, most] : most_on_host)
        reservation.spare.push_back(
            {{{UseScope::host, EntityKind::all, host}, kJobs}, most - state_.vnodes->jobs_on_host(host)});
    for (const OwnLimit* limit : state_.own_limits) limit->keep(state_, user, reservation);
    state_.reservations.push_back(std::move(reservation));
}

}  // namespace pbs::sched
