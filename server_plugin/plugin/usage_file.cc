#include "server_plugin/plugin/usage_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace pbs::plugin {
namespace {

constexpr std::chrono::hours kPeriod{1};
constexpr const char* kWeekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

}  // namespace

std::string usage_file_text(std::span<const sched::UsageRow> rows, sched::Instant now,
                            const rrule::Zone& zone) {
    const auto day = std::chrono::floor<std::chrono::days>(zone.local(now));
    std::string text = fmt::format("{}\n", kWeekdays[std::chrono::weekday(day).c_encoding()]);
    std::vector<sched::UsageRow> sorted(rows.begin(), rows.end());
    std::ranges::sort(sorted, {}, [](const sched::UsageRow& row) { return std::tie(row.group, row.user); });
    for (const sched::UsageRow& row : sorted)
        text += fmt::format("{}:{} {:.6f}\n", row.group, row.user, row.usage);
    return text;
}

sched::Instant UsageFileTimer::next(sched::Instant now) {
    if (!last_ || *last_ > now) last_ = now;  // the second condition: the clock was set back
    return *last_ + kPeriod;
}

bool UsageFileTimer::due(sched::Instant now) {
    if (next(now) > now) return false;
    last_ = now;
    return true;
}

}  // namespace pbs::plugin
