// Steps in the life of job arrays (state/array.h). An array's state follows from those of its subjobs. Only
// follow_subjobs() computes it, when a change is committed, and stores it in the same transaction.
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

// Makes a job of a queued subjob, for start_job() and add_started_subjob(). If the subjob has run before,
// copies the job that it is already. PBSE_BADSTATE: the subjob isn't queued.
Result<Job> subjob_to_start(Change& change, const Job& array, int64_t index);
// Adds a subjob that start_job() has started to the change. The subjob gets the array's handle in the plugin.
// PBSE_BADSTATE: another job of the array's runone set runs.
Result<void> add_started_subjob(Change& change, Job& array, Job subjob);

// Updates the array after `steps` of its subjobs.
void follow_subjobs(Change& change, uint64_t array, const std::vector<SubjobStep>& steps);

// Removes the queued subjobs of these ranges from the queue; an empty `of` means all of them. They count as
// ended.
void expire_queued(Change& change, Job& array, const std::vector<IndexRange>& of);
// Ends an array. REQUIRES: no subjob of it is part of the change. True: the array has no running subjobs, so
// the caller has to retire it. False: its running subjobs are killed, and it ends with the last of them.
bool close_array(Change& change, Job& array);
// Queues again all subjobs that have ended.
void requeue_ended(Change& change, Job& array);

}  // namespace pbs::host
