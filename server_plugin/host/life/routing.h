// Route queues: a job in one is moved to the first of its route_destinations that takes it.
#pragma once

#include <chrono>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"

namespace pbs::host {

struct Routing {
    enum class Outcome {
        moved,
        later,    // no destination takes it now; one may later
        rejected  // no destination will ever take it: PBSE_ROUTEREJ
    } outcome = Outcome::later;
    Error error;
};

// The most queues or servers that a job may come by, as in OpenPBS.
inline constexpr int64_t kMostHops = 10;

// May a destination that refuses a job with this code take it later? As in OpenPBS: refusals because the
// destination is full or disabled, and faults of the server, are temporary; all others are final.
bool is_refused_for_now(int code);

// Tries the destinations of `from`, where the job is, in order and through further route queues. A job in a
// queue that isn't started stays; so does a job that is held or waits for its time, unless route_held_jobs or
// route_waiting_jobs lets it go on.
Routing route_job(Change& change, Job& job, const Queue& from);

// Continues the pass over the jobs of all started route queues (Server::route_pass), for about `at_most`.
// Each job is offered again after route_retry_time (30 s). A job that all destinations reject, or that has
// been in its queue for longer than route_lifetime, is deleted and its owner told.
void route_jobs(Server& server, int64_t now,
                std::chrono::nanoseconds at_most = std::chrono::milliseconds(10));

}  // namespace pbs::host
