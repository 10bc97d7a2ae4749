// A recurrence rule whose meaning is computed from its definition, day by day: slow, and written without the
// code under test.
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

// A rule of RFC 5545 3.3.10. Without `start` the rule has always recurred, and parts that DTSTART would give
// come from Monday, 1 January 1601.
struct Definition {
    Unit unit = Unit::day;
    int interval = 1;
    std::optional<Local> start;
    Seconds at{0};  // time of day if there is no start: a window's start_time
    std::vector<int> months, month_days, year_days, weeks, hours, minutes, positions;
    std::vector<std::pair<int, unsigned>> week_days;  // ordinal (0: none), weekday (0: Sunday)
    unsigned week_start = 1;

    // The rule's text, with a (floating) DTSTART if there is a start.
    std::string text() const;
    // All occurrences in [from, to), ascending.
    std::vector<Local> occurrences(LocalDay from, LocalDay to) const;
};

// The days of ascending occurrences.
std::vector<LocalDay> days_of(const std::vector<Local>& occurrences);

// A random rule that RFC 5545 allows, with any of the parts that its FREQ may have; the FREQ is `finest` or
// coarser.
Definition random_definition(Random& random, Unit finest = Unit::hour);

}  // namespace pbs::rrule::test
