// Which attributes the objects that qmgr manages have: those of the server, queues, vnodes, schedulers and
// resources as PBS clients know them, and those of objects/schema.h.
#ifndef PBSPOLICY_IFL_CMDS_HOST_ATTRIBUTES_H
#define PBSPOLICY_IFL_CMDS_HOST_ATTRIBUTES_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// How `print` writes a value: as it is, whole (a string), or one element a line (a list).
enum class ValueKind { plain, text, list };

struct HostAttribute {
    std::string_view name;
    ValueKind kind;
    bool writable;
};

// PBS's own attributes of a type, by name. Empty for policy, time_window and fs_group.
std::span<const HostAttribute> host_attributes(ObjectType type);

// Is it an attribute of the type, PBS's or ours? Case doesn't count, as in PBS.
bool is_attribute(ObjectType type, std::string_view name);
// May it be set? True for a name that isn't known, for which the server decides.
bool is_writable(ObjectType type, std::string_view name);
ValueKind value_kind(ObjectType type, std::string_view name);
// All names of a type, sorted; for completion and help.
std::vector<std::string> attribute_names(ObjectType type);

}  // namespace pbs::cmds

#endif
