#include "server_plugin/host/state/occurrences.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ifl/attributes/execvnodes.h"
#include "ifl/pbs_error.h"
#include "rrule/series.h"
#include "server_plugin/host/state/attributes.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/values.h"

namespace pbs::host {
namespace {

rrule::Instant instant(int64_t seconds) {
    return rrule::Instant(rrule::Seconds(seconds));
}
int64_t seconds(rrule::Instant t) {
    return t.time_since_epoch().count();
}

int code_of(rrule::SeriesError::Kind kind) {
    using Kind = rrule::SeriesError::Kind;
    if (kind == Kind::endless) return PBSE_BAD_RRULE_SYNTAX2;
    return kind == Kind::none ? PBSE_BADTSPEC : PBSE_BAD_RRULE_SYNTAX;
}

int code_of_long(std::string_view frequency) {
    if (frequency == "MINUTELY") return PBSE_BAD_RRULE_MINUTELY;
    if (frequency == "HOURLY") return PBSE_BAD_RRULE_HOURLY;
    if (frequency == "DAILY") return PBSE_BAD_RRULE_DAILY;
    if (frequency == "WEEKLY") return PBSE_BAD_RRULE_WEEKLY;
    return frequency == "MONTHLY" ? PBSE_BAD_RRULE_MONTHLY : PBSE_BAD_RRULE_YEARLY;
}

// Computes all occurrences of the reservation from its attributes.
Result<rrule::Series> series_of(const Reservation& reservation) {
    const Attributes& a = reservation.attributes;
    if (!a.has("reserve_timezone"))
        return fail(PBSE_BAD_ICAL_TZ, "A recurrence needs a time zone: set PBS_TZID, as to Europe/Berlin");
    const auto zone = rrule::Zone::find(a.text("reserve_timezone"));
    if (!zone) return fail(PBSE_BAD_ICAL_TZ, "Unrecognized PBS_TZID: " + zone.error().message);
    auto found = rrule::series(a.text("reserve_rrule"), instant(a.integer("series_start", 0)), *zone,
                               kMostOccurrences);
    if (!found)
        return fail(code_of(found.error().kind),
                    fmt::format("Invalid recurrence rule: {}", found.error().message));
    return std::move(*found);
}

using Time = std::pair<int64_t, int64_t>;

// Returns the start and end of an occurrence. The end isn't later than the start of the next occurrence.
// Otherwise occurrences of 24 hours would overlap on a day of 23 hours, when the clock is set forward.
Time time_of(const rrule::Series& series, size_t i, int64_t duration) {
    const int64_t start = seconds(series.starts[i]);
    const int64_t end = start + duration;
    return {start, i + 1 < series.starts.size() ? std::min(end, seconds(series.starts[i + 1])) : end};
}

void note_nodes(Reservation& reservation) {
    std::vector<uint64_t>& nodes = reservation.later_nodes;
    nodes.clear();
    for (const Reservation::Occurrence& one : reservation.later)
        for (const Place& place : one.places)
            if (nodes.empty() || nodes.back() != place.node) nodes.push_back(place.node);
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

}  // namespace

Result<void> settle_occurrences(Reservation& reservation) {
    set_attribute(reservation, "reserve_count", "1");
    if (!reservation.attributes.has("reserve_rrule")) {
        reservation.attributes.unset(*reservation_table().find("reserve_standing"), {});
        return {};
    }
    const int64_t duration = reservation.end() - reservation.start();
    set_attribute(reservation, "series_start", std::to_string(reservation.start()));
    set_attribute(reservation, "series_duration", std::to_string(duration));
    const auto series = series_of(reservation);
    if (!series) return tl::unexpected(series.error());
    if (rrule::Seconds(duration) > series->period) return fail(code_of_long(series->frequency));
    for (size_t i = 1; i < series->readings.size(); ++i)
        if (series->readings[i] - series->readings[i - 1] < rrule::Seconds(duration))
            return fail(PBSE_BADTSPEC,
                        "Bad time specification(s): an occurrence would last longer than until the next one");
    const Time first = time_of(*series, 0, duration);
    set_attribute(reservation, "reserve_start", std::to_string(first.first));
    set_attribute(reservation, "reserve_end", std::to_string(first.second));
    set_attribute(reservation, "reserve_duration", std::to_string(first.second - first.first));
    reservation.attributes.set(*reservation_table().find("Resource_List"), "walltime",
                               amount_text(Type::duration, first.second - first.first));
    set_attribute(reservation, "reserve_count", std::to_string(series->starts.size()));
    set_attribute(reservation, "reserve_standing", series->starts.size() > 1 ? "1" : "0");
    reservation.later.resize(series->starts.size() - 1);
    for (size_t i = 0; i < reservation.later.size(); ++i)
        std::tie(reservation.later[i].start, reservation.later[i].end) = time_of(*series, i + 1, duration);
    if (is_standing(reservation)) set_attribute(reservation, "reserve_index", "1");
    return {};
}

bool is_standing(const Reservation& reservation) {
    return reservation.attributes.integer("reserve_count", 1) > 1;
}

void renew_times(Reservation& reservation) {
    const auto series = series_of(reservation);
    if (!series) return;
    const int64_t duration = reservation.attributes.integer("series_duration", 0);
    const auto index = static_cast<size_t>(reservation.attributes.integer("reserve_index", 1));
    for (size_t i = 0; i < reservation.later.size() && index + i < series->starts.size(); ++i)
        std::tie(reservation.later[i].start, reservation.later[i].end) =
            time_of(*series, index + i, duration);
}

void load_occurrences(Reservation& reservation, const State& state) {
    const Attributes& a = reservation.attributes;
    const int64_t left = a.integer("reserve_count", 1) - a.integer("reserve_index", 1);
    reservation.later.assign(
        static_cast<size_t>(std::clamp<int64_t>(left, 0, static_cast<int64_t>(kMostOccurrences))), {});
    if (reservation.later.empty()) return;
    renew_times(reservation);
    // If the system doesn't have the time zone any more, the occurrences have no times: remove them.
    std::erase_if(reservation.later, [](const Reservation::Occurrence& one) { return one.end == 0; });
    const std::vector<std::string> texts =
        ifl::exec_vnodes_in(a.text("reserve_execvnodes"), kMostOccurrences);
    for (size_t i = 0; i < reservation.later.size() && i + 1 < texts.size(); ++i)
        reservation.later[i].places = i > 0 && texts[i + 1] == texts[i] ? reservation.later[i - 1].places
                                                                        : places_of(texts[i + 1], state);
    note_nodes(reservation);
}

void write_exec_vnodes(Reservation& reservation, const State& state) {
    const std::string_view chunks = reservation.attributes.text("schedselect");
    const auto text = [&](const std::vector<Place>& places) {
        return exec_vnode_text(places, state.resources, chunks);
    };
    if (reservation.places.empty())
        reservation.attributes.unset(*reservation_table().find("resv_nodes"), {});
    else
        set_attribute(reservation, "resv_nodes", text(reservation.places));
    note_nodes(reservation);
    if (!is_standing(reservation)) return;
    std::vector<std::string> texts{text(reservation.places)};
    for (const Reservation::Occurrence& one : reservation.later) texts.push_back(text(one.places));
    set_attribute(reservation, "reserve_execvnodes", ifl::execvnodes_text(texts));
}

}  // namespace pbs::host
