// Takes lines from a text.
#pragma once

#include <algorithm>
#include <string_view>

namespace pbs::values {

// Removes the first line from the text, and returns it without its end. The last line's end may be missing.
constexpr std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

}  // namespace pbs::values
