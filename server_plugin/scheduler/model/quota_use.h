// A counter of a quota, for people.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pbs::sched {

struct QuotaUse {
    std::string quota;
    std::string rule;
    // The filters in braces with the values that the counter is for, as {"users", "bob"}.
    std::vector<std::pair<std::string, std::string>> of;
    std::string resource;  // "jobs": running jobs
    std::string used;
    std::string limit;
    bool enabled = false;
    bool in_force = false;  // the limit holds now
};

}  // namespace pbs::sched
