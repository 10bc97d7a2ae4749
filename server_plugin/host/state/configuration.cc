#include "server_plugin/host/state/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "text/json.h"
#include "text/json_document.h"
#include "values/object_types.h"

namespace pbs::host {
namespace {

using Json = nlohmann::json;

template <class Object>
std::optional<ConfigValues> values_if(const Object* object) {
    return object == nullptr ? std::nullopt : std::optional(config_values(*object));
}

}  // namespace

std::string_view type_name(int type) {
    switch (type) {
        case MGR_OBJ_HOST:
            return "host";
        case PBS_OBJ_CONFIGURATION:
            return "configuration";
        case PBS_OBJ_FAIRSHARE:
            return "fairshare";
        case PBS_OBJ_JOB:
            return "job";
        default:
            return values::type_name(static_cast<values::ObjectType>(type));
    }
}

const std::string* find_value(const std::optional<ConfigValues>& values, std::string_view key) {
    if (!values) return nullptr;
    for (const auto& [name, value] : *values)
        if (name == key) return &value;
    return nullptr;
}

std::string title(const ConfigName& object) {
    return object.name.empty() ? std::string(type_name(object.type))
                               : fmt::format("{} {}", type_name(object.type), object.name);
}

ConfigValues config_values(const Attributes& server) {
    ConfigValues values;
    for (const AttributeValue& value : server.values()) {
        if ((value.def()->flags & kAllWrites) == 0 || (value.def()->flags & computed) != 0) continue;
        values.emplace_back(value.resource().empty()
                                ? std::string(value.def()->name)
                                : fmt::format("{}.{}", value.def()->name, value.resource()),
                            value.value());
    }
    return values;
}

ConfigValues config_values(const Queue& queue) {
    return config_values(queue.attributes);
}

ConfigValues config_values(const Node& node) {
    ConfigValues values = config_values(node.attributes);
    if ((node.state & node_offline) == 0) return values;
    values.emplace_back("state", "offline");
    sort_values(PBS_OBJ_NODE, values);
    return values;
}

ConfigValues config_values(const Resource& resource) {
    ConfigValues values{{"type", std::string(resource.type_text())}};
    if (std::string flags = resource.flag_text(); !flags.empty()) values.emplace_back("flag", flags);
    return values;
}

ConfigValues config_values(const Sched& sched, std::string_view home) {
    ConfigValues values = config_values(sched.attributes);
    std::erase_if(values, [&](const auto& value) {
        return (value.first == "sched_priv" || value.first == "sched_log") &&
               value.second == default_sched_folder(home, sched.name, value.first);
    });
    return values;
}

namespace {

size_t place_of(int type, std::string_view name) {
    const AttributeTable* table = attribute_table(type);
    if (table == nullptr) return 0;
    const AttributeDef* def = table->find(name);
    return def == nullptr ? table->rows().size() : static_cast<size_t>(def - table->rows().data());
}

}  // namespace

void sort_values(int type, ConfigValues& values) {
    std::ranges::sort(values, {}, [&](const auto& value) {
        const auto [name, resource] = split_key(value.first);
        return std::pair(place_of(type, name), std::string_view(value.first));
    });
}

std::pair<std::string_view, std::string_view> split_key(std::string_view key) {
    const auto dot = key.find('.');
    if (dot == std::string_view::npos) return {key, {}};
    return {key.substr(0, dot), key.substr(dot + 1)};
}

namespace {

// Returns whether managers made the queue. (A reservation's queue is made and removed with the reservation.)
bool is_set_up(const Queue& queue, const State& state) {
    return state.reservation_of_queue(queue.handle) == nullptr;
}

}  // namespace

HostConfiguration host_configuration(const State& state, std::string_view home) {
    HostConfiguration all;
    // Objects are added in the order of the map, so each belongs at its end.
    const auto add = [&](int type, const std::string& name, ConfigValues values) {
        all.emplace_hint(all.end(), ConfigName{type, name}, std::move(values));
    };
    add(PBS_OBJ_SERVER, {}, config_values(state.server));
    for (const auto& [name, queue] : state.queues())
        if (is_set_up(queue, state)) add(PBS_OBJ_QUEUE, name, config_values(queue));
    for (const auto& [name, node] : state.nodes()) add(PBS_OBJ_NODE, name, config_values(node));
    for (const auto& [name, sched] : state.scheds()) add(PBS_OBJ_SCHED, name, config_values(sched, home));
    for (const Resource* resource : state.resources.all())
        if (!resource->built_in) add(PBS_OBJ_RESOURCE, resource->name, config_values(*resource));
    return all;
}

std::vector<ConfigName> config_names(const State& state) {
    std::vector<ConfigName> names{{PBS_OBJ_SERVER, {}}};
    for (const auto& [name, queue] : state.queues())
        if (is_set_up(queue, state)) names.push_back({PBS_OBJ_QUEUE, name});
    for (const auto& [name, node] : state.nodes()) names.push_back({PBS_OBJ_NODE, name});
    for (const auto& [name, sched] : state.scheds()) names.push_back({PBS_OBJ_SCHED, name});
    for (const Resource* resource : state.resources.all())
        if (!resource->built_in) names.push_back({PBS_OBJ_RESOURCE, resource->name});
    return names;
}

std::optional<ConfigValues> config_values(const State& state, std::string_view home,
                                          const ConfigName& object) {
    switch (object.type) {
        case PBS_OBJ_SERVER:
            return config_values(state.server);
        case PBS_OBJ_QUEUE:
            return values_if(state.queue(object.name));
        case PBS_OBJ_NODE:
            return values_if(state.node(object.name));
        case PBS_OBJ_RESOURCE: {
            const Resource* resource = state.resources.find(object.name);
            return resource != nullptr && !resource->built_in ? values_if(resource) : std::nullopt;
        }
        case PBS_OBJ_SCHED:
            if (const Sched* sched = state.sched(object.name)) return config_values(*sched, home);
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

std::vector<std::string> config_lines(const ConfigChange& change) {
    const std::string name = title(change.object);
    if (!change.after) return {fmt::format("{} is deleted", name)};
    std::vector<std::string> lines;
    if (!change.before) lines.push_back(fmt::format("{} is created", name));
    for (const auto& [key, value] : *change.after) {
        const std::string* before = find_value(change.before, key);
        if (before == nullptr || *before != value)
            lines.push_back(fmt::format("{}: {} = {}", name, key, value));
    }
    if (!change.before) return lines;
    for (const auto& [key, value] : *change.before)
        if (find_value(change.after, key) == nullptr)
            lines.push_back(fmt::format("{}: {} is unset", name, key));
    return lines;
}

std::string to_json(const std::optional<ConfigValues>& values) {
    if (!values) return "null";
    std::string text = "{";
    for (const auto& [key, value] : *values) {
        if (text.size() > 1) text += ',';
        text::append_json(text, key);
        text += ':';
        text::append_json(text, value);
    }
    return text + '}';
}

Result<std::optional<ConfigValues>> from_json(std::string_view json) {
    const auto bad = [&](std::string_view what) {
        return fail(PBSE_INTERNAL, fmt::format("attributes in the history: {}", what));
    };
    const Json parsed = text::parse_json(json);
    if (parsed.is_null()) return std::nullopt;
    if (!parsed.is_object()) return bad("no JSON object");
    ConfigValues values;
    for (const auto& [key, value] : parsed.items()) {
        auto text = text::from_json(value);
        if (!text) return bad(fmt::format("{} is no text", key));
        values.emplace_back(key, std::move(*text));
    }
    return values;
}

std::string default_sched_folder(std::string_view home, std::string_view sched, std::string_view attribute) {
    const std::string_view folder = attribute == "sched_priv" ? "sched_priv" : "sched_logs";
    if (sched == "default") return fmt::format("{}/{}", home, folder);
    return fmt::format("{}/{}_{}", home, folder, sched);
}

}  // namespace pbs::host
