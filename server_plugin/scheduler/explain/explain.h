// Why one job starts or waits.
#pragma once

#include "server_plugin/scheduler/framework/cycle.h"

namespace pbs::sched {

// Goes through a cycle without deciding anything, and adds to the explanation of the input what it finds of
// the job. The job has to be queued.
void explain_job(const CycleInput& input);

}  // namespace pbs::sched
