// Which attributes the objects that qmgr manages have: those of PBS's objects (ifl/attributes/), and those of
// objects/schema.h. qmgr's help, its completion, what `print` writes, and the tables of pbs_attributes(7B)
// are made of both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ifl/attributes/attribute_table.h"
#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// How `print` writes a value: as it is, whole (a string), or one element a line (a list).
enum class ValueKind { plain, text, list };

using HostType = ifl::AttributeType;
using HostAttribute = ifl::AttributeDef;

// PBS's own attributes of a type, by name. Empty for policy, time_window and fs_group.
std::vector<HostAttribute> host_attributes(ObjectType type);
// The row of a name, whose case doesn't count; null if PBS's objects of the type have no such attribute.
const HostAttribute* find_host_attribute(ObjectType type, std::string_view name);

// "Boolean", "string_array", ...: as objects/schema.h writes its types.
std::string_view type_text(HostType type);
// "Set by managers and operators" and so on, as help and the manual page say it.
std::string_view setter_text(const HostAttribute& attribute);

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
std::vector<InitialValue> initial_values();

}  // namespace pbs::cmds
