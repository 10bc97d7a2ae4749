// Facts about job arrays (qsub -J). An array is one job, however many subjobs it has. It stores the indices
// of the subjobs that have not started (Subjobs); all other subjobs have ended or are jobs of their own. A
// subjob becomes a job when it starts, and stays one while it runs, while it waits to run again, and in the
// history.
//
// To the plugin an array is a job like any other, as long as one of its subjobs may start. When the plugin
// starts this job, a subjob takes over the handle by which the plugin knows the array (Job::told), and the
// array gets a new handle: to the plugin, the job that it started runs, and a new job waits. So the plugin
// needs to know nothing of arrays, even in cycles that consider only the jobs that have changed.
#pragma once

#include <cstdint>
#include <string>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Makes a new job with array_indices_submitted an array: sets its id, number and subjobs. Errors:
// PBSE_BADATVAL, PBSE_MaxArraySize, PBSE_NOSUP; PBSE_NOTARRAY_ATTR for an attribute that only arrays have.
Result<void> make_array(Job& job, const State& state);
// Refuses a select_range that an array asks for itself: its subjobs, which share the array's request,
// couldn't get numbers of chunks of their own. A select_range that is a default is accepted. PBSE_NOSUP.
Result<void> check_array_request(const Job& job);
// Checks that the array has no more subjobs than the queue permits. PBSE_MaxArraySize.
Result<void> fits_array_size(const Job& job, const Queue& queue);

// restore_array() completes an array that was read from the database: it computes the members of Job that
// aren't stored. It returns false if the array's indices are damaged. count_subjobs() counts the subjobs by
// state; call it when all jobs are read.
bool restore_array(Job& job, State& state);
void count_subjobs(State& state);

// Returns the id of a subjob: "12[7].server".
std::string subjob_id(const Job& array, int64_t index);

// Returns whether the scheduler may start a subjob: one is queued, and fewer run than max_run_subjobs
// permits. `before`: the number of further starts of this array's subjobs that are assumed to come first.
bool may_start_subjob(const Job& array, int64_t before = 0);
// shown_state() returns the state letter that users see, state_for_plugin() the one that the plugin sees.
char shown_state(const Job& job, const State& state);
char state_for_plugin(const Job& job);
// Returns the state letter of a subjob, even if there is no job for it; NUL: the array doesn't have the
// index.
char subjob_state(const Job& array, int64_t index, const State& state);
// Returns the attribute array_state_count: "Queued:1 Running:2 Exiting:0 Expired:3".
std::string array_state_count(const Job& array);

// Gives the array these subjobs, and sets array_indices_remaining accordingly.
void set_subjobs(Job& array, Subjobs subjobs);
// Returns whether every subjob has ended.
bool is_done(const Subjobs& subjobs);
// Adds `by` to the array's count of subjobs that are in the same state as `subjob`. Does nothing if `subjob`
// is queued or has ended.
void tally(Subjobs& subjobs, const Job& subjob, int64_t by);

}  // namespace pbs::host
