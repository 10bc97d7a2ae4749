// What schedulers keep of fs_groups: trees and usage as the configuration has them, and as jobs run.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "server_plugin/scheduler/scheduler.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {
namespace {

std::string scope_of(std::string_view sched, std::string_view group) {
    return sched == kDefaultSched ? fmt::format("fs_group:{}", group)
                                  : fmt::format("fs_group:{}@{}", group, sched);
}

// Does the policy use the usage and the shares of its fs_group?
bool uses_shares(const Policy& policy) {
    const Settings& s = policy.settings;
    if (s.fairshare_group.empty()) return false;
    return s.fairshare || (policy.formula && policy.formula->reads_shares()) ||
           std::ranges::any_of(s.job_sort_key, [](const SortKey& key) {
               return key.name == "fairshare_perc" || key.name == "fair_share_perc";
           });
}

}  // namespace

SchedShares* Scheduler::Impl::shares_of(Sched& sched, const Policy& policy) {
    if (!uses_shares(policy)) return nullptr;
    const auto found = sched.shares.find(policy.settings.fairshare_group);
    return found == sched.shares.end() ? nullptr : &found->second;
}

// Usage is kept for every fs_group that a policy of a scheduler's uses, whichever of them is in force: who
// computes at night has used the machine by day, too.
void Scheduler::Impl::renew_shares() {
    for (auto& [name, sched] : scheds) {
        std::set<std::string> used;
        const Assigned slots = assigned(name);
        for (const Policy* policy : {slots.all_time, slots.prime, slots.non_prime})
            if (policy != nullptr && uses_shares(*policy)) used.insert(policy->settings.fairshare_group);
        leave_shares(name, sched, used);
        for (const std::string& group : used) {
            const auto rules = configuration.fs_groups.find(group);
            if (rules == configuration.fs_groups.end()) continue;
            auto formula = UsageFormula::compile(rules->second.usage_formula);
            if (!formula) continue;  // it was checked when it was set
            const auto known = sched.shares.find(group);
            if (known == sched.shares.end())
                enroll(sched.shares.emplace(group, SchedShares(rules->second, *std::move(formula)))
                           .first->second,
                       name, sched);
            else if (known->second.set_group(rules->second, *std::move(formula)))
                enroll(known->second, name, sched);
        }
    }
}

// Those that aren't used any more: what has been used by now is to be written.
void Scheduler::Impl::leave_shares(std::string_view name, Sched& sched, const std::set<std::string>& used) {
    for (auto at = sched.shares.begin(); at != sched.shares.end();) {
        if (used.contains(at->first) && configuration.fs_groups.contains(at->first)) {
            ++at;
            continue;
        }
        at->second.tree.close(last_tick.value_or(Instant{}));
        left_shares.push_back({scope_of(name, at->first), at->second.tree.take_changes()});
        at = sched.shares.erase(at);
    }
}

// After jobs have come under another scheduler.
void Scheduler::Impl::enroll_all() {
    for (auto& [name, sched] : scheds)
        for (auto& [group, shares] : sched.shares) {
            shares.tree.forget_running();
            enroll(shares, name, sched);
        }
}

// Tells a tree of all jobs that there are.
void Scheduler::Impl::enroll(SchedShares& shares, std::string_view name, const Sched& sched) {
    for (QueueSlot q = 0; q < tables.queues.size(); ++q) {
        if (!serves(name, sched, tables.queues[q].partition)) continue;
        for (const JobSlot job : tables.queues[q].queued) shares.entity(tables, job);
        for (const JobSlot job : tables.queues[q].running)
            shares.job_runs(tables, job, last_tick.value_or(tables.jobs.stime[job]));
    }
}

template <class Act>
void Scheduler::Impl::each_shares_of(JobSlot slot, const Act& act) {
    const std::uint32_t partition = tables.queues[tables.jobs.queue[slot]].partition;
    for (auto& [name, sched] : scheds)
        if (!sched.shares.empty() && serves(name, sched, partition))
            for (auto& [group, shares] : sched.shares) act(shares);
}

// A job is told of, or told of anew.
void Scheduler::Impl::share_job(JobSlot slot, Instant now) {
    const bool runs = is_running(tables.jobs.state[slot]);
    each_shares_of(slot, [&](SchedShares& shares) {
        if (runs)
            shares.job_runs(tables, slot, now);
        else
            shares.entity(tables, slot);
    });
}

void Scheduler::Impl::unshare_job(JobSlot slot, Instant now) {
    for (auto& [name, sched] : scheds)
        for (auto& [group, shares] : sched.shares) shares.job_ended(tables, slot, now);
}

std::vector<std::string> Scheduler::shares_to_load() {
    settle();
    std::vector<std::string> scopes;
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares)
            if (!std::exchange(shares.loaded, true)) scopes.push_back(scope_of(name, group));
    return scopes;
}

void Scheduler::load_shares_again() {
    settle();
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares) shares.loaded = false;
}

void Scheduler::load_shares(std::string_view scope, std::span<const UsageRow> rows,
                            std::span<const ChargeRow> charges, Instant last_decay) {
    settle();
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares) {
            if (scope_of(name, group) != scope) continue;
            shares.tree.forget_running();
            shares.tree.load(rows, charges, last_decay);
            impl_->enroll(shares, name, sched);
        }
}

std::vector<ShareChanges> Scheduler::take_share_changes() {
    settle();
    std::vector<ShareChanges> changes = std::exchange(impl_->left_shares, {});
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares)
            if (shares.tree.has_changes())
                changes.push_back({scope_of(name, group), shares.tree.take_changes()});
    return changes;
}

bool Scheduler::has_share_changes() const {
    settle();
    if (!impl_->left_shares.empty()) return true;
    for (const auto& [name, sched] : impl_->scheds)
        for (const auto& [group, shares] : sched.shares)
            if (shares.tree.has_changes()) return true;
    return false;
}

}  // namespace pbs::sched
