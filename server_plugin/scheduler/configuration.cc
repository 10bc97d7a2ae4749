// Functions of Scheduler that set its configuration, and determine the policy in force.

#include <algorithm>

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {

// Returns the policy in force: in dedicated time the prime one, if both slots are set; else the one for prime
// or non-prime time; if its slot is empty, the one for all time.
Policy* Scheduler::Impl::active_policy(std::string_view sched, Instant now) {
    const auto known = scheds.find(sched);
    if (known != scheds.end() && known->second.is_known(now)) return known->second.until.policy;
    const Assigned slots = assigned(sched);
    Policy* chosen = nullptr;
    if (configuration.dedicated.contains(now)) {
        if (slots.prime != nullptr && slots.non_prime != nullptr) chosen = slots.prime;
    } else if (!configuration.prime.empty()) {
        chosen = configuration.prime.contains(now) ? slots.prime : slots.non_prime;
    }
    return chosen != nullptr ? chosen : slots.all_time;
}

// Returns the policies of a scheduler. Assigned ones take precedence: "If both policy and sched_config files
// are present then sched_config file will be ignored" (PP-748, interface 1).
Assigned Scheduler::Impl::assigned(std::string_view sched) {
    const auto slots = configuration.scheds.find(sched);
    if (slots != configuration.scheds.end() && !slots->second.all_time.empty())
        return {policy(slots->second.all_time), policy(slots->second.prime), policy(slots->second.non_prime)};
    return sched_configs.assigned(sched);
}

// After a change of the configuration, stores which policies are in force, so that tick() doesn't take the
// change for a switch by time.
void Scheduler::Impl::note_policies_in_force() {
    if (!last_tick) return;
    for (auto& [name, sched] : scheds) {
        const Policy* active = active_policy(name, *last_tick);
        sched.policy = active != nullptr ? active->settings.name : std::string();
    }
}

// Begins to follow the clock at `now`, and begins again if the clock was set back. At the first call, notes
// the policies in force, so that they don't count as switches.
void Scheduler::Impl::watch_from(Instant now) {
    const bool first = !last_tick;
    if (!first && *last_tick <= now) return;
    last_tick = now;
    look_again = look_again || !first;
    if (first) note_policies_in_force();
}

void Scheduler::Impl::set_hours(Queue& queue) const {
    const auto found = configuration.queue_hours.find(queue.name);
    queue.hours = found != configuration.queue_hours.end() && found->second.acts() ? &found->second : nullptr;
}

Policy* Scheduler::Impl::policy_of_queue(QueueSlot queue, Instant now) {
    for (const auto& [name, sched] : scheds)
        if (serves(name, sched, tables.queues[queue].partition)) return active_policy(name, sched, now);
    return nullptr;
}

// Returns the partitions that have a scheduler. Valid until the next call.
std::span<const std::uint32_t> Scheduler::Impl::served() {
    partitions.clear();
    for (const auto& [name, sched] : scheds)
        if (serves(name, sched, sched.partition)) partitions.push_back(sched.partition);
    return partitions;
}

// Returns the policy whose decay_factor counts: that of the scheduler `default` if it counts past usage; else
// that of the first scheduler that does.
Policy* Scheduler::Impl::usage_policy(Instant now) {
    const std::string_view keeper = usage_keeper(now);
    return keeper.empty() ? nullptr : active_policy(keeper, now);
}

std::string_view Scheduler::Impl::usage_keeper(Instant now) {
    const auto keeps = [&](std::string_view sched) {
        const Policy* p = active_policy(sched, now);
        return p != nullptr && p->settings.sort_by_past_usage.holds(now);
    };
    if (keeps(kDefaultSched)) return kDefaultSched;
    for (const auto& [name, sched] : scheds)
        if (keeps(name)) return name;
    return {};
}

namespace {

using Policies = std::map<std::string, Policy, std::less<>>;

Result<Policies> compile_all(const Configuration& configuration) {
    Policies policies;
    for (const auto& [name, settings] : configuration.policies) {
        auto policy = compile(settings);
        if (!policy) return tl::unexpected(policy.error());
        policies.emplace(name, *std::move(policy));
    }
    return policies;
}

bool quotas_name(objects::QuotaSubject subject, const Configuration& configuration) {
    return std::ranges::any_of(configuration.policies, [subject](const auto& policy) {
        return std::ranges::any_of(policy.second.quotas,
                                   [subject](const auto& quota) { return quota->names(subject); });
    });
}

}  // namespace

Result<void> Scheduler::set_configuration(std::shared_ptr<const objects::Snapshot> snapshot) {
    auto configuration = read_configuration(*snapshot, impl_->tables.zone, impl_->window_cache);
    if (!configuration) return tl::unexpected(configuration.error());
    impl_->window_cache.drop_unused();
    return set_configuration(*std::move(configuration), std::move(snapshot));
}

Result<void> Scheduler::set_configuration(Configuration configuration,
                                          std::shared_ptr<const objects::Snapshot> snapshot) {
    auto policies = compile_all(configuration);
    if (!policies) return tl::unexpected(policies.error());
    if (impl_->works_elsewhere()) {
        impl_->keep(ConfigurationRead{std::make_shared<Configuration>(std::move(configuration)),
                                      std::move(snapshot)});
        return {};
    }
    impl_->note(&EventsSince::settings_changed);
    std::swap(impl_->configuration, configuration);
    if (auto done = impl_->sched_configs.renew(impl_->file_context()); !done) {
        impl_->configuration = std::move(configuration);
        return done;
    }
    impl_->tables.has_closings = std::ranges::any_of(impl_->configuration.queue_hours,
                                                     [](const auto& queue) { return queue.second.acts(); });
    for (QueueSlot q = 0; q < impl_->tables.queues.size(); ++q) impl_->set_hours(impl_->tables.queues[q]);
    impl_->tables.running_changes.note_all();
    impl_->policies = *std::move(policies);
    impl_->snapshot = std::move(snapshot);
    using objects::QuotaSubject;
    impl_->tables.projects_in_quotas = quotas_name(QuotaSubject::projects, impl_->configuration);
    impl_->tables.shapes_in_quotas = quotas_name(QuotaSubject::shapes, impl_->configuration);
    impl_->tables.arrays_in_policies = std::ranges::any_of(
        impl_->configuration.policies, [](const auto& named) { return named.second.max_run_subjobs > 0; });
    impl_->tables.loads_in_policies =
        std::ranges::any_of(impl_->configuration.policies, [](const auto& named) {
            return !named.second.load_formula.empty() || !named.second.load_thresholds.empty();
        });
    impl_->tell_projects_apart();
    impl_->renew_shares();
    impl_->note_policies_in_force();
    return {};
}

Result<void> Scheduler::set_sched_config(std::string_view sched,
                                         std::shared_ptr<const objects::Object> all_time,
                                         std::shared_ptr<const objects::Object> prime,
                                         std::shared_ptr<const objects::Object> non_prime) {
    settle();
    impl_->note(&EventsSince::settings_changed);
    auto done = impl_->sched_configs.set(sched, {std::move(all_time), std::move(prime), std::move(non_prime)},
                                         impl_->file_context());
    if (!done) return done;
    impl_->renew_shares();
    impl_->note_policies_in_force();
    return {};
}

bool Scheduler::zones_are_current(Instant now) {
    settle();
    if (impl_->zones_checked != now)
        impl_->zones_current = impl_->tables.zone.is_current() && impl_->window_cache.zones_are_current();
    impl_->zones_checked = now;
    return impl_->zones_current;
}

Result<void> Scheduler::renew_zones(std::shared_ptr<const objects::Snapshot> snapshot) {
    settle();
    impl_->zones_current = true;
    impl_->look_again = true;
    impl_->tables.zone = impl_->tables.zone.renewed();
    impl_->tables.last_ctime = {};
    impl_->window_cache.clear();
    // Another policy may be in force now. Restore the old names, so that tick() sees the change as a switch.
    std::map<std::string, std::string, std::less<>> in_force;
    for (const auto& [name, sched] : impl_->scheds) in_force.emplace(name, sched.policy);
    auto done = set_configuration(std::move(snapshot));
    for (auto& [name, sched] : impl_->scheds) sched.policy = std::move(in_force[name]);
    return done;
}

const rrule::Zone& Scheduler::zone() const {
    return impl_->tables.zone;
}

void Scheduler::clear_sched_config(std::string_view sched) {
    settle();
    impl_->note(&EventsSince::settings_changed);
    impl_->sched_configs.clear(sched);
    impl_->renew_shares();
    impl_->note_policies_in_force();
}

}  // namespace pbs::sched
