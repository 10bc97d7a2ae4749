// Makes the location of a job from hosts and numbers of CPUs that a program has chosen (pbs_runtasks()).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ifl/error.h"
#include "ifl/reply.h"

namespace pbs::ifl {

struct HostTasks {
    int procs = 0;
    std::string_view host;
};

/// Returns a location such as "(n1:ncpus=4)+(n2:ncpus=2)": a chunk on the vnode of each host. `vnodes`: the
/// status of all vnodes, whose resources_available.host names their hosts. Errors: PBSE_UNKNODE: there is no
/// such host; PBSE_IVALREQ: a host has several vnodes, a number isn't above 0, or there are no hosts.
Result<std::string> location_of(const std::vector<HostTasks>& tasks, const std::vector<ObjectStatus>& vnodes);

}  // namespace pbs::ifl
