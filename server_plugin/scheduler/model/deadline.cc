#include "server_plugin/scheduler/model/deadline.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "values/text.h"

namespace pbs::sched {
namespace {

constexpr std::array<std::size_t, 5> kLengths = {4, 6, 8, 10, 12};  // hhmm to CCYYMMDDhhmm

}  // namespace

std::optional<Instant> parse_deadline(std::string_view text, Instant submitted, const rrule::Zone& zone) {
    using namespace std::chrono;  // NOLINT(google-build-using-namespace): the function is full of its types
    const std::size_t dot = text.find('.');
    const std::string_view digits = text.substr(0, dot);
    const std::string_view second = dot == std::string_view::npos ? "00" : text.substr(dot + 1);
    if (std::ranges::find(kLengths, digits.size()) == kLengths.end() || second.size() != 2 ||
        !std::ranges::all_of(digits, values::is_digit) || !std::ranges::all_of(second, values::is_digit))
        return std::nullopt;
    const auto pair = [](std::string_view two) { return (two[0] - '0') * 10 + (two[1] - '0'); };
    const std::size_t n = digits.size();
    const auto from_end = [&](std::size_t back) { return pair(digits.substr(n - back, 2)); };
    const int seconds_part = pair(second);
    const int minute = from_end(2);
    const int hour = from_end(4);
    if (seconds_part > 59 || minute > 59 || hour > 23) return std::nullopt;
    const auto local = zone.local(submitted);
    const year_month_day today{floor<days>(local)};
    const auto at = [&](year_month_day date) -> std::optional<Instant> {
        if (!date.ok()) return std::nullopt;
        return zone.instant(local_days(date) + hours(hour) + minutes(minute) + seconds(seconds_part));
    };
    const day named_day{n >= 6 ? static_cast<unsigned>(from_end(6)) : 0};
    const month named_month{n >= 8 ? static_cast<unsigned>(from_end(8)) : 0};
    if (n >= 10) {
        const int century = n == 12 ? pair(digits.substr(0, 2)) : 20;
        return at({year(century * 100 + from_end(10)), named_month, named_day});
    }
    // Try later days, months or years until the date exists and the time isn't before the submission.
    // February 29 exists at least once in eight years, and February 30 never.
    constexpr int kMostSteps = 12;
    for (int step = 0; step < kMostSteps; ++step) {
        year_month_day date = today;
        if (n == 4) date = year_month_day(local_days(today) + days(step));
        if (n == 6) {
            const year_month of = year_month(today.year(), today.month()) + months(step);
            date = {of.year(), of.month(), named_day};
        }
        if (n == 8) date = {today.year() + years(step), named_month, named_day};
        if (const auto found = at(date); found && *found >= submitted) return found;
    }
    return std::nullopt;
}

}  // namespace pbs::sched
