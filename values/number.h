// Integers and decimal numbers read from text.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>

#include "values/text.h"

namespace pbs::values {

// Removes the number at the beginning of the text, and returns it. nullopt: no number is there, or T can't
// hold it; the text then stays as it is. White space or a '+' before the number isn't skipped.
template <std::integral T>
std::optional<T> take_number(std::string_view& text, int base = 10) {
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// Reads the whole text as a number.
template <std::integral T>
std::optional<T> number(std::string_view text, int base = 10) {
    const std::optional<T> taken = take_number<T>(text, base);
    return text.empty() ? taken : std::nullopt;
}

// Reads the whole text as a number, if it consists of decimal digits alone.
template <std::integral T>
std::optional<T> digits(std::string_view text) {
    return !text.empty() && is_digit(text.front()) ? number<T>(text) : std::nullopt;
}

// Reads the whole text as a finite decimal number, with or without a sign, a fraction and an exponent.
inline std::optional<double> decimal(std::string_view text,
                                     std::chars_format format = std::chars_format::general) {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

}  // namespace pbs::values
