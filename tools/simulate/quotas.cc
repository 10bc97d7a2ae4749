#include "tools/simulate/quotas.h"

#include <fmt/format.h>

#include <utility>

namespace pbs::simulate {
namespace {

// Returns the limit that a comment names: "q1 (guests): ncpus" of "Not Running: Quota q1 (guests): ncpus (R:
// 2 U: 3 L: 4)"; empty: the comment names none.
std::string_view limit_in(std::string_view comment) {
    constexpr std::string_view kBegin = "Not Running: Quota ";
    if (!comment.starts_with(kBegin)) return {};
    comment.remove_prefix(kBegin.size());
    return comment.substr(0, comment.rfind(" (R: "));
}

}  // namespace

void QuotaWatch::comment(std::uint32_t job, std::string_view text) {
    const std::string_view limit = limit_in(text);
    if (const auto known = waits_for_.find(job); known != waits_for_.end()) {
        if (known->second == limit) return;
        --limits_.find(known->second)->second.waiting;
        waits_for_.erase(known);
    }
    if (limit.empty()) return;
    Watched& watched = limits_[std::string(limit)];
    ++watched.waiting;
    watched.waited.insert(job);
    waits_for_.emplace(job, limit);
}

// Adds the time since the last call to the figures of each limit that was full, or for which jobs waited, in
// that time.
void QuotaWatch::note_times(Instant now) {
    for (auto& [limit, watched] : limits_) {
        if (watched.full) watched.figures.full += now - last_;
        std::vector<Period>& held = watched.figures.held;
        if (watched.figures.holds && now > last_) {
            if (!held.empty() && held.back().end == last_)
                held.back().end = now;
            else
                held.push_back({last_, now});
        }
        watched.full = false;
        watched.figures.holds = watched.waiting > 0;
    }
    last_ = now;
}

void QuotaWatch::counters(Instant now, std::span<const sched::QuotaUse> uses) {
    note_times(now);
    for (const sched::QuotaUse& use : uses) {
        if (!use.in_force) continue;
        Watched& watched = limits_[fmt::format("{} ({}): {}", use.quota, use.rule, use.resource)];
        watched.figures.limit = use.limit;
        watched.full = watched.full || (use.limit_number >= 0 && use.used_number >= use.limit_number);
        if (use.used_number <= watched.most) continue;
        watched.most = use.used_number;
        watched.figures.most = use.used;
    }
}

std::map<std::string, QuotaOfRun> QuotaWatch::end(Instant now) {
    note_times(now);
    std::map<std::string, QuotaOfRun> all;
    for (auto& [limit, watched] : limits_) {
        watched.figures.jobs = static_cast<std::int64_t>(watched.waited.size());
        all.emplace(limit, std::move(watched.figures));
    }
    return all;
}

}  // namespace pbs::simulate
