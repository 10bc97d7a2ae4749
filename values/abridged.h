// Shortens long texts for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pbs::values {

// Returns the text or, if it has more than `most` bytes, its beginning and its end with " ... " between them,
// each half as long, in whole characters of UTF-8.
inline std::string abridged(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    const auto goes_on = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
    };
    std::size_t end = most / 2;
    std::size_t begin = text.size() - most / 2;
    for (int i = 0; i < 3 && goes_on(end) && end > 0; ++i) --end;
    for (int i = 0; i < 3 && begin < text.size() && goes_on(begin); ++i) ++begin;
    return std::string(text.substr(0, end)) + " ... " + std::string(text.substr(begin));
}

}  // namespace pbs::values
