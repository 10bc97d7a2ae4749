#include "rrule/pattern.h"

#include <algorithm>
#include <numeric>

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

// Sorts, cuts off what isn't in [from, to), and joins what overlaps or touches.
template <class Part, class Time>
void normalize(std::vector<Part>& parts, Time from, Time to) {
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.start < b.start; });
    std::size_t count = 0;
    for (const Part& raw : parts) {
        const Part part{std::max<Time>(raw.start, from), std::min<Time>(raw.end, to)};
        if (part.start >= part.end) continue;
        if (count > 0 && part.start <= parts[count - 1].end) {
            parts[count - 1].end = std::max(parts[count - 1].end, part.end);
        } else {
            parts[count++] = part;
        }
    }
    parts.resize(count);
}

// Calls add(window, list) for each window; the list is normalized now and then, so that a union of thousands
// of windows takes little more room than its result.
template <class Part, class Time, class Add>
std::vector<Part> unite(std::span<const Window> windows, Time from, Time to, const Add& add) {
    std::vector<Part> all;
    std::size_t limit = 16384;
    for (const Window& window : windows) {
        add(window, all);
        if (all.size() < limit) continue;
        normalize(all, from, to);
        limit = std::max<std::size_t>(16384, all.size() * 4);
    }
    normalize(all, from, to);
    return all;
}

}  // namespace

std::int64_t common_period(std::int64_t a, std::int64_t b) {
    return std::min(std::lcm(std::min(a, kCalendarDays), std::min(b, kCalendarDays)), kCalendarDays);
}

Pattern::Pattern(std::span<const Window> windows, const NonWorkDays* holidays)
    : windows_(windows), holidays_(holidays) {
    bool ask_holidays = false;
    for (const Window& window : windows) {
        const Recurrence& rule = window.recurrence();
        one_zone_ = one_zone_ && rule.zone() == windows.front().recurrence().zone();
        const auto last = rule.last_day();
        regular_from_ =
            std::max({regular_from_, rule.periodic_from(), last.value_or(regular_from_) + Days{1}});
        if (!last) period_ = common_period(period_, rule.period_days());
        ask_holidays = ask_holidays || !window.applies_on_holidays();
    }
    if (!ask_holidays || holidays == nullptr || holidays->empty()) return;
    regular_from_ = std::max(regular_from_, holidays->periodic_from());
    period_ = common_period(period_, holidays->period_days());
}

std::vector<ClockInterval> Pattern::on_the_clock(LocalDay from, LocalDay to) const {
    return unite<ClockInterval>(
        windows_, Local{from}, Local{to}, [&](const Window& window, std::vector<ClockInterval>& all) {
            for (const LocalDay day : window.days(from - Days{2}, to, holidays_))
                all.push_back({Local{day} + window.start_time(), Local{day} + window.end_time()});
        });
}

std::vector<Interval> Pattern::in_time(Instant from, Instant to) const {
    return unite<Interval>(windows_, from, to, [&](const Window& window, std::vector<Interval>& all) {
        window.expand(day_near(from) - kReach, day_near(to) + kReach, holidays_, all);
    });
}

Instant Pattern::quiet_until(Instant t) const {
    const LocalDay regular = std::max(day_near(t) + kReach, regular_from_);
    const auto capped = [](LocalDay from, std::int64_t days) {
        const auto end = from.time_since_epoch().count() + days;
        return std::min(kEnd, Instant{Days{end}});
    };
    if (regular.time_since_epoch() >= kEnd.time_since_epoch()) return kEnd;
    if (one_zone_) {
        const LocalDay end = regular + Days{period_ + 2};
        const auto whole = on_the_clock(regular, end);
        const bool constant = whole.empty() || whole.front() == ClockInterval{Local{regular}, Local{end}};
        if (constant) return capped(regular, 2 * kReach.count());
    }
    return capped(std::max(regular, kRegularZones), common_period(period_, kCycleDays) + 2 * kReach.count());
}

}  // namespace pbs::rrule
