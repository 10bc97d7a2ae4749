#include "ifl/cmds/text.h"
#include "values/text.h"

#include <algorithm>

#include <fmt/format.h>

#include "values/number.h"
#include "values/text.h"

namespace pbs::cmds {

std::string_view first_word(std::string_view text) {
    text = values::trim(text);
    return text.substr(0,
                       static_cast<std::size_t>(std::ranges::find_if(text, values::is_space) - text.begin()));
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\t' || c == '\n' || (byte >= 0x20 && byte != 0x7f)) {
            out += c;
        } else {
            out += '^';
            out += static_cast<char>(byte ^ 0x40U);
        }
    }
    return out;
}

namespace {
std::string cut(std::string_view text, std::size_t width) {
    if (text.size() <= width || width == 0) return std::string(text);
    return std::string(text.substr(0, width - 1)) + '*';
}
}  // namespace

std::string left(std::string_view text, std::size_t width) {
    return fmt::format("{:<{}}", cut(text, width), width);
}

std::string right(std::string_view text, std::size_t width) {
    return fmt::format("{:>{}}", cut(text, width), width);
}

Result<long long> parse_integer(std::string_view text) {
    std::string_view digits = text;
    if (digits.size() > 1 && digits.front() == '+' && values::is_digit(digits[1])) digits.remove_prefix(1);
    const auto number = values::number<long long>(digits);
    if (!number) return fail(fmt::format("'{}' is not a whole number", text));
    return *number;
}

tl::expected<QuotedValue, QuoteError> take_value(std::string_view text, std::size_t begin) {
    QuotedValue value;
    char quote = '\0';  // the quoting character of this value, once found
    bool inside = false;
    bool just_closed = false;
    std::size_t opened_at = begin;
    std::size_t i = begin;
    for (; i < text.size(); ++i) {
        const char c = text[i];
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && !values::is_space(c)) || byte == 0x7f)
            return tl::unexpected(QuoteError{"control character", i});
        if (inside) {
            inside = c != quote;
            just_closed = !inside;
            if (inside) value.text += c;
            continue;
        }
        const bool opens = (c == '"' || c == '\'') && (quote == '\0' || quote == c || just_closed);
        just_closed = false;
        if (opens) {
            quote = c;
            inside = true;
            opened_at = i;
        } else if (c == ',' || values::is_space(c)) {
            break;
        } else {
            value.text += c;
        }
    }
    if (inside) return tl::unexpected(QuoteError{"no closing quote", opened_at});
    value.end = i;
    return value;
}

std::string quote_value(std::string_view value) {
    std::string text(value);
    for (char& c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\t') || byte == 0x7f) c = ' ';
    }
    // quote a text with a backslash, too: at the end of a line it would join the next line to this one
    if (!text.empty() && text.find_first_of("\"' \t,;#[\\") == std::string::npos) return text;
    if (text.find('"') == std::string::npos) return '"' + text + '"';
    if (text.find('\'') == std::string::npos) return '\'' + text + '\'';
    // both kinds of quotes: parts side by side, each in the kind that it doesn't have
    std::string out;
    char quote = '\0';
    for (const char c : text) {
        const char wanted = c == '"' ? '\'' : c == '\'' ? '"' : quote;
        if (quote == '\0' || wanted != quote) {
            if (quote != '\0') out += quote;
            quote = wanted == '\0' ? '"' : wanted;
            out += quote;
        }
        out += c;
    }
    out += quote;
    return out;
}

namespace {

// Returns whether a "word=", which ends the value before it, is at `at`.
bool begins_pair(std::string_view text, std::size_t at) {
    while (at < text.size() && values::is_space(text[at])) ++at;
    const std::size_t begin = at;
    while (at < text.size() && (values::is_alnum(text[at]) || text[at] == '_')) ++at;
    if (at == begin || !values::is_letter(text[begin])) return false;
    while (at < text.size() && values::is_space(text[at])) ++at;
    return at < text.size() && text[at] == '=';
}

// Returns whether a part of a list ends at `at` without having begun: at a comma or at the end.
bool ends_part(std::string_view text, std::size_t at) {
    while (at < text.size() && values::is_space(text[at])) ++at;
    return at == text.size() || text[at] == ',';
}

// The value of a pair, from `at` on; `at` moves to the comma after it, or to the end.
Result<std::string> take_pair_value(std::string_view text, std::size_t& at) {
    std::string value;
    char quote = '\0';
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quote != '\0') {
            if (c == quote)
                quote = '\0';
            else
                value += c;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == ',' && (begins_pair(text, at + 1) || ends_part(text, at + 1))) {
            break;
        } else {
            value += c;
        }
    }
    if (quote != '\0') return fail(fmt::format("no closing quote in '{}'", text));
    return std::string(values::trim(value));
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> parse_pairs(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> pairs;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t equals = text.find('=', at);
        if (equals == std::string_view::npos || values::trim(text.substr(at, equals - at)).empty())
            return fail(fmt::format("'{}': expected name=value", text.substr(at)));
        const std::string_view name = values::trim(text.substr(at, equals - at));
        if (name.find(',') != std::string_view::npos)
            return fail(fmt::format("'{}': expected name=value before the comma", text.substr(at)));
        at = equals + 1;
        auto value = take_pair_value(text, at);
        if (!value) return tl::unexpected(value.error());
        if (value->empty()) return fail(fmt::format("'{}': expected a value after '{}='", text, name));
        pairs.emplace_back(std::string(name), std::move(*value));
        if (at < text.size() && ++at == text.size())  // the comma before the next pair
            return fail(fmt::format("'{}': nothing follows the comma", text));
    }
    if (pairs.empty()) return fail("expected name=value, found nothing");
    return pairs;
}

}  // namespace pbs::cmds
