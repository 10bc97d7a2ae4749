// A quota (a list of rules that limit the use of resources) as plain values. It is made from the quota's
// object once for each change of the configuration.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "objects/quota_rule.h"
#include "rrule/window_set.h"

namespace pbs::objects {
class Object;
}  // namespace pbs::objects

namespace pbs::sched {

struct Quota {
    // `windows`: the union of the quota's time_windows; ignored if it has none.
    Quota(const objects::Object& object, rrule::WindowSet windows);

    std::string name;
    bool enabled = false;
    bool spill = true;
    bool exempts_reservations = true;
    bool has_windows = false;
    rrule::WindowSet windows;               // the limits hold only inside these windows
    std::vector<objects::QuotaRule> rules;  // in the order in which a job is compared with them
    std::size_t vnode_patterns = 0;         // patterns of vnodes in all rules

    bool names(objects::QuotaSubject subject) const;
    // Returns the first instant in [begins, ends) at which the limits bind a job that runs for this time;
    // nullopt: they never do.
    std::optional<rrule::Instant> binds(rrule::Instant begins, rrule::Instant ends) const;
};

}  // namespace pbs::sched
