// Decides which jobs to preempt, and for which job.

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {

extern const Decide kPreemptionsDecide;
const Decide kPreemptionsDecide{.name = "preemptions", .decide = [](Outcome& outcome) {
                                    for (const Preempted& preempted : outcome.cycle().preempted)
                                        outcome.preempt(preempted);
                                }};

}  // namespace pbs::sched
