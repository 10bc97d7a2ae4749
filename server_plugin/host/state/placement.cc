#include "server_plugin/host/state/placement.h"

#include <fmt/format.h>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

// Returns whether the vnode has the wanted amounts free. If it hasn't, sets `lacking`. A resource that the
// vnode doesn't define isn't limited there.
bool has_room(const Node& node, const State& state, const Amounts& wanted, std::string& lacking) {
    const Amounts& assigned = state.node_usage(node.handle).assigned;
    for (const auto& [id, amount] : wanted) {
        const Resource* resource = state.resources.by_id(id);
        if (resource == nullptr || !resource->consumable()) continue;
        const AttributeValue* available = node.attributes.find("resources_available", resource->name);
        if (available == nullptr) continue;
        const auto used = assigned.find(id);
        const int64_t total = amount_sum(amount, used == assigned.end() ? 0 : used->second);
        if (total > amount_of(resource->type, available->value())) {
            lacking = resource->name;
            return false;
        }
    }
    return true;
}

}  // namespace

Result<void> check_places(const std::vector<Place>& places, const State& state, const Taken& taken) {
    if (places.empty()) return fail(PBSE_RESCUNAV, "no vnode given to run on");
    Taken wanted;
    for (const Place& place : places)
        if (const auto before = taken.find(place.node); before != taken.end())
            wanted[place.node] = before->second;
    for (const Place& place : places)
        for (const auto& [id, amount] : place.amounts) {
            if (amount < 0)
                return fail(PBSE_RESCUNAV, fmt::format("an amount below 0 on vnode {}", place.node_name));
            wanted[place.node][id] = amount_sum(wanted[place.node][id], amount);
        }
    for (const Place& place : places) {
        const Node* node = state.node(place.node);
        if (node == nullptr) return fail(PBSE_UNKNODE, fmt::format("Unknown node {}", place.node_name));
        if (node->state != node_free)
            return fail(PBSE_RESCUNAV,
                        fmt::format("Resource temporarily unavailable: vnode {} is not free", node->name));
        std::string lacking;
        if (!has_room(*node, state, wanted[place.node], lacking))
            return fail(PBSE_RESCUNAV,
                        fmt::format("Resource temporarily unavailable: {} on vnode {}", lacking, node->name));
    }
    return {};
}

}  // namespace pbs::host
