// Describes days that recur after a fixed number of days, whatever the calendar says. INTERVAL selects such
// days with MINUTELY, HOURLY, DAILY and WEEKLY. Internal to rrule/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rrule/rule_text.h"
#include "rrule/year_days.h"

namespace pbs::rrule {

class DayCycle {
  public:
    // The cycle of the rule's INTERVAL and, with MINUTELY and HOURLY, of its DaySteps; nullopt if the cycle
    // leaves out no day, or the rule goes by months or years.
    static std::optional<DayCycle> of(const text::Rule& rule, Local anchor);

    YearDays year(const Year& year) const;

    // Returns whether some day of this cycle is `shift` days before some day of the other cycle.
    bool meets(const DayCycle& other, int shift) const;

  private:
    DayCycle(std::int64_t length, const std::vector<std::int64_t>& days);

    std::int64_t length_;
    std::vector<std::int64_t> days_;    // days of the cycle, which begins with day 0 (1970-01-01)
    std::vector<std::uint64_t> words_;  // bits of one cycle, and of a year after it, so that a year can be
                                        // read from any day on
};

}  // namespace pbs::rrule
