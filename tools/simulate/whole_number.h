// Whole numbers of traces, logs and configurations.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pbs::simulate {

// Nothing unless all of the text is a number that fits.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

}  // namespace pbs::simulate
