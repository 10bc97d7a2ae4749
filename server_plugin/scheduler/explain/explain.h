// Explains why one job starts or waits.
#pragma once

#include "server_plugin/scheduler/framework/cycle.h"

namespace pbs::sched {

// Goes through a cycle without deciding anything, and adds the cycle's findings about the job to the input's
// explanation. REQUIRES: the job is queued.
void explain_job(const CycleInput& input);

// Tests a start of the explained job as test_start() does, and adds the answers of all filters to the input's
// explanation. REQUIRES: CycleInput::tests_start is set.
Decisions explain_start(const CycleInput& input, std::span<const Place> places);

}  // namespace pbs::sched
