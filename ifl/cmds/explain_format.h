// Why a job starts or waits, as pbs_explain shows it.
#pragma once

#include <string>

#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

// From a reply of pbs_statexplanation(): first what comes of the job and its place in the order, then each
// queue with every gate, in the order of the tests. Times are those of the system's zone.
std::string explanation_text(const batch_status* list);

// The same as one JSON object: the members are named as the attributes; `gates`, `order` and `queues` are
// arrays, numbers are numbers, and earliest_start and expected_start are seconds since the Epoch. What isn't
// there is left out.
std::string explanation_json(const batch_status* list);

}  // namespace pbs::cmds
