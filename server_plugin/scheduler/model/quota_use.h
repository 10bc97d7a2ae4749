// A counter of a quota, for display: how much of a limit is in use, and by whom.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pbs::sched {

struct QuotaUse {
    // A job that runs, is suspended or is expected to start, and its amount. A job that doesn't run has none
    // where the rules of the quota name vnodes, as its vnodes aren't known.
    struct Job {
        std::string id;
        std::string amount;
    };
    std::string quota;
    std::string rule;
    // The rule's filters in braces, each with the value that the counter is for, as {"users", "bob"}.
    std::vector<std::pair<std::string, std::string>> of;
    std::string resource;  // "jobs": running jobs
    std::string used;
    std::string limit;  // "-": none, as its formula has no value
    std::int64_t used_number = 0;
    std::int64_t limit_number = -1;  // -1: none
    bool enabled = false;
    bool in_force = false;    // the limit holds now
    std::vector<Job> jobs{};  // if asked for: the jobs that count in the counter, or will count
};

}  // namespace pbs::sched
