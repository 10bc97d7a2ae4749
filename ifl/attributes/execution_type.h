// Reads the queue attribute execution_type.
#pragma once

#include <cstdint>
#include <string_view>

namespace pbs::ifl {

// The number of an execution_type in the plugin's interface (enum pbs_execution_type): 0, any time, for
// "execution", "route" and no value.
constexpr std::int32_t execution_type_of(std::string_view text) {
    if (text == "execution_prime") return 1;
    if (text == "execution_non_prime") return 2;
    if (text == "execution_dedicated") return 3;
    return 0;
}

}  // namespace pbs::ifl
