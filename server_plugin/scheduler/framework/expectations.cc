#include "server_plugin/scheduler/framework/expectations.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pbs::sched {

Expectations::Expectations(const CycleParts& parts)
    : CyclePart(parts.context),
      parts_(parts),
      is_plain_(may_be_plain()),
      chain_(in_.keep_pending_jobs ? in_.events->estimates : own_) {
    if (!is_plain_) {
        chain_.clear();
        return;
    }
    std::optional<KeptEstimates::Premises> premises;
    if (in_.keep_pending_jobs && !c_.fake_vnodes)
        premises = {in_.policy, state_.vnodes, state_.vnodes->version(), in_.events->since.times_settings,
                    c_.vnode_share()};
    chain_.begin(free_times(), premises, in_.now);
}

Expectations::~Expectations() {
    chain_.end();
    if (in_.events != nullptr) in_.events->estimating = work_;
    state_.reservations.erase(state_.reservations.begin() + kept_, state_.reservations.end());
}

// Returns whether the room on vnodes follows from their free amounts: no rule looks at anything else of a
// vnode that changes over time.
bool Expectations::may_be_plain() {
    const PlaceRules rules = state_.place_rules(Request{});
    return state_.own_limits.empty() && state_.named_place == nullptr && state_.vnodes->bookings().empty() &&
           c_.preempted.empty() && !t_.requests.wants_hosts() && !t_.vnodes.gives_hosts() &&
           !state_.planning.pauses && rules.max_jobs_on_host == 0 && rules.max_load_percent == 0 &&
           rules.max_systime_percent == 0 && rules.reserved.empty() &&
           !(rules.load_balancing && state_.vnodes->has_maximal_loads());
}

// The free amounts over time by the jobs that run or were started, and by the reservations.
FreeTimes Expectations::free_times() {
    FreeTimes times;
    times.begin(*state_.vnodes);
    ResourceSchedule& schedule = parts_.future.schedule();
    std::vector<ResourceSchedule::Event> events;
    std::ranges::merge(schedule.ends(), schedule.added_events(), std::back_inserter(events), {},
                       &ResourceSchedule::Event::order, &ResourceSchedule::Event::order);
    for (const ResourceSchedule::Event& event : events)
        times.change(schedule.holding(event).shares, event.at, event.begins ? -1 : 1);
    return times;
}

const Expectations::Pool& Expectations::pool(PoolId id) {
    const auto [found, made] = pools_.try_emplace(id);
    Pool& pool = found->second;
    if (!made) return pool;
    const std::span<const VnodeSlot> vnodes = state_.vnodes->pool_vnodes(id);
    pool.index.assign(state_.vnodes->size(), kNoSlot);
    for (std::uint32_t i = 0; i < vnodes.size(); ++i) pool.index[vnodes[i]] = i;
    pool.is_plain = !state_.vnodes->moves(id) && !state_.vnodes->divides(id) &&
                    std::ranges::all_of(vnodes, [&](VnodeSlot vnode) {
                        return (*state_.vnodes)[vnode].sharing == Sharing::default_shared;
                    });
    return pool;
}

// Returns whether no limit, and no filter but that for places, refuses the job, whatever runs. May be false
// by mistake.
bool Expectations::is_unlimited(const Candidate& job, QueueView& view) {
    // A filter may note the jobs that it refuses now. These questions are about a later instant.
    struct AskLater {
        explicit AskLater(CycleState& given) : state(given) { state.looking_ahead = true; }
        ~AskLater() { state.looking_ahead = false; }
        AskLater(const AskLater&) = delete;
        AskLater& operator=(const AskLater&) = delete;
        CycleState& state;
    } const ask_later(state_);
    if (!limits_of(p_.filters, state_, job, view).empty()) return false;
    return std::ranges::all_of(p_.filters, [&](const Filter* filter) {
        if ((filter->traits & about_time) != 0) return true;  // see may_start_at()
        if (const Limit* limit = filter->limit())
            return limit->measure != Limit::Measure::available || limit->is_open(view.facts);
        if (filter->wanted != nullptr && !filter->wanted(s_, in_.now)) return true;
        if ((filter->traits & places) != 0) return true;
        return (filter->traits & by_limits_only) != 0 &&
               (filter->lets_all_pass(view.facts) || !c_.check(*filter, job, view));
    });
}

