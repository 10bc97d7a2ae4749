// Moves each job in a route queue to the first of the queue's route_destinations that accepts it.
#pragma once

#include <chrono>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"

namespace pbs::host {

struct Routing {
    enum class Outcome {
        moved,
        later,    // no destination accepts it now; one may later
        rejected  // no destination will ever accept it: PBSE_ROUTEREJ
    } outcome = Outcome::later;
    Error error;
};

// The most queues or servers that a job may pass, as in OpenPBS.
inline constexpr int64_t kMostHops = 10;

// Returns whether a destination that refuses a job with this code may accept it later. Refusals because the
// destination is full or disabled, and faults of the server, are temporary, as in OpenPBS; all others are
// final.
bool is_refused_for_now(int code);

// Tries the destinations of the job's queue `from`, in order and through further route queues. The job stays
// (Outcome::later) if `from` isn't started. It also stays if it is held or waits for its time, unless the
// queue's route_held_jobs or route_waiting_jobs permits routing.
Routing route_job(Change& change, Job& job, const Queue& from);

// Continues the pass over the jobs of all started route queues (Server::route_pass), and stops after about
// `at_most`. A job that stays is offered again after route_retry_time (30 s by default). A job that all
// destinations reject, or that has been in its queue for longer than route_lifetime, is deleted, and its
// owner gets mail.
void route_jobs(Server& server, int64_t now,
                std::chrono::nanoseconds at_most = std::chrono::milliseconds(10));

}  // namespace pbs::host
