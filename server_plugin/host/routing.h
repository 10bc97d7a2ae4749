// Route queues: a job in one is moved to the first of its route_destinations that takes it.
#pragma once

#include "server_plugin/host/change.h"
#include "server_plugin/host/error.h"

namespace pbs::host {

struct Routing {
    enum class Outcome {
        moved,
        later,    // no destination takes it now; one may later
        rejected  // no destination will ever take it: PBSE_ROUTEREJ
    } outcome = Outcome::later;
    Error error;
};

// Tries the destinations of `from` in order, through further route queues.
Routing route_job(Change& change, Job& job, const Queue& from);

// Routes what is due in all started route queues: held and waiting jobs if route_held_jobs and
// route_waiting_jobs say so, each again after route_retry_time (30 s). A job rejected by all destinations, or
// longer than route_lifetime in its queue, is deleted and its owner told.
void route_jobs(Server& server, int64_t now);

}  // namespace pbs::host
