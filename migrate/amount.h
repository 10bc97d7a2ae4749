// Amounts of node-hours. Internal to migrate/.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace pbs::migrate {

// A decimal number, with a sign or not; nullopt for anything else and for what nobody can have used.
inline std::optional<double> read_amount(std::string_view text) {
    constexpr double kMost = 1e18;
    if (text.starts_with('+')) text.remove_prefix(1);
    double amount = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(amount) ||
        std::fabs(amount) > kMost)
        return std::nullopt;
    return amount;
}

}  // namespace pbs::migrate
