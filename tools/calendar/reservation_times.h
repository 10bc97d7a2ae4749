// The times of a reservation: those of a standing one follow from its rule.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/window.h"

namespace pbs::calendar {

struct ReservationTime {
    rrule::Interval when;
    std::string vnodes;  // "(n1:ncpus=2)+(n2:ncpus=2)": what it has of vnodes then
};

/// Returns the value of an attribute of the reservation; empty if it has none.
using AttributeOf = std::function<std::string_view(std::string_view name)>;

/// The time at which the reservation is, or begins next, and of a standing one the occurrences after that.
/// Later ones count from series_start, which servers of pbspolicy tell, or from reserve_start. Empty: it has
/// no time. Where the rule or its zone can't be read here there are no later ones.
std::vector<ReservationTime> reservation_times(const AttributeOf& value);

}  // namespace pbs::calendar
