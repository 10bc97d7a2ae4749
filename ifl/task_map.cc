#include "ifl/task_map.h"

#include <fmt/format.h>

#include <map>

#include "ifl/host_status.h"
#include "ifl/pbs_error.h"
#include "values/text.h"

namespace pbs::ifl {
namespace {

tl::unexpected<Error> refused(int code, std::string text) {
    return tl::unexpected(Error{code, std::move(text)});
}

}  // namespace

Result<std::string> location_of(const std::vector<HostTasks>& tasks,
                                const std::vector<ObjectStatus>& vnodes) {
    std::map<std::string, std::vector<std::string_view>> by_host;  // names of vnodes, by host in lower case
    for (const ObjectStatus& vnode : vnodes)
        if (const std::string_view host = host_of(vnode); !host.empty())
            by_host[values::lowered(host)].push_back(vnode.name);
    std::string location;
    for (const HostTasks& one : tasks) {
        if (one.procs <= 0)
            return refused(PBSE_IVALREQ, fmt::format("host {}: {} processes, expected a number above 0",
                                                     one.host, one.procs));
        const auto found = by_host.find(values::lowered(one.host));
        if (found == by_host.end()) return refused(PBSE_UNKNODE, fmt::format("no host {}", one.host));
        if (found->second.size() > 1)
            return refused(PBSE_IVALREQ, fmt::format("host {} has several vnodes", one.host));
        location += fmt::format("{}({}:ncpus={})", location.empty() ? "" : "+", found->second[0], one.procs);
    }
    if (location.empty()) return refused(PBSE_IVALREQ, "no hosts: expected at least one element with procs");
    return location;
}

}  // namespace pbs::ifl
