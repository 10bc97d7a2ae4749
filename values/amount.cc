#include "values/amount.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "values/number.h"

namespace pbs::values {
namespace {

constexpr std::string_view kPrefixes = "kmgtp";
constexpr auto kMostBytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

int power_of(const WrittenSize& size) {
    return size.shift + (size.words ? 3 : 0);
}

// Returns whether a fraction is one half or more. `fraction` is the digits after the point: the first digit
// decides.
bool rounds_up(std::string_view fraction) {
    return !fraction.empty() && fraction.front() >= '5';
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
    if (text.size() > 1 && text[0] == '+' && is_digit(text[1])) text.remove_prefix(1);
    return number<std::int64_t>(text);
}

std::optional<double> parse_real(std::string_view text) {
    return decimal(text);
}

std::string real_text(double number) {
    std::array<char, 400> digits{};
    if (number == 0) return "0";
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed);
    return {digits.data(), end.ptr};
}

std::optional<std::int64_t> parse_millionths(std::string_view text) {
    const std::optional<double> value = decimal(text);
    if (!value || std::fabs(*value) > 9e12) return std::nullopt;
    return std::llround(*value * 1e6);
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
    const std::size_t dot = text.find('.');
    std::int64_t extra = 0;
    if (dot != std::string_view::npos) {
        const std::string_view fraction = text.substr(dot + 1);
        if (!std::ranges::all_of(fraction, is_digit)) return std::nullopt;
        extra = rounds_up(fraction) ? 1 : 0;
        text = text.substr(0, dot);
    }
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 3600 / 2;
    std::int64_t total = 0;
    for (int parts = 0; parts < 3; ++parts) {
        const std::size_t colon = text.find(':');
        const auto part = digits<std::int64_t>(text.substr(0, colon));
        if (!part || *part > kMost || total > kMost / 60) return std::nullopt;
        total = total * 60 + *part;
        if (colon == std::string_view::npos) {
            // Refuse a sum that would be too large as hours, minutes and seconds, the form that is stored.
            if (total > kMost - extra) return std::nullopt;
            return total + extra;
        }
        text.remove_prefix(colon + 1);
    }
    return std::nullopt;
}

std::string duration_text(std::int64_t seconds) {
    const std::string_view sign = seconds < 0 ? "-" : "";
    const std::uint64_t s =
        seconds < 0 ? -static_cast<std::uint64_t>(seconds) : static_cast<std::uint64_t>(seconds);
    return fmt::format("{}{:02}:{:02}:{:02}", sign, s / 3600, s / 60 % 60, s % 60);
}

std::optional<WrittenSize> parse_size(std::string_view text) {
    WrittenSize size;
    const auto number = take_number<std::uint64_t>(text);
    if (!number) return std::nullopt;
    size.number = *number;
    if (!text.empty()) {
        if (const std::size_t power = kPrefixes.find(lower(text.front())); power != std::string_view::npos) {
            size.shift = 10 * static_cast<int>(power + 1);
            text.remove_prefix(1);
        }
    }
    size.words = same_word(text, "w");
    if (!size.words && !text.empty() && !same_word(text, "b")) return std::nullopt;
    return size;
}

bool WrittenSize::too_large() const {
    return number > kMostBytes >> power_of(*this);
}

std::int64_t WrittenSize::bytes() const {
    return static_cast<std::int64_t>(too_large() ? kMostBytes : number << power_of(*this));
}

std::string WrittenSize::text() const {
    const std::string_view prefix =
        shift == 0 ? std::string_view() : kPrefixes.substr(static_cast<std::size_t>(shift / 10 - 1), 1);
    return fmt::format("{}{}{}", number, prefix, words ? 'w' : 'b');
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
    const std::optional<WrittenSize> size = parse_size(text);
    return size ? std::optional(size->bytes()) : std::nullopt;
}

std::string size_text(std::int64_t bytes) {
    std::size_t power = 0;
    while (bytes != 0 && bytes % 1024 == 0 && power < kPrefixes.size()) {
        bytes /= 1024;
        ++power;
    }
    return power == 0 ? fmt::format("{}b", bytes) : fmt::format("{}{}b", bytes, kPrefixes[power - 1]);
}

std::string kilobytes_text(std::int64_t bytes) {
    return fmt::format("{}kb", bytes / 1024 + (bytes % 1024 > 0 ? 1 : 0));
}

std::optional<bool> parse_boolean(std::string_view text) {
    for (std::string_view yes : {"True", "TRUE", "true", "t", "T", "y", "Y", "1"})
        if (text == yes) return true;
    for (std::string_view no : {"False", "FALSE", "false", "f", "F", "n", "N", "0"})
        if (text == no) return false;
    return std::nullopt;
}

std::optional<std::int64_t> parse_amount(ResourceKind kind, std::string_view text) {
    switch (kind) {
        case ResourceKind::integer:
            return parse_integer(text);
        case ResourceKind::real:
            return parse_millionths(text);
        case ResourceKind::size:
            return parse_bytes(text);
        case ResourceKind::duration:
            return parse_duration(text);
        case ResourceKind::boolean:
            return parse_boolean(text);
        case ResourceKind::string:
        case ResourceKind::string_array:
            return 0;
    }
    return std::nullopt;
}

std::string_view form_of(ResourceKind kind) {
    switch (kind) {
        case ResourceKind::integer:
            return kIntegerForm;
        case ResourceKind::real:
            return kRealForm;
        case ResourceKind::size:
            return kSizeForm;
        case ResourceKind::duration:
            return kDurationForm;
        case ResourceKind::boolean:
            return kBooleanForm;
        case ResourceKind::string:
        case ResourceKind::string_array:
            break;
    }
    return "a text";
}

std::int64_t amount_sum(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

std::int64_t amount_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return (a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min()
                              : std::numeric_limits<std::int64_t>::max();
}

}  // namespace pbs::values
