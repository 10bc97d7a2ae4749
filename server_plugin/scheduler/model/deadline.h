// Reads the value of the job resource `deadline`.
#pragma once

#include <optional>
#include <string_view>

#include "rrule/zone.h"
#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// Reads a time of the form [[[[CC]YY]MM]DD]hhmm[.SS], as qsub's -a takes it. If parts are left out, returns
// the first time with the given parts that isn't before `submitted`. Two digits of a year mean 2000 to 2099.
// nullopt: the text is no such time.
std::optional<Instant> parse_deadline(std::string_view text, Instant submitted, const rrule::Zone& zone);

}  // namespace pbs::sched