std::optional<Expectations::Plain> Expectations::plain(const Candidate& job, QueueView& view) {
    const Request& request = *job.request;
    if (!is_plain_ || view.is_reservation || view.hours != nullptr || view.queue->hours != nullptr ||
        !view.groups.empty() || job.suspended != kNoSlot || job.run_host != 0 || job.walltime <= Seconds(0) ||
        c_.together(job.job) != 1 || request.chunks.size() != 1 || request.group != kNoResource ||
        request.per_host != 0 || request.sharing == AskedSharing::exclhost || !request.range.empty() ||
        (s_.preferences && !request.preferences.empty()) || c_.not_started_reason(t_.jobs.queue[job.job]) ||
        !state_.supports(request) || !state_.vnodes->has_some_of_each(request))
        return std::nullopt;
    const Chunk& chunk = request.chunks.front();
    const ChunkOrder order = request.order == ChunkOrder::by_policy ? s_.chunk_order : request.order;
    if (chunk.count > 1 && (order != ChunkOrder::fill || request.arrangement == Arrangement::pack))
        return std::nullopt;
    const PoolId id = state_.pool_for(view, request);
    if (!pool(id).is_plain) return std::nullopt;
    Plain plain{{request.serial, id, chunk.count, state_.ends(job) - state_.now}, {}, &chunk};
    const Columns& columns = state_.vnodes->columns();
    const Row needs = columns.needs_of(chunk, request.sharing, c_.vnode_share());
    // A vnode whose CPUs are all in use takes no jobs without CPUs.
    const std::uint32_t ncpus = columns.of(columns.known().ncpus);
    if (needs[kOpenColumn] == Columns::open && ncpus != 0 && needs[ncpus] == 0) return std::nullopt;
    if (ncpus != 0 && needs[ncpus] > 0) plain.needs.push_back({ncpus, needs[ncpus]});
    for (std::uint32_t c = kFirstResourceColumn; c < needs.size(); ++c)
        if (needs[c] > 0 && c != ncpus) plain.needs.push_back({c, needs[c]});
    plain.needs.push_back({kOpenColumn, 0});
    if (request.sharing == AskedSharing::excl) plain.needs.push_back({kEmptyColumn, 0});
    if (!is_unlimited(job, view)) return std::nullopt;
    return plain;
}

// Returns whether no filter about time refuses the job at the instant. May be false by mistake.
bool Expectations::may_start_at(Instant at, const Candidate& job, const QueueView& view) const {
    const auto is_timed = [&](QueueSlot queue) {
        const ExecutionType type = t_.queues[queue].execution_type;
        return type == ExecutionType::prime || type == ExecutionType::non_prime;
    };
    if (is_timed(t_.jobs.queue[job.job])) return false;
    return std::ranges::all_of(p_.filters, [&](const Filter* filter) {
        if (filter->wanted != nullptr && !filter->wanted(s_, at)) return true;
        if ((filter->traits & about_time) != 0)
            return filter->is_open != nullptr && filter->is_open(view.facts);
        // Switched on at a later date?
        return filter->wanted == nullptr || filter->wanted(s_, in_.now) || (filter->traits & places) != 0;
    });
}

// Returns the estimate of a plain job. nullopt: only a look-ahead can find it.
std::optional<KeptEstimates::Estimate> Expectations::find(const Candidate& job, const QueueView& view,
                                                          const Plain& plain, Estimate* old, bool& is_kept) {
    const KeptEstimates::Order order{state_.vnodes->pool_vnodes(plain.wish.pool),
                                     pool(plain.wish.pool).index};
    const auto may_use = [&](VnodeSlot vnode) {
        return state_.vnodes->matches((*state_.vnodes)[vnode], *plain.chunk);
    };
    const bool single = plain.wish.chunks == 1;
    FreeTimes::Place best;
    Instant from = in_.now;
    if (old != nullptr && old->wish == plain.wish && (!old->is_found() || old->start > in_.now)) {
        const auto freer = chain_.freer_place(*old, plain.needs, order, may_use);
        is_kept = !freer && (!old->is_found() || (chain_.has_its_place(*old, plain.needs) &&
                                                  may_start_at(old->start, job, view)));
        if (is_kept) return std::move(*old);
        if (!single) return std::nullopt;
        if (freer) best = *freer;
        // Vnodes that aren't freer have no room before the old start.
        if (old->is_found()) from = old->start;
    }
    if (!single) return std::nullopt;
    if (best.vnode == kNoSlot) {
        ++c_.searches_ahead;
        best = chain_.times().earliest_of(order.vnodes, plain.needs, from, plain.wish.duration, may_use);
    }
    Estimate found;
    found.job = t_.jobs.handle[job.job];
    found.work = 1;
    if (best.vnode == kNoSlot) found.wish = plain.wish;
    if (best.vnode == kNoSlot || best.start > in_.now + kFarthest) return found;
    if (!may_start_at(best.start, job, view)) return std::nullopt;
    found.wish = plain.wish;
    found.start = best.start;
    found.end = best.start + plain.wish.duration;
    found.placement.parts.push_back({best.vnode, 0, 1});
    Vnodes::Shares shares;
    state_.vnodes->shares_of(found.placement, *job.request, c_.vnode_share(), shares);
    found.shares.assign(shares.begin(), shares.end());
    return found;
}

