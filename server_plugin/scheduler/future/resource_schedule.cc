#include "server_plugin/scheduler/future/resource_schedule.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "server_plugin/scheduler/future/kept_reservation.h"

namespace pbs::sched {
namespace {

bool is_before(const ResourceSchedule::Event& a, const ResourceSchedule::Event& b) {
    return a.order() < b.order();
}

// Returns the span for which a running job counts. It begins at Instant::min(), because queries are only
// about the future.
rrule::Interval until(Instant end) {
    return {Instant::min(), end};
}

}  // namespace

// ---- Between cycles.

void ResourceSchedule::started(JobSlot job) {
    constexpr std::size_t kMostNoted = 10'000;
    if (times_all_ == kNone) return;
    started_.push_back(job);
    if (started_.size() > kMostNoted) forget();
}

void ResourceSchedule::ended(JobSlot job) {
    const auto found = holding_of_.find(job);
    if (found == holding_of_.end()) return;
    ended_.push_back(found->second);
    holding_of_.erase(found);
}

void ResourceSchedule::clear(Requests& requests) {
    end_cycle();
    for (const Event& end : ends_) requests.drop(holdings_[end.holding].request);
    *this = {};
}

// ---- The running jobs.

ResourceSchedule::Premises ResourceSchedule::premises_of(const CycleState& state) {
    Premises premises{{}, state.vnodes, state.vnodes->version(), state.settings};
    for (const QueueView& view : *state.views)
        premises.views.push_back({view.slot, view.pool, view.dedicated});
    return premises;
}

void ResourceSchedule::begin_cycle(CycleState& state, Tables& tables, std::uint64_t times_all) {
    Premises premises = premises_of(state);
    const bool few_changed = started_.size() + ended_.size() <= ends_.size() / 4;
    const bool is_kept = times_all_ != kNone && times_all_ == times_all && premises_ == premises &&
                         !ends_.empty() && few_changed && last_ <= state.now;
    if (!is_kept) clear(tables.requests);
    times_all_ = times_all;
    last_ = state.now;
    state_ = &state;
    tables_ = &tables;
    premises_ = std::move(premises);
    ++cycles_;
    if (is_kept)
        take_up_changes();
    else
        load();
    forget_passed_before_now();
    // A job that has overrun its walltime may end at any moment: it is expected to go on for kOverrun.
    for (const Event& end : ends_) {
        if (end.at > state.now) break;
        const Instant at = state.planning.repeats(holdings_[end.holding].walltime)
                               ? state.planning.again(end.at, state.now)
                               : state.now + KeptReservation::kOverrun;
        additions_.push_back({end.holding, {state.now, at}});
    }
}

void ResourceSchedule::load() {
    for (QueueSlot q = 0; q < tables_->queues.size(); ++q)
        for (const JobSlot job : tables_->queues[q].running) {
            const std::uint32_t number = add_running(job);
            ends_.push_back({holdings_[number].end, number, false});
        }
    std::ranges::sort(ends_, is_before);
    running_ = holdings_.size();
    for (VnodeSlot v = 0; v < state_->vnodes->size(); ++v)
        counted_.push_back(state_->vnodes->counted_columns(v));
}

// Removes the ends of these running jobs from `ends_`.
void ResourceSchedule::remove_ends(std::span<const std::uint32_t> holdings) {
    std::vector<Event> gone;
    for (const std::uint32_t number : holdings) {
        gone.push_back({holdings_[number].end, number, false});
        pass(gone.back(), -1);
    }
    if (gone.size() <= kFew) {
        for (const Event& end : gone) {
            const auto found = std::ranges::lower_bound(ends_, end, is_before);
            assert(found != ends_.end() && found->holding == end.holding);
            ends_.erase(found);
        }
        return;
    }
    std::ranges::sort(gone, is_before);
    std::vector<Event> left;
    left.reserve(ends_.size());
    std::ranges::set_difference(ends_, gone, std::back_inserter(left), is_before);
    ends_ = std::move(left);
}

// Adds the ends of these running jobs to `ends_`.
void ResourceSchedule::add_ends(std::span<const std::uint32_t> holdings) {
    const auto before = static_cast<std::ptrdiff_t>(ends_.size());
    for (const std::uint32_t number : holdings) {
        const Event end{holdings_[number].end, number, false};
        pass(end, 1);
        const bool few = holdings.size() <= kFew;
        ends_.insert(few ? std::ranges::upper_bound(ends_, end, is_before) : ends_.end(), end);
    }
    if (holdings.size() <= kFew) return;
    std::sort(ends_.begin() + before, ends_.end(), is_before);
    std::inplace_merge(ends_.begin(), ends_.begin() + before, ends_.end(), is_before);
}

void ResourceSchedule::take_up_changes() {
    if (!ended_.empty()) {
        note_vnodes_of(ended_);
        change_profiles(ended_, -1);
        remove_ends(ended_);
        for (const std::uint32_t number : ended_) {
            tables_->requests.drop(holdings_[number].request);
            if (holdings_[number].pauses()) --running_pauses_;
            if (state_->planning.repeats(holdings_[number].walltime)) --running_repeats_;
            unused_.push_back(number);
        }
        ended_.clear();
    }
    std::vector<std::uint32_t> added;
    for (const JobSlot job : std::exchange(started_, {})) {
        if (!is_running(tables_->jobs.state[job]) || holding_of_.contains(job)) continue;
        added.push_back(add_running(job));
    }
    running_ = holdings_.size();
    add_ends(added);
    note_vnodes_of(added);
    change_profiles(added, 1);
    forget_pools_that_count_otherwise();
}

void ResourceSchedule::note_vnodes_of(std::span<const std::uint32_t> holdings) {
    for (const std::uint32_t number : holdings)
        for (const Vnodes::Share& share : holdings_[number].shares) touched_.push_back(share.vnode);
}

// The profile of a pool excludes a vnode's shares of a resource if the vnode has less of it than jobs hold.
// If a start or an end has changed that for any vnode, the profiles of pools are made again.
void ResourceSchedule::forget_pools_that_count_otherwise() {
    bool otherwise = false;
    for (const VnodeSlot vnode : touched_) {
        const std::uint64_t counted = state_->vnodes->counted_columns(vnode);
        otherwise = std::exchange(counted_[vnode], counted) != counted || otherwise;
    }
    touched_.clear();
    if (otherwise) std::erase_if(known_, [](const auto& k) { return k.first.use.scope == UseScope::pool; });
}

std::uint32_t ResourceSchedule::add_running(JobSlot job) {
    Tables& t = *tables_;
    std::uint32_t number = static_cast<std::uint32_t>(holdings_.size());
    if (unused_.empty()) {
        holdings_.emplace_back();
    } else {
        number = unused_.back();
        unused_.pop_back();
    }
    Holding& h = holdings_[number];
    h.job = job;
    h.whose = t.jobs.entities(job);
    h.walltime = t.jobs.walltime[job];
    if (state_->planning.repeats(h.walltime)) ++running_repeats_;
    h.nodes = job_nodes(t, *state_->settings, job);
    h.request = t.jobs.request[job];
    h.queue = t.jobs.queue[job];
    const QueueHours::Course course = state_->planned_course(job);
    h.end = course.end;
    h.stops = course.stops;
    h.resumes = course.resumes;
    if (h.pauses()) ++running_pauses_;
    h.began = t.jobs.stime[job];
    h.dedicated_views = 0;
    h.given_up = false;
    h.views.clear();
    h.shares.clear();
    t.requests.keep(h.request);
    // The holding counts in the same views as in the cycle: those of its queue or, if the queue has several,
    // those on whose vnodes the job holds something.
    const auto of_queue = std::ranges::count(*state_->views, h.queue, &QueueView::slot);
    for (const QueueView& view : *state_->views) {
        if (view.slot != h.queue || (of_queue != 1 && !state_->vnodes->holds_in(view.pool, job))) continue;
        h.views.push_back(view.number);
        h.dedicated_views += view.dedicated ? 1 : 0;
    }
    state_->vnodes->shares_held(job, h.shares);
    holding_of_[job] = number;
    return number;
}

// Updates the profiles of limits by these jobs' use. Drops the profiles of limits that no recent cycle has
// queried.
void ResourceSchedule::change_profiles(std::span<const std::uint32_t> holdings, int sign) {
    if (holdings.empty()) return;
    std::erase_if(known_, [&](const auto& k) { return k.second.asked + kCyclesKept < cycles_; });
    for (auto& [key, known] : known_) add_uses(key, holdings, sign, known);
    std::erase_if(known_, [](const auto& k) { return !k.second.fits; });
}

// Adds the use of a holding during a span, except during the holding's pause.
void ResourceSchedule::add_use(std::uint32_t holding, const rrule::Interval& when, std::int64_t amount,
                               std::vector<Use>& uses) const {
    if (amount == 0) return;
    const Holding& h = holdings_[holding];
    uses.push_back({when, amount});
    if (h.pauses()) uses.push_back({{h.stops, h.resumes}, -amount});
}

void ResourceSchedule::add_uses(const LimitKey& key, std::span<const std::uint32_t> holdings, int sign,
                                LimitProfile& known) const {
    std::vector<Use> uses;
    for (const std::uint32_t number : holdings) {
        const Holding& h = holdings_[number];
        add_use(number, until(h.end), sign * use(h, key), uses);
    }
    if (!uses.empty()) known.fits = known.running.debit(uses) && known.fits;
}

// ---- Additions of the cycle.

void ResourceSchedule::end_cycle() {
    if (state_ == nullptr) return;
    holdings_.resize(running_);
    additions_.clear();
    added_pauses_ = false;
    added_events_known_ = false;
    for (auto& [key, known] : known_) {
        known.profile = {};
        known.differs = false;
        known.additions = 0;
    }
    std::erase_if(known_, [](const auto& k) { return !k.second.fits; });
    state_ = nullptr;
}

void ResourceSchedule::add(Holding holding, const rrule::Interval& when) {
    holding.end = when.end;
    if (!holding.given_up) holding.began = when.start;
    added_pauses_ = added_pauses_ || holding.pauses();
    const auto number = static_cast<std::uint32_t>(holdings_.size());
    additions_.push_back({number, when});
    const bool begins = holding.reservation != kNoSlot;
    const bool given_up = holding.given_up;
    holdings_.push_back(std::move(holding));
    if (!added_events_known_) return;
    const auto put_in = [&](const Event& event) {
        added_events_.insert(std::ranges::upper_bound(added_events_, event, is_before), event);
    };
    if (begins) put_in({when.start, number, true});
    put_in({when.end, number, false, given_up});
}

std::span<const ResourceSchedule::Event> ResourceSchedule::ends() const {
    const auto to_come = std::ranges::upper_bound(ends_, last_, {}, &Event::at);
    return {to_come, ends_.end()};
}

std::span<const ResourceSchedule::Event> ResourceSchedule::added_events() {
    if (std::exchange(added_events_known_, true)) return added_events_;
    added_events_.clear();
    for (const Addition& added : additions_) {
        if (holdings_[added.holding].reservation != kNoSlot)
            added_events_.push_back({added.when.start, added.holding, true});
        added_events_.push_back({added.when.end, added.holding, false, holdings_[added.holding].given_up});
    }
    std::ranges::sort(added_events_, is_before);
    return added_events_;
}

// Counts the end among those that are passed (sign 1), or takes it out (sign -1), if it belongs to them.
void ResourceSchedule::pass(const Event& end, int sign) {
    if (passed_.is_good(*state_) && passed_.has(end.at))
        passed_.count(*state_, *tables_, holdings_[end.holding], sign);
}

void ResourceSchedule::count_passed(Instant from, Instant to, int sign) {
    for (auto end = std::ranges::upper_bound(ends_, from, {}, &Event::at);
         end != ends_.end() && end->at <= to; ++end)
        passed_.count(*state_, *tables_, holdings_[end->holding], sign);
}

// Jobs that have overrun their walltimes are expected to end later. They are among the additions.
void ResourceSchedule::forget_passed_before_now() {
    if (!passed_.is_good(*state_)) return;
    count_passed(passed_.from(), std::min(last_, passed_.until()), -1);
    passed_.set_span(last_, passed_.until());
}

const PassedEnds* ResourceSchedule::pass(Instant until) {
    if (!passed_.is_good(*state_)) {
        constexpr std::ptrdiff_t kVnodesOfAnEnd = 8;  // PassedEnds::begin() takes some time for each vnode
        const auto to_pass = std::ranges::upper_bound(ends(), until, {}, &Event::at) - ends().begin();
        if (to_pass * kVnodesOfAnEnd < static_cast<std::ptrdiff_t>(state_->vnodes->size())) return nullptr;
        passed_.begin(*state_, *tables_, last_);
    }
    const Instant passed = passed_.until();
    count_passed(until, passed, -1);
    count_passed(passed, until, 1);
    passed_.set_span(passed_.from(), until);
    return &passed_;
}

std::vector<std::uint32_t> ResourceSchedule::pausing() {
    std::vector<std::uint32_t> numbers;
    if (running_pauses_ == 0 && !added_pauses_) return numbers;
    for (const auto& events : {ends(), added_events()})
        for (const Event& event : events) {
            const Holding& h = holdings_[event.holding];
            if (!event.begins && h.pauses() && h.resumes > last_) numbers.push_back(event.holding);
        }
    return numbers;
}

// ---- Profiles.

std::int64_t ResourceSchedule::use(const Holding& h, const LimitKey& key) const {
    const int sign = h.given_up ? -1 : 1;
    if (key.use.scope != UseScope::pool)
        return sign * use_of(*state_->vnodes,
                             {h.whose, h.nodes, &request(h), h.walltime, h.queue, h.views, h.dedicated_views,
                              nullptr, h.shares, h.end, state_},
                             key);
    std::int64_t sum = 0;
    for (const Vnodes::Share& share : h.shares)
        if (share.column == key.what && state_->vnodes->counts(key.use.object, share.vnode, share.column))
            sum += share.amount;
    return sign * sum;
}

ResourceSchedule::LimitProfile& ResourceSchedule::up_to_date(const LimitKey& key) {
    const auto [found, made] = known_.try_emplace(key);
    LimitProfile& known = found->second;
    known.asked = cycles_;
    if (made) {
        std::vector<std::uint32_t> all;
        all.reserve(ends_.size());
        for (const Event& end : ends_) all.push_back(end.holding);
        add_uses(key, all, 1, known);
    }
    if (known.additions == additions_.size()) return known;
    std::vector<Use> uses;
    for (; known.additions < additions_.size(); ++known.additions) {
        const Addition& added = additions_[known.additions];
        add_use(added.holding, added.when, use(holdings_[added.holding], key), uses);
    }
    if (uses.empty()) return known;
    if (!std::exchange(known.differs, true)) known.profile = known.running;
    known.profile.debit(uses);
    return known;
}

Demand ResourceSchedule::demand(const LimitNeed& limit) {
    const LimitProfile& known = up_to_date(limit.key);
    return {known.differs ? &known.profile : &known.running, limit.amount, limit.capacity};
}

Demand ResourceSchedule::demand_of_pool(PoolId pool, std::uint32_t column, std::int64_t amount) {
    LimitProfile& known = up_to_date({{UseScope::pool, EntityKind::all, pool}, column});
    if (known.capacity < 0) known.capacity = state_->vnodes->capacity(pool, column);
    return {known.differs ? &known.profile : &known.running, amount, known.capacity};
}

}  // namespace pbs::sched
