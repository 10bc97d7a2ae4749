#include "server_plugin/scheduler/explain/explain.h"

#include <algorithm>

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

void add_limits(CycleContext& c, Future& future, const Candidate& job, const QueueView& view,
                std::vector<Leaves>& all) {
    std::vector<std::pair<LimitNeed, const char*>> needs;
    std::vector<LimitNeed> of_filter;
    for (const Filter* filter : c.filters) {
        const Limit* limit = filter->limit();
        if (limit == nullptr) continue;
        of_filter.clear();
        limit->add_needs(c.state, job, job.user, view, of_filter);
        for (const LimitNeed& need : of_filter)
            if (need.key.what != kJobs && need.key.what != kNodes && need.amount != 0)
                needs.emplace_back(need, filter->name);
    }
    // clang 14 doesn't compile std::ranges::stable_partition.
    std::stable_partition(needs.begin(), needs.end(),
                          [](const auto& need) { return need.first.key.use.scope == UseScope::server; });
    for (const auto& [need, name] : needs)
        all.push_back({name, need.key.what, need.amount, future.schedule().demand(need).used->at(c.in.now),
                       need.capacity});
}

void add_own_limits(CycleContext& c, const Candidate& job, const QueueView& view, std::vector<Leaves>& all) {
    for (const OwnLimit* limit : c.state.own_limits) {
        if (limit->leaves == nullptr) continue;
        const auto leaves = limit->leaves(c.state, job, job.user, view);
        all.insert(all.end(), leaves.begin(), leaves.end());
    }
}

void add_vnodes(const CycleContext& c, const Candidate& job, const QueueView& view,
                std::vector<Leaves>& all) {
    const Vnodes& vnodes = *c.state.vnodes;
    for (const KeptAmount& asked : job.request->totals) {
        if (asked.number == 0 || !c.tables.resources.consumable(asked.resource)) continue;
        Leaves on{"vnodes", asked.resource, asked.number, 0, 0, true};
        bool any = false;
        for (const VnodeSlot vnode : vnodes.pool_vnodes(view.pool)) {
            const auto total = number_of(vnodes[vnode].available, asked.resource);
            if (!total) continue;
            any = true;
            on.most += *total;
            // A vnode on which no job may start has nothing free.
            on.used += vnodes.is_open(view.pool, vnode) ? *total - vnodes.free_amount(vnode, asked.resource)
                                                        : *total;
        }
        if (any) all.push_back(on);
    }
}

}  // namespace

std::vector<Layer> layers_of(CycleContext& c, Future& future, const Candidate& job, const QueueView& view) {
    std::vector<Leaves> all;
    add_limits(c, future, job, view, all);
    add_vnodes(c, job, view, all);
    add_own_limits(c, job, view, all);
    // A limit on vnodes comes behind the vnodes: where it leaves no less, these are the narrowest.
    std::ranges::stable_sort(all, {}, [](const Leaves& l) { return std::pair(l.what, l.of_vnodes); });
    const Resources& resources = c.tables.resources;
    std::vector<Layer> out;
    for (auto first = all.begin(); first != all.end();) {
        const auto last =
            std::find_if(first, all.end(), [&](const Leaves& l) { return l.what != first->what; });
        const auto free_of = [](const Leaves& l) { return std::max<std::int64_t>(0, l.most - l.used); };
        const auto narrowest = std::ranges::min_element(first, last, {}, free_of);
        const std::uint32_t resource = real_resource(first->what, resources);
        for (; first != last; ++first)
            out.push_back({std::string(resources.name(resource)), std::move(first->limit),
                           resources.format(resource, first->asked),
                           resources.format(resource, free_of(*first)),
                           resources.format(resource, first->most), free_of(*first) < first->asked,
                           first == narrowest});
    }
    return out;
}

}  // namespace pbs::sched
