// Non-work days: the server attribute non_work_days.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/recurrence.h"

namespace pbs::rrule {

// The union of the days of some recurrences. A cheap value to copy, empty by default. Answers come from years
// compiled on first use: one thread at a time may ask.
class NonWorkDays {
  public:
    NonWorkDays();

    // The rule that an entry of the attribute is stored as: a recurrence is kept as it is, "MM/DD" becomes
    // FREQ=YEARLY;BYMONTH=MM;BYMONTHDAY=DD (02/29 in leap years) and "MM/DD/YYYY" becomes that day once.
    // Errors: an entry that is neither.
    static Result<std::string> rule_of(std::string_view entry, const Zone& zone);

    // From entries as they are typed or stored (rule_of is applied). An error names the entry.
    static Result<NonWorkDays> parse(std::span<const std::string> entries, const Zone& zone);

    bool empty() const;
    // All zones that the rules depend on; some may be there several times.
    std::vector<Zone> zones() const;
    // Whether a date is one. Dates are those of the rules' own zones, taken as they are written.
    bool contains(LocalDay day) const;
    // The first one on or after a date, if there is one up to the year 9999.
    std::optional<LocalDay> next(LocalDay day) const;
    // All of a year, ascending.
    std::vector<LocalDay> year(std::chrono::year y) const;

    // The first day from which on the days repeat every period_days(): the rules that end are over, and no
    // single dates follow.
    LocalDay periodic_from() const;
    // At most as long as the calendar of iCalendar.
    std::int64_t period_days() const;

    // Recurrence::steps of all rules.
    std::uint64_t steps() const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace pbs::rrule
