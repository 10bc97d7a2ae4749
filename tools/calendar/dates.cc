#include "tools/calendar/dates.h"

#include <fmt/format.h>

#include <optional>

#include "values/number.h"

namespace pbs::calendar {
namespace {

// Removes exactly `width` digits, and then `end` (unless it is NUL), from the front of the text, and returns
// the digits' value. nullopt: something else is there.
std::optional<int> take(std::string_view& text, std::size_t width, char end) {
    if (text.size() < width) return std::nullopt;
    const auto value = values::digits<int>(text.substr(0, width));
    if (!value) return std::nullopt;
    text.remove_prefix(width);
    if (end == '\0') return value;
    if (text.empty() || text.front() != end) return std::nullopt;
    text.remove_prefix(1);
    return value;
}

std::optional<rrule::Seconds> time_of_day(std::string_view text) {
    if (text.empty()) return rrule::Seconds(0);
    text.remove_prefix(1);  // the blank or T
    const auto hour = take(text, 2, ':');
    const auto minute = hour ? take(text, 2, '\0') : std::nullopt;
    if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
    const rrule::Seconds time = std::chrono::hours(*hour) + std::chrono::minutes(*minute);
    if (text.empty()) return time;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
    const auto second = take(text, 2, '\0');
    if (!second || *second > 59 || !text.empty()) return std::nullopt;
    return time + rrule::Seconds(*second);
}

bool in_range(std::chrono::year year) {
    return year >= std::chrono::year(1601) && year <= std::chrono::year(9998);
}

}  // namespace

Result<rrule::Instant> parse_time(std::string_view text, const rrule::Zone& zone) {
    const auto bad = [&] {
        return tl::unexpected(fmt::format(
            "bad time '{}': expected YYYY-MM-DD, YYYY-MM-DD HH:MM or YYYY-MM-DD HH:MM:SS, in the years "
            "1601 to 9998",
            text));
    };
    std::string_view rest = text;
    const auto year = take(rest, 4, '-');
    const auto month = year ? take(rest, 2, '-') : std::nullopt;
    const auto day = month ? take(rest, 2, '\0') : std::nullopt;
    if (!day || (!rest.empty() && rest.front() != ' ' && rest.front() != 'T')) return bad();
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    const auto time = time_of_day(rest);
    if (!date.ok() || !in_range(date.year()) || !time) return bad();
    return zone.instant(rrule::LocalDay(date) + *time);
}

Result<std::chrono::year_month> parse_month(std::string_view text) {
    std::string_view rest = text;
    const auto year = take(rest, 4, '-');
    const auto month = year ? take(rest, 2, '\0') : std::nullopt;
    const std::chrono::year_month result{std::chrono::year(year.value_or(0)),
                                         std::chrono::month(static_cast<unsigned>(month.value_or(0)))};
    if (!month || !rest.empty() || !result.ok() || !in_range(result.year()))
        return tl::unexpected(
            fmt::format("bad month '{}': expected YYYY-MM, in the years 1601 to 9998", text));
    return result;
}

}  // namespace pbs::calendar
