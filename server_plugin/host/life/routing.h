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

// May a destination that refuses a job with this code take it later? As OpenPBS has it: a destination that is
// full or disabled, and a fault of the server, are for now. Whatever else a destination says is for good.
bool is_refused_for_now(int code);

// Tries the destinations of `from`, where the job is, in order and through further route queues. A job that
// is held or waits for its time, unless route_held_jobs or route_waiting_jobs says that it goes on, and one
// in a queue that isn't started, stays.
Routing route_job(Change& change, Job& job, const Queue& from);

// Goes on with the pass over the jobs of all started route queues (Server::route_pass), for about so long.
// Each is offered again after route_retry_time (30 s). A job rejected by all destinations, or longer than
// route_lifetime in its queue, is deleted and its owner told.
void route_jobs(Server& server, int64_t now,
                std::chrono::nanoseconds at_most = std::chrono::milliseconds(10));

}  // namespace pbs::host
