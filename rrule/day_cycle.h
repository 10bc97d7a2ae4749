// Days that repeat after a number of days, whatever the calendar says: INTERVAL with MINUTELY, HOURLY,
// DAILY and WEEKLY. Internal to rrule/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rrule/rule_text.h"
#include "rrule/year_days.h"

namespace pbs::rrule {

class DayCycle {
  public:
    // Of the rule's INTERVAL and, with MINUTELY and HOURLY, of its TimeSteps; empty if it leaves out no day,
    // or goes by months or years.
    static std::optional<DayCycle> of(const text::Rule& rule, Local anchor);

    YearDays year(const Year& year) const;

    // Whether a day of this is ever `shift` days before one of the other.
    bool meets(const DayCycle& other, int shift) const;

  private:
    DayCycle(std::int64_t length, const std::vector<std::int64_t>& days);

    std::int64_t length_;
    std::vector<std::int64_t> days_;    // of the cycle that begins with day 0 (1970-01-01)
    std::vector<std::uint64_t> words_;  // a cycle and as many bits as a year has, to be read from any day
};

}  // namespace pbs::rrule
