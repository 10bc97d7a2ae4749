// Computes the times of a reservation. A standing reservation has a rule, and so several times.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/window.h"

namespace pbs::calendar {

struct ReservationTime {
    rrule::Interval when;
    std::string vnodes;  // the place then: "(n1:ncpus=2)+(n2:ncpus=2)"
};

/// Returns the value of an attribute of the reservation; empty: not set.
using AttributeOf = std::function<std::string_view(std::string_view name)>;

/// Returns the present or next time of the reservation, and the later occurrences of a standing one. The
/// occurrences are counted from series_start, which servers of pbspolicy report, or else from reserve_start.
/// Empty: the reservation has no time. If the rule or its zone can't be read, there are no later occurrences.
std::vector<ReservationTime> reservation_times(const AttributeOf& value);

}  // namespace pbs::calendar
