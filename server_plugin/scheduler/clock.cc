// Functions of Scheduler about time: the work that is due at tick(), the instant of the next call, and the
// policy in force.

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {

// Decays past usage. It decays more slowly for users whose group is over its allocation.
void Scheduler::Impl::decay(Instant now, const Settings& s) {
    const auto found = tables.allocations.find(s.sched_acct_dir);
    const bool enforced = s.enforce_allocation.holds(now) && found != tables.allocations.end();
    tables.usage.decay(now, [&](std::string_view group) {
        return enforced && found->second.of(group).over() ? s.oa_decay_factor : s.decay_factor;
    });
}

// Returns the first instant after t at which time alone may change a cycle's decisions; nullopt: there is
// none.
std::optional<Instant> Scheduler::Impl::boundary_after(std::string_view name, Sched& sched, Instant t) {
    if (sched.is_known(t)) return sched.until.boundary;
    std::optional<Instant> next;
    Policy* active = active_policy(name, t);
    if (active == nullptr) return next;
    sooner(next, configuration.dedicated.next_change(t));
    sooner(next, configuration.prime.next_change(t));
    for (const auto& [queue, hours] : configuration.queue_hours) {
        const QueueSlot slot = tables.queues.find(queue);
        if (slot != kNoSlot && serves(name, sched, tables.queues[slot].partition))
            sooner(next, hours.open().next_change(t));
    }
    sooner(next, active->settings.prime.next_change(t));
    sooner(next, next_date(active->settings, t));
    const auto boundaries = active->settings.profile->boundaries;
    for (const BoundaryRule* rule : boundaries) sooner(next, rule->next(tables, active->settings, t));
    for (const auto& [handle, reservation] : tables.reservations) {
        for (const Instant at : {reservation.held_start, reservation.held_end})
            if (!reservation.shares.empty() && at > t) sooner(next, at);
        const auto one = std::ranges::find_if(
            reservation.later, [&](const auto& later) { return !later.shares.empty() && later.end > t; });
        if (one != reservation.later.end()) sooner(next, one->start > t ? one->start : one->end);
    }
    const bool by_jobs = std::ranges::any_of(boundaries, [&](const BoundaryRule* rule) {
        return rule->depends_on_jobs != nullptr && rule->depends_on_jobs(active->settings);
    });
    if (!by_jobs) sched.until = Sched::Until{sched.events.since.times_all, t, next, active};
    return next;
}

// Returns the first instant after t that a refusal has named, or at which a job becomes overdue; nullopt:
// there is none.
std::optional<Instant> Scheduler::Impl::named_after(const Sched& sched, Instant t) {
    std::optional<Instant> next;
    const auto named = sched.events.instants.upper_bound(t);
    if (named != sched.events.instants.end()) sooner(next, *named);
    const auto due = sched.events.pending.next_due();
    if (sched.events.pending_known && due && *due > t) sooner(next, *due);
    return next;
}

Instant Scheduler::next_deadline(Instant now) {
    settle();
    impl_->watch_from(now);
    if (impl_->look_again || impl_->loads_changed) return now;
    std::optional<Instant> next;
    for (auto& [name, sched] : impl_->scheds) {
        sooner(next, impl_->boundary_after(name, sched, *impl_->last_tick));
        sooner(next, impl_->named_after(sched, *impl_->last_tick));
    }
    if (impl_->usage_policy(now) != nullptr) sooner(next, impl_->tables.usage.next_decay(now));
    for (const auto& [name, sched] : impl_->scheds)
        for (const auto& [group, shares] : sched.shares) sooner(next, shares.tree.next_decay(now));
    return next.value_or(Instant::max());
}

TickResult Scheduler::tick(Instant now) {
    settle();
    TickResult result;
    impl_->watch_from(now);
    assert(impl_->last_tick && *impl_->last_tick <= now);  // next_deadline() searches from here on
    const auto has_come = [&](const std::optional<Instant>& at) { return at && *at <= now; };
    for (auto& [name, sched] : impl_->scheds) {
        const bool at_boundary = has_come(impl_->boundary_after(name, sched, *impl_->last_tick));
        const bool at_named = has_come(impl_->named_after(sched, *impl_->last_tick)) || impl_->loads_changed;
        const Policy* active = impl_->active_policy(name, now);
        const std::string policy = active != nullptr ? active->settings.name : std::string();
        const bool switched = policy != sched.policy && !sched.policy.empty();
        if (switched)
            result.switched.push_back(
                fmt::format("sched {}: policy {} is in force after {}", name, policy, sched.policy));
        const bool for_all = switched || impl_->look_again || at_boundary;
        sched.woken_for_instants = at_named && !for_all;
        if (for_all || at_named) result.due.push_back({name, switched});
        sched.policy = policy;
        result.policy_switched = result.policy_switched || switched;
    }
    result.cycle_wanted = !result.due.empty();
    impl_->last_tick = now;
    impl_->look_again = impl_->loads_changed = false;
    if (const Policy* policy = impl_->usage_policy(now)) impl_->decay(now, policy->settings);
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares) {
            shares.bring_up_to_date(impl_->tables, now);
            shares.tree.decay(now);
        }
    result.usage_changed = impl_->tables.usage.has_changes() || has_share_changes();
    return result;
}

Status Scheduler::status(Instant now, std::string_view sched) {
    if (impl_->background.runs) {
        const auto known = impl_->background.status.find(sched);
        return known == impl_->background.status.end() ? Status{} : known->second;
    }
    Status status;
    const Policy* active = impl_->active_policy(sched, now);
    const rrule::WindowSet& prime = impl_->prime_windows(active);
    const rrule::WindowSet& dedicated = impl_->configuration.dedicated;
    if (active != nullptr) {
        status.policy = active->settings.name;
        status.algorithm = active->settings.profile->name;
    }
    status.prime_time = prime.contains(now);
    const auto dedicated_at = [&](const Policy* policy, Instant t) {
        return dedicated.contains(t) || (policy != nullptr && in_outage(impl_->tables, policy->settings, t));
    };
    status.dedicated_time = dedicated_at(active, now);
    sooner(status.next_change, prime.next_change(now));
    sooner(status.next_change, dedicated.next_change(now));
    if (active != nullptr)
        sooner(status.next_change, next_outage_change(impl_->tables, active->settings, now));
    if (!status.next_change) return status;
    const Policy* next = impl_->active_policy(sched, *status.next_change);
    if (next != nullptr) status.next_policy = next->settings.name;
    status.next_prime_time = prime.contains(*status.next_change);
    status.next_dedicated_time = dedicated_at(next, *status.next_change);
    return status;
}

}  // namespace pbs::sched
