// A new reservation, from its request to its place in a Change, with its queue.
//
// It may be made from a job. A running job goes on in it: the reservation gets the job's resources for as
// long as the job may run, and is confirmed at once. For a waiting job ("qmove") the reservation begins as
// soon as the scheduler finds places, and the job is moved into it then; until the scheduler answers, its
// start is kAsSoonAsPossible, as in OpenPBS.
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
    std::string host;         // the host of the request
    bool privileged = false;  // the requester is an operator or manager
    bool maintains = false;   // it is for maintenance of whole hosts
    // The job that the reservation is made from, or that is moved into it (attribute qmove); null: none.
    const Job* job = nullptr;
};

// Can a reservation be made from the job, or, if it has the attribute qmove, can the job be moved into it?
// PBSE_RESV_FROM_ARRJOB, PBSE_RESV_FROM_RESVJOB, PBSE_BADSTATE.
Result<void> check_job_of(const Reservation& reservation, const Job& job, const State& state);

// Adds the reservation to the change, so that the scheduler is asked about it. Returns its id. PBSE_BADTSPEC,
// PBSE_RESVAUTH_*, and the errors of settle_times(), settle_occurrences(), settle_resources() and
// settle_access().
Result<std::string> add_reservation(Change& change, NewReservation asked);

// Makes a reservation for a job that this change starts and that has asked for one (create_resv_from_job). If
// it can't have one, the log says so.
void reserve_for_started(Change& change, Job& job);

// Moves the job into the reservation that was made for it, if it still waits and may be moved. Call it when a
// reservation that was to begin as soon as possible is confirmed.
void move_job_into(Change& change, Reservation& reservation);

}  // namespace pbs::host
