// Functions of Scheduler that take facts which the host or programs report: dedicated times, allocations,
// amounts, past usage.

#include <algorithm>

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {

std::vector<Question> Scheduler::questions(Instant now, std::string_view sched, std::string_view rule) {
    settle();
    std::vector<Question> questions;
    const Policy* policy = impl_->active_policy(sched, now);
    if (policy == nullptr) return questions;
    for (const QuestionRule* asks : policy->settings.profile->questions)
        if (asks->name == rule) asks->ask(impl_->tables, policy->settings, now, questions);
    return questions;
}

// ---- Dedicated times.

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

// ---- Allocations.

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

// ---- Answers of one line.

bool Scheduler::set_told(std::string_view element, std::string_view output) {
    settle();
    if (!impl_->tables.told.set(element, std::string(output.substr(0, output.find('\n'))))) return false;
    impl_->note(&EventsSince::amount_told);
    return true;
}

bool Scheduler::is_amount(std::string_view element, std::string_view output) const {
    settle();
    const Resources& resources = impl_->tables.resources;
    return resources.parse_told(resources.id(DynamicResource::of(element).resource), output).has_value();
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
