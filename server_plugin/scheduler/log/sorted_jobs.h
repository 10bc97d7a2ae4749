// The text of SORTED_JOB_DUMPFILE: the job list as it was sorted, for people to read.
#pragma once

#include <string>

#include "server_plugin/scheduler/pending/sort.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

// Line 1 has the date and its seconds since the Epoch, line 2 the policy in force. Then come a heading and a
// line for each job: id, state, nodes, walltime, owner, group, time queued, time eligible, flags (Int, High,
// Wait, Ded, HPM, Run).
std::string sorted_jobs_text(const Tables& tables, const Settings& settings, Instant now, bool prime_now,
                             std::span<const OrderedJob> jobs);

}  // namespace pbs::sched
