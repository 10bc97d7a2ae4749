#include "tools/simulate/trace.h"

#include <algorithm>

#include "values/number.h"
#include "values/text.h"

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

std::optional<std::int64_t> cpus_of_select(std::string_view select) {
    constexpr std::int64_t kMostOfSelect = 100'000'000;
    constexpr std::string_view kCpus = "ncpus=";
    std::int64_t all = 0;
    for (const std::string_view chunk : values::split(select, '+')) {
        std::int64_t count = 1;
        std::int64_t cpus = 1;
        for (const std::string_view part : values::split(chunk, ':')) {
            const bool of_cpus = part.starts_with(kCpus);
            const bool is_count = part.data() == chunk.data() && part.find('=') == part.npos;
            if (chunk.empty() || !(of_cpus || is_count)) continue;
            const auto number = values::number<std::int64_t>(of_cpus ? part.substr(kCpus.size()) : part);
            if (!number || *number < 0 || *number > kMostOfSelect) return std::nullopt;
            (of_cpus ? cpus : count) = *number;
        }
        all += count * cpus;
        if (all > kMostOfSelect) return std::nullopt;
    }
    return all;
}

}  // namespace pbs::simulate
