// ModifyReservation (pbs_ralter): changes a reservation. Changes that concern only the reservation itself,
// such as its name and its users, are made at once. Changes of its times need the scheduler's decision; until
// then the reservation stays as it is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/new_reservation.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/requests/reservation_requests.h"
#include "server_plugin/host/state/occurrences.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/host/state/reservation_select.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr std::array<std::string_view, 3> kTimes = {"reserve_start", "reserve_end", "reserve_duration"};
constexpr std::array<std::string_view, 6> kOthers = {"Reserve_Name",     "Mail_Points",       "Mail_Users",
                                                     "Authorized_Users", "Authorized_Groups", "interactive"};

bool is_one_of(std::string_view name, const auto& names) {
    return std::ranges::any_of(names, [&](std::string_view one) { return same_name(one, name); });
}

bool is_select(const ifl::Attribute& given) {
    return same_name(given.name, "Resource_List") && same_name(given.resource, "select");
}

// Reduces the reservation's request to the chunks of `select`. A confirmed reservation loses its other chunks
// at once. But if its times change, too, it loses them when the scheduler has decided about the times.
Result<void> alter_select(Change& change, const Reservation& current, Reservation& reservation,
                          const std::string& select, bool other_times, const std::string& by) {
    const State& state = change.server().state;
    if (is_standing(current) || is_maintenance(current))
        return fail(
            PBSE_NOSUP,
            "No support for requested service: to alter the select of a standing reservation or of one of "
            "hosts");
    Reservation altered = reservation;
    if (auto ok = set_select(altered, select, state); !ok) return ok;
    if (current.state() == reservation_state::kUnconfirmed) {
        reservation = std::move(altered);
        change.want_cycle(PBS_SCH_SCHEDULE_CMD);
    } else if (other_times) {
        if (current.start() <= change.now())
            return fail(
                PBSE_NOSUP,
                "No support for requested service: of one that runs, the select is altered without times");
        set_attribute(reservation, "asked_select", select);
        return {};
    } else {
        auto places = places_kept(current, altered, state);
        if (!places) return tl::unexpected(places.error());
        altered.places = std::move(*places);
        reservation = std::move(altered);
        write_exec_vnodes(reservation, state);
        note_confirmation(change, reservation, true, by);
        change.want_cycle(PBS_SCH_SCHEDULE_CMD);
    }
    if (const Queue* queue = state.queue(reservation.queue_name()))
        limit_queue(reservation, change.queue(*queue), state.resources);
    return {};
}

// Converts the new value of a list of users or groups to the complete list. An entry "+user" is added to the
// present list, and "-user" is removed from it; entries without a sign replace it.
ifl::Attribute as_change(ifl::Attribute change, const Reservation& reservation) {
    if (!same_name(change.name, "Authorized_Users") && !same_name(change.name, "Authorized_Groups"))
        return change;
    std::vector<std::string> list = reservation.attributes.list(change.name);
    bool is_anew = true;
    std::vector<std::string> anew;
    for (const std::string& entry : split_list(change.value)) {
        if (entry.empty() || (entry.front() != '+' && entry.front() != '-')) {
            anew.push_back(entry);
            continue;
        }
        is_anew = false;
        std::erase_if(list, [&](const std::string& one) {
            return one == entry.substr(1) || one.substr(0, one.find('@')) == entry.substr(1);
        });
        if (entry.front() == '+') list.push_back(entry.substr(1));
    }
    if (is_anew) return change;
    list.insert(list.end(), anew.begin(), anew.end());
    change.value = fmt::format("{}", fmt::join(list, ","));
    return change;
}

// Computes the new times. If two of start, end and duration are given, these two decide; otherwise the
// reservation's own times complete them. If only a duration is given, it begins at the reservation's start,
// as in OpenPBS.
Result<void> settle_new_times(Reservation& times, const Reservation& current, int64_t now) {
    Attributes& a = times.attributes;
    const auto keep = [&](std::string_view name) {
        set_attribute(times, name, std::string(current.attributes.text(name)));
    };
    const bool start = a.has("reserve_start");
    const bool end = a.has("reserve_end");
    const bool duration = a.has("reserve_duration");
    if (!start && !(end && duration)) keep("reserve_start");
    if (!end && !duration) keep("reserve_end");
    const bool begun = current.start() <= now;
    if (auto ok = settle_times(times, now, begun); !ok) return ok;
    if (times.start() < now && times.start() != current.start())
        return fail(PBSE_BADTSPEC, "Bad time specification(s): the start is in the past");
    return {};
}

}  // namespace

