// The limits on what running jobs use together, with comments at the definitions (limits.cc). To add one: a
// row there, and a line here.
#pragma once

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {

extern const Filter kMaxRunningFilter;
extern const Filter kQueueUserLimitFilter;
extern const Filter kQueueGroupLimitFilter;
extern const Filter kQueueNodesFilter;
extern const Filter kQueueResourcesFilter;
extern const Filter kQueueMaxRunFilter;
extern const Filter kQueueMaxRunUserFilter;
extern const Filter kQueueMaxRunGroupFilter;
extern const Filter kQueueMaxRunProjectFilter;
extern const Filter kQueueMaxRunResFilter;
extern const Filter kQueueMaxRunResUserFilter;
extern const Filter kQueueMaxRunResGroupFilter;
extern const Filter kQueueMaxRunResProjectFilter;
extern const Filter kServerMaxRunningFilter;
extern const Filter kServerUserLimitFilter;
extern const Filter kServerGroupLimitFilter;
extern const Filter kServerResourcesFilter;
extern const Filter kServerMaxRunFilter;
extern const Filter kServerMaxRunUserFilter;
extern const Filter kServerMaxRunGroupFilter;
extern const Filter kServerMaxRunProjectFilter;
extern const Filter kServerMaxRunResFilter;
extern const Filter kServerMaxRunResUserFilter;
extern const Filter kServerMaxRunResGroupFilter;
extern const Filter kServerMaxRunResProjectFilter;
extern const Filter kMaxUserRunJobsFilter;
extern const Filter kMaxRunSubjobsFilter;
extern const Filter kMaxDedicatedJobsFilter;

}  // namespace pbs::sched
