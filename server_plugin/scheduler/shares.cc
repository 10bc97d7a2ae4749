// Functions of Scheduler about fair shares: they make trees of the fs_groups in the configuration, and count
// the usage of jobs.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "server_plugin/scheduler/scheduler.h"
#include "server_plugin/scheduler/scheduler_impl.h"
#include "server_plugin/scheduler/tickets/policies.h"
#include "values/find.h"

namespace pbs::sched {

namespace {

// Returns whether the policy uses the usage and the shares of its fs_group.
bool uses_shares(const Policy& policy) {
    const Settings& s = policy.settings;
    if (s.fairshare_group.empty()) return false;
    return s.fairshare || (policy.formula && policy.formula->reads_shares()) ||
           (reads_tickets(policy) && s.tickets_share > 0) ||
           std::ranges::any_of(s.job_sort_key, [](const SortKey& key) {
               return key.name == "fairshare_perc" || key.name == "fair_share_perc";
           });
}

}  // namespace

std::string Scheduler::share_scope(std::string_view sched, std::string_view group) {
    return sched == kDefaultSched ? fmt::format("fs_group:{}", group)
                                  : fmt::format("fs_group:{}@{}", group, sched);
}

SchedShares* Scheduler::Impl::shares_of(Sched& sched, const Policy& policy) {
    if (!uses_shares(policy)) return nullptr;
    return values::find_in(sched.shares, policy.settings.fairshare_group);
}

// Makes and drops trees of fair shares, so that each scheduler has one for each fs_group that a policy in its
// slots names (fairshare_group). A tree exists even if no policy orders jobs by it yet, so that its usage can
// be set in advance. Jobs add usage to a tree if any policy of the scheduler orders jobs by it, even if
// another policy is in force: thus a policy for the night counts the usage by day, too.
void Scheduler::Impl::renew_shares() {
    for (auto& [name, sched] : scheds) {
        std::map<std::string, bool> named;  // the trees' names; true: a policy uses the tree
        const Assigned slots = assigned(name);
        for (const Policy* policy : {slots.all_time, slots.prime, slots.non_prime})
            if (policy != nullptr && !policy->settings.fairshare_group.empty())
                named[policy->settings.fairshare_group] |= uses_shares(*policy);
        leave_shares(name, sched, named);
        for (const auto& [group, used] : named) {
            const auto rules = configuration.fs_groups.find(group);
            if (rules == configuration.fs_groups.end()) continue;
            auto formula = UsageFormula::compile(rules->second.usage_formula);
            if (!formula) continue;  // checked when it was set
            const auto [known, is_new] = sched.shares.try_emplace(group, rules->second, *formula);
            SchedShares& shares = known->second;
            const bool changed = is_new || shares.set_group(rules->second, *std::move(formula));
            const bool counted = std::exchange(shares.counts, used);
            if (counted && !used && !is_new) {
                shares.tree.close(last_tick.value_or(Instant{}));
                shares.tree.forget_running();
            } else if (changed || (used && !counted)) {
                enroll(shares, name, sched);
            }
        }
    }
}

// Drops the trees that no policy names any more. Their usage until now still has to be written.
void Scheduler::Impl::leave_shares(std::string_view name, Sched& sched,
                                   const std::map<std::string, bool>& named) {
    for (auto at = sched.shares.begin(); at != sched.shares.end();) {
        if (named.contains(at->first) && configuration.fs_groups.contains(at->first)) {
            ++at;
            continue;
        }
        at->second.tree.close(last_tick.value_or(Instant{}));
        left_shares.push_back({share_scope(name, at->first), at->second.tree.take_changes()});
        at = sched.shares.erase(at);
    }
}

// Reports all jobs to all trees, after jobs have moved to another scheduler.
void Scheduler::Impl::enroll_all() {
    for (auto& [name, sched] : scheds)
        for (auto& [group, shares] : sched.shares) {
            shares.tree.forget_running();
            enroll(shares, name, sched);
        }
}

template <class Act>
void Scheduler::Impl::each_job_of(std::string_view name, const Sched& sched, const Act& act) const {
    for (QueueSlot q = 0; q < tables.queues.size(); ++q) {
        if (!serves(name, sched, tables.queues[q].partition)) continue;
        for (const JobSlot job : tables.queues[q].queued) act(job, false);
        for (const JobSlot job : tables.queues[q].running) act(job, true);
    }
}

// Reports all jobs to a tree that jobs add to.
void Scheduler::Impl::enroll(SchedShares& shares, std::string_view name, const Sched& sched) {
    if (!shares.counts) return;
    each_job_of(name, sched, [&](JobSlot job, bool runs) {
        if (runs)
            shares.job_runs(tables, job, last_tick.value_or(tables.jobs.stime[job]));
        else
            shares.entity(tables, job);
    });
}

template <class Act>
void Scheduler::Impl::each_shares_of(JobSlot slot, const Act& act) {
    const std::uint32_t partition = tables.queues[tables.jobs.queue[slot]].partition;
    for (auto& [name, sched] : scheds)
        if (!sched.shares.empty() && serves(name, sched, partition))
            for (auto& [group, shares] : sched.shares)
                if (shares.counts) act(shares);
}

// Reports a job to the trees.
void Scheduler::Impl::share_job(JobSlot slot, Instant now) {
    const bool runs = is_running(tables.jobs.state[slot]);
    each_shares_of(slot, [&](SchedShares& shares) {
        if (runs)
            shares.job_runs(tables, slot, now);
        else
            shares.entity(tables, slot);
    });
}

// Reports to the trees that a job has ended, or was suspended.
void Scheduler::Impl::unshare_job(JobSlot slot, Instant now, bool goes_on) {
    for (auto& [name, sched] : scheds)
        for (auto& [group, shares] : sched.shares)
            goes_on ? shares.job_paused(tables, slot, now) : shares.job_ended(tables, slot, now);
}

// ---- The trees for display, and managers' changes to them.

namespace {

using Node = FairShares::Node;

// The ratios of a node. The node with lesser ratios goes first.
std::vector<double> ratios_of(const FairShares& tree, Node node, Instant now) {
    std::vector<double> ratios(tree.depth());
    tree.ratios(node, now, ratios);
    return ratios;
}

// The elements in reading order: each group, then its members, as in the fs_group. `unknown` comes last, with
// its members sorted by name.
std::vector<Node> in_reading_order(const FairShares& tree, Instant now) {
    std::vector<std::vector<Node>> inside(tree.size());
    for (Node node = 1; node < tree.size(); ++node)
        if (node != FairShares::kUnknown) inside[tree.view(node, now).parent].push_back(node);
    inside[FairShares::kRoot].push_back(FairShares::kUnknown);
    std::ranges::stable_sort(inside[FairShares::kUnknown], {},
                             [&](Node node) { return tree.view(node, now).name; });
    std::vector<Node> order;
    std::vector<Node> left = {FairShares::kRoot};
    while (!left.empty()) {
        const Node node = left.back();
        left.pop_back();
        order.push_back(node);
        left.insert(left.end(), inside[node].rbegin(), inside[node].rend());
    }
    return order;
}

// Returns, by element, the rank of each displayed entity; 0: the element is a group, or isn't displayed.
// Equal entities have the same rank.
std::vector<std::size_t> places_of(const FairShares& tree, const std::vector<bool>& shown, Instant now) {
    std::vector<std::pair<std::vector<double>, Node>> entities;
    for (Node node = 1; node < tree.size(); ++node)
        if (shown[node] && !tree.view(node, now).is_group)
            entities.emplace_back(ratios_of(tree, node, now), node);
    std::ranges::sort(entities);
    std::vector<std::size_t> places(tree.size());
    for (std::size_t i = 0; i < entities.size(); ++i)
        places[entities[i].second] =
            i > 0 && entities[i].first == entities[i - 1].first ? places[entities[i - 1].second] : i + 1;
    return places;
}

ShareRow row_of(const FairShares& tree, Node node, Instant now) {
    const FairShares::View view = tree.view(node, now);
    ShareRow row;
    row.name = view.name;
    if (node != FairShares::kRoot) row.parent = tree.view(view.parent, now).name;
    row.is_group = view.is_group;
    row.shares = view.shares;
    row.usage = view.usage;
    row.decayed = tree.after_decay(node, now);
    row.long_usage = view.long_usage;
    row.target = tree.share(node);
    row.actual = view.usage / tree.usage(FairShares::kRoot, now);
    row.tree_usage = tree.tree_usage(node, now);
    row.factor = tree.factor(node, now);
    return row;
}

}  // namespace

// Makes the view of a tree. Entities that are outside of all groups and have no usage are shown only to their
// own users.
SharesView Scheduler::Impl::view_of(SchedShares& shares, std::string_view name, const Sched& sched,
                                    const SharesAsked& asked) {
    const Instant now = asked.now;
    shares.bring_up_to_date(tables, now);
    FairShares& tree = shares.tree;
    std::vector<TicketJob> jobs;
    std::vector<Node> own;  // entities of the user's jobs
    each_job_of(name, sched, [&](JobSlot job, bool runs) {
        // May add an entity to the tree.
        const Node node = shares.entity(tables, job);
        if (tables.jobs.state[job] != 'S') jobs.push_back({.runs = runs, .leaf = node});
        if (asked.user && tables.strings.text(tables.jobs.owner[job]) == *asked.user) own.push_back(node);
    });
    std::vector<bool> all(tree.size());
    for (Node node = 0; node < tree.size(); ++node)
        all[node] = tree.is_in_tree(node) || tree.usage(node, now) > FairShares::kLeastUsage;
    std::vector<bool> shown(asked.user ? std::vector<bool>(tree.size()) : all);
    if (asked.user) {
        const auto show = [&](Node node) {
            all[node] = true;
            for (; !shown[node]; node = tree.view(node, now).parent) shown[node] = true;
        };
        if (tree.group().entity == ShareEntity::euser) {
            if (const auto found = tree.find(*asked.user); found && !tree.view(*found, now).is_group)
                show(*found);
        } else {
            std::ranges::for_each(own, show);
        }
        shown[FairShares::kRoot] = true;
    }
    const std::vector<ShareTarget> targets = share_targets(jobs, tree, now, true);
    // A rank is that among all entities, also for a user who sees only some of them.
    const std::vector<std::size_t> places = places_of(tree, all, now);
    SharesView view{
        std::string(name), tree.group(), shares.counts, now, tree.last_decay(), tree.next_decay(now), {}};
    for (const Node node : in_reading_order(tree, now)) {
        if (!shown[node]) continue;
        view.rows.push_back(row_of(tree, node, now));
        ShareRow& row = view.rows.back();
        row.place = places[node];
        row.level = targets[node].level;
        row.short_target = targets[node].part;
        row.overall_short_target = targets[node].overall;
        row.jobs = targets[node].jobs;
        row.running = targets[node].running;
    }
    return view;
}

EntityShares Scheduler::Impl::shares_of_job(SchedShares& shares, std::string_view name, const Sched& sched,
                                            JobSlot job, Instant now) {
    shares.bring_up_to_date(tables, now);
    const Node own = shares.entity(tables, job);
    std::vector<bool> has_jobs(shares.tree.size());
    each_job_of(name, sched, [&](JobSlot other, bool runs) {
        if (!runs) has_jobs[shares.entity(tables, other)] = true;
    });
    has_jobs[own] = true;
    const FairShares& tree = shares.tree;
    return {tree.group().name,
            std::string(tree.view(own, now).name),
            tree.usage(own, now),
            tree.share(own),
            tree.usage(own, now) / tree.usage(FairShares::kRoot, now),
            places_of(tree, has_jobs, now)[own],
            static_cast<std::size_t>(std::ranges::count(has_jobs, true))};
}

std::vector<SharesView> Inspector::shares(const SharesAsked& asked) {
    std::vector<SharesView> views;
    const auto sched = impl_->scheds.find(asked.sched);
    if (sched == impl_->scheds.end()) return views;
    for (auto& [group, shares] : sched->second.shares)
        if (asked.group.empty() || asked.group == group)
            views.push_back(impl_->view_of(shares, sched->first, sched->second, asked));
    return views;
}

std::optional<std::string> Inspector::share_entity(std::string_view sched, std::string_view group,
                                                   JobHandle job) {
    Tables& t = impl_->tables;
    const JobSlot slot = t.jobs.find(job);
    const auto keeper = impl_->scheds.find(sched);
    if (slot == kNoSlot || keeper == impl_->scheds.end() ||
        !impl_->serves(sched, keeper->second, t.queues[t.jobs.queue[slot]].partition))
        return std::nullopt;
    const auto shares = keeper->second.shares.find(group);
    if (shares == keeper->second.shares.end()) return std::nullopt;
    return std::string(t.strings.text(shares->second.entity_name(t, slot)));
}

std::vector<std::string> Scheduler::share_groups(std::string_view sched) const {
    settle();
    std::vector<std::string> groups;
    if (const auto found = impl_->scheds.find(sched); found != impl_->scheds.end())
        for (const auto& [group, shares] : found->second.shares) groups.push_back(group);
    return groups;
}

Result<void> Scheduler::change_shares(Instant now, std::string_view sched, std::string_view group,
                                      const SharesChange& change) {
    settle();
    const auto keeper = impl_->scheds.find(sched);
    if (keeper == impl_->scheds.end() || !keeper->second.shares.contains(group))
        return tl::unexpected(Error{fmt::format("sched {} keeps no usage of fs_group {}", sched, group)});
    SchedShares& shares = keeper->second.shares.find(group)->second;
    std::vector<std::pair<Node, double>> usage;
    for (const auto& [name, amount] : change.usage) {
        const auto node = shares.tree.find(name);
        if (!node) return tl::unexpected(Error{fmt::format("fs_group {} has no entity {}", group, name)});
        if (shares.tree.view(*node, now).is_group)
            return tl::unexpected(Error{fmt::format(
                "{} is a group of fs_group {}: expected an entity, from whose usage that of groups follows",
                name, group)});
        usage.emplace_back(*node, amount);
    }
    shares.bring_up_to_date(impl_->tables, now);
    for (const auto& [node, amount] : usage) shares.tree.set_usage(node, amount, now);
    if (change.decay) shares.tree.decay_now(now);
    if (change.trim) shares.tree.trim(now);
    return {};
}

void Scheduler::Impl::each_scope(
    const std::function<void(const std::string& scope, const SchedShares& shares)>& act) const {
    for (const auto& [name, sched] : scheds)
        for (const auto& [group, shares] : sched.shares) act(share_scope(name, group), shares);
}

std::vector<std::string> Scheduler::shares_to_load() {
    settle();
    std::vector<std::string> scopes;
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares)
            if (!std::exchange(shares.loaded, true)) scopes.push_back(share_scope(name, group));
    return scopes;
}

void Scheduler::load_shares_again() {
    settle();
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares) shares.loaded = false;
}

void Scheduler::load_shares(std::string_view scope, std::span<const UsageRow> rows,
                            std::span<const ChargeRow> charges, Instant last_decay,
                            std::span<const UsageRow> long_usage) {
    settle();
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares) {
            if (share_scope(name, group) != scope) continue;
            shares.tree.forget_running();
            shares.tree.load(rows, charges, last_decay);
            shares.tree.load_long_usage(long_usage);
            impl_->enroll(shares, name, sched);
        }
}

std::vector<ShareChanges> Scheduler::take_share_changes() {
    settle();
    std::vector<ShareChanges> changes = std::exchange(impl_->left_shares, {});
    for (auto& [name, sched] : impl_->scheds)
        for (auto& [group, shares] : sched.shares)
            if (shares.tree.has_changes())
                changes.push_back({share_scope(name, group), shares.tree.take_changes()});
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
