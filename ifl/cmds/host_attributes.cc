#include "ifl/cmds/host_attributes.h"

#include <algorithm>
#include <array>

#include "ifl/cmds/host_attribute_tables.h"
#include "ifl/cmds/text.h"
#include "objects/schema.h"

namespace pbs::cmds {

namespace {

constexpr auto kInitialValues = std::to_array<InitialValue>({
    {ObjectType::server, "", "scheduling", ""},
    {ObjectType::server, "", "log_events", ""},
    {ObjectType::server, "", "mail_from", ""},
    {ObjectType::server, "", "query_other_jobs", ""},
    {ObjectType::server, "", "resources_default", "ncpus"},
    {ObjectType::server, "", "default_chunk", "ncpus"},
    {ObjectType::server, "", "scheduler_iteration", ""},
    {ObjectType::server, "", "eligible_time_enable", ""},
    {ObjectType::server, "", "max_job_sequence_id", ""},
    {ObjectType::sched, "default", "policy", ""},
    {ObjectType::sched, "", "scheduling", ""},
    {ObjectType::sched, "", "scheduler_iteration", ""},
    {ObjectType::node, "", "resources_available", "arch"},
    {ObjectType::node, "", "resources_available", "host"},
    {ObjectType::node, "", "resources_available", "mem"},
    {ObjectType::node, "", "resources_available", "ncpus"},
    {ObjectType::node, "", "resources_available", "vnode"},
});

// The tables of objects/ describe policies, time_windows and fs_groups whole; those of the server, queues and
// schedulers are added to what is listed here.
objects::ObjectType own_type(ObjectType type) {
    return static_cast<objects::ObjectType>(type);
}

}  // namespace

std::span<const HostAttribute> host_attributes(ObjectType type) {
    switch (type) {
        case ObjectType::server:
            return server_attributes();
        case ObjectType::queue:
            return queue_attributes();
        case ObjectType::node:
            return node_attributes();
        case ObjectType::sched:
            return sched_attributes();
        case ObjectType::resource:
            return resource_attributes();
        default:
            return {};
    }
}

const HostAttribute* find_host_attribute(ObjectType type, std::string_view name) {
    const auto rows = host_attributes(type);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const HostAttribute& attribute) {
        return equal_ignoring_case(attribute.name, name);
    });
    return row == rows.end() ? nullptr : &*row;
}

std::string_view type_text(HostType type) {
    switch (type) {
        case HostType::boolean:
            return "Boolean";
        case HostType::integer:
            return "integer";
        case HostType::real:
            return "float";
        case HostType::duration:
            return "duration";
        case HostType::size:
            return "size";
        case HostType::text:
            return "string";
        case HostType::list:
        case HostType::acl:
        case HostType::limits:
            return "string_array";
        case HostType::resources:
            return "resources";
    }
    return "";
}

std::string_view setter_text(Setter setter) {
    switch (setter) {
        case Setter::nobody:
            return "Can't be set";
        case Setter::operators:
            return "Set by managers and operators";
        case Setter::managers:
            return "Set by managers";
    }
    return "";
}

bool is_attribute(ObjectType type, std::string_view name) {
    return objects::find_attribute(own_type(type), name) != nullptr ||
           find_host_attribute(type, name) != nullptr;
}

bool is_writable(ObjectType type, std::string_view name) {
    if (const auto* own = objects::find_attribute(own_type(type), name)) {
        return (own->flags & objects::read_only) == 0;
    }
    const HostAttribute* host = find_host_attribute(type, name);
    return host == nullptr || host->setter != Setter::nobody;
}

ValueKind value_kind(ObjectType type, std::string_view name) {
    // A list of ours is given back as one value: its elements may hold commas of their own.
    const HostAttribute* host = find_host_attribute(type, name);
    if (objects::find_attribute(own_type(type), name) != nullptr || host == nullptr) {
        return ValueKind::plain;
    }
    switch (host->type) {
        case HostType::text:
            return ValueKind::text;
        case HostType::list:
        case HostType::acl:
        case HostType::limits:
            return ValueKind::list;
        default:
            return ValueKind::plain;
    }
}

std::vector<std::string> attribute_names(ObjectType type) {
    std::vector<std::string> names;
    for (const objects::Attribute& attribute : objects::attributes(own_type(type))) {
        names.emplace_back(attribute.name);
    }
    for (const HostAttribute& attribute : host_attributes(type)) {
        if (std::find(names.begin(), names.end(), attribute.name) == names.end()) {
            names.emplace_back(attribute.name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::span<const InitialValue> initial_values() {
    return kInitialValues;
}

}  // namespace pbs::cmds
