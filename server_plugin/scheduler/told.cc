// Facts that the host is asked for, or that programs tell it: dedicated times, allocations, counters,
// amounts, past usage.

#include <algorithm>

#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {

// ---- Dedicated times.

std::vector<OutageQuestion> Scheduler::outage_questions(Instant now, std::string_view sched) {
    settle();
    std::vector<OutageQuestion> questions;
    const Policy* policy = impl_->active_policy(sched, now);
    if (policy == nullptr) return questions;
    const Settings& s = policy->settings;
    if (s.dedicated_time_command.empty() || !s.enforce_dedicated_time.holds(now)) return questions;
    auto names = outage_hosts(impl_->tables, s);
    if (!s.system_name.empty()) names.push_back(s.system_name);
    for (std::string& name : names)
        questions.push_back(
            {s.dedicated_time_command, std::move(name), Seconds(s.dedicated_time_cache_secs)});
    return questions;
}

void Scheduler::await_outages(std::string_view command, std::string_view name) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.outages.await(command, name);
}

bool Scheduler::set_outages(std::string_view command, std::string_view name, std::vector<Outage> outages) {
    settle();
    impl_->note(&EventsSince::all);
    return impl_->tables.outages.set(command, name, std::move(outages));
}

bool Scheduler::settle_outages(std::string_view command, std::string_view name) {
    settle();
    impl_->note(&EventsSince::all);
    return impl_->tables.outages.settle(command, name);
}

// ---- Allocations and counters.

std::string Scheduler::accounting_dir(Instant now, std::string_view sched) {
    settle();
    const Policy* policy = impl_->active_policy(sched, now);
    if (policy == nullptr) return {};
    return policy->settings.enforce_allocation.holds(now) ? policy->settings.sched_acct_dir : std::string();
}

void Scheduler::set_allocated(std::string_view dir, NodeHours groups) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.allocations[std::string(dir)].set_allocated(std::move(groups));
}

void Scheduler::set_used(std::string_view dir, NodeHours groups) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.allocations[std::string(dir)].set_used(std::move(groups));
}

std::optional<HpmSource> Scheduler::hpm_source(Instant now, std::string_view sched) {
    settle();
    const Policy* policy = impl_->active_policy(sched, now);
    if (policy == nullptr) return std::nullopt;
    const Settings& s = policy->settings;
    if (!s.manage_hpm_counters.holds(now) || s.hpm_ctl.empty() || s.test_only.holds(now)) return std::nullopt;
    const Tables& t = impl_->tables;
    const auto hpm = t.resources.id("hpm");
    HpmSource source{s.hpm_ctl, s.revoke_hpm_counters.holds(now), false};
    for (QueueSlot q = 0; q < t.queues.size() && !source.used; ++q)
        source.used = std::ranges::any_of(t.queues[q].running, [&](JobSlot job) {
            return number_of(t.requests[t.jobs.request[job]].totals, hpm).value_or(0) != 0;
        });
    return source;
}

void Scheduler::set_hpm(HpmCounters counters) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.hpm = counters;
}

// ---- Amounts that programs tell.

std::vector<std::string> Scheduler::told_elements(Instant now, std::string_view sched) {
    settle();
    const Policy* policy = impl_->active_policy(sched, now);
    std::vector<std::string> elements;
    if (policy == nullptr || policy->settings.test_only.holds(now)) return elements;
    const Tables& t = impl_->tables;
    for (const std::string& element : policy->settings.server_dyn_res)
        if (t.requests.asks_for(t.resources.id(ToldBy::of(element).resource))) elements.push_back(element);
    return elements;
}

bool Scheduler::set_told(std::string_view element, std::string_view output) {
    settle();
    if (!impl_->tables.told.set(element, std::string(output.substr(0, output.find('\n'))))) return false;
    impl_->note(&EventsSince::amount_told);
    return true;
}

bool Scheduler::is_amount(std::string_view element, std::string_view output) const {
    settle();
    const Resources& resources = impl_->tables.resources;
    return resources.parse_told(resources.id(ToldBy::of(element).resource), output).has_value();
}

// ---- Past usage.

void Scheduler::load_usage(std::span<const UsageRow> rows, std::span<const ChargeRow> charges,
                           Instant last_decay) {
    settle();
    impl_->note(&EventsSince::all);
    impl_->tables.usage.load(rows, charges, last_decay);
}

UsageChanges Scheduler::take_usage_changes() {
    settle();
    return impl_->tables.usage.take_changes();
}

void Scheduler::keep_usage_changes(bool keep) {
    settle();
    impl_->tables.usage.keep_changes(keep);
}

std::vector<UsageRow> Scheduler::usage_rows() const {
    settle();
    return impl_->tables.usage.rows();
}

std::string Scheduler::usage_keeper(Instant now) {
    settle();
    return std::string(impl_->usage_keeper(now));
}

bool Scheduler::has_usage_changes() const {
    settle();
    return impl_->tables.usage.has_changes();
}

}  // namespace pbs::sched
