// Comparisons as people write them: "mem>=64gb", "np_load_avg > 1.75".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pbs::values {

// The constants have the order of the comparisons in enum batch_op of pbs_ifl.h.
enum class Comparison : std::uint8_t { equal, unequal, at_least, more, at_most, less };

constexpr std::string_view sign_of(Comparison how) {
    constexpr std::array<std::string_view, 6> kSigns = {"=", "!=", ">=", ">", "<=", "<"};
    return kSigns.at(static_cast<std::size_t>(how));
}

// Removes a sign such as ">=" from the beginning of the text, and returns its comparison. nullopt: no sign is
// there, and the text stays as it is.
constexpr std::optional<Comparison> take_comparison(std::string_view& text) {
    using enum Comparison;
    // Longer signs are tried first: ">=" begins with ">".
    for (const Comparison how : {unequal, at_least, at_most, equal, more, less}) {
        if (!text.starts_with(sign_of(how))) continue;
        text.remove_prefix(sign_of(how).size());
        return how;
    }
    return std::nullopt;
}

// Returns whether `a` compares with `b` in this way.
template <class T>
constexpr bool holds(const T& a, Comparison how, const T& b) {
    switch (how) {
        case Comparison::equal:
            return a == b;
        case Comparison::unequal:
            return a != b;
        case Comparison::at_least:
            return a >= b;
        case Comparison::more:
            return a > b;
        case Comparison::at_most:
            return a <= b;
        case Comparison::less:
            break;
    }
    return a < b;
}

}  // namespace pbs::values
