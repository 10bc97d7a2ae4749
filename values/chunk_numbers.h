// Reads the numbers of chunks that a job may have, as its resource select_range has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "values/number.h"
#include "values/text.h"

namespace pbs::values {

struct ChunkNumbers {
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::int64_t step = 1;
};

inline constexpr std::int64_t kMostChunks = 10'000'000;
inline constexpr std::string_view kChunkNumbersForm =
    "a range such as 4-16, 4-16:4 or 4-, or several with commas between";

// Reads a number of chunks, from 1 to kMostChunks.
inline std::optional<std::int64_t> number_of_chunks(std::string_view text) {
    const auto read = number<std::int64_t>(text);
    return read && *read >= 1 && *read <= kMostChunks ? read : std::nullopt;
}

// Reads "4-16", "4-16:4" (each fourth), "4-" (4 or more), or several, as "2,4,8-16". nullopt: it is none of
// these, has numbers outside 1 to kMostChunks, or more than 100 parts.
inline std::optional<std::vector<ChunkNumbers>> parse_chunk_numbers(std::string_view text) {
    constexpr std::size_t kMostParts = 100;
    std::vector<ChunkNumbers> parts;
    for (std::string_view part : split(text, ',')) {
        if (parts.size() == kMostParts) return std::nullopt;
        ChunkNumbers read;
        if (const auto colon = part.find(':'); colon != std::string_view::npos) {
            const auto step = number_of_chunks(part.substr(colon + 1));
            if (!step || part.find('-') == std::string_view::npos) return std::nullopt;
            read.step = *step;
            part = part.substr(0, colon);
        }
        const auto dash = std::min(part.find('-'), part.size());
        const auto low = number_of_chunks(part.substr(0, dash));
        const bool open = dash + 1 == part.size();
        const auto high = dash == part.size() ? low
                          : open              ? std::optional(kMostChunks)
                                              : number_of_chunks(part.substr(dash + 1));
        if (!low || !high || *high < *low) return std::nullopt;
        read.low = *low;
        read.high = *high;
        parts.push_back(read);
    }
    return parts;
}

}  // namespace pbs::values
