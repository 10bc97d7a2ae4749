#include "rrule/content_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "rrule/plain_text.h"
#include "rrule/rule_text.h"
#include "values/text.h"

namespace pbs::rrule {
namespace {

// A line of a calendar file: NAME[;PARAMETER=VALUE]:VALUE
struct ContentLine {
    std::size_t number = 0;  // of the content line's first line in the file
    std::string_view name;
    std::string_view value;

    bool is(std::string_view property) const { return values::same_word(name, property); }
};

// Splits a line into its parts. A colon in a quoted parameter doesn't end the parameters.
ContentLine taken_apart(std::string_view line, std::size_t number) {
    std::size_t colon = 0;
    for (bool quoted = false; colon < line.size() && (quoted || line[colon] != ':'); ++colon)
        if (line[colon] == '"') quoted = !quoted;
    return {number, line.substr(0, std::min(line.find(';'), colon)),
            line.substr(std::min(line.size(), colon + 1))};
}

// Joins folded lines, and calls `each` with one content line after another, until `each` returns an error.
// Returns that error; nullopt: there was none.
template <class Each>
std::optional<Error> first_error(std::string_view calendar, Each each) {
    std::string line;
    std::size_t begun = 1;
    const auto take = [&] {
        const std::size_t end = line.find_last_not_of(" \t\r") + 1;
        return each(taken_apart(std::string_view(line).substr(0, end), begun));
    };
    for (std::size_t number = 1; !calendar.empty(); ++number) {
        std::string_view piece = values::take_line(calendar);
        if (piece.ends_with('\r')) piece.remove_suffix(1);
        if (piece.starts_with(' ') || piece.starts_with('\t')) {
            line += piece.substr(1);
            continue;
        }
        if (auto error = take()) return error;
        line = piece;
        begun = number;
    }
    return take();
}

std::string shown(std::string_view text) {
    return plain_text(text.substr(0, 64));
}

// Returns whether the text is a duration such as P1W, P2D, P1DT12H or PT30M, with or without a sign (RFC 5545
// 3.3.6). Each number may have six digits.
bool is_duration(std::string_view text) {
    const auto lower = [](char c) { return static_cast<char>(c | 0x20); };
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (text.size() < 3 || lower(text.front()) != 'p' || lower(text.back()) == 't') return false;
    text.remove_prefix(1);
    for (std::string_view units = "wdthms"; !text.empty();) {
        const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
        if (digits > 6 || digits == text.size()) return false;
        const char unit = lower(text[digits]);
        const std::size_t at = units.find(unit);
        const bool needs_t = std::string_view("hms").find(unit) != std::string_view::npos;
        if (at == std::string_view::npos || (digits == 0) != (unit == 't')) return false;
        if (needs_t && units.find('t') != std::string_view::npos) return false;
        units.remove_prefix(at + 1);
        text.remove_prefix(digits + 1);
    }
    return true;
}

// Returns whether the value is an existing date or time, or a period: two of these, or one with a duration.
bool exists(std::string_view value) {
    const std::size_t slash = value.find('/');
    if (!text::written_date(value.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    const std::string_view end = value.substr(slash + 1);
    return text::written_date(end) || is_duration(end);
}

// Returns the first of the separated values for which `good` is false.
template <class Good>
std::optional<std::string_view> first_bad(std::string_view values, char separator, Good good) {
    for (;;) {
        const std::string_view value = values.substr(0, values.find(separator));
        if (!good(value)) return value;
        if (value.size() == values.size()) return std::nullopt;
        values.remove_prefix(value.size() + 1);
    }
}

bool tells_dates(const ContentLine& line) {
    constexpr std::string_view kDates[] = {"DTSTART", "DTEND", "DUE", "RECURRENCE-ID", "RDATE", "EXDATE"};
    return std::ranges::any_of(kDates, [&](std::string_view name) { return line.is(name); });
}

struct WrongDate {
    std::string_view value;
    std::string_view expected;
};

std::optional<WrongDate> wrong_date(const ContentLine& line) {
    constexpr std::string_view kDate =
        "a date YYYYMMDD or a date and time YYYYMMDDTHHMMSS[Z] of the calendar";
    constexpr std::string_view kUntil = "UNTIL=";
    // a property without a value is reported by syntax_error() of icalendar.cc
    if (line.value.empty()) return std::nullopt;
    if (line.is("DURATION") && !is_duration(line.value))
        return WrongDate{line.value, "weeks or days, such as P1W or P2D"};
    std::optional<std::string_view> bad;
    if (tells_dates(line)) bad = first_bad(line.value, ',', exists);
    if (line.is("RRULE"))
        bad = first_bad(line.value, ';', [&](std::string_view part) {
            return !values::same_word(part.substr(0, kUntil.size()), kUntil) ||
                   exists(part.substr(kUntil.size()));
        });
    return bad ? std::optional(WrongDate{*bad, kDate}) : std::nullopt;
}

}  // namespace

std::optional<Error> nesting_error(std::string_view calendar) {
    std::vector<std::string> open;
    return first_error(calendar, [&](const ContentLine& line) -> std::optional<Error> {
        if (line.is("BEGIN")) open.emplace_back(line.value);
        if (!line.is("END")) return std::nullopt;
        if (open.empty() || !values::same_word(open.back(), line.value))
            return Error{
                fmt::format("line {}: 'END:{}' is out of place; expected {}", line.number, shown(line.value),
                            open.empty() ? "BEGIN:VCALENDAR before it" : "END:" + shown(open.back())),
                std::nullopt};
        open.pop_back();
        return std::nullopt;
    });
}

std::optional<Error> date_error(std::string_view calendar) {
    std::vector<std::string> open;
    return first_error(calendar, [&](const ContentLine& line) -> std::optional<Error> {
        if (line.is("BEGIN")) open.emplace_back(line.value);
        if (line.is("END") && !open.empty()) open.pop_back();
        const auto wrong = wrong_date(line);
        if (!wrong) return std::nullopt;
        return Error{fmt::format("line {}: '{}' in the {} of a {} is not valid; expected {}", line.number,
                                 shown(wrong->value), shown(line.name),
                                 open.empty() ? "calendar" : shown(open.back()), wrong->expected),
                     std::nullopt};
    });
}

}  // namespace pbs::rrule
