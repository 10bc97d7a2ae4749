// The jobs on a vnode that will have ended by an instant to come.
#pragma once

#include <vector>

#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

// Appends the jobs that run on a vnode and whose planned_end(job) is `by` at the latest. A suspended job
// keeps what it still holds.
template <class PlannedEnd>
void add_gone(const Tables& tables, VnodeSlot vnode, Instant by, const PlannedEnd& planned_end,
              std::vector<JobSlot>& gone) {
    for (const JobSlot job : tables.vnodes.jobs_on(vnode))
        if (is_running(tables.jobs.state[job]) && planned_end(job) <= by) gone.push_back(job);
}

}  // namespace pbs::sched
