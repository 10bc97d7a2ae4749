// Answers requests with the extend string object=explanation: explains why a job starts or waits.
#pragma once

#include "server_plugin/plugin/host.h"
#include "server_plugin/plugin/state.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// Replies with an object named after the job, and with an object named queue, or queue@host, for each queue
// in which the job may start. pbs_statexplanation() in ifl/pbs_ifl.h describes their attributes. The host
// decides who may see the job. Errors: PBSE_UNKJOBID; PBSE_TRYAGAIN, as BackgroundQueries describes.
int32_t status_explanation(State& state, const pbs_status_request& request, Reply reply);

// Adds the objects of an explanation to the reply.
void show_explanation(const sched::Explanation& found, Reply reply);

}  // namespace pbs::plugin
