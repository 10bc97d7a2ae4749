// Splits lists that a user has typed into elements.

#include <fmt/format.h>

#include <algorithm>

#include "objects/value.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

// Removes the first element, up to the next comma outside quotes, from `text` and returns it.
Result<std::string> take_element(std::string_view what, std::string_view& text) {
    text = values::trim(text);
    const char quote = text.empty() ? '\0' : text.front();
    if (quote != '"' && quote != '\'') {
        const std::size_t end = std::min(text.find(','), text.size());
        std::string element(values::trim(text.substr(0, end)));
        text.remove_prefix(end);
        return element;
    }
    const std::size_t close = text.find(quote, 1);
    if (close == std::string_view::npos) {
        return fail(Code::bad_value,
                    fmt::format("{}: bad value '{}': expected a closing {}", what, text, quote));
    }
    std::string element(text.substr(1, close - 1));
    text.remove_prefix(close + 1);
    text = values::trim(text);
    if (!text.empty() && text.front() != ',') {
        return fail(Code::bad_value,
                    fmt::format("{}: expected a comma after the quoted element \"{}\", found '{}'", what,
                                element, text));
    }
    return element;
}

// Returns whether this piece, which follows a comma, begins another recurrence. If not, it continues a list
// such as BYDAY=MO,TU.
bool begins_rule(std::string_view piece) {
    piece = values::trim(piece);
    const std::size_t end = piece.find_first_of("=:;/ ");
    if (end == std::string_view::npos) return false;
    const std::string_view word = piece.substr(0, end);
    const char next = piece[end];
    if (next == '/') return !word.empty() && std::ranges::all_of(word, values::is_digit);
    static constexpr std::string_view kLines[] = {"RRULE", "DTSTART", "RDATE", "EXDATE", "EXRULE"};
    const bool line =
        std::ranges::any_of(kLines, [&](std::string_view l) { return values::same_word(l, word); });
    if (next == ':' || next == ';') return line;
    // Take WORD= as the beginning of a rule (FREQ=, BYDAY=): values in a list never contain an equals sign.
    return next == '=' && !word.empty() && std::ranges::all_of(word, values::is_letter);
}

}  // namespace

bool is_escaped(std::string_view text, std::size_t at) {
    std::size_t first = at;
    while (first > 0 && text[first - 1] == '\\') --first;
    return (at - first) % 2 == 1;
}

Result<StringList> split_list(std::string_view what, std::string_view whole) {
    std::string_view text = whole;
    StringList list;
    for (;;) {
        Result<std::string> element = take_element(what, text);
        if (!element) return tl::unexpected(element.error());
        if (element->empty()) {
            return fail(
                Code::bad_value,
                fmt::format("{}: bad value '{}': an element is empty, expected elements separated by commas",
                            what, whole));
        }
        list.push_back(std::move(*element));
        if (text.empty()) return list;
        text.remove_prefix(1);  // the comma
    }
}

Result<StringList> split_rules(std::string_view what, std::string_view typed) {
    // Replace line ends by blanks, because a line end separates only the lines of one recurrence.
    std::string line(typed);
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    const std::string_view whole = line;
    std::string_view text = line;
    StringList list;
    for (;;) {
        std::size_t comma = text.find(',');
        while (comma != std::string_view::npos &&
               (is_escaped(text, comma) || !begins_rule(text.substr(comma + 1)))) {
            comma = text.find(',', comma + 1);
        }
        const std::string_view rule = values::trim(text.substr(0, comma));
        if (rule.empty())
            return fail(
                Code::bad_value,
                fmt::format("{}: bad value '{}': an element is empty, expected elements separated by commas",
                            what, whole));
        list.emplace_back(rule);
        if (comma == std::string_view::npos) return list;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace pbs::objects
