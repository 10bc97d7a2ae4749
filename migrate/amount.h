// Reads amounts of node-hours. Internal to migrate/.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>

#include "values/number.h"

namespace pbs::migrate {

// Reads a decimal number with an optional sign. nullopt: another text, or a number beyond 1e18, which nobody
// can have used.
inline std::optional<double> read_amount(std::string_view text) {
    constexpr double kMost = 1e18;
    const auto amount = values::decimal(text, std::chars_format::fixed);
    return amount && std::fabs(*amount) <= kMost ? amount : std::nullopt;
}

}  // namespace pbs::migrate
