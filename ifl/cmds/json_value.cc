#include "ifl/cmds/json_value.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace pbs::cmds {

namespace {

// What a double keeps of any decimal number.
constexpr std::size_t kMostDigits = 15;

// Takes digits off the text: how many they were.
std::size_t take_digits(std::string_view& text) {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
}

// Would a reader of the number write the same text?
bool is_shortest_number(std::string_view text) {
    if (text == "-0") {
        return false;
    }
    if (text.starts_with('-')) {
        text.remove_prefix(1);
    }
    const bool leading_zero = text.starts_with('0');
    const std::size_t whole = take_digits(text);
    if (whole == 0 || (leading_zero && whole > 1)) {
        return false;
    }
    std::size_t fraction = 0;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        const bool trailing_zero = text.ends_with('0');
        fraction = take_digits(text);
        if (fraction == 0 || trailing_zero) {
            return false;
        }
    }
    return text.empty() && whole + fraction <= kMostDigits;
}

}  // namespace

nlohmann::ordered_json json_value(std::string_view text) {
    if (is_shortest_number(text)) {
        return nlohmann::ordered_json::parse(text);
    }
    return std::string(text);
}

}  // namespace pbs::cmds
