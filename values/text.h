// ASCII text: characters, words, and the parts between separators.
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace pbs::values {

constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr char upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
    return lower(c) >= 'a' && lower(c) <= 'z';
}
constexpr bool is_alnum(char c) {
    return is_letter(c) || is_digit(c);
}
// Returns whether the character is ASCII white space, line ends included.
constexpr bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

inline std::string lowered(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), lower);
    return result;
}
// The text with a capital letter at its beginning.
inline std::string title(std::string_view text) {
    std::string result(text);
    if (!result.empty()) result[0] = upper(result[0]);
    return result;
}
inline std::string uppered(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), upper);
    return result;
}

// Returns whether the words are equal but for the case of ASCII letters.
constexpr bool same_word(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

// Orders words as same_word() compares them.
struct LessWord {
    using is_transparent = void;
    constexpr bool operator()(std::string_view a, std::string_view b) const {
        return std::ranges::lexicographical_compare(a, b, {}, lower, lower);
    }
};

// The text without white space at its ends.
constexpr std::string_view trim(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

// The parts between separators, as views of the text: one part more than there are separators.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

// The parts between separators, each without white space at its ends; empty parts stay.
inline std::vector<std::string_view> split_trimmed(std::string_view text, char separator) {
    std::vector<std::string_view> parts = split(text, separator);
    std::ranges::transform(parts, parts.begin(), trim);
    return parts;
}

// The words between white space.
inline std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (text = trim(text); !text.empty(); text = trim(text)) {
        const auto end = std::ranges::find_if(text, is_space);
        found.emplace_back(text.begin(), end);
        text.remove_prefix(found.back().size());
    }
    return found;
}

// Returns a number with its noun: "1 record", "2 records".
std::string counted(std::integral auto number, std::string_view noun) {
    return std::to_string(number) + ' ' + std::string(noun) + (number == 1 ? "" : "s");
}

// The text for an errno value, such as "No space left on device".
inline std::string system_text(int error) {
    return std::generic_category().message(error);
}

// Returns whether the text matches the pattern, in which * is any text and ? any character. The time is at
// most O(length of the pattern x length of the text), since users write patterns.
constexpr bool matches_wildcards(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;  // the last * so far, which takes the text before `resume`
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

// Removes the first line from the text, and returns it without its end. The last line's end may be missing.
constexpr std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

}  // namespace pbs::values
