// Finds a job's place on the vnodes that the queue may use. With Origin it observes the load of hosts
// (TARGET_LOAD_PCT, MIN_JOBS), their system time (HIGH_SYSTIME) and the number of jobs on them (MAX_JOBS);
// with load_balancing the load of hosts with a maximum. Reserved amounts aren't free for jobs that end after
// the reservation's start.

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {
namespace {

// Returns whether a job that finds no place in the present order of vnodes, which loads change, may find one
// in another order. A job with one kind of chunks can't, unless limits look at vnodes.
bool order_decides(const CycleState& state, const JobNeeds& job) {
    return job.request->chunks.size() > 1 || !state.vnode_limits.empty();
}

// Returns the events that could lift the refusal. If a job has several kinds of chunks, even fewer free
// amounts could lift it, because the first kind then goes elsewhere. For Origin and load_balancing no event
// reports loads, and a measurement replaces the load that was counted for jobs that started before it.
Blockers blockers(const CycleState& state, const JobNeeds& job) {
    const Settings& s = *state.settings;
    if (s.max_load_percent > 0 || s.min_jobs > 0 || s.high_systime > 0 ||
        (s.load_balancing && state.vnodes->has_maximal_loads()))
        return blocker::kAnything;
    if (order_decides(state, job) && (state.load_order != 0 || !s.load_thresholds.empty()))
        return blocker::kAnything;
    return job.request->chunks.size() > 1 ? blocker::kRoom | blocker::kStart : blocker::kRoom;
}

// The resources whose values make placement sets for the job: place=group= takes precedence over
// node_group_key.
std::span<const std::uint32_t> groups_of(const JobNeeds& job, const QueueView& view) {
    if (job.request->group != kNoResource) return {&job.request->group, 1};
    return view.groups;
}

SetRules set_rules(const CycleState& state) {
    return {*state.resources,
            state.tables->requests.asks_for(state.resources->known().mem),
            state.looking_ahead,
            !state.settings->do_not_span_psets,
            state.settings->only_explicit_psets,
            state.only_set};
}

bool has_place(CycleState& state, const JobNeeds& job, const QueueView& view, const PlaceRules& rules) {
    Placement place;
    return state.vnodes->find_in_sets(state.pool_for(view, *job.request), *job.request, rules,
                                      set_rules(state), place);
}

// Finds the reason why there is no place: gives up one rule after the other until a search finds a place.
Reason why(CycleState& state, const JobNeeds& job, const QueueView& view, PlaceRules rules) {
    const Settings& s = *state.settings;
    rules.prefers = false;
    if (!state.vnodes->large_enough(view.pool, *job.request, rules.node_size))
        return {ReasonCode::hosts_too_small, view.slot, job.request_number, view.pool};
    if (!state.vnodes->bookings().empty() && view.booking == kNoSlot) {
        auto anyway = rules;
        anyway.without_bookings = true;
        const Booking* booking = state.vnodes->bookings().first_between(rules.begins, rules.hard_ends);
        if (booking != nullptr && has_place(state, job, view, anyway))
            return {ReasonCode::booked, view.slot, booking->name};
    }
    if (!state.reservations.empty()) {
        auto early = rules;
        early.ends = early.hard_ends = {};
        if (has_place(state, job, view, early))
            return {ReasonCode::reserved, view.slot, state.reservations.front().job};
    }
    if (!rules.reserved.empty()) {
        rules.reserved = {};
        if (has_place(state, job, view, rules)) return {ReasonCode::hosts_reserved, view.slot};
    }
    if (rules.load_balancing) {
        rules.load_balancing = false;
        if (has_place(state, job, view, rules)) return {ReasonCode::hosts_at_max_load, view.slot};
    }
    if (rules.max_systime_percent > 0) {
        rules.max_systime_percent = 0;
        if (has_place(state, job, view, rules))
            return {ReasonCode::hosts_systime, view.slot, 0, s.high_systime};
    }
    if (rules.max_load_percent > 0) {
        rules.max_load_percent = 0;
        if (has_place(state, job, view, rules))
            return {ReasonCode::hosts_loaded, view.slot, 0, s.max_load_percent};
    }
    if (rules.max_jobs_on_host > 0) {
        rules.max_jobs_on_host = 0;
        if (has_place(state, job, view, rules)) return {ReasonCode::hosts_full, view.slot, 0, s.max_jobs};
    }
    return {ReasonCode::hosts_busy, view.slot, job.request_number, view.pool};
}

// Returns whether the advance reservation of the queue has its places now.
bool is_there(const CycleState& state, const QueueView& view) {
    return view.booking != kNoSlot && state.vnodes->bookings().list()[view.booking].is_at(state.now);
}

// Returns whether a suspended job can resume at the placement in the state. If it wants vnodes exclusively,
// no other job may be on them. No booking may begin on them while it runs.
bool can_go_on(const CycleState& state, const JobNeeds& job, const QueueView& view, const PlaceRules& rules) {
    Vnodes& vnodes = *state.vnodes;
    const auto own = vnodes.held_by(job.suspended);
    const auto is_sole = [&](const Part& part) {
        return vnodes.sole(part.vnode, job.request->sharing) != Sole::nothing;
    };
    if (own.empty() || std::ranges::none_of(state.placement, is_sole))
        return vnodes.has_room(view.pool, *job.request, rules, state.placement);
    for (const Part& part : state.placement) {
        if (vnodes.jobs(part.vnode) > (std::ranges::binary_search(own, part.vnode) ? 1 : 0)) return false;
        bool booked = false;  // a job in a reservation uses its own booking
        vnodes.bookings().for_each_binding(part.vnode, rules,
                                           [&](const Row&) { booked = rules.booking == kNoSlot; });
        if (booked) return false;
    }
    Request amounts = *job.request;
    amounts.sharing = AskedSharing::shared;
    return vnodes.has_room(view.pool, amounts, rules, state.placement);
}

// Checks the limits with counters of their own (OwnLimit) for one job.
class OwnLimits final : public VnodeRule {
  public:
    OwnLimits(CycleState& state, const JobNeeds& job, const User& user, const QueueView& view)
        : state_(state), job_(job), user_(user), view_(view) {}
    // Returns whether one of the limits may refuse places to the job.
    bool may_refuse() const {
        return std::ranges::any_of(state_.vnode_limits, [&](const OwnLimit* limit) {
            return limit->refuses_after == nullptr || limit->refuses_after(state_, &job_, user_, view_) == 0;
        });
    }
    std::int64_t most(VnodeSlot vnode, const Row& needs, const Placement& given) const override {
        std::int64_t most = std::numeric_limits<std::int64_t>::max();
        for (const OwnLimit* limit : state_.vnode_limits)
            most = std::min(most, limit->most(state_, job_, user_, view_, vnode, needs, given));
        return most;
    }
    bool allows(const Placement& places) const override { return !reason(places); }
    // Returns the reason why the job may not have these places; an empty one: it may.
    Reason reason(const Placement& places) const {
        for (const OwnLimit* limit : state_.vnode_limits)
            if (const Reason reason = limit->check(state_, job_, user_, view_, places)) return reason;
        return {};
    }

  private:
    CycleState& state_;
    const JobNeeds& job_;
    const User& user_;
    const QueueView& view_;
};

// Returns whether the amounts can be added without overflow, as those of a request can: their sum is at most
// 2^60.
bool can_be_added(const Placement& named) {
    std::int64_t left = std::int64_t{1} << 60;
    return std::ranges::all_of(named.amounts, [&](const Need& need) {
        if (need.amount > left) return false;
        left -= need.amount;
        return true;
    });
}

// Returns the first named place with an amount of a resource that only vnodes can have, although none has it.
Reason lacking_at(const Vnodes& vnodes, const QueueView& view, const Placement& named) {
    for (const Part& part : named)
        for (std::uint32_t i = part.first_amount; i < part.first_amount + part.amounts; ++i)
            if (const Need& need = named.amounts[i]; vnodes.columns().is_lacking(need))
                return {ReasonCode::place_short,     view.slot,   part.vnode,
                        std::int64_t{need.resource}, need.amount, 0};
    return {};
}

// Tests the start at named places: their vnodes have to take the job, to have the values that one of its
// chunks asks for, and to have the amounts free. How the places are arranged is the caller's choice.
Reason named_place_reason(CycleState& state, const JobNeeds& job, const QueueView& view,
                          const PlaceRules& rules) {
    const Vnodes& vnodes = *state.vnodes;
    const Placement& named = *state.named_place;
    if (named.empty()) return {ReasonCode::place_unknown, view.slot};
    if (!can_be_added(named)) return {ReasonCode::place_too_large, view.slot};
    if (!vnodes.has_some_of_each(*job.request))
        return {ReasonCode::hosts_too_small, view.slot, job.request_number, view.pool};
    if (const Reason reason = lacking_at(vnodes, view, named)) return reason;
    if (const auto found = vnodes.obstacle(view.pool, *job.request, rules, named)) {
        using Cause = Vnodes::Obstacle::Cause;
        const auto code = [&] {
            switch (found->why) {
                case Cause::closed:
                    return ReasonCode::place_closed;
                case Cause::rules:
                    return ReasonCode::place_ruled_out;
                case Cause::shared:
                    return ReasonCode::place_shared;
                case Cause::kept:
                    return ReasonCode::place_kept;
                case Cause::amount:
                    break;
            }
            return ReasonCode::place_short;
        };
        if (found->why == Cause::rules)
            if (const std::uint32_t resource =
                    is_reserved(vnodes[found->vnode].available, rules.reserved, *job.request);
                resource != kNoResource)
                return {code(), view.slot, found->vnode, 1, std::int64_t{resource}};
        if (found->why != Cause::amount) return {code(), view.slot, found->vnode};
        return {code(), view.slot, found->vnode, found->resource, found->asked, found->free};
    }
    const std::vector<Chunk>& chunks = job.request->chunks;
    std::unordered_set<VnodeSlot> wanted;
    // Try the kinds of chunks from the last one that a vnode has the values for, because places are mostly
    // named in the order of the chunks.
    std::size_t kind = 0;
    const auto is_wanted = [&](const Part& part) {
        if (!wanted.insert(part.vnode).second) return true;
        for (std::size_t tried = 0; tried < chunks.size(); ++tried, kind = (kind + 1) % chunks.size())
            if (vnodes.matches(vnodes[part.vnode], chunks[kind])) return true;
        return false;
    };
    const auto unwanted = std::ranges::find_if_not(named, is_wanted);
    return unwanted == named.end() ? Reason{}
                                   : Reason{ReasonCode::place_unwanted, view.slot, unwanted->vnode};
}

bool is_of_user_or_group(const OwnLimit& limit) {
    return limit.entity == EntityKind::user || limit.entity == EntityKind::group;
}

// Returns the use that has to decrease before a job that the limit refuses can start. That is the use of the
// limit's entity in the whole server, since an event only names the user and group of the ended job.
UseKey awaited_use(const OwnLimit& limit, const User& user) {
    if (!is_of_user_or_group(limit)) return {UseScope::server, EntityKind::all};
    return {UseScope::server, limit.entity, 0, Entities{user.owner, user.group}.of(limit.entity)};
}

// Returns any size if less of this use lifts refusals by a limit with counters of its own (OwnLimit): one of
// the refused jobs may have a place now. nullopt: there is no such limit.
std::optional<JobSize> left_by_own_limits(const CycleState& state, const UseKey& key) {
    const bool waited_for = std::ranges::any_of(state.vnode_limits, [&](const OwnLimit* limit) {
        return key.scope == UseScope::server &&
               key.entity == (is_of_user_or_group(*limit) ? limit->entity : EntityKind::all);
    });
    return waited_for ? std::optional(kAnySize) : std::nullopt;
}

// Returns the first instant at which the limits with counters of their own may permit more.
std::optional<Instant> lifted_at(CycleState& state) {
    std::optional<Instant> first;
    for (const OwnLimit* limit : state.vnode_limits) {
        const auto at = limit->until != nullptr ? limit->until(state) : std::nullopt;
        if (at && (!first || *at < *first)) first = at;
    }
    return first;
}

// Returns the refusal of a job that only limits with counters of their own keep from a place. Its reason says
// why they don't permit the place that the job would have without them.
Refusal own_limit_refusal(CycleState& state, const JobNeeds& job, const User& user, const QueueView& view,
                          PlaceRules rules, const OwnLimits& limits) {
    rules.rule = nullptr;
    Placement place;
    if (!state.vnodes->find_in_sets(state.pool_for(view, *job.request), *job.request, rules, set_rules(state),
                                    place))
        return {};
    Reason reason = limits.reason(place);
    if (!reason)
        reason = {ReasonCode::other, view.slot, state.strings->id(state.vnode_limits.front()->words)};
    Refusal refusal{reason, blockers(state, job)};
    for (const OwnLimit* limit : state.vnode_limits)
        refusal.blockers |= blocker::less_of(awaited_use(*limit, user)) | limit->lifted_by;
    refusal.until = lifted_at(state);
    return refusal;
}

Refusal check_hosts(CycleState& state, const JobNeeds& job, const User& user, QueueView& view) {
    if (!state.supports(*job.request))
        return {{ReasonCode::request_unsupported, view.slot, job.request_number}, blocker::kRoom};
    if (view.is_reservation && !is_there(state, view)) return {{ReasonCode::not_booked, view.slot}};
    PlaceRules rules = state.place_rules(job, view);
    const OwnLimits own_limits(state, job, user, view);
    // A named place, and the old place of a suspended job, may have more than the job asks for.
    const bool has_place = state.named_place != nullptr || job.suspended != kNoSlot;
    const bool may_limit = has_place ? !state.vnode_limits.empty() : own_limits.may_refuse();
    if (!state.at_request && may_limit) rules.rule = &own_limits;
    for (const OwnLimit* limit : state.vnode_limits)
        if (limit->begin != nullptr) limit->begin(state);
    if (job.suspended != kNoSlot) {
        rules.reserved = {};  // the job goes on where it was
        state.placement = state.tables->place_of_suspended(job.suspended);
        if (can_go_on(state, job, view, rules)) return {};
        const Reason limited = rules.rule != nullptr ? own_limits.reason(state.placement) : Reason{};
        return {limited ? limited : Reason{ReasonCode::vnodes_busy, view.slot}, blocker::kAnything,
                limited ? lifted_at(state) : std::nullopt};
    }
    if (state.named_place != nullptr) {
        if (const Reason reason = named_place_reason(state, job, view, rules))
            return {reason, blocker::kAnything};
        if (rules.rule != nullptr)
            if (const Reason reason = own_limits.reason(*state.named_place))
                return {reason, blocker::kAnything};
        state.placement = *state.named_place;
        return {};
    }
    rules.groups = groups_of(job, view);
    std::string set;
    if (state.vnodes->find_in_sets(state.pool_for(view, *job.request), *job.request, rules, set_rules(state),
                                   state.placement, &set)) {
        state.chosen_set = std::move(set);
        return {};
    }
    const auto reordered = state.load_order != 0 && order_decides(state, job)
                               ? state.vnodes->loads().next_change(state.load_order)
                               : std::nullopt;
    const auto until = [&](std::optional<Instant> at) {
        return reordered && (!at || *reordered < *at) ? reordered : at;
    };
    if (rules.rule != nullptr)
        if (Refusal refusal = own_limit_refusal(state, job, user, view, rules, own_limits)) {
            refusal.until = until(refusal.until);
            return refusal;
        }
    const Blockers lifted_by = blockers(state, job);
    if (state.looking_ahead) {
        const Bookings& bookings = state.vnodes->bookings();
        if (bookings.empty()) return {{ReasonCode::hosts_busy, view.slot}, lifted_by};
        return {{ReasonCode::hosts_busy, view.slot}, lifted_by, bookings.next_end(state.now)};
    }
    if (state.vnodes->pool_vnodes(view.pool).empty())
        return {{ReasonCode::no_hosts, view.slot, view.host}, blocker::kRoom};
    if (!set.empty() && state.only_set.empty() && !state.settings->do_not_span_psets) ++state.refused_by_sets;
    if (!rules.groups.empty() && set.empty() && state.settings->do_not_span_psets)
        return {{ReasonCode::sets_too_small, view.slot}, lifted_by};
    Reason reason = why(state, job, view, rules);
    if (reason.code == ReasonCode::hosts_busy && !set.empty()) {
        const Shortage lacking =
            state.vnodes->shortage(view.pool, *job.request, rules.node_size, rules.reserved);
        if (lacking.resource == kNoResource && !lacking.vnodes)
            reason = {ReasonCode::set_busy, view.slot, state.strings->id(set)};
    }
    return {reason, lifted_by, until(std::nullopt)};
}

bool has_same_places(const QueueView& a, const QueueView& b) {
    // Thresholds of loads may distinguish queues.
    const Settings* s = a.facts.settings;
    if (s != nullptr && !s->load_thresholds.empty() && a.slot != b.slot) return false;
    return a.pool == b.pool && a.host == b.host && a.groups == b.groups && a.booking == b.booking;
}

}  // namespace

std::vector<std::string> placement_sets_of(const CycleState& state, const JobNeeds& job,
                                           const QueueView& view) {
    PlaceRules rules = state.place_rules(job, view);
    rules.groups = groups_of(job, view);
    return state.vnodes->names_of_sets(state.pool_for(view, *job.request), *job.request, rules,
                                       set_rules(state));
}

extern const Filter kHostsFilter{
    .name = "hosts",
    .attributes =
        "max_jobs, min_jobs, target_load_pct, target_load_variance, high_systime, load_balancing, "
        "do_not_span_psets, only_explicit_psets, reserved_resources",
    .traits = about_room | places | by_limits_only,
    .check = check_hosts,
    .is_same_in = has_same_places,
    .leaves = left_by_own_limits,
    .reads_user =
        [](const CycleState& state, const QueueView&) {
            return std::ranges::any_of(state.vnode_limits, &OwnLimit::reads_user);
        },
    .refuses_after =
        [](CycleState& state, const User& user, const QueueView& view) {
            std::int64_t starts = kNever;
            for (const OwnLimit* limit : state.vnode_limits) {
                if (!limit->reads_user) continue;
                if (limit->refuses_after == nullptr) return std::int64_t{0};
                starts = std::min(starts, limit->refuses_after(state, nullptr, user, view));
            }
            return starts;
        }};

}  // namespace pbs::sched
