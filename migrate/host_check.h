// What of the directives for the server (host_work.h) it would refuse, as far as that can be told before it
// is asked: resources that it doesn't have. A dry run and the first start leave out the same.
#pragma once

#include <string>
#include <vector>

#include "migrate/host_work.h"
#include "migrate/sched_policies.h"

namespace pbs::migrate {

// Takes out of `work` what `server` would refuse, and returns a note for each of these directives, with the
// reason.
std::vector<std::string> leave_out_refused(HostWork& work, const Surroundings& server);

}  // namespace pbs::migrate
