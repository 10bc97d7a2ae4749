// Steps of job arrays (state/array.h). What becomes of an array follows from what becomes of its subjobs: it
// is worked out in one place, when a change is committed (follow_subjobs), and stored in the same
// transaction.
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

// A subjob that is queued, as a job that can be started: it is in no change yet. PBSE_BADSTATE: it isn't
// queued.
Result<Job> subjob_to_start(Change& change, const Job& array, int64_t index);
// The subjob has been started (start_job): it is part of the change, and what the plugin had is its.
// PBSE_BADSTATE: another one of the array's runone set runs.
Result<void> add_started_subjob(Change& change, Job& array, Job subjob);

// What these steps make of their array.
void follow_subjobs(Change& change, uint64_t array, const std::vector<SubjobStep>& steps);

// The queued subjobs of these ranges don't start any more: they count as ended. No ranges: all of them.
void expire_queued(Change& change, Job& array, const std::vector<IndexRange>& of);
// An array that is to end, of which no subjob is part of the change. True: it is to be retired now. False:
// subjobs run; they are killed, and it ends with the last of them.
bool close_array(Change& change, Job& array);
// All subjobs that have ended are queued again.
void requeue_ended(Change& change, Job& array);

}  // namespace pbs::host
