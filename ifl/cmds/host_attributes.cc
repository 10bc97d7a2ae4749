#include "ifl/cmds/host_attributes.h"

#include <algorithm>
#include <array>

#include "ifl/cmds/text.h"
#include "objects/schema.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

// Values that new objects have, besides the defaults in the tables of attributes.
constexpr auto kInitialValues = std::to_array<InitialValue>({
    {ObjectType::sched, "default", "policy", ""},
    {ObjectType::node, "", "resources_available", "arch"},
    {ObjectType::node, "", "resources_available", "host"},
    {ObjectType::node, "", "resources_available", "mem"},
    {ObjectType::node, "", "resources_available", "ncpus"},
    {ObjectType::node, "", "resources_available", "vnode"},
});

}  // namespace

std::vector<HostAttribute> host_attributes(ObjectType type) {
    const ifl::AttributeTable* table = ifl::attribute_table(static_cast<int>(type));
    if (table == nullptr) return {};
    std::vector<HostAttribute> rows(table->all().begin(), table->all().end());
    std::erase_if(rows, [](const HostAttribute& row) { return row.flags == 0; });  // shown to nobody
    std::ranges::sort(rows, values::LessWord(), &HostAttribute::name);
    return rows;
}

const HostAttribute* find_host_attribute(ObjectType type, std::string_view name) {
    const ifl::AttributeTable* table = ifl::attribute_table(static_cast<int>(type));
    return table == nullptr ? nullptr : table->find_any(name);
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
        case HostType::hold:
            return "string";
        case HostType::list:
        case HostType::acl:
        case HostType::environment:
            return "string_array";
        case HostType::limits:
        case HostType::resource_limits:
            return "limits";
        case HostType::resources:
            return "resources";
    }
    return "";
}

std::string_view setter_text(const HostAttribute& attribute) {
    if (!attribute.writable()) return "Can't be set";
    return attribute.has(ifl::write_operator) ? "Set by managers and operators" : "Set by managers";
}

bool is_attribute(ObjectType type, std::string_view name) {
    return objects::find_attribute(type, name) != nullptr || find_host_attribute(type, name) != nullptr;
}

bool is_writable(ObjectType type, std::string_view name) {
    if (const auto* own = objects::find_attribute(type, name)) return (own->flags & objects::kReadOnly) == 0;
    const HostAttribute* host = find_host_attribute(type, name);
    return host == nullptr || host->writable();
}

ValueKind value_kind(ObjectType type, std::string_view name) {
    // a list attribute of this project is printed on one line, not element by element: its elements may have
    // commas
    const HostAttribute* host = find_host_attribute(type, name);
    if (objects::find_attribute(type, name) != nullptr || host == nullptr) return ValueKind::plain;
    switch (host->type) {
        case HostType::text:
            return ValueKind::text;
        case HostType::list:
        case HostType::acl:
        case HostType::limits:
        case HostType::resource_limits:
            return ValueKind::list;
        default:
            return ValueKind::plain;
    }
}

std::vector<std::string> attribute_names(ObjectType type) {
    std::vector<std::string> names;
    for (const objects::Attribute& attribute : objects::attributes(type)) names.emplace_back(attribute.name);
    for (const HostAttribute& attribute : host_attributes(type))
        if (std::find(names.begin(), names.end(), attribute.name) == names.end())
            names.emplace_back(attribute.name);
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<InitialValue> initial_values() {
    std::vector<InitialValue> values(kInitialValues.begin(), kInitialValues.end());
    for (const ObjectType type : {ObjectType::server, ObjectType::sched}) {
        for (const HostAttribute& row : ifl::attribute_table(static_cast<int>(type))->rows()) {
            if (row.has(ifl::preset)) {
                const bool of_resource = row.type == HostType::resources;
                values.push_back(
                    {type, "", row.name,
                     of_resource ? row.default_value.substr(0, row.default_value.find('=')) : ""});
            }
        }
    }
    return values;
}

}  // namespace pbs::cmds
