#include "rrule/pattern.h"

#include <algorithm>
#include <numeric>

#include "rrule/opening_days.h"

namespace pbs::rrule {
namespace {

using Days = std::chrono::days;

// Sorts the intervals, cuts them to [from, to), and joins intervals that overlap or touch.
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

// Returns the union of the intervals that add(window, list) appends to the list for each window. The list is
// normalized repeatedly, so that a union of thousands of windows takes little more memory than its result.
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

void open_on(const Window& window, std::span<const LocalDay> days, std::vector<Interval>& out) {
    ZoneReader zone(window.recurrence().zone());
    for (const LocalDay day : days) {
        const Interval opening{zone.instant(Local{day} + window.start_time()),
                               zone.instant(Local{day} + window.end_time())};
        if (opening.start < opening.end) out.push_back(opening);
    }
}

Pattern::Pattern(std::span<const Window> windows, const NonWorkDays& holidays)
    : windows_(windows), holidays_(holidays) {
    bool ask_holidays = false;
    for (const Window& window : windows) {
        const Recurrence& rule = window.recurrence();
        one_zone_ = one_zone_ && rule.zone() == windows.front().recurrence().zone();
        const auto last = rule.last_day();
        regular_from_ =
            std::max({regular_from_, rule.periodic_from(), last.value_or(regular_from_) + Days{1}});
        if (!last) period_ = common_period(period_, rule.period_days());
        ask_holidays = ask_holidays || window.depends_on_holidays();
    }
    if (!ask_holidays || holidays.empty()) return;
    regular_from_ = std::max(regular_from_, holidays.periodic_from());
    period_ = common_period(period_, holidays.period_days());
}

std::vector<ClockInterval> Pattern::on_the_clock(LocalDay from, LocalDay to) const {
    return unite<ClockInterval>(
        windows_, Local{from}, Local{to}, [&](const Window& window, std::vector<ClockInterval>& all) {
            for (const LocalDay day : window.days(from - Days{2}, to, holidays_))
                all.push_back({Local{day} + window.start_time(), Local{day} + window.end_time()});
        });
}

std::vector<Interval> Pattern::in_time(Instant from, Instant to, const OpeningDays* known) const {
    const LocalDay first = day_near(from) - kReach;
    const LocalDay end = day_near(to) + kReach;
    return unite<Interval>(windows_, from, to, [&](const Window& window, std::vector<Interval>& all) {
        if (const auto days = known != nullptr ? known->days(first, end) : std::nullopt)
            open_on(window, *days, all);
        else
            window.expand(first, end, holidays_, all);
    });
}

std::optional<Instant> Pattern::always_open_from() const {
    std::vector<Zone> tried;
    for (const Window& window : windows_) {
        const Zone& zone = window.recurrence().zone();
        if (std::find(tried.begin(), tried.end(), zone) != tried.end()) continue;
        if (const auto from = always_open_from(zone)) return from;
        tried.push_back(zone);
    }
    return std::nullopt;
}

std::optional<Instant> Pattern::always_open_from(const Zone& zone) const {
    constexpr std::int64_t kYear = 366;
    std::vector<Window> some;
    std::int64_t period = 1;
    LocalDay from = day_near(kBegin);
    for (const Window& window : windows_) {
        const Recurrence& rule = window.recurrence();
        const std::int64_t common = common_period(period, rule.period_days());
        const bool on_all_days =
            !window.depends_on_holidays() || (holidays_.empty() && !window.only_on_holidays());
        if (!on_all_days || rule.last_day() || common > kYear || !(rule.zone() == zone)) continue;
        some.push_back(window);
        period = common;
        from = std::max(from, rule.periodic_from());
    }
    from += Days{2};
    const LocalDay to = from + Days{period + 2};
    const auto open = Pattern(some, holidays_).on_the_clock(from, to);
    if (open.size() != 1 || !(open.front() == ClockInterval{Local{from}, Local{to}})) return std::nullopt;
    return std::min(kEnd, Instant{(from + kReach).time_since_epoch()});
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
