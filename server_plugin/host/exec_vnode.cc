#include "server_plugin/host/exec_vnode.h"

#include <fmt/format.h>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string_view without_parentheses(std::string_view text) {
    while (text.starts_with('(')) text.remove_prefix(1);
    while (text.ends_with(')')) text.remove_suffix(1);
    return text;
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
    const auto parts = split(without_parentheses(text), ':');
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

std::string exec_vnode_text(const std::vector<Place>& places, const ResourceTable& resources) {
    std::string out;
    for (const Place& place : places) {
        out += out.empty() ? "(" : "+(";
        out += place.node_name;
        for (const auto& [id, amount] : place.amounts)
            if (const Resource* resource = resources.by_id(id))
                out += fmt::format(":{}={}", resource->name, amount_text(resource->type, amount));
        out += ')';
    }
    return out;
}

std::string exec_host_text(const std::vector<Place>& places, const State& state) {
    const Resource* ncpus = state.resources.find("ncpus");
    std::string out;
    int task = 0;
    for (const Place& place : places) {
        const Node* node = state.node(place.node);
        std::string_view host =
            node == nullptr ? std::string_view(place.node_name) : node->attributes.text("Mom");
        host = host.substr(0, host.find('.'));
        const auto at = place.amounts.find(ncpus->id);
        const int64_t cpus = at == place.amounts.end() ? 0 : at->second;
        out += fmt::format("{}{}/{}", out.empty() ? "" : "+", host, task++);
        if (cpus != 1) out += fmt::format("*{}", cpus);
    }
    return out;
}

Result<std::vector<Place>> parse_exec_vnode(std::string_view text, const State& state) {
    std::vector<Place> places;
    for (std::string_view part : split(text, '+')) {
        auto place = parse_place(part, state);
        if (!place) return tl::unexpected(place.error());
        places.push_back(std::move(*place));
    }
    return places;
}

std::vector<Place> places_of(std::string_view exec_vnode, const State& state) {
    std::vector<Place> places;
    for (std::string_view part : split(exec_vnode, '+'))
        if (auto place = parse_place(part, state)) places.push_back(std::move(*place));
    return places;
}

}  // namespace pbs::host
