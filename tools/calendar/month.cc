#include "tools/calendar/month.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace pbs::calendar {
namespace {

using rrule::Instant;
using rrule::Interval;
using rrule::LocalDay;

constexpr int kDay = 1440;

using Minutes = std::vector<Phase>;

// Marks the minutes of a day, by the readings of the clock, that overlap an open interval.
void paint(Minutes& minutes, const rrule::Zone& zone, LocalDay day, const Interval& open, Phase phase) {
    for (Instant t = open.start; t < open.end;) {
        // Mark up to the next change of the clock's offset, where the readings jump.
        const rrule::Zone::Stretch stretch = zone.stretch(t);
        const Instant change{stretch.to.time_since_epoch() - stretch.offset};
        const Instant until = t < change ? std::min(open.end, change) : open.end;
        const auto from = (zone.local(t) - rrule::Local(day)).count();
        // Include readings that the clock skips: they must not look like a gap.
        const auto to = std::max(from + (until - t).count(),
                                 until < open.end ? (zone.local(until) - rrule::Local(day)).count() : 0);
        const auto last = std::clamp<std::int64_t>((to + 59) / 60, 0, kDay);
        for (auto m = std::clamp<std::int64_t>(from / 60, 0, kDay); m < last; ++m)
            minutes[static_cast<std::size_t>(m)] = phase;
        t = until;
    }
}

void paint(Minutes& minutes, const Site& site, LocalDay day, const rrule::WindowSet& set, Phase phase) {
    const Instant end = site.zone.instant(day + std::chrono::days(1));
    for (const Interval& open : set.intervals(site.zone.instant(day), end))
        paint(minutes, site.zone, day, open, phase);
}

std::vector<DayPart> parts_of(const Site& site, LocalDay day) {
    Minutes minutes(kDay, Phase::non_prime);
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

// Returns a text on a change of the zone's offset within the day or at its beginning; empty: there is none.
std::string clock_change(const rrule::Zone& zone, LocalDay day) {
    const Instant before = zone.instant(day) - rrule::Seconds(1);
    const rrule::Zone::Stretch stretch = zone.stretch(before);
    const Instant change{stretch.to.time_since_epoch() - stretch.offset};
    if (before >= change || change >= zone.instant(day + std::chrono::days(1))) return {};
    const auto shown = [&](rrule::Seconds offset) {
        const auto reading = rrule::Local(change.time_since_epoch() + offset) - rrule::Local(day);
        return minute_text(static_cast<int>(reading.count() / 60));
    };
    return fmt::format("clock set from {} to {}", shown(stretch.offset), shown(zone.stretch(change).offset));
}

// Returns the spans of the minutes that paint() has marked.
std::vector<OpenTime> painted(const Minutes& minutes) {
    std::vector<OpenTime> out;
    for (int m = 0; m < kDay; ++m) {
        if (minutes[static_cast<std::size_t>(m)] == Phase::non_prime) continue;
        if (out.empty() || out.back().to != m) out.push_back({m, m});
        out.back().to = m + 1;
    }
    return out;
}

std::vector<OpenTime> open_times(const Site& site, LocalDay day, const std::string& queue) {
    Minutes minutes(kDay, Phase::non_prime);
    for (const NamedWindow& window : site.windows)
        if (std::ranges::find(window.queues, queue) != window.queues.end())
            paint(minutes, site, day, window.set, Phase::prime);
    return painted(minutes);
}

std::vector<OpenTime> part_in_day(const Site& site, LocalDay day, const Interval& time) {
    Minutes minutes(kDay, Phase::non_prime);
    const Interval part{std::max(time.start, site.zone.instant(day)),
                        std::min(time.end, site.zone.instant(day + std::chrono::days(1)))};
    paint(minutes, site.zone, day, part, Phase::prime);
    return painted(minutes);
}

std::vector<QueueMonth> queues_of(const Site& site, const std::vector<MonthDay>& days) {
    std::map<std::string, std::string> windows;
    for (const NamedWindow& window : site.windows)
        for (const std::string& queue : window.queues)
            windows[queue] += (windows[queue].empty() ? "" : ", ") + window.name;
    std::vector<QueueMonth> out;
    for (const auto& [queue, names] : windows) {
        QueueMonth& made = out.emplace_back(QueueMonth{queue, names, {}});
        for (const MonthDay& day : days) made.days.push_back(open_times(site, day.day, queue));
    }
    // All times of a reservation follow each other in the list.
    for (auto one = site.reservations.begin(); one != site.reservations.end();) {
        QueueMonth made{one->name, {}, {}};
        made.days.resize(days.size());
        for (; one != site.reservations.end() && one->name == made.name; ++one)
            for (std::size_t i = 0; i < days.size(); ++i) {
                const auto part = part_in_day(site, days[i].day, one->when);
                made.days[i].insert(made.days[i].end(), part.begin(), part.end());
            }
        if (std::ranges::any_of(made.days, [](const auto& times) { return !times.empty(); }))
            out.push_back(std::move(made));
    }
    return out;
}

std::vector<PhasePolicies> policies_of(const Site& site) {
    std::vector<PhasePolicies> out;
    for (const SchedPolicies& sched : site.scheds) {
        if (sched.slots.empty()) continue;
        const auto in = [&](Phase phase) {
            return std::string(objects::policy_in_force(sched.slots, site.prime_switches,
                                                        phase == Phase::prime, phase == Phase::dedicated));
        };
        out.push_back({sched.name, {in(Phase::non_prime), in(Phase::prime), in(Phase::dedicated)}});
    }
    return out;
}

}  // namespace

std::string title_of(std::chrono::year_month month) {
    return fmt::format("{:%B %Y}", date_of(rrule::LocalDay(month / 1)));
}

std::tm date_of(LocalDay day) {
    return fmt::gmtime(static_cast<std::time_t>(rrule::Seconds(day.time_since_epoch()).count()));
}

std::string minute_text(int minute) {
    return fmt::format("{:02}:{:02}", minute / 60, minute % 60);
}

std::string MonthDay::remark() const {
    return fmt::format("{}{}{}", name, name.empty() || clock.empty() ? "" : "; ", clock);
}

std::string PhasePolicies::text() const {
    if (std::ranges::count(policies, policies.front()) == std::ssize(policies))
        return fmt::format("sched {}: policy {}", sched, policies.front());
    std::string list;
    for (const Phase phase : {Phase::prime, Phase::non_prime, Phase::dedicated})
        list += fmt::format("{}{} in {}", list.empty() ? "" : ", ", policies[static_cast<std::size_t>(phase)],
                            phase_text(phase));
    return fmt::format("sched {}: policy {}", sched, list);
}

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
    Month out{month, site.server, site.zone.name(), {}, policies_of(site), {}};
    const LocalDay first(month / 1);
    const LocalDay after((month + std::chrono::months(1)) / 1);
    for (LocalDay day = first; day < after; day += std::chrono::days(1))
        out.days.push_back({day, site.holidays.contains(day), site.holidays.names(day),
                            clock_change(site.zone, day), parts_of(site, day)});
    out.queues = queues_of(site, out.days);
    return out;
}

}  // namespace pbs::calendar
