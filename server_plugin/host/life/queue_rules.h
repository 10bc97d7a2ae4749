// Checks whether a job may enter a queue. The checks are PBS's, in PBS's order.
#pragma once

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/limits.h"

namespace pbs::host {

enum class Entry {
    submitted,  // by a user, with qsub or qmove
    routed,     // by a route queue
    // By a manager or the scheduler: only limits on the job's request apply, not access and numbers of jobs.
    managed
};

// Sets the job's euser and egroup from User_List, group_list and the owner. PBSE_BADUSER: the user is
// unknown, is root without acl_roots, or can't run jobs on this server. PBSE_BADGRP.
// PBSE_SYSTEM: the user or group can't be looked up at the moment.
Result<void> set_execution_user(Job& job, Server& server);

// Checks that the job may enter the queue. PBSE_QUNOENB, PBSE_MAXQUED, PBSE_MaxArraySize, PBSE_QACESS,
// PBSE_BADHOST, PBSE_ENTLIMCT, PBSE_ENTLIMRESC, PBSE_EXCQRESC.
Result<void> may_enter(const Job& job, const Queue& queue, CountedJobs& counted, Entry entry);

// Checks Resource_List against resources_min and resources_max of the queue and resources_max of the server.
// PBSE_EXCQRESC.
Result<void> within_limits(const Job& job, const Queue& queue, const State& state);

}  // namespace pbs::host
