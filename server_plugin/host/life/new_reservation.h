// A new reservation, from what was asked for to its place in a Change, with its queue.
//
// It may come from a job. One that runs goes on in it: the reservation has what the job has, for as long as
// the job may run, and is confirmed at once. For one that waits it begins as soon as the scheduler finds
// places ("qmove"), and the job is moved into it then; as long as it isn't answered its start is
// kAsSoonAsPossible, as in OpenPBS.
#pragma once

#include <cstdint>
#include <string>

#include "ifl/attributes/reservation_start.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"

namespace pbs::host {

using ifl::kAsSoonAsPossible;

struct NewReservation {
    Reservation reservation;  // the attributes that were asked for
    std::string owner;        // user@host
    std::string host;         // from which it is asked for
    bool privileged = false;  // by an operator or manager
    bool maintains = false;   // whole hosts
    // The job that it is made from, or that is moved into it (attribute qmove); null: none.
    const Job* job = nullptr;
};

// Can a reservation be made from the job, or, if it has the attribute qmove, can the job be moved into it?
// PBSE_RESV_FROM_ARRJOB, PBSE_RESV_FROM_RESVJOB, PBSE_BADSTATE.
Result<void> check_job_of(const Reservation& reservation, const Job& job, const State& state);

// Adds it to the change, and the scheduler is asked about it. Returns its id. PBSE_BADTSPEC, PBSE_RESVAUTH_*,
// and the errors of settle_times(), settle_occurrences(), settle_resources() and settle_access().
Result<std::string> add_reservation(Change& change, NewReservation asked);

// The job, which this change starts, has asked for a reservation of its own (create_resv_from_job). A
// reservation that it can't have is told in the log.
void reserve_for_started(Change& change, Job& job);

// The reservation, which was to begin as soon as possible, is confirmed: the job that it was asked for is
// moved into it, if it still waits and may.
void move_job_into(Change& change, Reservation& reservation);

}  // namespace pbs::host
