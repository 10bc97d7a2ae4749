// Job arrays (qsub -J). An array is one job, however many subjobs it has: what it knows of those that have
// not started, and of those that have ended, is which indices are still queued (Subjobs). A subjob becomes a
// job when it starts, and stays one while it runs, while it waits to run again, and as history.
//
// To the plugin an array is a job like any other, as long as a subjob of it may start. When the plugin starts
// it, the subjob takes the handle that the plugin knew the array by (Job::told), and the array gets another
// one: what was to start runs, and a new job waits. So the plugin needs to know nothing of arrays, and goes
// on by events.
//
// What becomes of an array follows from what becomes of its subjobs: it is worked out in one place, when a
// change is committed (follow_subjobs), and stored in the same transaction.
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

// Makes a new job an array if it has array_indices_submitted: its id, number and subjobs. PBSE_BADATVAL,
// PBSE_MaxArraySize, PBSE_NOSUP; PBSE_NOTARRAY_ATTR for an attribute that only arrays have.
Result<void> make_array(Job& job, const State& state);
// Has the array no more subjobs than the queue takes? PBSE_MaxArraySize.
Result<void> fits_array_size(const Job& job, const Queue& queue);

// What the database doesn't have, when a job is read from it; false: its indices are damaged. Then, once all
// jobs are there, how many subjobs the arrays have.
bool restore_array(Job& job, State& state);
void count_subjobs(State& state);

// "12[7].server"
std::string subjob_id(const Job& array, int64_t index);

// May the scheduler start a subjob: is one queued, and do fewer run than max_run_subjobs? `before`: after so
// many more starts.
bool may_start_subjob(const Job& array, int64_t before = 0);
// The state letter as users and the plugin see it.
char shown_state(const Job& job, const State& state);
char state_for_plugin(const Job& job);
// The state of a subjob that may be no job; '\0': the array has no such index.
char subjob_state(const Job& array, int64_t index, const State& state);
// "Queued:1 Running:2 Exiting:0 Expired:3"
std::string array_state_count(const Job& array);

// A subjob that is queued, as a job that can be started: it is in no change yet. PBSE_BADSTATE: it isn't
// queued.
Result<Job> subjob_to_start(Change& change, const Job& array, int64_t index);
// The subjob has been started (start_job): it is part of the change, and what the plugin had is its.
// PBSE_BADSTATE: another one of the array's runone set runs.
Result<void> add_started_subjob(Change& change, Job& array, Job subjob);

// A subjob that changes: as it was (nullptr: no job) and as it will be, or was in the end if it is gone.
struct SubjobStep {
    const Job* before = nullptr;
    const Job* after = nullptr;
    bool gone = false;
};
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
