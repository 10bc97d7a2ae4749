// SubmitReservation: makes a reservation with its queue. The scheduler decides about it later. With the
// attribute `interactive`, the client waits for the answer for at most that many seconds. If there is no
// answer by then, the reply says so. A negative number means to wait equally long, but then to delete the
// reservation.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/new_reservation.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/reservation_requests.h"

namespace pbs::host {
namespace {

// Finds the job from which the reservation is to be made, or which is to be moved into it (qmove); null: the
// request names no job.
Result<const Job*> job_of(const Context& context, const Reservation& reservation) {
    const bool moved = reservation.attributes.has("qmove");
    if (!moved && !reservation.attributes.has("reserve_job")) return nullptr;
    const auto target =
        target_of(context.state(), reservation.attributes.text(moved ? "qmove" : "reserve_job"));
    if (!target) return tl::unexpected(target.error());
    const Job& job = *target->job;
    if (target->subjobs())
        return fail(PBSE_RESV_FROM_ARRJOB, "Reservation may not be created from an array job");
    if (!is_owner(context, job)) return fail(PBSE_PERM);
    if (auto ok = check_job_of(reservation, job, context.state()); !ok) return tl::unexpected(ok.error());
    return &job;
}

// Returns whether the job for which the reservation was requested (qmove) was moved into it. Returns true if
// the request named no such job.
bool has_its_job(const Reservation& reservation, const State& state) {
    if (!reservation.attributes.has("qmove")) return true;
    const Job* job = state.job(reservation.attributes.text("qmove"));
    return job != nullptr && job->queue_name.text() == reservation.queue_name();
}

ifl::Reply text_reply(std::string text) {
    ifl::Reply reply;
    reply.body = ifl::TextReply{std::move(text)};
    return reply;
}

}  // namespace

Result<void> set_reservation_attribute(Reservation& reservation, const ifl::Attribute& change,
                                       uint32_t rights, const State& state) {
    const AttributeDef* def = reservation_table().find(change.name);
    if (def == nullptr && reservation_table().is_openpbs_only(change.name))
        return fail(PBSE_NOSUP, fmt::format("No support for requested service: {}", change.name));
    if (def == nullptr) return fail(PBSE_NOATTR);
    const uint32_t allowed = (rights & at_creation) != 0 ? kAllWrites | at_creation : kAllWrites;
    if ((def->flags & rights & allowed) == 0) return fail(PBSE_ATTRRO);
    ifl::Attribute value = change;
    if (def->name == "Resource_List") {
        const std::string_view name = change.resource;
        if (same_name(name, "min_walltime") || same_name(name, "max_walltime")) return fail(PBSE_NOSTF_RESV);
        const Resource* resource = state.resources.find(name);
        if (resource == nullptr) return fail(PBSE_UNKRESC);
        if ((resource->flags & (resource_read_only | resource_invisible)) != 0 &&
            (rights & (write_operator | write_manager)) == 0)
            return fail(PBSE_ATTRRO);
    }
    if (def->name == "reserve_duration") {
        const auto seconds = canonical(Type::duration, change.value);
        if (!seconds) return tl::unexpected(seconds.error());
        value.value = std::to_string(amount_of(Type::duration, *seconds));
    }
    if (def->name == "Mail_Points" && change.value.find_first_not_of("abcen") != std::string::npos)
        return fail(PBSE_BADATVAL,
                    fmt::format("Illegal Mail_Points \"{}\": expected letters out of abcen", change.value));
    if (def->name == "Reserve_Name") {
        if (change.value.empty() || change.value.size() > 230 ||
            change.value.find_first_of(" \t\n\r/") != std::string::npos)
            return fail(
                PBSE_BADATVAL,
                fmt::format("Illegal Reserve_Name \"{}\": expected 1 to 230 characters, no blanks and "
                            "no /",
                            change.value));
    }
    if (def->name == "Priority") {
        const auto number = canonical(Type::integer, change.value);
        const int64_t priority = number ? amount_of(Type::integer, *number) : 0;
        if (priority < -1024 || priority > 1024)
            return fail(PBSE_BADATVAL,
                        fmt::format("Illegal Priority \"{}\": expected -1024 to 1024", change.value));
    }
    return apply_change(reservation.attributes, *def, value, state.resources);
}

int64_t waits_until(int64_t now, int64_t interactive) {
    constexpr int64_t kLongest = 3'155'760'000;
    return now + std::abs(std::clamp(interactive, -kLongest, kLongest));
}

AwaitedReservation::AwaitedReservation(std::string id, int64_t until, bool is_deleted)
    : id_(std::move(id)), until_(until), is_deleted_(is_deleted) {}

Steps::Remaining AwaitedReservation::step(Context& context, ifl::StatusParts&) {
    Server& server = context.server;
    const Reservation* reservation = server.state.reservation(id_);
    if (reservation == nullptr) return end(text_reply(id_ + " DENIED"));
    const bool asked = reservation->is_asked();
    was_altered_ = was_altered_ || reservation->state() == reservation_state::kBeingAltered;
    if (!asked && was_altered_) {
        // If the scheduler has denied the alteration, the reservation doesn't have the wanted times.
        const bool granted = reservation->attributes.integer("mtime", 0) >= asked_at_ &&
                             reservation->attributes.text("reserve_start") == wanted_start_ &&
                             reservation->attributes.text("reserve_end") == wanted_end_;
        return end(text_reply(id_ + (granted ? " CONFIRMED" : " DENIED")));
    }
    if (!asked)
        return end(text_reply(id_ + (has_its_job(*reservation, server.state) ? " CONFIRMED" : " FAILED")));
    if (context.now < until_ && !server.winding_down()) return Remaining::later;
    if (!is_deleted_ || server.winding_down()) return end(text_reply(id_ + " UNCONFIRMED"));
    Change change(server, context.now);
    delete_reservation(change, change.reservation(*reservation), requestor(context));
    if (auto done = change.commit(); !done) return end(refuse(done.error()));
    return end(text_reply(id_ + " delete, wait period expired"));
}

void AwaitedReservation::wants(const Reservation& reservation, int64_t now) {
    asked_at_ = now;
    was_altered_ = reservation.state() == reservation_state::kBeingAltered;
    wanted_start_ = reservation.attributes.text("asked_start");
    wanted_end_ = reservation.attributes.text("asked_end");
}

ifl::Reply submit_reservation(Context& context) {
    const auto& body = std::get<ifl::QueueJob>(context.request.body);
    Server& server = context.server;
    if (server.winding_down()) return ifl::Reply::error(PBSE_SVRDOWN);
    if (!body.job.empty()) return ifl::Reply::error(PBSE_IVALREQ);
    NewReservation asked;
    asked.privileged = context.who.operator_();
    asked.maintains = context.request.extend.find('m') != std::string::npos;
    if (asked.maintains && !asked.privileged) return ifl::Reply::error(PBSE_PERM);
    Reservation& reservation = asked.reservation;
    const uint32_t rights = write_rights(context.who) | at_creation;
    // A client that wants a job moved (qmove) sends all of the job's attributes. Ignore the resources that
    // the requester may not set: their values come from the job.
    const bool moved = std::ranges::any_of(
        body.attributes, [](const ifl::Attribute& one) { return same_name(one.name, "qmove"); });
    for (size_t i = 0; i < body.attributes.size(); ++i) {
        const ifl::Attribute& given = body.attributes[i];
        const auto set = set_reservation_attribute(reservation, given, rights, context.state());
        if (set || (moved && set.error().code == PBSE_ATTRRO && same_name(given.name, "Resource_List")))
            continue;
        return refuse_attribute(set.error(), given, i);
    }
    const auto job = job_of(context, reservation);
    if (!job) return refuse(job.error());
    asked.job = *job;
    asked.owner = requestor(context);
    asked.host = context.who.host;
    const bool confirmed = asked.job != nullptr && !moved;
    const bool waits = reservation.attributes.has("interactive");
    const int64_t seconds = reservation.attributes.integer("interactive", 0);
    Change change(server, context.now);
    const auto id = add_reservation(change, std::move(asked));
    if (!id) return refuse(id.error());
    if (auto done = change.commit(); !done) return refuse(done.error());
    if (confirmed) return text_reply(*id + " CONFIRMED");
    if (!waits) return text_reply(*id + " UNCONFIRMED");
    context.rest = std::make_unique<AwaitedReservation>(*id, waits_until(context.now, seconds), seconds < 0);
    return {};
}

}  // namespace pbs::host
