// The attributes of the objects that qmgr manages: those of PBS's objects (ifl/attributes/), and those of
// objects/schema.h. qmgr's help, its completion, the output of `print`, and the tables of pbs_attributes(7B)
// are made from both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ifl/attributes/attribute_table.h"
#include "ifl/cmds/qmgr_grammar.h"
#include "objects/schema.h"

namespace pbs::cmds {

// The form in which qmgr's `print` writes a value: plain, in quotes (text), or with a line for each element
// (list).
enum class ValueKind { plain, text, list };

using HostType = ifl::AttributeType;
using HostAttribute = ifl::AttributeDef;

// PBS's own attributes of a type, sorted by name. Empty for types that PBS doesn't have, such as policy.
std::vector<HostAttribute> host_attributes(ObjectType type);
// The row of a name, in any case of letters; null if PBS's objects of the type have no such attribute.
const HostAttribute* find_host_attribute(ObjectType type, std::string_view name);

// The name of a type as in objects/schema.h: "Boolean", "string_array" and so on.
std::string_view type_text(HostType type);
// A text about who may set the attribute, such as "Set by managers and operators", for help and the manual
// page.
std::string_view setter_text(const HostAttribute& attribute);

// Returns whether the type has an attribute of this name, PBS's or this project's, in any case of letters.
bool is_attribute(ObjectType type, std::string_view name);
// Returns whether the attribute may be set; true for an unknown name, about which the server decides.
bool is_writable(ObjectType type, std::string_view name);
ValueKind value_kind(ObjectType type, std::string_view name);
// All names of a type, sorted; for completion and help.
std::vector<std::string> attribute_names(ObjectType type);

// A value that a new object has by itself, though it can be unset. If it was unset, `print` writes an `unset`
// for it. An empty `object` means all objects of the type.
struct InitialValue {
    ObjectType type;
    std::string_view object;
    std::string_view name;
    std::string_view resource;
};
std::vector<InitialValue> initial_values();

}  // namespace pbs::cmds
