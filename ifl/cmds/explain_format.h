// Formats the reasons why a job starts or waits, as pbs_explain prints them.
#pragma once

#include <string>

#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

// The text of a reply of pbs_statexplanation() or pbs_asks(): the job's outcome, its place in the order and
// the tests of the job itself, then each queue with its tests, in their order. Times are in the system's
// zone.
std::string explanation_text(const batch_status* list);

// The reply as one JSON object. Members are named like the attributes; `gates`, `order` and `queues` are
// arrays, numbers are numbers, and times are seconds since the Epoch. Missing values are left out.
std::string explanation_json(const batch_status* list);

}  // namespace pbs::cmds
