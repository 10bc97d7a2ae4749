// The index of each policy attribute in its table, for code that is generated from policy_attributes.def.
#pragma once

#include <cstddef>

#include "objects/attribute_tables.h"

namespace pbs::objects {

enum class PolicyAttribute : std::size_t {
#define ATTRIBUTE(row, ...) row,
#include "objects/policy_attributes.def"
};

inline const Attribute& attribute_of(PolicyAttribute place) {
    return policy_attributes()[static_cast<std::size_t>(place)];
}

}  // namespace pbs::objects
