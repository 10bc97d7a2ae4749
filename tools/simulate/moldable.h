// Makes the jobs of a trace moldable (--moldable): the scheduler may start each with fewer CPUs than it asked
// for.
#pragma once

#include "tools/simulate/trace.h"

namespace pbs::simulate {

// Lets each job that asks for nothing but CPUs and memory start with any number of CPUs from 1/factor of its
// own on. Its work stays the same, so that it runs as much longer as it has fewer CPUs. Its walltime becomes
// that for the fewest, as its user would have to ask for it. Adds a note to the trace. REQUIRES: `factor` is
// from 1 to 1,000,000.
void make_moldable(Trace& trace, double factor);

}  // namespace pbs::simulate
