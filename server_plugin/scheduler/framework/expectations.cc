#include "server_plugin/scheduler/framework/expectations.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pbs::sched {

Expectations::Expectations(const CycleParts& parts)
    : CyclePart(parts.context),
      parts_(parts),
      plain_(parts),
      chain_(in_.keep_pending_jobs ? in_.events->estimates : own_) {
    if (plain_.are_any())
        plain_.begin(chain_);
    else
        chain_.clear();
}

Expectations::~Expectations() {
    chain_.end();
    if (in_.events != nullptr) in_.events->estimating = work_;
    state_.reservations.erase(state_.reservations.begin() + kept_, state_.reservations.end());
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
    if (!plain_.are_any()) return look_ahead(candidate, queues, held_up, std::nullopt);
    Estimate* const old = chain_.take(t_.jobs.handle[job]);
    std::optional<Plain> wish;
    if (!held_up && queues.size() == 1) {
        c_.set_walltime(candidate, *queues[0]);
        wish = plain_.of(candidate, *queues[0]);
    }
    bool is_kept = false;
    std::optional<Estimate> found;
    if (wish) found = plain_.find(candidate, *queues[0], *wish, old, chain_, is_kept);
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
        is_found && plain && !ahead->refused_by_time() && plain_.may_start_at(*start, candidate, *soonest);
    ahead.reset();
    work_ += work;
    if (plain_.are_any()) note(candidate.job, first, work, is_plain ? plain : std::nullopt);
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
            Row over = chain_.left_at(part.vnode, estimate.start);
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
