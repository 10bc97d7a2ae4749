// Splits lines into words with their columns. Internal to migrate/.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "values/text.h"

namespace pbs::migrate {

struct Word {
    std::string_view text;
    int column;  // counted from 1
};

// Splits a line into words, up to the character that begins a comment. Carriage returns are white space.
inline std::vector<Word> words_of(std::string_view line, char comment) {
    constexpr std::string_view kSpace = " \t\r\v\f";
    line = line.substr(0, line.find(comment));
    std::vector<Word> out;
    for (auto from = line.find_first_not_of(kSpace); from != std::string_view::npos;) {
        const auto end = std::min(line.find_first_of(kSpace, from), line.size());
        out.push_back({line.substr(from, end - from), static_cast<int>(from) + 1});
        from = line.find_first_not_of(kSpace, end);
    }
    return out;
}

// Calls visit(line, number) for each line of a text. The last newline may be missing; a byte order mark is
// skipped.
template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    for (int number = 1; !text.empty(); ++number) visit(values::take_line(text), number);
}

// A line joined with the lines that continue it after a backslash, and the number of the first of them.
struct LogicalLine {
    std::string text;
    int number = 0;
};

inline std::vector<LogicalLine> logical_lines(std::string_view text) {
    std::vector<LogicalLine> out;
    bool goes_on = false;
    for_each_line(text, [&](std::string_view line, int number) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!goes_on) out.push_back({{}, number});
        goes_on = line.ends_with('\\');
        if (goes_on) line.remove_suffix(1);
        out.back().text += line;
    });
    return out;
}

// Returns a text for a message of one line: unprintable bytes become '?', and it is cut off after `longest`
// characters.
inline std::string in_line(std::string_view text, std::size_t longest) {
    std::string out;
    for (const char c : text.substr(0, longest)) out += c >= ' ' && c <= '~' ? c : '?';
    return text.size() > longest ? out + "..." : out;
}

// Returns text from a file for a message of one line, cut off after 60 characters.
inline std::string printable(std::string_view text) {
    return in_line(text, 60);
}

inline std::string in_quotes(std::string_view text) {
    return "'" + printable(text) + "'";
}

}  // namespace pbs::migrate
