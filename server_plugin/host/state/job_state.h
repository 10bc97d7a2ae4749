// Defines the states of a job and the events that change them. Only advance() writes a state.
//
// A state consists of PBS's letter and substate, the order to queue the job again when its run ends
// (Job::at_end), the order to delete it (Job::deleted), and the preemption of it that is under way
// (state/preemption.h).
//
//   T/0      arrives: in no queue yet
//   Q/10     queued                                  H/20, H/22  held; H/22: by its dependencies
//   W/30     waits for its Execution_Time            B/70        an array of which a subjob has started
//   R/41     started; with `awaits`: launched when the jobs preempted for it have freed its places
//   R/42     runs; with `preempting`: is being preempted
//   R/45     with `awaits`: resumed when the jobs preempted for it have freed its places
//   S/43     suspended by an operator                S/45        preempted by suspension
//   E/50     deleted: its processes are being ended
//   T/2      leaves for another server               T/3         leaves, and may be there already
//   F/91     terminated (deleted)                    F/92, F/93  finished, failed
//   M/94     moved to another server
//
// The table of the events is in job_state.cc, and drawn in ARCHITECTURE.md. The following invariants hold
// after each event, as broken_invariant() checks:
//   * The letter and the substate are one of the pairs above.
//   * A job that waits (Q, H, W) has no places, isn't to be queued again, isn't deleted unless it is an
//     array, and has no part in a preemption. A job that is held or waits for its time has no etime.
//   * A job that runs (R, S, E) has begun (stime) and has a run_count. Only such a job may have the order
//     to be queued again.
//   * R/45 waits for preempted jobs. R/41 may wait for them, too, and no other state may.
//   * S/43 has suspended_at, and S/45 has sched_preempted. S/45 isn't being preempted any more.
//   * E/50 is deleted, and isn't queued again.
//   * A job in the history (F, M) has no places.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// An event in the life of a job. The comment beside an event says what has happened to the job. If it begins
// with "text:", it says what `text` of advance() has, in the form of the attribute that it names.
enum class JobEvent : std::uint8_t {
    settled,  // holds, Execution_Time, queue or subjobs may have changed
    depends,  // the job is held for other jobs
    depends_no_more,
    began,         // an array: the first of its subjobs runs
    made_subjob,   // copied from its array, to be started
    started,       // the job has got places, and a new run
    awaits,        // text: the runs of the jobs that are preempted for it
    launched,      // the preempted jobs have freed its places
    not_launched,  // one of the jobs that are preempted for it can't be preempted
    running,       // the runner has reported that the script runs
    suspended,     // by an operator
    resumed,
    preempting,      // text: as `preempting` has it
    preempted,       // by suspension; text: the resources given back, as `released` has it
    not_preempted,   // by none of the methods
    unpreempted,     // the job goes on after a suspension by preemption
    to_be_requeued,  // the order to queue the job again when its run ends
    to_be_ended,     // the order to end the job, and not to queue it again, when its run ends
    deleted,         // the order to delete the job: its processes, if any, are to be ended
    requeued,        // its run has ended
    terminated,      // the job has ended because it was deleted
    finished,
    failed,
    leaves,       // text: queue and server that it goes to, as `leaves_for` has it
    commit_sent,  // the other server may have it now
    returned,     // the job stays here
    moved,        // the other server certainly has the job
};

// Returns whether the table permits the event in the job's state.
bool may_happen(const Job& job, JobEvent event);

// Changes the job to the state that follows from its state and the event, and sets the attributes of the
// state, which no other code writes. REQUIRES: may_happen(), and `state` has the job's queue.
void advance(Job& job, JobEvent event, const State& state, int64_t now, std::string_view text = {});

// Returns the event for the end of the job's run: terminated, finished or failed, by Job::deleted and
// Exit_status.
JobEvent end_of(const Job& job);

// Returns the first invariant of the job that is broken, as a text for a message; nullopt: all hold.
std::optional<std::string_view> broken_invariant(const Job& job);

}  // namespace pbs::host
