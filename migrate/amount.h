// Amounts of node-hours. Internal to migrate/.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>

#include "values/number.h"

namespace pbs::migrate {

// A decimal number, with a sign or not; nullopt for anything else and for what nobody can have used.
inline std::optional<double> read_amount(std::string_view text) {
    constexpr double kMost = 1e18;
    const auto amount = values::decimal(text, std::chars_format::fixed);
    return amount && std::fabs(*amount) <= kMost ? amount : std::nullopt;
}

}  // namespace pbs::migrate
