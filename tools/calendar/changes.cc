#include "tools/calendar/changes.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tuple>

#include "rrule/icalendar.h"
#include "text/json_document.h"
#include "values/utc.h"

namespace pbs::calendar {
namespace {

using rrule::Instant;
using rrule::Interval;
using rrule::LocalDay;

// Returns whether the clock shows this instant's reading twice, because it is set back nearby.
bool shown_twice(const rrule::Zone& zone, Instant t) {
    const rrule::Local shown = zone.local(t);
    if (zone.instant(shown) != t) return true;
    const rrule::Zone::Stretch now = zone.stretch(t);
    const Instant change{now.to.time_since_epoch() - now.offset};
    return t < change && shown >= zone.local(change);
}

// Formats an offset from UTC: "+02:00".
std::string offset_text(rrule::Seconds offset) {
    const auto minutes = std::abs(offset.count()) / 60;
    return fmt::format("{}{:02}:{:02}", offset.count() < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

// Adds a set's intervals within [a, b) as spans like `like`. Marks a span that goes on before or after the
// range.
void add_set(std::vector<Span>& out, const rrule::WindowSet& set, Instant a, Instant b, const Span& like) {
    for (const Interval& when : set.intervals(a, b)) {
        Span span = like;
        span.when = when;
        span.earlier = when.start == a && set.contains(a - rrule::Seconds(1));
        span.later = when.end == b && set.contains(b);
        out.push_back(std::move(span));
    }
}

std::string_view policy_at(const Site& site, const objects::PolicySlots& slots, Instant t) {
    return objects::policy_in_force(slots, site.prime_switches, site.prime.contains(t),
                                    site.dedicated.contains(t));
}

// Returns the first instant after t, and not after b, at which a policy may change.
Instant next_switch(const Site& site, Instant t, Instant b) {
    Instant next = b;
    for (const rrule::WindowSet* set : {&site.prime, &site.dedicated}) {
        if (const auto change = set->next_change(t)) next = std::min(next, *change);
    }
    return next;
}

void add_policies(std::vector<Span>& out, const Site& site, const SchedPolicies& sched, Instant a,
                  Instant b) {
    const std::size_t first = out.size();
    for (Instant t = a; t < b;) {
        const Instant next = next_switch(site, t, b);
        const std::string_view policy = policy_at(site, sched.slots, t);
        if (out.size() > first && out.back().detail == policy && out.back().when.end == t) {
            out.back().when.end = next;
        } else if (!policy.empty()) {
            out.push_back({{t, next}, Kind::policy, sched.name, std::string(policy), false, false});
        }
        t = next;
    }
    if (out.size() == first) return;
    out[first].earlier = out[first].when.start == a &&
                         policy_at(site, sched.slots, a - rrule::Seconds(1)) == out[first].detail;
    out.back().later = out.back().when.end == b && policy_at(site, sched.slots, b) == out.back().detail;
}

// Visits each non-work day that begins in [a, b), and the day that contains a if it is one.
template <class Visit>
void for_each_holiday(const Site& site, Instant a, Instant b, Visit visit) {
    LocalDay from = std::chrono::floor<std::chrono::days>(site.zone.local(a));
    while (const auto day = site.holidays.next(from)) {
        const Instant start = site.zone.instant(*day);
        if (start >= b) return;
        visit(*day, Interval{start, site.zone.instant(*day + std::chrono::days(1))});
        from = *day + std::chrono::days(1);
    }
}

void add_holidays(std::vector<Span>& out, const Site& site, Instant a, Instant b) {
    for_each_holiday(site, a, b, [&](LocalDay date, Interval day) {
        out.push_back({{std::max(day.start, a), std::min(day.end, b)},
                       Kind::non_work_day,
                       site.holidays.names(date),
                       {},
                       day.start<a, day.end> b});
    });
}

std::string what(const Span& span) {
    switch (span.kind) {
        case Kind::policy:
            return fmt::format("sched {}: policy {}", span.name, span.detail);
        case Kind::prime:
            return "prime time";
        case Kind::dedicated:
            return "dedicated time";
        case Kind::window:
            return fmt::format("time_window {}{}{}", span.name, span.detail.empty() ? "" : ": queues ",
                               span.detail);
        case Kind::non_work_day:
            return fmt::format("non-work day{}{}", span.name.empty() ? "" : ": ", span.name);
        case Kind::reservation:
            return fmt::format("reservation {}", span.name);
    }
    return {};
}

}  // namespace

std::string_view kind_text(Kind kind) {
    switch (kind) {
        case Kind::policy:
            return "policy";
        case Kind::prime:
            return "prime_time";
        case Kind::dedicated:
            return "dedicated_time";
        case Kind::window:
            return "time_window";
        case Kind::non_work_day:
            return "non_work_day";
        case Kind::reservation:
            return "reservation";
    }
    return {};
}

std::string local_text(const rrule::Zone& zone, Instant t) {
    const rrule::Seconds shown = zone.local(t).time_since_epoch();
    return fmt::format("{:%a %Y-%m-%d %H:%M:%S}{}", fmt::gmtime(static_cast<std::time_t>(shown.count())),
                       shown_twice(zone, t) ? offset_text(shown - t.time_since_epoch()) : "");
}

std::vector<Span> spans(const Site& site, Instant a, Instant b) {
    std::vector<Span> out;
    if (b <= a) return out;
    for (const SchedPolicies& sched : site.scheds) add_policies(out, site, sched, a, b);
    add_set(out, site.prime, a, b, {{}, Kind::prime, {}, {}, false, false});
    add_set(out, site.dedicated, a, b, {{}, Kind::dedicated, {}, {}, false, false});
    for (const NamedWindow& window : site.windows) {
        const std::string queues = fmt::format("{}", fmt::join(window.queues, ", "));
        add_set(out, window.set, a, b, {{}, Kind::window, window.name, queues, false, false});
    }
    add_holidays(out, site, a, b);
    for (const Reservation& one : site.reservations)
        if (one.when.start < b && one.when.end > a)
            out.push_back({{std::max(one.when.start, a), std::min(one.when.end, b)},
                           Kind::reservation,
                           one.name,
                           {},
                           one.when.start<a, one.when.end> b});
    std::ranges::stable_sort(out, [](const Span& x, const Span& y) {
        return std::tie(x.when.start, x.kind, x.name) < std::tie(y.when.start, y.kind, y.name);
    });
    return out;
}

std::string to_text(const Site& site, const std::vector<Span>& list, Instant a, Instant b) {
    std::string text =
        fmt::format("{}, {} to {} ({}{})\n", site.server, local_text(site.zone, a), local_text(site.zone, b),
                    site.zone.name(), site.zone_assumed ? ", this machine's zone" : "");
    for (const Span& span : list) {
        text +=
            fmt::format("{}{} - {}{}  {}\n", span.earlier ? "<" : " ", local_text(site.zone, span.when.start),
                        local_text(site.zone, span.when.end), span.later ? ">" : " ", what(span));
    }
    if (list.empty()) text += "Nothing.\n";
    return text;
}

std::string to_json(const Site& site, const std::vector<Span>& list, Instant a, Instant b) {
    nlohmann::ordered_json json;
    json["server"] = site.server;
    json["time_zone"] = site.zone.name();
    json["from"] = values::utc_text(a);
    json["to"] = values::utc_text(b);
    json["spans"] = nlohmann::ordered_json::array();
    for (const Span& span : list) {
        nlohmann::ordered_json item;
        item["from"] = values::utc_text(span.when.start);
        item["to"] = values::utc_text(span.when.end);
        item["local_from"] = local_text(site.zone, span.when.start);
        item["local_to"] = local_text(site.zone, span.when.end);
        item["kind"] = kind_text(span.kind);
        if (!span.name.empty()) item[span.kind == Kind::policy ? "sched" : "name"] = span.name;
        if (!span.detail.empty()) item[span.kind == Kind::policy ? "policy" : "queues"] = span.detail;
        item["began_earlier"] = span.earlier;
        item["goes_on"] = span.later;
        json["spans"].push_back(std::move(item));
    }
    // JSON can't have bytes that aren't UTF-8: write_json() replaces such bytes in names.
    return text::write_json(json, 2) + "\n";
}

std::string to_icalendar(const Site& site, Instant a, Instant b, Instant stamp) {
    std::vector<rrule::TimedEvent> timed;
    for (const NamedWindow& window : site.windows) {
        // Export an opening as a whole even if it goes beyond the range, unless it is longer than a year.
        for (auto at = window.set.at_or_after(a); at && at->start < b; at = window.set.at_or_after(at->end)) {
            const bool lengthy = at->end - at->start > std::chrono::days(366);
            timed.push_back(
                {fmt::format("{}-{}@{}", window.name, at->start.time_since_epoch().count(), site.server),
                 fmt::format("{} ({})", window.name, window.type), window.type,
                 lengthy ? Interval{std::max(at->start, a), std::min(at->end, b)} : *at});
        }
    }
    for (const Reservation& one : site.reservations)
        if (one.when.start < b && one.when.end > a)
            timed.push_back({fmt::format("{}-{}@{}", one.name.substr(0, one.name.find(' ')),
                                         one.when.start.time_since_epoch().count(), site.server),
                             fmt::format("reservation {}", one.name), "reservation", one.when});
    std::vector<rrule::DayEvent> days;
    for_each_holiday(site, a, b, [&](LocalDay day, Interval) {
        const std::string name = site.holidays.names(day);
        days.push_back({fmt::format("non-work-day-{}@{}", day.time_since_epoch().count(), site.server),
                        name.empty() ? "non-work day" : name, "non_work_days", day});
    });
    return rrule::write_calendar(site.server, timed, days, stamp);
}

}  // namespace pbs::calendar
