// The text of a recurrence, taken apart. Internal to rrule/.
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
    Local local;               // what is written; midnight for a DATE
    bool is_date = false;      // written without a time
    std::optional<Zone> zone;  // from TZID or Z; empty when floating
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

// Everything that one text holds.
struct Parts {
    std::optional<Rule> rule;
    std::optional<DateValue> start;  // DTSTART
    std::vector<DateValue> rdates;
    std::vector<DateValue> exdates;
};

// Lines are separated by newlines or spaces. Errors carry the position in `text`. A frequency below `finest`
// is refused.
Result<Parts> parse(std::string_view text, Freq finest);

// A DATE or DATE-TIME as it is written, of any year; empty for one that doesn't exist, as 20270230 or
// 20270101T250000. A leap second is the second before it.
struct WrittenDate {
    Local local;
    bool is_date = false;
    bool is_utc = false;  // Z behind it
};
std::optional<WrittenDate> written_date(std::string_view text);

// The two letters of a weekday.
std::string_view weekday_name(unsigned weekday);

}  // namespace pbs::rrule::text
