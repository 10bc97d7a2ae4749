// The limits on what running jobs use together, with comments at the definitions (limits.cc). To add one: a
// row there, and a line here.
#pragma once

#include <array>
#include <cstddef>

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {

extern const Filter kMaxRunningFilter;
extern const Filter kQueueUserLimitFilter;
extern const Filter kQueueGroupLimitFilter;
extern const Filter kQueueNodesFilter;
extern const Filter kQueueResourcesFilter;
extern const Filter kServerMaxRunningFilter;
extern const Filter kServerUserLimitFilter;
extern const Filter kServerGroupLimitFilter;
extern const Filter kServerResourcesFilter;
// max_run and max_run_res of the queue and the server, in the order in which OpenPBS tests them. Profiles
// have all of them or none: max_run_filters().
inline constexpr std::size_t kMaxRunCount = 16;
extern const Filter kMaxRunFilters[kMaxRunCount];
extern const Filter kMaxUserRunJobsFilter;
extern const Filter kMaxRunSubjobsFilter;
extern const Filter kMaxDedicatedJobsFilter;

// The table of kMaxRunFilters, for a profile.
consteval std::array<const Filter*, kMaxRunCount> max_run_filters() {
    std::array<const Filter*, kMaxRunCount> filters{};
    for (std::size_t i = 0; i < kMaxRunCount; ++i) filters[i] = &kMaxRunFilters[i];
    return filters;
}

}  // namespace pbs::sched
