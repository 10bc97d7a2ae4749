// Reads an object's facts from its attributes, by a table with a row for each attribute that matters.
// Attributes are texts, as in status replies and in the bundled server.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/amount.h"
#include "ifl/attribute.h"

namespace pbs::cluster {

using AttributeViews = std::span<const ifl::AttributeView>;

// Names and values of a list of resources.
using ResourceList = std::map<std::string, std::string, std::less<>>;

// Names and values of a list of resources, as views, in the order of the attributes.
using ResourceViews = std::vector<std::pair<std::string_view, std::string_view>>;

// The value of a resource in the list; empty: the list doesn't have the resource.
inline std::string_view value_in(const ResourceList& list, std::string_view name) {
    const auto found = list.find(name);
    return found == list.end() ? std::string_view() : std::string_view(found->second);
}
inline std::string_view value_in(const ResourceViews& list, std::string_view name) {
    const auto found = std::ranges::find(list, name, &ResourceViews::value_type::first);
    return found == list.end() ? std::string_view() : found->second;
}

inline void add_to(ResourceList& list, std::string_view name, std::string_view value) {
    list.emplace(name, value);
}
inline void add_to(ResourceViews& list, std::string_view name, std::string_view value) {
    list.emplace_back(name, value);
}

// The value of an attribute; empty: the attribute isn't set.
inline std::string_view value_of(AttributeViews attributes, std::string_view name,
                                 std::string_view resource = {}) {
    for (const ifl::AttributeView& attribute : attributes)
        if (attribute.name == name && attribute.resource == resource) return attribute.value;
    return {};
}

template <class Object>
struct Field {
    std::string_view name;
    void (*read)(Object& object, const ifl::AttributeView& attribute) = nullptr;
};

// These functions read an attribute into a member. A value that can't be read leaves the member as it is.
template <auto member, class Object>
void read_text(Object& object, const ifl::AttributeView& attribute) {
    object.*member = attribute.value;
}
template <auto member, class Object>
void read_number(Object& object, const ifl::AttributeView& attribute) {
    auto& number = object.*member;
    number = static_cast<std::remove_reference_t<decltype(number)>>(number_of(attribute.value, number));
}
template <auto member, class Object>
void read_truth(Object& object, const ifl::AttributeView& attribute) {
    object.*member = truth_of(attribute.value);
}
template <auto member, class Object>
void read_list(Object& object, const ifl::AttributeView& attribute) {
    if (!attribute.resource.empty()) add_to(object.*member, attribute.resource, attribute.value);
}

// Reads an object's attributes by the table `fields`, which must be in the order of the attributes' names.
// Ignores attributes without a row.
template <class Object>
void read_fields(Object& object, AttributeViews attributes, std::span<const Field<Object>> fields) {
    for (const ifl::AttributeView& attribute : attributes) {
        const auto field = std::ranges::lower_bound(fields, attribute.name, {}, &Field<Object>::name);
        if (field != fields.end() && field->name == attribute.name) field->read(object, attribute);
    }
}

// Returns the attributes that a status request has to name, so that the reply has all attributes of `fields`.
template <class Object>
ifl::Attributes names_of(std::span<const Field<Object>> fields) {
    ifl::Attributes out;
    for (const Field<Object>& field : fields) out.push_back({std::string(field.name), {}, {}, ifl::Op::set});
    return out;
}

}  // namespace pbs::cluster
