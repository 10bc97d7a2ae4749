#include "server_plugin/host/state/exec_vnode.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/state/values.h"

namespace pbs::host {
namespace {

// "vnode:resource=amount..." and the number of the chunk that it belongs to.
struct Share {
    std::string_view text;
    size_t chunk = 0;
};

Result<std::vector<Share>> shares_in(std::string_view text) {
    std::vector<Share> shares;
    size_t chunk = 0;
    bool open = false;
    for (std::string_view part : split(text, '+')) {
        const bool opens = part.starts_with('(');
        if (opens) part.remove_prefix(1);
        const bool closes = part.ends_with(')');
        if (closes) part.remove_suffix(1);
        if ((opens && open) || (closes && !open && !opens) || part.find_first_of("()") != part.npos)
            return fail(
                PBSE_BADATVAL,
                fmt::format("Illegal place \"{}\": expected (vnode:resource=amount+...)+(...)", text));
        if (!open) ++chunk;
        shares.push_back({part, chunk});
        open = (open || opens) && !closes;
    }
    if (open) return fail(PBSE_BADATVAL, fmt::format("Illegal place \"{}\": expected a ) at its end", text));
    return shares;
}

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

Result<Place> parse_place(std::string_view text, const State& state) {
    const auto parts = split(text, ':');
    const Node* node = state.node(parts.front());
    if (node == nullptr) return fail(PBSE_UNKNODE, fmt::format("Unknown node {}", parts.front()));
    Place place;
    place.node = node->handle;
    place.node_name = node->name;
    for (size_t i = 1; i < parts.size(); ++i)
        if (auto added = add_amount(place, parts[i], state); !added) return tl::unexpected(added.error());
    return place;
}

}  // namespace

std::string exec_vnode_text(const std::vector<Place>& places, const ResourceTable& resources,
                            std::string_view chunks) {
    std::string out;
    std::vector<std::pair<size_t, std::string>> amounts;  // by where they are asked for
    for (const Place& place : places) {
        amounts.clear();
        for (const auto& [id, amount] : place.amounts) {
            const Resource* resource = resources.by_id(id);
            if (resource == nullptr) continue;
            const std::string name = fmt::format(":{}=", resource->name);
            amounts.emplace_back(chunks.find(name), name + amount_text(resource->type, amount));
        }
        std::ranges::stable_sort(amounts, {}, &std::pair<size_t, std::string>::first);
        out += out.empty() ? "(" : place.joined ? "+" : ")+(";
        out += place.node_name;
        for (const auto& [asked, amount] : amounts) out += amount;
    }
    if (!out.empty()) out += ')';
    return out;
}

std::string host_of(const Place& place, const State& state) {
    const Node* node = state.node(place.node);
    return std::string(node == nullptr ? std::string_view(place.node_name) : node->attributes.text("Mom"));
}

std::string exec_host_text(const std::vector<Place>& places, const State& state) {
    const Resource* ncpus = state.resources.find("ncpus");
    std::map<std::string, int> tasks;  // by host
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
    const auto shares = shares_in(text);
    if (!shares) return tl::unexpected(shares.error());
    std::vector<Place> places;
    size_t last = 0;
    for (const Share& share : *shares) {
        auto place = parse_place(share.text, state);
        if (!place) return tl::unexpected(place.error());
        place->joined = share.chunk == last;
        last = share.chunk;
        places.push_back(std::move(*place));
    }
    return places;
}

std::vector<Place> places_of(std::string_view exec_vnode, const State& state) {
    std::vector<Place> places;
    size_t last = 0;
    for (const Share& share : shares_in(exec_vnode).value_or(std::vector<Share>{})) {
        auto place = parse_place(share.text, state);
        if (!place) continue;
        place->joined = share.chunk == last;
        last = share.chunk;
        places.push_back(std::move(*place));
    }
    return places;
}

}  // namespace pbs::host
