#include "server_plugin/host/state/exec_vnode.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cluster/exec_vnode.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/state/values.h"

namespace pbs::host {
namespace {

Result<void> add_amount(Place& place, std::string_view text, const State& state) {
    const auto equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const Resource* resource = state.resources.find(name);
    if (resource == nullptr) return fail(PBSE_UNKRESC, fmt::format("Unknown resource: {}", name));
    if (equals == std::string_view::npos)
        return fail(PBSE_BADATVAL, fmt::format("Illegal value \"{}\": expected resource=amount", text));
    auto value = canonical(resource->type, text.substr(equals + 1));
    if (!value) return tl::unexpected(value.error());
    if (auto ok = check_request(*resource, *value); !ok) return ok;
    if (is_amount(resource->type)) {
        int64_t& amount = place.amounts[resource->id];
        amount = amount_sum(amount, amount_of(resource->type, *value));
    }
    return {};
}

Result<Place> place_of(const cluster::Share& share, const State& state) {
    const Node* node = state.node(share.vnode);
    if (node == nullptr) return fail(PBSE_UNKNODE, fmt::format("Unknown node {}", share.vnode));
    Place place;
    place.node = node->handle;
    place.node_name = node->name;
    place.joined = share.joined;
    for (const std::string_view amount : share.amounts)
        if (auto added = add_amount(place, amount, state); !added) return tl::unexpected(added.error());
    return place;
}

}  // namespace

std::string exec_vnode_text(const std::vector<Place>& places, const ResourceTable& resources,
                            std::string_view chunks) {
    const auto write = [&](uint32_t id, int64_t amount) -> std::pair<std::string, std::string> {
        const Resource* resource = resources.by_id(id);
        if (resource == nullptr) return {};
        return {resource->name, amount_text(resource->type, amount)};
    };
    return cluster::exec_vnode_text(places, write, chunks);
}

std::string host_of(const Place& place, const State& state) {
    const Node* node = state.node(place.node);
    return std::string(node == nullptr ? std::string_view(place.node_name) : node->attributes.text("Mom"));
}

std::string exec_host_text(const std::vector<Place>& places, const State& state) {
    const Resource* ncpus = state.resources.find("ncpus");
    std::map<std::string, int> tasks;  // number of the job's chunks on each host so far
    std::string out;
    for (size_t i = 0; i < places.size();) {
        std::string host = host_of(places[i], state);
        host.resize(std::min(host.size(), host.find('.')));
        int64_t cpus = 0;
        do {
            const auto at = places[i].amounts.find(ncpus->id);
            if (at != places[i].amounts.end()) cpus = amount_sum(cpus, at->second);
        } while (++i < places.size() && places[i].joined);
        out += fmt::format("{}{}/{}", out.empty() ? "" : "+", host, tasks[host]++);
        if (cpus != 1) out += fmt::format("*{}", cpus);
    }
    return out;
}

Result<std::vector<Place>> parse_exec_vnode(std::string_view text, const State& state) {
    const auto shares = cluster::parse_exec_vnode(text);
    if (!shares) return tl::unexpected(shares.error());
    std::vector<Place> places;
    for (const cluster::Share& share : *shares) {
        auto place = place_of(share, state);
        if (!place) return tl::unexpected(place.error());
        places.push_back(std::move(*place));
    }
    return places;
}

std::vector<Place> places_of(std::string_view exec_vnode, const State& state) {
    std::vector<Place> places;
    for (const cluster::Share& share : cluster::shares_of(exec_vnode))
        if (auto place = place_of(share, state); place) places.push_back(std::move(*place));
    return places;
}

}  // namespace pbs::host