ifl::Reply modify_reservation(Context& context) {
    const auto& body = std::get<ifl::ModifyReservation>(context.request.body);
    const auto found = own_reservation(context, body.object);
    if (!found) return refuse(found.error());
    const Reservation& current = **found;
    Server& server = context.server;
    if (current.is_ending() || current.is_between() || current.state() == reservation_state::kBeingAltered ||
        is_degraded(current) || current.start() == kAsSoonAsPossible)
        return ifl::Reply::error(PBSE_BADSTATE, "Request invalid for state of reservation");
    const bool is_forced = context.request.extend.find("force") != std::string::npos;
    if (is_forced && !context.who.operator_()) return ifl::Reply::error(PBSE_PERM);
    Change change(server, context.now);
    Reservation& reservation = change.reservation(current);
    Reservation times;
    std::optional<std::string> select;
    for (size_t i = 0; i < body.attributes.size(); ++i) {
        const ifl::Attribute& given = body.attributes[i];
        if (is_select(given)) {
            select = given.value;
            continue;
        }
        const bool is_time = is_one_of(given.name, kTimes);
        Result<void> set;
        if (!is_time && !is_one_of(given.name, kOthers))
            set = fail(
                PBSE_NOSUP,
                fmt::format("No support for requested service: to alter {} of a reservation", given.name));
        else
            set = set_reservation_attribute(is_time ? times : reservation, as_change(given, reservation),
                                            write_rights(context.who), context.state());
        if (!set) return refuse_attribute(set.error(), given, i);
    }
    const Queue* queue = context.state().queue(reservation.queue_name());
    if (queue == nullptr) return ifl::Reply::error(PBSE_INTERNAL);
    if (auto ok = settle_access(reservation, change.queue(*queue)); !ok) return refuse(ok.error());
    const bool other_times = !times.attributes.values().empty();
    if (is_forced && (!other_times || select))
        return ifl::Reply::error(PBSE_NOSUP, "No support for requested service: only times are forced");
    if (select)
        if (auto ok = alter_select(change, current, reservation, *select, other_times, requestor(context));
            !ok)
            return refuse(ok.error());
    if (other_times) {
        // The rule of a standing reservation counts from its first times, so these can't change before it is
        // confirmed.
        if (is_standing(current) && current.state() == reservation_state::kUnconfirmed)
            return ifl::Reply::error(PBSE_BADSTATE, "Request invalid for state of reservation");
        if (auto ok = settle_new_times(times, current, context.now); !ok) return refuse(ok.error());
        if (!current.later.empty() && times.end() > current.later.front().start)
            return ifl::Reply::error(PBSE_STDG_RESV_OCCR_CONFLICT);
        if (times.start() != current.start() && !context.state().queue_usage(queue->handle).jobs.empty())
            return ifl::Reply::error(
                PBSE_RESV_NOT_EMPTY,
                "Reservation not empty: its start can't be altered while jobs run in it");
        if (current.state() == reservation_state::kUnconfirmed) {
            for (const std::string_view name : kTimes)
                set_attribute(reservation, name, std::string(times.attributes.text(name)));
            reservation.attributes.set(*reservation_table().find("Resource_List"), "walltime",
                                       std::string(times.attributes.text("Resource_List", "walltime")));
        } else {
            set_attribute(reservation, "asked_start", std::string(times.attributes.text("reserve_start")));
            set_attribute(reservation, "asked_end", std::string(times.attributes.text("reserve_end")));
            set_attribute(reservation, "reserve_state", std::to_string(reservation_state::kBeingAltered));
            if (is_forced) set_attribute(reservation, "asked_force", "1");
            choose_asked(reservation, context.state());
        }
        change.want_cycle(PBS_SCH_SCHEDULE_CMD);
    }
    set_attribute(reservation, "mtime", std::to_string(context.now));
    const std::string id = current.id;
    const bool waits = reservation.attributes.has("interactive") && other_times;
    const int64_t seconds = reservation.attributes.integer("interactive", 0);
    if (current.state() != reservation_state::kUnconfirmed)
        reservation.attributes.unset(*reservation_table().find("interactive"), {});
    auto awaited = std::make_unique<AwaitedReservation>(id, waits_until(context.now, seconds), false);
    awaited->wants(reservation, context.now);
    change.then([&server, id, by = requestor(context)] {
        server.parts.log.write(LogEvent::admin, LogClass::reservation, id,
                               fmt::format("Reservation to be altered at request of {}", by));
    });
    if (auto done = change.commit(); !done) return refuse(done.error());
    if (waits) {
        context.rest = std::move(awaited);
        return {};
    }
    ifl::Reply reply;
    reply.body = ifl::TextReply{id + (other_times ? " ALTER REQUESTED" : " CONFIRMED")};
    return reply;
}

}  // namespace pbs::host
