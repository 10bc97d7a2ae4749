#include "calendar/month.h"

#include <algorithm>

namespace pbs::calendar {
namespace {

using rrule::Instant;
using rrule::Interval;
using rrule::LocalDay;

constexpr int kDay = 1440;

// The minute that a clock shows at an instant, as part of this day.
int minute_of(const Site& site, LocalDay day, Instant t) {
    const auto since = std::chrono::duration_cast<std::chrono::minutes>(site.zone.local(t) - day).count();
    return static_cast<int>(std::clamp<std::int64_t>(since, 0, kDay));
}

// Paints the open minutes of a set over what is there.
void paint(std::vector<Phase>& minutes, const Site& site, LocalDay day, const rrule::WindowSet& set,
           Phase phase) {
    const Instant begin = site.zone.instant(day);
    const Instant end = site.zone.instant(day + std::chrono::days(1));
    for (const Interval& open : set.intervals(begin, end)) {
        const int from = open.start == begin ? 0 : minute_of(site, day, open.start);
        const int to = open.end == end ? kDay : minute_of(site, day, open.end);
        for (int m = from; m < to; ++m) minutes[static_cast<std::size_t>(m)] = phase;
    }
}

std::vector<DayPart> parts_of(const Site& site, LocalDay day) {
    std::vector<Phase> minutes(kDay, Phase::non_prime);
    paint(minutes, site, day, site.prime, Phase::prime);
    paint(minutes, site, day, site.dedicated, Phase::dedicated);
    std::vector<DayPart> parts;
    for (int m = 0; m < kDay; ++m) {
        const Phase phase = minutes[static_cast<std::size_t>(m)];
        if (parts.empty() || parts.back().phase != phase) parts.push_back({m, m, phase});
        parts.back().to = m + 1;
    }
    return parts;
}

}  // namespace

std::string_view phase_text(Phase phase) {
    switch (phase) {
        case Phase::non_prime:
            return "non-prime time";
        case Phase::prime:
            return "prime time";
        case Phase::dedicated:
            return "dedicated time";
    }
    return {};
}

Month make_month(const Site& site, std::chrono::year_month month) {
    Month out{month, site.server, site.zone.name(), {}};
    const LocalDay first(month / 1);
    const LocalDay after((month + std::chrono::months(1)) / 1);
    for (LocalDay day = first; day < after; day += std::chrono::days(1))
        out.days.push_back({day, site.holidays.contains(day), parts_of(site, day)});
    return out;
}

}  // namespace pbs::calendar
