// Computes the gaps between the intervals of a list. Internal to rrule/.
#pragma once

#include <vector>

namespace pbs::rrule {

// Returns the gaps: the parts of [from, to) that `parts` don't cover. `parts` must be within [from, to),
// ascending and disjoint.
template <class Part, class Time>
std::vector<Part> complement_of(const std::vector<Part>& parts, Time from, Time to) {
    std::vector<Part> out;
    for (const Part& part : parts) {
        if (from < part.start) out.push_back({from, part.start});
        from = part.end;
    }
    if (from < to) out.push_back({from, to});
    return out;
}

}  // namespace pbs::rrule
