// The place of a job whose program has chosen hosts and numbers of processes (pbs_runtasks).
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

/// "(n1:ncpus=4)+(n2:ncpus=2)": a chunk on the vnode of each host, whose resources_available.host `vnodes`
/// have. PBSE_UNKNODE: there is no such host; PBSE_IVALREQ: a host has several vnodes, or a number isn't
/// above 0.
Result<std::string> location_of(const std::vector<HostTasks>& tasks, const std::vector<ObjectStatus>& vnodes);

}  // namespace pbs::ifl