std::optional<Expectations::Expected> Expectations::of(JobSlot job) {
    const auto job_class = parts_.intake.class_of(job);
    if (!job_class) return std::nullopt;
    const OrderedJob ordered = parts_.intake.ordered(job, *job_class);
    const CandidateQueues& queues = parts_.queues.of(ordered);
    if (queues.empty() || queues[0]->is_reservation) return std::nullopt;
    const bool held_up = c_.is_held_up(*queues[0]);
    if (held_up && held_up_until_ == Instant::max()) return std::nullopt;
    Candidate candidate = c_.candidate(ordered);
    if (!is_plain_) return look_ahead(candidate, queues, held_up, std::nullopt);
    Estimate* const old = chain_.take(t_.jobs.handle[job]);
    std::optional<Plain> wish;
    if (!held_up && queues.size() == 1) {
        c_.set_walltime(candidate, *queues[0]);
        wish = plain(candidate, *queues[0]);
    }
    bool is_kept = false;
    std::optional<Estimate> found;
    if (wish) found = find(candidate, *queues[0], *wish, old, is_kept);
    if (old != nullptr && !is_kept) chain_.give_up(*old);
    if (!found) return look_ahead(candidate, queues, held_up, wish);
    work_ += found->work;
    if (found->is_found()) waiting_.push_back({candidate, queues[0], chain_.list().size()});
    chain_.add(std::move(*found));
    const Estimate& last = chain_.list().back();
    if (!last.is_found()) return std::nullopt;
    return Expected{last.start, &last.placement, is_kept};
}

// Searches the start of a job by look-aheads in its queues, beside the reservations of all jobs before it.
std::optional<Expectations::Expected> Expectations::look_ahead(Candidate& candidate,
                                                               const CandidateQueues& queues, bool held_up,
                                                               const std::optional<Plain>& plain) {
    reserve_waiting();
    QueueView* soonest = nullptr;
    std::optional<Instant> start;
    std::optional<Lookahead> ahead;
    std::size_t work = 0;
    const auto look = [&](QueueView& view, Instant until) {
        ahead.reset();
        c_.set_walltime(candidate, view);
        ahead.emplace(c_, parts_.future, candidate, view);
        const auto found = ahead->earliest(held_up ? held_up_until_ : in_.now, until);
        work += static_cast<std::size_t>(ahead->steps()) + ahead->events();
        return found;
    };
    for (QueueView* view : queues) {
        const auto found = look(*view, start ? *start - Seconds(1) : in_.now + kFarthest);
        if (!found) continue;
        start = found;
        soonest = view;
    }
    if (held_up) held_up_until_ = start.value_or(Instant::max());
    const std::size_t first = state_.reservations.size();
    const bool is_found = soonest != nullptr && (&ahead->view() == soonest || look(*soonest, *start));
    if (is_found) ahead->expect();
    // If times decided as well, there may have been room on vnodes earlier.
    const bool is_plain =
        is_found && plain && !ahead->refused_by_time() && may_start_at(*start, candidate, *soonest);
    ahead.reset();
    work_ += work;
    if (is_plain_) note(candidate.job, first, work, is_plain ? plain : std::nullopt);
    if (!is_found) return std::nullopt;
    const Reservation& made = state_.reservations[first];
    return Expected{made.start, &made.placement};
}

// Adds a job to the chain, for which a look-ahead has made the reservations from `first` on. `plain`: only
// the room on vnodes has decided.
void Expectations::note(JobSlot job, std::size_t first, std::size_t work, const std::optional<Plain>& plain) {
    Estimate found;
    found.job = t_.jobs.handle[job];
    found.work = work;
    Vnodes::Shares shares;
    for (const Reservation& made : std::span(state_.reservations).subspan(first)) {
        found.start = made.start;
        found.end = made.end;
        found.placement.parts.insert(found.placement.parts.end(), made.placement.parts.begin(),
                                     made.placement.parts.end());
        state_.vnodes->shares_of(made.placement, t_.requests[t_.jobs.request[job]], c_.vnode_share(), shares);
    }
    found.shares.assign(shares.begin(), shares.end());
    if (plain) found.wish = plain->wish;
    chain_.add(std::move(found));
}

// Reserves the places of the plain jobs for the look-aheads to come.
void Expectations::reserve_waiting() {
    if (waiting_.empty()) return;
    Vnodes& vnodes = *state_.vnodes;
    for (const Waiting& one : waiting_) {
        const Estimate& estimate = chain_.list()[one.estimate];
        PlaceRules rules = state_.place_rules(one.candidate, *one.view);
        rules.ends = rules.hard_ends = estimate.end;
        vnodes.use_reserved(estimate.placement, *one.candidate.request, rules, 1, estimate.start);
    }
    for (const Waiting& one : waiting_) {
        const Estimate& estimate = chain_.list()[one.estimate];
        const Request& request = *one.candidate.request;
        const auto id = static_cast<std::uint32_t>(state_.reservations.size());
        const rrule::Interval when{estimate.start, estimate.end};
        for (const Part& part : estimate.placement) {
            // The amounts over time have this job and all others of the chain already.
            const auto left = chain_.times().at(part.vnode, estimate.start);
            Row over(left.begin(), left.end());
            over[kOpenColumn] = Columns::open;
            vnodes.enter(part.vnode, request.sharing, over);
            vnodes.reserve_part(id, when, part, request, c_.vnode_share(), std::move(over));
        }
        parts_.future.add(one.candidate.job, *one.view, id, estimate.placement, when);
        state_.reservations.push_back(
            {one.candidate.job, estimate.start, estimate.end, one.view->number, {}, false, false, {}});
    }
    waiting_.clear();
}

}  // namespace pbs::sched
