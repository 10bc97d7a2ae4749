#include "server_plugin/scheduler/framework/turns.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "server_plugin/scheduler/framework/shares.h"
#include "server_plugin/scheduler/model/sort_unique.h"
#include "server_plugin/scheduler/pending/past_usage_deal.h"

namespace pbs::sched {
// Returns whether turn `a` comes after turn `b`. Turns are in a heap: the least goes first. The expected
// usage of jobs that the cycle starts makes the numbers of lanes larger, never smaller. So a turn computed
// before such starts is at most too early, and is put back with its new numbers.
//
// Jobs of a high preemption level and preempted jobs come before all others, whatever their queue, as in
// OpenPBS's scheduler.
bool Turns::is_later(const Turn& a, const Turn& b) const {
    if (a.first != b.first) return b.first;
    const auto by_level = [&] {
        return a.level != b.level ? std::optional(a.level < b.level) : std::nullopt;
    };
    if (a.first) {
        if (const auto later = by_level()) return *later;
        if (a.preempted != b.preempted) return b.preempted;
        if (a.preempted) return a.key > b.key;
        if (a.job_class != b.job_class) return a.job_class > b.job_class;
    }
    if (a.turn != b.turn) return a.turn > b.turn;
    if (a.rank != b.rank) return a.rank > b.rank;
    if (const auto later = by_level()) return *later;
    if (a.preempted != b.preempted) return b.preempted;
    if (depth_ == 0) return a.key > b.key;
    if (in_.policy->has_scores() && a.key[0] != b.key[0]) return a.key[0] > b.key[0];
    const std::span<const double> x(&ratios_[a.lane * depth_], depth_);
    const std::span<const double> y(&ratios_[b.lane * depth_], depth_);
    const auto [p, q] = std::ranges::mismatch(x, y);
    return p != x.end() ? *p > *q : a.key > b.key;
}

void Turns::note_ratios(LaneId lane) {
    if (ratios_.size() < (lane + 1) * depth_) ratios_.resize((lane + 1) * depth_);
    state_.shares->tree.ratios(intake_.jobs()[lane].entity, c_.usage_as_of(),
                               {&ratios_[lane * depth_], depth_});
}

// Returns a number that changes whenever turns may change.
std::size_t Turns::state_number() const {
    return c_.state_number() + takes_;
}

// Returns whether the next job of the class, in these queues, affects others even if it doesn't start: a
// queue may be drained for it, or it may hold others up. Before the first job that doesn't, compares the
// reservations with those of the last cycle, and asks again: a preemption may succeed on vnodes that aren't
// reserved any more.
bool Turns::is_wanted(const CandidateQueues& queues, JobClass job_class) {
    const auto wanted = [&] {
        return std::ranges::any_of(c_.after_refusal,
                                   [&](const auto& rule) { return rule->wants(queues, job_class); });
    };
    return wanted() || (!c_.everything && released_.settle() && wanted());
}

// Finds the next released job of the turn's lane (a sorted list of pending jobs), from the turn's position
// on: a job whose refusal the events may have lifted.
bool Turns::find_released(Turn& turn, CandidateQueues& queues) {
    PendingJobs& pending = intake_.jobs();
    if (!queues.empty() && c_.is_held_up(*queues[0])) return false;
    const Lane& lane = pending[turn.lane];
    if (released_.is_closed(lane)) return false;
    pending.open(turn.lane);
    Released& released = released_.of(queues);
    const UserReleases* const of_lane = released_.of_lane(lane, queues);
    const bool is_behind = lane.behind_since != 0;
    const Blockers others =
        (released.list.blockers() | (of_lane != nullptr ? of_lane->any_size : 0)) & ~blocker::kRoom;
    for (; pending.find(turn.lane, released.list, turn.at, &released.no_place, others, of_lane);
         ++turn.at.index) {
        const JobSlot job = pending.job(turn.lane, turn.at);
        if (!c_.preempts && lane.of_one_user && judge_.is_closed_to({job, turn.job_class, 1, 0, 0}, queues)) {
            pending.close(turn.lane);
            return false;
        }
        const Blockers parked = pending.blockers_of(turn.lane, turn.at);
        const JobSize size = pending.size_of(turn.lane, turn.at);
        if (!lane.of_one_user && !is_behind && !released.list.hold(parked, size)) {
            const UserReleases* const of_user =
                released_.of_user(t_.jobs.owner[job], t_.jobs.group[job], queues);
            if (of_user == nullptr || !of_user->hold(parked, size, pending.parked_since(turn.lane, turn.at)))
                continue;
        }
        if ((parked & others) != 0 ||
            released_.may_have_room(pending.signature_of(turn.lane, turn.at),
                                    pending.request_of(turn.lane, turn.at), size, queues, released))
            return true;
    }
    if (is_behind) pending.catch_up(turn.lane);
    return false;
}

// Finds the next job to consider of the turn's lane (a sorted list of pending jobs), at the turn's position
// or later.
bool Turns::next(Turn& turn, JobClass job_class) {
    const PendingJobs& pending = intake_.jobs();
    if (!pending.settle(turn.lane, turn.at)) return false;
    const Lane& lane = pending[turn.lane];
    if (!c_.everything && !is_wanted(queues_.of(lane), job_class)) {
        const auto from = turn.at;
        const std::span<const News> news = intake_.news();
        const bool found = find_released(turn, queues_.of(lane));
        const auto next = std::ranges::lower_bound(news, News{turn.lane, from});
        const bool is_new = next != news.end() && next->lane == turn.lane;
        if (!found && !is_new) return false;
        if (!found || (is_new && next->at < turn.at)) turn.at = next->at;
    }
    turn.as_of = state_number();
    turn.key = intake_.key_now(turn.lane, turn.at);
    // Compute the level again: after a start the job's entity may exceed its soft limits.
    if (c_.by_soft_limits)
        set_level(turn, c_.preempt_level(pending.job(turn.lane, turn.at), job_class == JobClass::overdue));
    if (deal_ != nullptr) {
        turn.turn = begin_of(turn.lane);
        if (deal_->by_shares) note_ratios(turn.lane);
        if (!taken_of_queue_.empty())
            turn.turn += taken_of_queue_[lane.of];
        else if (deal_->charge != nullptr)
            turn.turn += pending.charge_before(turn.lane, turn.at);
    }
    return true;
}

// Sets a turn of a lane with shares to the least one that any job of the lane may have, so that a lane is
// searched for a released job only when no other comes before it. False: the lane has no job.
bool Turns::begin(Turn& turn) {
    const PendingJobs& pending = intake_.jobs();
    if (!pending.settle(turn.lane, turn.at)) return false;
    turn.as_of = SIZE_MAX;
    turn.key = intake_.key_now(turn.lane, turn.at);
    turn.turn = begin_of(turn.lane);
    note_ratios(turn.lane);
    return true;
}

// Finds the lanes of a class that may have a turn.
void Turns::lanes_with_turns(JobClass job_class, std::vector<LaneId>& lanes) {
    PendingJobs& pending = intake_.jobs();
    const auto all = pending.lanes_of(job_class);
    lanes.clear();
    if (c_.everything || queues_.starts_in_place(job_class) || is_wanted(queues_.batch(), job_class)) {
        lanes.assign(all.begin(), all.end());
        return;
    }
    Released& released = released_.of(queues_.batch());
    pending.find_lanes(job_class, released.list, lanes);
    const std::size_t found = lanes.size();
    pending.find_lanes(job_class, released.of_users.list, lanes);
    for (const News& news : intake_.news())
        if (pending[news.lane].job_class == job_class) lanes.push_back(news.lane);
    if (lanes.size() == found) return;
    sort_unique(lanes);
}

// Considers the job of the turn. If it doesn't start, parks it until an event may lift its refusal. Returns
// its charge: the amount that it adds to the turns of later jobs in its lane.
std::int64_t Turns::take(Turn& turn, JobClass job_class) {
    PendingJobs& pending = intake_.jobs();
    const Lane& lane = pending[turn.lane];
    CandidateQueues& queues = queues_.of(lane);
    const std::uint32_t user = queues_.has_lane_by_user(job_class) ? lane.of : UINT32_MAX;
    const PendingJobs::Taken taken = pending.at(turn.lane, turn.at);
    const OrderedJob job{taken.job, job_class, static_cast<std::uint32_t>(taken.nodes), taken.signature, 0};
    const std::size_t before = started_.size();
    pending.park(turn.lane, turn.at, judge_.consider(job, queues, user));
    if (!taken_of_queue_.empty() && !turn.first) {
        ++taken_of_queue_[pending[turn.lane].of];
        ++takes_;
    }
    if (started_.size() == before) queues.released.missed = true;
    ++turn.at.index;
    return taken.charge;
}

// Prefetches the memory for the next turns of a lane while other lanes have theirs: the lane's next jobs are
// known, but their rows are anywhere in the tables. For a job whose answer is known nothing else is read.
void Turns::fetch(const Turn& turn, JobClass job_class) const {
    const PendingJobs& pending = intake_.jobs();
    if (const auto ahead = pending.ahead(turn.lane, turn.at, 2))
        judge_.fetch(job_class, pending.signature_of(turn.lane, *ahead));
    const auto ahead = pending.ahead(turn.lane, turn.at, 1);
    if (!ahead) return;
    const PendingJobs::Taken next = pending.at(turn.lane, *ahead);
    if (judge_.fetch_known(job_class, next.job, next.signature)) return;
    __builtin_prefetch(&t_.jobs.user[next.job]);
    __builtin_prefetch(&t_.jobs.queue[next.job]);
    __builtin_prefetch(&t_.jobs.request[next.job]);
    __builtin_prefetch(&t_.jobs.owner[next.job]);
    __builtin_prefetch(&t_.jobs.walltime[next.job]);
}

DealContext Turns::deal_context(LaneId lane) {
    if (!deal_->of_users) return {s_, t_.jobs, t_.queues, queues_.ranks(), 0};
    const JobSlot first = intake_.jobs().job(lane, {});
    return {s_, t_.jobs, t_.queues, {}, usage_units(t_.usage.usage_of(t_.user_of(first)))};
}

DealtLane Turns::dealt_lane(LaneId lane) const {
    return {deal_->of_users, deal_->of_users ? kNoSlot : intake_.jobs()[lane].of,
            intake_.jobs().job(lane, {})};
}

// Updates all turns, and drops those whose lanes have no more jobs to consider. The turns are in no order
// afterwards.
void Turns::refresh(std::vector<Turn>& turns) {
    std::size_t left = 0;
    for (Turn turn : turns) {
        deal_ = deals_[static_cast<std::size_t>(turn.job_class)];
        if (turn.as_of == state_number() || next(turn, turn.job_class)) turns[left++] = turn;
    }
    turns.resize(left);
}

Turn Turns::turn_of(LaneId id, JobClass job_class) {
    Turn turn;
    turn.lane = id;
    turn.job_class = job_class;
    deal_ = deals_[static_cast<std::size_t>(job_class)];
    if (deal_ != nullptr && deal_->rank != nullptr) turn.rank = deal_->rank(deal_context(id), dealt_lane(id));
    const Lane& lane = intake_.jobs()[id];
    turn.preempted = lane.preempted;
    const bool starving = job_class == JobClass::overdue;
    const bool knows_level = c_.preempts && !c_.by_soft_limits;
    set_level(turn, knows_level ? c_.preempt_level(lane.of, lane.entity, starving) : turn.level);
    return turn;
}

void Turns::set_level(Turn& turn, std::int64_t level) const {
    turn.level = level;
    turn.first = above_normal(turn) || (turn.preempted && !(go_with_queues_ && goes_with_queue(turn)));
}

bool Turns::above_normal(const Turn& turn) const {
    return c_.preempts &&
           (turn.job_class == JobClass::overdue || turn.level > s_.preempt_prio.level(preempt_normal, 0));
}

bool Turns::goes_with_queue(const Turn& turn) const {
    return turn.preempted && !above_normal(turn);
}

// Considers the jobs of these classes together. False: only a cycle over all jobs knows the order.
bool Turns::consider(std::span<const JobClass> classes) {
    const PendingJobs& pending = intake_.jobs();
    if (std::ranges::all_of(classes, [&](JobClass c) { return pending.lanes_of(c).empty(); })) return true;
    for (const JobClass job_class : classes)
        deals_[static_cast<std::size_t>(job_class)] = intake_.deal_of(job_class, in_.now);
    const JobClass job_class = classes.front();  // the only class, if it is dealt in a circle
    deal_ = deals_[static_cast<std::size_t>(classes.back())];
    const bool in_circle = deal_ != nullptr && deal_->in_circle;
    if (in_circle && c_.everything) {
        deal_in_circle(job_class);
        return true;
    }
    const bool by_shares = deal_ != nullptr && deal_->by_shares;
    depth_ = by_shares ? state_.shares->tree.depth() : 0;
    taken_of_queue_.clear();
    const bool from_queues = deal_ != nullptr && !deal_->of_users;
    if (s_.round_robin && from_queues && (by_shares || c_.by_soft_limits)) {
        // Only a cycle over all jobs knows how many jobs of a queue precede one.
        if (!c_.everything) return false;
        taken_of_queue_.assign(t_.queues.size(), 0);
    }
    const auto later_turn = [&](const Turn& a, const Turn& b) { return is_later(a, b); };
    std::vector<Turn>& heap = c_.scratch->turns;
    heap.clear();
    const auto push = [&](Turn turn) {
        deal_ = deals_[static_cast<std::size_t>(turn.job_class)];
        if (!next(turn, turn.job_class)) return;
        heap.push_back(turn);
        std::ranges::push_heap(heap, later_turn);
    };
    const auto pop = [&] {
        std::ranges::pop_heap(heap, later_turn);
        const Turn turn = heap.back();
        heap.pop_back();
        return turn;
    };
    const bool searches_later = by_shares && !c_.everything && !c_.by_soft_limits;
    for (const JobClass of : classes) {
        lanes_with_turns(of, c_.scratch->lanes);
        for (const LaneId lane : c_.scratch->lanes) {
            Turn turn = turn_of(lane, of);
            if (searches_later ? begin(turn) : next(turn, of)) heap.push_back(turn);
        }
    }
    std::ranges::make_heap(heap, later_turn);
    // Most lanes may have no job that fits, in particular after a start: when this many were dropped in a
    // row, update all turns together.
    constexpr int kMostDropped = 16;
    int dropped = 0;  // number of lanes dropped in a row
    while (!heap.empty()) {
        Turn turn = pop();
        if (turn.as_of != state_number()) {  // less is free now than when the turn was computed
            const std::size_t others = heap.size();
            push(turn);
            dropped = heap.size() == others ? dropped + 1 : 0;
            if (dropped == kMostDropped) {
                refresh(heap);
                std::ranges::make_heap(heap, later_turn);
            }
            continue;
        }
        if (in_circle && !heap.empty() && heap.front().turn == turn.turn) {
            std::vector<Turn> tied = {turn};
            while (!heap.empty() && heap.front().turn == turn.turn) tied.push_back(pop());
            // If nothing will be reserved for them, jobs that don't start may get their comments in any
            // order.
            if (!is_wanted(queues_.batch(), job_class)) {
                const auto waits = std::partition(tied.begin(), tied.end(), [&](const Turn& other) {
                    return may_start_now(other, job_class);
                });
                std::for_each(waits, tied.end(), [&](Turn other) {
                    take(other, job_class);
                    push(other);
                });
                tied.erase(waits, tied.end());
            }
            if (tied.empty()) continue;
            const auto chosen = tied.size() == 1 ? tied.begin() : first_of_equals(tied);
            if (chosen == tied.end()) return false;
            turn = *chosen;
            tied.erase(chosen);
            for (const Turn& other : tied) {
                heap.push_back(other);
                std::ranges::push_heap(heap, later_turn);
            }
        }
        const std::size_t before = started_.size();
        take(turn, turn.job_class);
        // With by_queue, OpenPBS's scheduler stops searching for preempted jobs across queues once one is
        // resumed. So the other preempted jobs wait for the turns of their queues.
        if (started_.size() > before && turn.first && turn.preempted && !above_normal(turn) && s_.by_queue &&
            !s_.round_robin) {
            go_with_queues_ = true;
            for (Turn& other : heap) other.first = other.first && !goes_with_queue(other);
            std::ranges::make_heap(heap, later_turn);
            turn.first = false;
        }
        // The start may have changed the answers for jobs whose refusals no event lifted: an admission
        // rejects them from here on, or they may start in the places that preempted jobs leave. Consider all
        // jobs.
        if ((state_.admits_less || !c_.preempted.empty()) && !c_.everything) return false;
        push(turn);
    }
    return true;
}

// Returns the users with jobs of the class, in the order of the circle in which users with equal usage take
// turns.
std::vector<UsageLane> Turns::users_of(JobClass job_class) {
    const PendingJobs& pending = intake_.jobs();
    std::vector<UsageLane> users;
    for (const LaneId id : pending.lanes_of(job_class))
        users.push_back({id, pending[id].jobs, pending.oldest(id), begin_of(id)});
    std::sort(users.begin(), users.end());
    return users;
}

// Considers all jobs of the class in the order of the permutation by past usage.
void Turns::deal_in_circle(JobClass job_class) {
    const PendingJobs& pending = intake_.jobs();
    std::vector<Turn> users;
    std::vector<std::int64_t> usage;
    for (const UsageLane& lane : users_of(job_class)) {
        Turn turn;
        turn.lane = lane.lane;
        turn.job_class = job_class;
        turn.key = pending.key(lane.lane, {});
        if (!pending.settle(lane.lane, turn.at)) continue;
        users.push_back(turn);
        usage.push_back(lane.usage);
    }
    PastUsageDeal deal(std::move(usage));
    while (!deal.is_over()) {
        Turn& turn = users[deal.next()];
        const std::int64_t charge = take(turn, job_class);
        deal.dealt(charge, pending.settle(turn.lane, turn.at));
        fetch(turn, job_class);
    }
}

// Returns the turn of the user whom the permutation picks first among those with equal usage; the list's end
// if only the whole permutation can decide.
std::vector<Turn>::iterator Turns::first_of_equals(std::vector<Turn>& tied) {
    for (const LaneId id : picks_at(intake_.jobs(), users_of(JobClass::normal), tied.front().turn)) {
        const auto found = std::ranges::find(tied, id, &Turn::lane);
        if (found != tied.end()) return found;
    }
    return tied.end();
}

bool Turns::may_start_now(const Turn& turn, JobClass job_class) {
    const OrderedJob job = intake_.ordered(intake_.jobs().job(turn.lane, turn.at), job_class);
    return judge_.may_start(job, queues_.of(job));
}

// Returns whether a job is released or new, and has its turn before this job or may have.
bool Turns::considers_any_up_to(JobSlot last) {
    PendingJobs& pending = intake_.jobs();
    const LaneId of_last = pending.lane_of(last);
    const PendingJobs::Position at_last = pending.position_of(last);
    const std::span<const News> news = intake_.news();
    for (const JobClass job_class : kQueuedClasses) {
        for (const LaneId lane : pending.lanes_of(job_class)) {
            Turn turn;
            turn.lane = lane;
            const PendingJobs::Position none{UINT32_MAX, 0};
            PendingJobs::Position first = none;
            if (pending.settle(lane, turn.at) && find_released(turn, queues_.of(pending[lane])))
                first = turn.at;
            const auto found = std::ranges::lower_bound(news, News{lane, {}});
            if (found != news.end() && found->lane == lane) first = std::min(first, found->at);
            if (lane == of_last ? first <= at_last : first != none) return true;
        }
        if (job_class == pending[of_last].job_class) return false;
    }
    return true;
}

// Has the rules take over from the last cycle what the events don't change.
void Turns::take_over() {
    for (const auto& rule : c_.after_refusal) {
        const JobSlot last = rule->last_as_before();
        if (last != kNoSlot && intake_.jobs().contains(last) && !considers_any_up_to(last)) rule->take_over();
    }
}

bool Turns::consider() {
    if (c_.preempts) return consider(kQueuedClasses);
    if (c_.by_events) take_over();
    return std::ranges::all_of(kQueuedClasses,
                               [&](const JobClass& job_class) { return consider(std::span(&job_class, 1)); });
}

void Turns::consider_again(JobClass job_class, std::vector<OrderedJob> jobs, bool prime_order) {
    for (const auto& rule : c_.after_refusal) rule->again();
    const Intake::Again again(intake_, job_class, std::move(jobs), prime_order);
    consider(std::span(&job_class, 1));
}

}  // namespace pbs::sched
