#include "server_plugin/scheduler/placement/placement_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "server_plugin/scheduler/model/words.h"

namespace pbs::sched {
namespace {

constexpr const char* kNoValue = "\"\"";

// The vnode's values of a resource, as texts.
std::vector<std::string> values_of(const Inventory& inventory, const Vnode& vnode, std::uint32_t resource,
                                   const Resources& names) {
    const auto& known = inventory.columns().known();
    if (resource == known.vnode) return {vnode.name};
    if (resource == known.host) return {std::string(inventory.host_name(vnode))};
    for (const KeptAmount& has : vnode.available) {
        if (has.resource != resource) continue;
        if (!names.is_text(resource)) return {names.format(resource, has.number)};
        std::vector<std::string> values;
        for_each_word(has.text, [&](std::string_view value) { values.emplace_back(value); });
        return values;
    }
    return {kNoValue};
}

}  // namespace

bool PlacementSet::may_hold(const Inventory& inventory, const Request& request, const NodeSize& node_size,
                            const Row& amounts) const {
    const Columns& columns = inventory.columns();
    std::int64_t chunks = 0;
    for (const Chunk& chunk : request.chunks) chunks += chunk.count;
    const bool apart =
        request.arrangement == Arrangement::scatter || request.arrangement == Arrangement::vscatter;
    if (apart && chunks > static_cast<std::int64_t>(vnodes.size())) return false;
    for (const auto& [column, amount] : columns.totals(request, node_size))
        if (amount > amounts[column]) return false;
    return std::ranges::all_of(request.chunks, [&](const Chunk& chunk) {
        return std::ranges::all_of(chunk.matches, [&](const KeptAmount& wanted) {
            Chunk one;
            one.matches = {wanted};
            return std::ranges::any_of(
                vnodes, [&](VnodeSlot vnode) { return inventory.matches(inventory[vnode], one); });
        });
    });
}

bool PlacementSet::may_hold_if_empty(const Inventory& inventory, const Request& request,
                                     const PlaceRules& rules) const {
    return may_hold(inventory, request, rules.node_size, total) &&
           (!rules.spreads || request.per_host == 0 || inventory.has_hosts_for(this->vnodes, request));
}

const std::vector<const PlacementSet*>& PlacementSets::of(const Inventory& inventory, PoolId pool,
                                                          std::span<const VnodeSlot> vnodes,
                                                          std::span<const std::uint32_t> resources,
                                                          const SetRules& rules) {
    if (std::exchange(version_, inventory.version()) != inventory.version()) divisions_.clear();
    Division& division = divisions_[{pool, std::vector<std::uint32_t>(resources.begin(), resources.end())}];
    if (division.sets.empty()) {
        Division made;  // keep it once it is whole: memory may be short in between
        divide(inventory, vnodes, resources, rules.resources, made);
        division = std::move(made);
    }
    if (rules.ahead || division.changes != inventory.changes() + 1 || division.by_memory != rules.by_memory)
        sum_up(inventory, rules.by_memory, division);
    division.by_memory = rules.by_memory;
    division.changes = rules.ahead ? 0 : inventory.changes() + 1;
    return division.in_order;
}

void PlacementSets::divide(const Inventory& inventory, std::span<const VnodeSlot> vnodes,
                           std::span<const std::uint32_t> resources, const Resources& names,
                           Division& division) {
    std::map<std::string, std::size_t> by_name;
    for (const std::uint32_t resource : resources) {
        for (const VnodeSlot vnode : vnodes) {
            for (const std::string& value : values_of(inventory, inventory[vnode], resource, names)) {
                std::string name = fmt::format("{}={}", names.name(resource), value);
                const auto [place, is_new] = by_name.try_emplace(name, division.sets.size());
                if (is_new) {
                    division.sets.push_back({std::move(name), value == kNoValue, {}, {}, {}, {}});
                    division.sets.back().has.resize(inventory.size());
                }
                PlacementSet& set = division.sets[place->second];
                if (set.has[vnode]) continue;
                set.has[vnode] = true;
                set.vnodes.push_back(vnode);
            }
        }
    }
    for (const PlacementSet& set : division.sets) division.in_order.push_back(&set);
}

void PlacementSets::sum_up(const Inventory& inventory, bool by_memory, Division& division) {
    const Columns& columns = inventory.columns();
    for (PlacementSet& set : division.sets) {
        set.total.assign(columns.size(), 0);
        set.free.assign(columns.size(), 0);
        for (const VnodeSlot vnode : set.vnodes) {
            const bool takes_jobs = inventory[vnode].free && !inventory.is_exclusive(vnode);
            for (std::uint32_t c = kFirstResourceColumn; c < columns.size(); ++c) {
                const std::int64_t free = std::max<std::int64_t>(0, inventory.free(vnode)[c]);
                set.total[c] += takes_jobs ? inventory.total(vnode)[c] : inventory.total(vnode)[c] - free;
                set.free[c] += takes_jobs ? free : 0;
            }
        }
    }
    const std::uint32_t ncpus = columns.of(columns.known().ncpus);
    const std::uint32_t mem = by_memory ? columns.of(columns.known().mem) : 0;
    const auto amount = [](const Row& row, std::uint32_t column) { return column != 0 ? row[column] : 0; };
    division.in_order.clear();
    for (const PlacementSet& set : division.sets) division.in_order.push_back(&set);
    std::ranges::stable_sort(division.in_order, {}, [&](const PlacementSet* set) {
        return std::tuple(amount(set->total, ncpus), amount(set->total, mem), amount(set->free, ncpus),
                          amount(set->free, mem));
    });
}

}  // namespace pbs::sched
