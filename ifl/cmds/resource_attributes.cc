// The attributes of resources.

#include "ifl/cmds/host_attribute_tables.h"

namespace pbs::cmds {

namespace {

using enum HostType;
using enum Setter;
using enum Where;

constexpr std::string_view kType[] = {"boolean", "float", "long", "size", "string", "string_array"};

constexpr HostAttribute kTable[] = {
    {"flag", text, managers, here, "",
     "How the resource counts: h of a host, n or f summed up over vnodes or on the first, q against the "
     "queue and server, i hidden, r read by users, m sent to MoM"},
    {"type", text, managers, here, "string", "What values are", kType},
};

}  // namespace

std::span<const HostAttribute> resource_attributes() {
    return kTable;
}

}  // namespace pbs::cmds
