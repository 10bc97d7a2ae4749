// Definition, a recurrence rule whose occurrences are computed directly from RFC 5545, day by day. This is
// slow, but uses none of the code that it tests.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/rrule/support.h"

namespace pbs::rrule::test {

using Random = std::mt19937;

inline int pick(Random& random, int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
}

enum class Unit { minute, hour, day, week, month, year };

// A rule of RFC 5545, 3.3.10. A rule without `start` has occurred since the beginning of the calendar. Parts
// that DTSTART would give are then those of Monday, 1 January 1601.
struct Definition {
    Unit unit = Unit::day;
    int interval = 1;
    std::optional<Local> start;
    Seconds at{0};  // time of day of the occurrences if there is no start: a window's start_time
    std::vector<int> months, month_days, year_days, weeks, hours, minutes, positions;
    std::vector<std::pair<int, unsigned>> week_days;  // pairs of ordinal (0: none) and weekday (0: Sunday)
    unsigned week_start = 1;

    // Returns the rule as text, with a DTSTART in local time if it has a start.
    std::string text() const;
    // Returns all occurrences in [from, to), in ascending order.
    std::vector<Local> occurrences(LocalDay from, LocalDay to) const;
};

// Returns the days of occurrences, which have to be in ascending order.
std::vector<LocalDay> days_of(const std::vector<Local>& occurrences);

// Returns a random rule that RFC 5545 allows, with any parts that its FREQ may have. The FREQ is `finest` or
// a longer unit.
Definition random_definition(Random& random, Unit finest = Unit::hour);

}  // namespace pbs::rrule::test
