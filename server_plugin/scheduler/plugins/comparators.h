// The comparators by which the profiles sort jobs, with comments at the definitions (comparators.cc). To add
// one: a definition there, and a line here.
#pragma once

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {

extern const Comparator kAskedWalltimeOrder;
extern const Comparator kEligibleOrder;
extern const Comparator kFairsharePercOrder;
extern const Comparator kFormulaOrder;
extern const Comparator kWeightedOrder;
extern const Comparator kJobPriorityOrder;
extern const Comparator kNodesOrder;
extern const Comparator kQueueOrder;
extern const Comparator kQueuedOrder;
extern const Comparator kResourceOrder;
extern const Comparator kRunEndOrder;
extern const Comparator kSequenceOrder;
extern const Comparator kSmallQueuedOrder;
extern const Comparator kStarvingOrder;
extern const Comparator kWalltimeOrder;

}  // namespace pbs::sched
