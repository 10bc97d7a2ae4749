#include "server_plugin/scheduler/model/entity_limits.h"

#include <algorithm>

namespace pbs::sched {

EntityLimits::EntityLimits(std::span<const EntityLimitRecord> records, Interner& strings,
                           const Resources& resources) {
    for (const EntityLimitRecord& record : records) {
        std::uint32_t resource = record.resource;
        if (resource != kJobs && resource == resources.known().walltime) resource = kWalltimeAmount;
        auto& list = limits_[static_cast<std::size_t>(record.entity) * 2 + (record.soft ? 1 : 0)];
        auto limit = std::ranges::find(list, resource, &Limit::resource);
        if (limit == list.end()) limit = list.insert(list.end(), {resource, -1, {}});
        if (record.name.empty())
            limit->usual = record.most;
        else
            limit->own.emplace_back(strings.id(record.name), record.most);
    }
    for (auto& list : limits_)
        for (Limit& limit : list) std::ranges::sort(limit.own);
}

const EntityLimits::Limit* EntityLimits::on_jobs(EntityKind kind) const {
    for (const Limit& limit : of(kind))
        if (limit.resource == kJobs) return &limit;
    return nullptr;
}

bool EntityLimits::on_resources(EntityKind kind) const {
    return std::ranges::any_of(of(kind), [](const Limit& limit) { return limit.resource != kJobs; });
}

bool EntityLimits::on_resources() const {
    return std::ranges::any_of(kEntityKinds, [&](EntityKind kind) { return on_resources(kind); });
}

bool EntityLimits::empty() const {
    return std::ranges::all_of(limits_, [](const auto& list) { return list.empty(); });
}

bool EntityLimits::any_soft() const {
    return std::ranges::any_of(kEntityKinds, [&](EntityKind kind) { return !of(kind, true).empty(); });
}

std::vector<EntityLimitRecord> EntityLimits::records(const Interner& strings,
                                                     const Resources& resources) const {
    std::vector<EntityLimitRecord> all;
    for (const EntityKind kind : kEntityKinds)
        for (const bool soft : {false, true})
            for (const Limit& limit : of(kind, soft)) {
                const std::uint32_t resource = real_resource(limit.resource, resources);
                if (limit.usual >= 0) all.push_back({kind, {}, resource, limit.usual, soft});
                for (const auto& [name, most] : limit.own)
                    all.push_back({kind, strings.text(name), resource, most, soft});
            }
    return all;
}

}  // namespace pbs::sched
