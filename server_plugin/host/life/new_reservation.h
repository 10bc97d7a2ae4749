// Makes a new reservation, with its queue, from a request.
//
// A reservation may be made from a job. If the job runs, it goes on in the reservation, which is confirmed at
// once and gets the job's resources for as long as the job may run. If the job waits (attribute qmove), the
// reservation begins as soon as the scheduler finds places for it, and the job is moved into it then. Until
// the scheduler answers, the start of such a reservation is kAsSoonAsPossible, as in OpenPBS.
#pragma once

#include <cstdint>
#include <string>

#include "ifl/attributes/reservation_start.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"

namespace pbs::host {

using ifl::kAsSoonAsPossible;

struct NewReservation {
    Reservation reservation;  // with the requested attributes
    std::string owner;        // user@host
    std::string host;         // the host of the request
    bool privileged = false;  // the requester is an operator or manager
    bool maintains = false;   // the reservation is for maintenance of whole hosts
    // The running job to make the reservation from, or the waiting job to move into it (qmove); null: there
    // is no such job.
    const Job* job = nullptr;
};

// Checks that the reservation can be made from the running job or, with qmove, that the waiting job can be
// moved into it. PBSE_RESV_FROM_ARRJOB, PBSE_RESV_FROM_RESVJOB, PBSE_BADSTATE.
Result<void> check_job_of(const Reservation& reservation, const Job& job, const State& state);

// Adds the reservation to the change; the scheduler will decide about it. Returns its id. PBSE_BADTSPEC,
// PBSE_RESVAUTH_*, and the errors of settle_times(), settle_occurrences(), settle_resources() and
// settle_access().
Result<std::string> add_reservation(Change& change, NewReservation asked);

// If a job that this change starts has create_resv_from_job, makes a reservation for it. If that fails, logs
// the reason.
void reserve_for_started(Change& change, Job& job);

// Moves the job into the reservation that was made for it, if it still waits and may be moved. Call it when a
// reservation that was to begin as soon as possible is confirmed.
void move_job_into(Change& change, Reservation& reservation);

}  // namespace pbs::host
