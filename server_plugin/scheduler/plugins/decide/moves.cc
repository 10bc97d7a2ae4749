// SCHED_RESTART_ACTION resubmit: moves jobs back to the queue of their submission.

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

void decide_moves(Outcome& outcome) {
    const CycleContext& cycle = outcome.cycle();
    for (const auto& [job, queue] : cycle.moves)
        outcome.out().list.push_back({DecisionKind::move,
                                      cycle.tables.jobs.handle[job],
                                      cycle.tables.queues[queue].handle,
                                      {},
                                      {},
                                      {}});
}

}  // namespace

extern const Decide kMovesDecide;
const Decide kMovesDecide{.name = "moves", .decide = decide_moves};

}  // namespace pbs::sched
