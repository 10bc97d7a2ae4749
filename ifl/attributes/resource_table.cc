// The attributes of resources. The bundled server stores them in the resource's definition.
#include <array>

#include "ifl/attributes/attribute_table.h"

namespace pbs::ifl {
namespace {

using enum AttributeType;

constexpr std::string_view kTypeWords[] = {"boolean", "float", "long", "size", "string", "string_array"};

constexpr auto kResourceRows = std::to_array<AttributeDef>({
    {"type", text, kManagerOnlySet, "string", "What values are", kTypeWords},
    {"flag", text, kManagerOnlySet, "",
     "How the resource counts: h of a host, n or f summed up over vnodes or on the first, q "
     "against the queue and server, i hidden, r read by users, m sent to MoM"},
});

}  // namespace

const AttributeTable& resource_table() {
    static constexpr AttributeTable kTable{kResourceRows};
    return kTable;
}

}  // namespace pbs::ifl
