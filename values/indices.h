// Indices of the subjobs of a job array: "7", "1-9", "1-9:2", and lists of these, "1-9:2,12".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "values/number.h"
#include "values/text.h"

namespace pbs::values {

inline constexpr std::int64_t kLargestIndex = 2147483647;

// A range of indices: first, first + step, and so on, not above `last`. `last` itself needn't be an index.
struct IndexRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t step = 1;

    constexpr std::int64_t count() const { return (last - first) / step + 1; }
    constexpr bool contains(std::int64_t index) const {
        return index >= first && index <= last && (index - first) % step == 0;
    }
    // Returns whether all indices of the other range are in this one.
    constexpr bool contains(const IndexRange& other) const {
        return contains(other.first) && contains(other.first + (other.count() - 1) * other.step) &&
               (other.count() == 1 || other.step % step == 0);
    }
    bool operator==(const IndexRange&) const = default;
};

// Reads decimal digits, a number of at most kLargestIndex.
inline std::optional<std::int64_t> parse_index(std::string_view text) {
    const auto index = digits<std::int64_t>(text);
    return index && *index <= kLargestIndex ? index : std::nullopt;
}

// Reads "X", "X-Y" or "X-Y:Z" with X < Y and Z > 0, as OpenPBS does, without white space.
inline std::optional<IndexRange> parse_index_range(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = parse_index(text.substr(0, dash));
    if (!first) return std::nullopt;
    if (dash == std::string_view::npos) return IndexRange{*first, *first, 1};
    const std::string_view behind = text.substr(dash + 1);
    const std::size_t colon = behind.find(':');
    const auto last = parse_index(behind.substr(0, colon));
    const auto step = colon == std::string_view::npos ? 1 : parse_index(behind.substr(colon + 1));
    if (!last || *last <= *first || !step || *step < 1) return std::nullopt;
    return IndexRange{*first, *last, *step};
}

// Reads a list of ranges with commas between them, at least one range.
inline std::optional<std::vector<IndexRange>> parse_index_list(std::string_view text) {
    std::vector<IndexRange> ranges;
    for (const std::string_view part : split(text, ',')) {
        const auto range = parse_index_range(part);
        if (!range) return std::nullopt;
        ranges.push_back(*range);
    }
    return ranges;
}

inline std::string index_range_text(const IndexRange& range) {
    std::string text = std::to_string(range.first);
    if (range.first < range.last) text += '-' + std::to_string(range.last);
    if (range.step != 1) text += ':' + std::to_string(range.step);
    return text;
}

inline std::string index_list_text(const std::vector<IndexRange>& ranges) {
    std::string text;
    for (const IndexRange& range : ranges) {
        if (!text.empty()) text += ',';
        text += index_range_text(range);
    }
    return text;
}

// Returns whether the id is that of a job array or of a subjob, such as "12[].server" or "12[7].server".
constexpr bool is_of_array(std::string_view id) {
    return id.find('[') != std::string_view::npos;
}

// The index in the id of a subjob; -1: the id of any other job.
inline std::int64_t index_in(std::string_view id) {
    if (!is_of_array(id)) return -1;
    id.remove_prefix(id.find('[') + 1);
    return parse_index(id.substr(0, id.find(']'))).value_or(-1);
}

}  // namespace pbs::values
