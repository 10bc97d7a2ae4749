// Finds directives for the server (host_work.h) that the server would refuse because it lacks a resource, as
// far as that is known in advance. So a dry run leaves out the same directives as the first start of a
// server.
#pragma once

#include <string>
#include <vector>

#include "migrate/host_work.h"
#include "migrate/sched_policies.h"

namespace pbs::migrate {

// Removes from `work` the directives that `server` would refuse. Returns a note with the reason for each.
std::vector<std::string> leave_out_refused(HostWork& work, const Surroundings& server);

}  // namespace pbs::migrate
