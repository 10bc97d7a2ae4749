// Reads the text of a recurrence into its parts. Internal to rrule/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/zone.h"

namespace pbs::rrule::text {

enum class Freq { minutely, hourly, daily, weekly, monthly, yearly };

// A DATE or DATE-TIME value (RFC 5545 3.3.4, 3.3.5).
struct DateValue {
    Local local;               // as written; midnight for a DATE
    bool is_date = false;      // written without a time
    std::optional<Zone> zone;  // from TZID or Z; nullopt: floating
};

struct WeekdayNum {
    int ordinal;       // 2 in 2MO, -1 in -1FR, 0 in MO
    unsigned weekday;  // 0 is Sunday
};

// A RECUR value (RFC 5545 3.3.10). Lists keep the order of the text.
struct Rule {
    Freq freq = Freq::daily;
    std::int64_t interval = 1;
    std::optional<std::int64_t> count;
    std::optional<DateValue> until;
    unsigned week_start = 1;
    std::vector<int> by_second, by_minute, by_hour, by_month_day, by_year_day, by_week_no, by_month,
        by_set_pos;
    std::vector<WeekdayNum> by_day;
};

// The parts of a recurrence's text.
struct Parts {
    std::optional<Rule> rule;
    std::optional<DateValue> start;  // DTSTART
    std::vector<DateValue> rdates;
    std::vector<DateValue> exdates;
};

// Parses a recurrence, whose lines are separated by newlines or spaces. Refuses a FREQ finer than `finest`.
// Errors carry the position in `text`.
Result<Parts> parse(std::string_view text, Freq finest);

// A DATE or DATE-TIME as it is written, of any year.
struct WrittenDate {
    Local local;
    bool is_date = false;
    bool is_utc = false;  // with a Z at its end
};
// Reads a date. Returns nullopt for one that doesn't exist, such as 20270230 or 20270101T250000. A leap
// second becomes the second before it.
std::optional<WrittenDate> written_date(std::string_view text);

// The two letters of a weekday, such as "MO".
std::string_view weekday_name(unsigned weekday);

}  // namespace pbs::rrule::text
