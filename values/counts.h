// Reads numbers by words, as in PBS's state_count: "Transit:0 Queued:3 Held:0".
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "values/number.h"
#include "values/text.h"

namespace pbs::values {

// Returns the words with their numbers, in the order of the text. Parts without a number are left out.
inline std::vector<std::pair<std::string_view, std::int64_t>> counts(std::string_view text) {
    std::vector<std::pair<std::string_view, std::int64_t>> found;
    for (const std::string_view part : words(text)) {
        const std::size_t colon = part.find(':');
        if (colon == std::string_view::npos) continue;
        if (const auto count = number<std::int64_t>(part.substr(colon + 1)))
            found.emplace_back(part.substr(0, colon), *count);
    }
    return found;
}

// Returns the number of a word; 0 if it has none.
inline std::int64_t count_of(std::string_view text, std::string_view word) {
    for (const auto& [of, count] : counts(text))
        if (of == word) return count;
    return 0;
}

}  // namespace pbs::values
