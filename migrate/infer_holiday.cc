#include "migrate/infer_holiday.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "migrate/words.h"
#include "rrule/rule_text.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::weekday;
using std::chrono::year;
using std::chrono::year_month_day;

// A holiday that is recognised by words that must all be in the description. With a weekday it is the nth
// such day of the month (-1: the last), without one a date. `after` is a number of days to add: 1 for the
// Friday after Thanksgiving.
struct KnownHoliday {
    std::array<std::string_view, 2> words;
    unsigned month;
    unsigned day;  // for a holiday on a date
    int nth;       // for a holiday on a weekday: which one of the month
    int weekday;   // 0 is Sunday; -1: a date
    int after;
};

// More specific names stand first, so that "day after Thanksgiving" isn't taken for Thanksgiving.
constexpr auto kKnown = std::to_array<KnownHoliday>({
    {{"after", "thanksgiving"}, 11, 0, 4, 4, 1}, {{"friday", "thanksgiving"}, 11, 0, 4, 4, 1},
    {{"thanksgiving", ""}, 11, 0, 4, 4, 0},      {{"new", "year's eve"}, 12, 31, 0, -1, 0},
    {{"new", "years eve"}, 12, 31, 0, -1, 0},    {{"new", "year"}, 1, 1, 0, -1, 0},
    {{"martin", "luther"}, 1, 0, 3, 1, 0},       {{"mlk", ""}, 1, 0, 3, 1, 0},
    {{"president", ""}, 2, 0, 3, 1, 0},          {{"washington", ""}, 2, 0, 3, 1, 0},
    {{"memorial", ""}, 5, 0, -1, 1, 0},          {{"juneteenth", ""}, 6, 19, 0, -1, 0},
    {{"independence", ""}, 7, 4, 0, -1, 0},      {{"labor", ""}, 9, 0, 1, 1, 0},
    {{"columbus", ""}, 10, 0, 2, 1, 0},          {{"indigenous", ""}, 10, 0, 2, 1, 0},
    {{"veteran", ""}, 11, 11, 0, -1, 0},         {{"christmas", "eve"}, 12, 24, 0, -1, 0},
    {{"christmas", ""}, 12, 25, 0, -1, 0},       {{"boxing", ""}, 12, 26, 0, -1, 0},
    {{"labour", "may"}, 5, 1, 0, -1, 0},         {{"may day", ""}, 5, 1, 0, -1, 0},
    {{"all", "saints"}, 11, 1, 0, -1, 0},        {{"german unity", ""}, 10, 3, 0, -1, 0},
    {{"bastille", ""}, 7, 14, 0, -1, 0},         {{"epiphany", ""}, 1, 6, 0, -1, 0},
    {{"assumption", ""}, 8, 15, 0, -1, 0},
});

constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};

std::string_view ordinal(int nth) {
    constexpr std::array<std::string_view, 4> kOrdinals = {"first", "second", "third", "fourth"};
    return nth < 0 ? "last" : kOrdinals.at(static_cast<std::size_t>(nth) - 1);
}

const KnownHoliday* find_known(const std::string& description) {
    const std::string text = values::lowered(description);
    const auto* found = std::ranges::find_if(kKnown, [&](const KnownHoliday& known) {
        return std::ranges::all_of(
            known.words, [&](std::string_view word) { return text.find(word) != std::string::npos; });
    });
    return found == kKnown.end() ? nullptr : found;
}

sys_days date_of(const KnownHoliday& known, year y) {
    const month m{known.month};
    if (known.weekday < 0) return sys_days{y / m / day{known.day}};
    const weekday w{static_cast<unsigned>(known.weekday)};
    const sys_days found = known.nth < 0 ? sys_days{y / m / w[std::chrono::last]}
                                         : sys_days{y / m / w[static_cast<unsigned>(known.nth)]};
    return found + std::chrono::days{known.after};
}

bool falls_on(const KnownHoliday& known, int y, int day_of_year) {
    return (date_of(known, year{y}) - sys_days{year{y} / 1 / 1}).count() + 1 == day_of_year;
}

// Returns whether the holiday can fall on the line's day. If the year is unknown, tries 28 years: after these
// the calendar repeats itself, except at centuries.
bool may_be(const KnownHoliday& known, const HolidayLine& holiday) {
    if (holiday.year != 0) return falls_on(known, holiday.year, holiday.day_of_year);
    for (int y = 2000; y < 2028; ++y)
        if (falls_on(known, y, holiday.day_of_year)) return true;
    return false;
}

