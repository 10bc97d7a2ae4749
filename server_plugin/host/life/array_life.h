// Steps in the life of job arrays (state/array.h). An array's state follows from the states of its subjobs.
// Only follow_subjobs() computes it, when a change is committed, and stores it in the same transaction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Makes a job of a queued subjob, for start_job() and add_started_subjob(). If the subjob has run before, a
// job for it exists: returns a copy of that. PBSE_BADSTATE: the subjob isn't queued.
Result<Job> subjob_to_start(Change& change, const Job& array, int64_t index);
// Adds a subjob that start_job() has started to the change. The subjob gets the array's handle in the plugin.
// PBSE_BADSTATE: another job of the array's runone set runs.
Result<void> add_started_subjob(Change& change, Job& array, Job subjob);

// Updates the array after `steps`, the changes of its subjobs.
void follow_subjobs(Change& change, uint64_t array, const std::vector<SubjobStep>& steps);

// Removes queued subjobs from the queue; they then count as ended. `of`: the ranges of their indices; empty:
// all queued subjobs.
void expire_queued(Change& change, Job& array, const std::vector<IndexRange>& of);
// Ends an array. REQUIRES: no subjob of the array is part of the change. Returns true if the array has no
// running subjobs: the caller then has to retire it. Otherwise its running subjobs are killed, and it ends
// with the last of them.
bool close_array(Change& change, Job& array);
// Queues again all subjobs that have ended.
void requeue_ended(Change& change, Job& array);

}  // namespace pbs::host
