// Reads quotas' counters, each with one of its limits, from a reply of pbs_statquotause().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

struct QuotaCounter {
    std::string quota;
    std::string rule;
    std::vector<std::pair<std::string, std::string>> of;  // pairs of a filter, in braces, and a value
    std::string resource;                                 // or "jobs"
    std::string used;
    std::string limit;  // "-": there is none, because its formula has no value
    bool enabled = false;
    bool in_force = false;
    std::vector<std::pair<std::string, std::string>>
        jobs{};  // pairs of a job's id and its amount, if asked for

    // Returns whether the counter is for this value of the filter, or for all of its values. Returns true for
    // an empty `value`.
    bool is_for(std::string_view filter, std::string_view value) const;
    // The users, queues and so on whose jobs are counted: "users=bob queues=long", or "all".
    std::string whose(std::string_view separator) const;
};

QuotaCounter quota_counter(const batch_status& object);
// Reads all objects of a reply. Objects with jobs of the same counter become one counter.
std::vector<QuotaCounter> quota_counters(const batch_status* objects);

// The number that an amount stands for: sizes in bytes, durations in seconds. nullopt: the text is no amount.
std::optional<double> number_of_amount(std::string_view text);

}  // namespace pbs::cmds