Proposal proposal_of(const KnownHoliday& known) {
    const std::string_view name = kMonths.at(known.month - 1);
    if (known.weekday < 0)
        return {fmt::format("FREQ=YEARLY;BYMONTH={};BYMONTHDAY={}", known.month, known.day),
                fmt::format("{} {}", name, known.day)};
    const auto weekday = static_cast<std::size_t>(known.weekday);
    std::string words = fmt::format("the {} {} of {}", ordinal(known.nth), kWeekdays.at(weekday), name);
    if (known.after == 0)
        return {fmt::format("FREQ=YEARLY;BYMONTH={};BYDAY={}{}", known.month, known.nth,
                            rrule::text::weekday_name(static_cast<unsigned>(weekday))),
                std::move(words)};
    // RFC 5545 has no rule for "the day after the nth weekday". But that day has seven possible dates, so the
    // rule names its weekday and these dates.
    std::string days;
    for (int i = 1; i <= 7; ++i)
        days += fmt::format("{}{}", i == 1 ? "" : ",", 7 * (known.nth - 1) + known.after + i);
    const std::size_t next = (weekday + static_cast<std::size_t>(known.after)) % 7;
    return {fmt::format("FREQ=YEARLY;BYMONTH={};BYDAY={};BYMONTHDAY={}", known.month,
                        rrule::text::weekday_name(static_cast<unsigned>(next)), days),
            fmt::format("the {} after {}", kWeekdays.at(next), words)};
}

// Month and day at the beginning of a description, and the length of the text that has them.
struct Date {
    std::chrono::month month;
    std::chrono::day day;
    std::size_t length;
};
std::optional<Date> date_of(const HolidayLine& holiday) {
    const auto words = words_of(holiday.description, '\n');
    if (words.size() < 2) return std::nullopt;
    const auto named = std::ranges::find_if(kMonths, [&](std::string_view name) {
        std::string_view word = words[0].text;
        if (word.ends_with('.')) word.remove_suffix(1);
        return word.size() >= 3 && values::lowered(name).starts_with(values::lowered(word));
    });
    std::string_view digits = words[1].text;
    while (digits.ends_with(',') || digits.ends_with('.')) digits.remove_suffix(1);
    const unsigned number = values::digits<unsigned>(digits).value_or(0);
    if (named == kMonths.end() || number == 0 || number > 31) return std::nullopt;
    return Date{month{static_cast<unsigned>(named - kMonths.begin()) + 1}, day{number},
                static_cast<std::size_t>(words[1].column) - 1 + words[1].text.size()};
}

}  // namespace

std::optional<Proposal> propose_rule(const HolidayLine& holiday) {
    const KnownHoliday* known = find_known(holiday.description);
    if (known == nullptr || !may_be(*known, holiday)) return std::nullopt;
    return proposal_of(*known);
}

std::string name_of(const HolidayLine& holiday) {
    const auto date = date_of(holiday);
    const std::string_view text = std::string_view(holiday.description).substr(date ? date->length : 0);
    const auto from = text.find_first_not_of(" ,-:*#");
    return from == std::string_view::npos ? std::string() : std::string(text.substr(from));
}

std::optional<std::string> date_mismatch(const HolidayLine& holiday) {
    const auto date = date_of(holiday);
    if (!date) return std::nullopt;
    // Without a year, check a common year (2025) and a leap year (2024).
    const std::array<int, 2> years = {holiday.year != 0 ? holiday.year : 2025,
                                      holiday.year != 0 ? holiday.year : 2024};
    for (const int y : years)
        if (year_month_day{sys_days{year{y} / 1 / 1} + std::chrono::days{holiday.day_of_year - 1}} ==
            year{y} / date->month / date->day)
            return std::nullopt;
    const year_month_day is{sys_days{year{years[0]} / 1 / 1} + std::chrono::days{holiday.day_of_year - 1}};
    return fmt::format("day {}{} is {} {}", holiday.day_of_year,
                       holiday.year == 0 ? "" : fmt::format(" of {}", holiday.year),
                       kMonths.at(static_cast<unsigned>(is.month()) - 1), static_cast<unsigned>(is.day()));
}

}  // namespace pbs::migrate
