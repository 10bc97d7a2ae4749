#include "tools/simulate/trace.h"

#include <algorithm>

namespace pbs::simulate {

std::uint32_t Names::number(std::string_view name) {
    if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(name);
    numbers_.emplace(std::string(name), number);
    return number;
}

void sort_by_submission(Trace& trace) {
    std::ranges::stable_sort(trace.jobs, {}, &TraceJob::submit);
}

}  // namespace pbs::simulate
