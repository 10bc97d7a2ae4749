#include "server_plugin/host/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ifl/pbs_error.h"
#include "server_plugin/host/select_spec.h"

namespace pbs::host {
namespace {

// An amount that the vnode doesn't define isn't limited there.
bool has_room(const Node& node, const State& state, const Amounts& wanted, std::string* lacking) {
    const Amounts& assigned = state.node_usage(node.handle).assigned;
    for (const auto& [id, amount] : wanted) {
        const Resource* resource = state.resources.by_id(id);
        if (resource == nullptr || !resource->consumable()) continue;
        const AttributeValue* available = node.attributes.find("resources_available", resource->name);
        if (available == nullptr) continue;
        const auto used = assigned.find(id);
        const int64_t total = amount_sum(amount, used == assigned.end() ? 0 : used->second);
        if (amount < 0 || total > amount_of(resource->type, available->value)) {
            if (lacking != nullptr) *lacking = resource->name;
            return false;
        }
    }
    return true;
}

bool matches(const Node& node, const Chunk& chunk, const State& state) {
    for (const auto& [name, value] : chunk.resources) {
        const Resource* resource = state.resources.find(name);
        if (resource == nullptr || resource->consumable()) continue;
        if (name == "vnode") {
            if (value != node.name) return false;
            continue;
        }
        if (name == "host") {
            const std::string_view host = node.attributes.text("Mom");
            if (!same_name(value, host) && !same_name(value, host.substr(0, host.find('.'))) &&
                value != node.name)
                return false;
            continue;
        }
        const AttributeValue* have = node.attributes.find("resources_available", name);
        if (resource->type == Type::boolean) {
            if ((value == "True") != (have != nullptr && have->value == "True")) return false;
        } else if (have != nullptr && resource->type == Type::list) {
            const auto entries = split_list(have->value);
            if (std::find(entries.begin(), entries.end(), value) == entries.end()) return false;
        } else if (resource->type == Type::text && (have == nullptr || have->value != value)) {
            return false;
        }
    }
    return true;
}

bool serves(const Node& node, const Job& job) {
    const std::string_view queue = node.attributes.text("queue");
    return node.state == node_free && (queue.empty() || queue == job.queue_name);
}

Amounts amounts_of(const Chunk& chunk, const State& state) {
    Amounts amounts;
    for (const auto& [name, value] : chunk.resources) {
        const Resource* resource = state.resources.find(name);
        if (resource != nullptr && resource->consumable())
            amounts[resource->id] = amount_sum(amounts[resource->id], amount_of(resource->type, value));
    }
    return amounts;
}

}  // namespace

Result<std::vector<Place>> place_job(const Job& job, const State& state,
                                     const std::vector<const Node*>& only) {
    std::vector<const Node*> nodes = only;
    if (nodes.empty())
        for (const auto& [name, node] : state.nodes()) nodes.push_back(&node);
    const bool scatter = job.attributes.text("Resource_List", "place").starts_with("scatter");
    std::vector<Place> places;
    Taken wanted;
    for (const Chunk& chunk : chunks_of(job, state)) {
        const Amounts amounts = amounts_of(chunk, state);
        for (int64_t i = 0; i < chunk.count; ++i) {
            const Node* chosen = nullptr;
            for (const Node* node : nodes) {
                if (!serves(*node, job) || !matches(*node, chunk, state)) continue;
                if (scatter && wanted.contains(node->handle)) continue;
                Amounts total = wanted[node->handle];
                for (const auto& [id, amount] : amounts) total[id] = amount_sum(total[id], amount);
                const bool fits = has_room(*node, state, total, nullptr);
                if (fits) wanted[node->handle] = std::move(total);
                if (!fits && wanted[node->handle].empty()) wanted.erase(node->handle);
                if (fits) {
                    chosen = node;
                    break;
                }
            }
            if (chosen == nullptr)
                return fail(PBSE_RESCUNAV,
                            fmt::format("Resource temporarily unavailable: no vnode has room for chunk {}",
                                        select_text({chunk})));
            places.push_back(Place{chosen->handle, chosen->name, amounts});
        }
    }
    return places;
}

Result<void> check_places(const std::vector<Place>& places, const State& state, const Taken& taken) {
    if (places.empty()) return fail(PBSE_RESCUNAV, "no vnode given to run on");
    Taken wanted;
    for (const Place& place : places)
        if (const auto before = taken.find(place.node); before != taken.end())
            wanted[place.node] = before->second;
    for (const Place& place : places)
        for (const auto& [id, amount] : place.amounts)
            wanted[place.node][id] = amount_sum(wanted[place.node][id], amount);
    for (const Place& place : places) {
        const Node* node = state.node(place.node);
        if (node == nullptr) return fail(PBSE_UNKNODE, fmt::format("Unknown node {}", place.node_name));
        if (node->state != node_free)
            return fail(PBSE_RESCUNAV,
                        fmt::format("Resource temporarily unavailable: vnode {} is not free", node->name));
        std::string lacking;
        if (!has_room(*node, state, wanted[place.node], &lacking))
            return fail(PBSE_RESCUNAV,
                        fmt::format("Resource temporarily unavailable: {} on vnode {}", lacking, node->name));
    }
    return {};
}

}  // namespace pbs::host
