// The types of objects that a manager edits, in one table for hosts, plugin and commands: each type is a row.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pbs::values {

// The types have the batch protocol's numbers (enum mgr_obj in pbs_ifl.h). Nodes and resources have no
// attributes of this project.
enum class ObjectType : int {
    server = 0,
    queue = 1,
    node = 3,
    resource = 5,
    sched = 6,
    policy = 64,
    time_window = 65,
    fs_group = 66,
    quota = 74,
};

struct ObjectTypeRow {
    ObjectType type;
    std::string_view name;
    std::string_view plural;  // a word that also means the type
    // One sentence on the purpose of the objects.
    std::string_view help;
    // The type has attributes of this project.
    bool configured = true;
    // The type exists only in this project: the plugin keeps the objects, and everybody may see them.
    bool own = false;
};

// The order decides what an abbreviation means: the first type that begins with it, as in PBS. "s" is server
// and "sc" sched. "p" is policy, where PBS has pbshook.
inline constexpr std::array kObjectTypes{
    ObjectTypeRow{ObjectType::server, "server", "servers", "the server itself"},
    ObjectTypeRow{ObjectType::queue, "queue", "queues", "a queue"},
    ObjectTypeRow{ObjectType::node, "node", "nodes", "a vnode", false},
    ObjectTypeRow{ObjectType::resource, "resource", "resources", "the definition of a resource", false},
    ObjectTypeRow{ObjectType::sched, "sched", "schedulers", "a scheduler and the policies it follows"},
    ObjectTypeRow{ObjectType::policy, "policy", "policies",
                  "how a scheduler orders jobs and decides when they start; assigned to schedulers", true,
                  true},
    ObjectTypeRow{ObjectType::time_window, "time_window", "time_windows",
                  "times of day on recurring days; assigned to queues, or making up prime or dedicated time",
                  true, true},
    ObjectTypeRow{ObjectType::fs_group, "fs_group", "fs_groups",
                  "a fairshare tree and how usage counts in it; referred to by policies", true, true},
    ObjectTypeRow{ObjectType::quota, "quota", "quotas",
                  "limits on what running jobs use together; referred to by policies", true, true},
};

// The types in an order in which objects can be made: those that others refer to come first.
inline constexpr std::array kMakingOrder{
    ObjectType::resource, ObjectType::time_window, ObjectType::fs_group, ObjectType::queue, ObjectType::quota,
    ObjectType::policy,   ObjectType::server,      ObjectType::sched,    ObjectType::node,
};
static_assert(kMakingOrder.size() == kObjectTypes.size());
inline constexpr auto kDeletingOrder = [] {
    auto order = kMakingOrder;
    std::ranges::reverse(order);
    return order;
}();

// The row of a type; null for a number that is no type.
constexpr const ObjectTypeRow* find_type(ObjectType type) {
    const auto* row = std::ranges::find(kObjectTypes, type, &ObjectTypeRow::type);
    return row == kObjectTypes.end() ? nullptr : row;
}

// The row of a name, in lower case and not abbreviated; null for other words.
constexpr const ObjectTypeRow* find_type(std::string_view name) {
    const auto* row = std::ranges::find(kObjectTypes, name, &ObjectTypeRow::name);
    return row == kObjectTypes.end() ? nullptr : row;
}

// The row that a word means: a name, a plural, or an abbreviation of either, in any case of letters; null if
// it means no type.
const ObjectTypeRow* type_meant(std::string_view word);

// The name of a type, such as "policy"; "object" for a number that is no type.
constexpr std::string_view type_name(ObjectType type) {
    const ObjectTypeRow* row = find_type(type);
    return row == nullptr ? "object" : row->name;
}

// Returns whether the type exists only in this project.
constexpr bool is_own_type(ObjectType type) {
    const ObjectTypeRow* row = find_type(type);
    return row != nullptr && row->own;
}

// The types that have attributes of this project, in the order of the table.
inline constexpr auto kConfiguredTypes = [] {
    std::array<ObjectType, std::ranges::count(kObjectTypes, true, &ObjectTypeRow::configured)> types{};
    auto* next = types.begin();
    for (const ObjectTypeRow& row : kObjectTypes)
        if (row.configured) *next++ = row.type;
    return types;
}();

// The types that exist only in this project, in the order of the table.
std::span<const ObjectType> own_types();

// "server, queue, ... or quota": the names of the types whose member `only` is true; of all types if it's
// null.
std::string type_list(bool ObjectTypeRow::*only = nullptr);

}  // namespace pbs::values
