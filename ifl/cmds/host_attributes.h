// Which attributes the objects that qmgr manages have: those of the server, queues, vnodes, schedulers and
// resources as PBS clients know them, and those of objects/schema.h. One table per type gives qmgr's help,
// its completion, what `print` writes, and the tables of pbs_attributes(7B).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// How `print` writes a value: as it is, whole (a string), or one element a line (a list).
enum class ValueKind { plain, text, list };

enum class HostType {
    boolean,
    integer,
    real,
    duration,   // seconds or HH:MM:SS
    size,       // a number and b, kb, mb, gb or tb
    text,       // string
    list,       // string_array
    acl,        // string_array of users, groups or hosts
    limits,     // string_array of [u:user=number] and the like
    resources,  // a value per resource: attribute.resource
};

// Who may set an attribute.
enum class Setter { nobody, operators, managers };

// Does this project's server have the attribute, or only OpenPBS's? To set one of those is refused here.
enum class Where { here, openpbs };

struct HostAttribute {
    std::string_view name;
    HostType type;
    Setter setter;
    Where where;
    std::string_view default_value;             // text; empty: not set by default
    std::string_view help;                      // one sentence, without a full stop at its end
    std::span<const std::string_view> words{};  // the values that there are, if they are counted
};

// PBS's own attributes of a type, by name. Empty for policy, time_window and fs_group.
std::span<const HostAttribute> host_attributes(ObjectType type);
// The row of a name, whose case doesn't count; null if PBS's objects of the type have no such attribute.
const HostAttribute* find_host_attribute(ObjectType type, std::string_view name);

// "Boolean", "string_array", ...: as objects/schema.h writes its types.
std::string_view type_text(HostType type);
// "Set by managers and operators" and so on, as help and the manual page say it.
std::string_view setter_text(Setter setter);

// Is it an attribute of the type, PBS's or ours? Case doesn't count, as in PBS.
bool is_attribute(ObjectType type, std::string_view name);
// May it be set? True for a name that isn't known, for which the server decides.
bool is_writable(ObjectType type, std::string_view name);
ValueKind value_kind(ObjectType type, std::string_view name);
// All names of a type, sorted; for completion and help.
std::vector<std::string> attribute_names(ObjectType type);

// What an object has of itself when it is made, though it can be taken away: `print` tells that it was taken
// away. With an empty `object` it holds for all objects of the type.
struct InitialValue {
    ObjectType type;
    std::string_view object;
    std::string_view name;
    std::string_view resource;
};
std::span<const InitialValue> initial_values();

}  // namespace pbs::cmds
