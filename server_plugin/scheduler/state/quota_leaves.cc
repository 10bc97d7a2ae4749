// The amounts that quotas leave for a job, and the limits that aren't in force for it, for explanations.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/quota_book.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

std::vector<Leaves> QuotaBook::leaves(const CycleState& state, const Subject& subject, Instant ends,
                                      PoolId pool) {
    std::vector<Leaves> all;
    for (const Route& route : routes(state, subject)) {
        const auto binds = quotas_[route.quota].quota->binds(state.now, ends);
        if (!binds) continue;
        if (route.by_vnode) {
            for (const KeptAmount& asked : subject.request->totals) {
                if (asked.number == 0 || !state.resources->consumable(asked.resource)) continue;
                if (auto left = left_on_vnodes(state, route, asked, *binds, pool))
                    all.push_back(std::move(*left));
            }
            continue;
        }
        const Candidate& candidate = route.rules.front();
        const std::vector<Bound>& bounds = rule_of(candidate.key).bounds;
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            if (!bounds[i].consumable || bounds[i].what == kJobs) continue;
            if (const auto of_job = balance(state, candidate, i, subject, state.now, *binds))
                all.push_back({layer_name(route), bounds[i].what, of_job->asked, of_job->used, of_job->most});
        }
    }
    return all;
}

std::string QuotaBook::layer_name(const Route& route) const {
    return fmt::format("quota {}", quotas_[route.quota].quota->name);
}

// Adds up what the counters of the pool's vnodes leave of a resource. A counter leaves no more than its
// vnodes have. nullopt: the quota limits the resource on none of them.
std::optional<Leaves> QuotaBook::left_on_vnodes(const CycleState& state, const Route& route,
                                                const KeptAmount& asked, Instant binds, PoolId pool) {
    struct There {
        std::int64_t free = 0;
        std::int64_t total = 0;
    };
    const Vnodes& vnodes = *state.vnodes;
    std::map<std::pair<Key, std::size_t>, There> counted;  // by counter and bound
    There all;
    for (const VnodeSlot vnode : vnodes.pool_vnodes(pool)) {
        const auto total = number_of(vnodes[vnode].available, asked.resource);
        if (!total) continue;
        // A vnode on which no job may start has nothing free.
        const std::int64_t free = vnodes.is_open(pool, vnode) ? vnodes.free_amount(vnode, asked.resource) : 0;
        There* there = &all;
        if (const auto candidate = at_vnode(state, route, vnode)) {
            const std::vector<Bound>& bounds = rule_of(candidate->key).bounds;
            const auto bound = std::ranges::find(bounds, asked.resource, &Bound::what);
            const auto number = static_cast<std::size_t>(bound - bounds.begin());
            if (bound != bounds.end() && limit_of(state, candidate->key, number))
                there = &counted[{candidate->key, number}];
        }
        there->free += free;
        there->total += *total;
    }
    if (counted.empty()) return std::nullopt;
    for (const auto& [of, there] : counted) {
        const std::int64_t limit = limit_of(state, of.first, of.second).value_or(0);
        const std::int64_t used = used_at(find(of.first), of.second, state.now, binds);
        all.free += std::min(there.free, std::max<std::int64_t>(0, limit - used));
        all.total += std::min(there.total, limit);
    }
    return Leaves{layer_name(route), asked.resource, asked.number, all.total - all.free, all.total, true};
}

std::vector<std::string> QuotaBook::unknown_limits(const CycleState& state, const Subject& subject,
                                                   Instant ends, PoolId pool) {
    constexpr std::size_t kMostNamed = 3;
    std::vector<std::string> lines;
    for (const Route& route : routes(state, subject)) {
        const Quota& quota = *quotas_[route.quota].quota;
        if (!route.by_vnode || !quota.binds(state.now, ends)) continue;
        std::map<std::pair<std::uint32_t, std::size_t>, std::vector<Key>> unknown;  // by rule and bound
        for (const VnodeSlot vnode : state.vnodes->pool_vnodes(pool)) {
            const auto candidate = at_vnode(state, route, vnode);
            if (!candidate) continue;
            const std::vector<Bound>& bounds = rule_of(candidate->key).bounds;
            for (std::size_t i = 0; i < bounds.size(); ++i) {
                if (!bounds[i].formula || limit_of(state, candidate->key, i)) continue;
                std::vector<Key>& keys = unknown[{candidate->rule, i}];
                if (std::ranges::find(keys, candidate->key) == keys.end()) keys.push_back(candidate->key);
            }
        }
        for (const auto& [of, keys] : unknown) {
            const objects::QuotaRule& rule = *quotas_[route.quota].rules[of.first].rule;
            const Bound& bound = rule_of(keys.front()).bounds[of.second];
            const std::uint32_t id = resource_of(state, bound);
            const std::string name = id == kNoResource ? "jobs" : std::string(state.resources->name(id));
            const auto limit = std::ranges::find(rule.limits, name, &objects::QuotaLimit::resource);
            std::vector<std::string> shown;
            for (const Key& key : keys) {
                if (shown.size() == kMostNamed) break;
                std::string values;
                for (const auto& [filter, value] : values_of(state, key))
                    values += fmt::format("{}{}={}", values.empty() ? "" : " ", filter, value);
                if (!values.empty()) shown.push_back(std::move(values));
            }
            lines.push_back(fmt::format(
                "quota {} ({}): {} isn't limited: {} isn't known{}{}{}", quota.name, rule.name, name,
                limit == rule.limits.end() ? "the limit" : limit->most, shown.empty() ? "" : " for ",
                fmt::join(shown, ", "),
                keys.size() > kMostNamed ? fmt::format(" and {} more", keys.size() - kMostNamed) : ""));
        }
    }
    return lines;
}

}  // namespace pbs::sched
