// Makes the jobs of a trace moldable (--moldable): the scheduler may start each with fewer CPUs than it asked
// for.
#pragma once

#include "tools/simulate/trace.h"

namespace pbs::simulate {

// Lets each job that asks for nothing but CPUs and memory start with fewer CPUs than it asked for, down to
// 1/factor of them. Its work stays the same: it runs as much longer as it has fewer CPUs. Its walltime
// becomes that for the fewest, as its user would have to ask for it, so that no walltime ends a job; a run
// time that was longer than the walltime is first cut to it. Adds a note to the trace. REQUIRES: `factor` is
// from 1 to 1,000,000.
void make_moldable(Trace& trace, double factor);

}  // namespace pbs::simulate
