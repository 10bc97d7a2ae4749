// Fuzz target of the parser of RFC 5545 rules. It must split the input into values, or refuse it with the
// place of the error. It runs only the parser, so it tries millions of texts in the time in which
// recurrence_fuzz tries thousands.
#include "rrule/rule_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using namespace pbs::rrule;

void require(bool holds) {
    if (!holds) std::abort();
}

// Checks that the values of a rule's part are in their range by RFC 5545, 3.3.10. With `from_end`, negative
// values are allowed, too, which count from the end. 0 is allowed only if `first` is 0.
void require_range(const std::vector<int>& values, int first, int last, bool from_end = false) {
    for (const int value : values)
        require((value >= first && value <= last) ||
                (from_end && value <= -std::max(first, 1) && value >= -last));
}

void require_rfc5545(const text::Rule& rule) {
    require(rule.interval >= 1 && (!rule.count || *rule.count >= 1) && !(rule.count && rule.until));
    require(rule.week_start < 7);
    require_range(rule.by_second, 0, 60);
    require_range(rule.by_minute, 0, 59);
    require_range(rule.by_hour, 0, 23);
    require_range(rule.by_month, 1, 12);
    require_range(rule.by_month_day, 1, 31, true);
    require_range(rule.by_year_day, 1, 366, true);
    require_range(rule.by_week_no, 1, 53, true);
    require_range(rule.by_set_pos, 1, 366, true);
    for (const text::WeekdayNum& day : rule.by_day)
        require(day.weekday < 7 && day.ordinal >= -53 && day.ordinal <= 53);
}

void require_date(const text::DateValue& value) {
    require(!value.is_date || value.local == std::chrono::floor<std::chrono::days>(value.local));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view given(reinterpret_cast<const char*>(data), size);
    const auto parts = text::parse(given, text::Freq::minutely);
    if (!parts) {
        require(!parts.error().message.empty());
        require(!parts.error().position || *parts.error().position <= size);
        return 0;
    }
    require(parts->rule || parts->start || !parts->rdates.empty() || !parts->exdates.empty());
    if (parts->rule) require_rfc5545(*parts->rule);
    if (parts->start) require_date(*parts->start);
    for (const text::DateValue& date : parts->rdates) require_date(date);
    for (const text::DateValue& date : parts->exdates) require_date(date);
    return 0;
}
