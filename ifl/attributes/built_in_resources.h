// Lists the resources that the bundled server always has. Managers may add others.
#pragma once

#include <span>
#include <string_view>

#include "ifl/attributes/attribute_table.h"

namespace pbs::ifl {

struct BuiltInResource {
    std::string_view name;
    AttributeType type = AttributeType::text;
    std::string_view flags{};  // as qmgr shows them
    // Jobs and vnodes use this resource to tell policies what they want. OpenPBS's servers don't have it, so
    // sites have made it themselves, and may have meant something else by the name: a manager's definition
    // takes its place.
    bool for_policies = false;
};

std::span<const BuiltInResource> built_in_resources();

// The resource of a name, in any case of letters; nullptr: there is none.
const BuiltInResource* find_built_in_resource(std::string_view name);

}  // namespace pbs::ifl
