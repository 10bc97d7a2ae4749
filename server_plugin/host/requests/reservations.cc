// StatusReservation, DeleteReservation and ConfirmReservation.
#include "ifl/pbs_error.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/host/requests/reservation_requests.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// A reservation's owner may see it from any host, unlike a job's owner.
bool may_see(const Context& context, const Reservation& reservation) {
    return may_see_all(context) || context.who.user == reservation.owner();
}

}  // namespace

// Shows one reservation, or all that the requester may see.
ifl::Reply status_reservation(Context& context) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    for (size_t i = 0; i < body.wanted.size(); ++i)
        if (reservation_table().find_any(body.wanted[i].name) == nullptr)
            return refuse_attribute(Error{PBSE_NOATTR, {}}, body.wanted[i], i);
    const View view = view_of(context);
    const State& state = context.state();
    if (!body.object.empty() && body.object.front() != '@') {
        const Reservation* reservation = state.reservation(body.object);
        if (reservation == nullptr) return ifl::Reply::error(PBSE_UNKRESVID);
        if (!may_see(context, *reservation)) return ifl::Reply::error(PBSE_PERM);
        return one_object(PBS_OBJ_RESV, reservation->id, describe(*reservation, state, view));
    }
    ifl::StatusReply all;
    for (const auto& [number, reservation] : state.reservations())
        if (may_see(context, reservation))
            all.objects.push_back({PBS_OBJ_RESV, reservation.id, describe(reservation, state, view)});
    ifl::Reply reply;
    reply.body = std::move(all);
    return reply;
}

Result<const Reservation*> own_reservation(const Context& context, std::string_view id) {
    const Reservation* reservation = context.state().reservation(id);
    if (reservation == nullptr) return fail(PBSE_UNKRESVID);
    const bool at_home = context.state().server.boolean("flatuid", false) ||
                         same_name(context.who.host, reservation->owner_host());
    const bool own = context.who.user == reservation->owner() && at_home;
    if (!own && !context.who.operator_()) return fail(PBSE_PERM);
    return reservation;
}

// Deletes the jobs of a reservation. The reservation is removed with the last of them.
ifl::Reply delete_reservation(Context& context) {
    const auto& body = std::get<ifl::Manage>(context.request.body);
    const auto reservation = own_reservation(context, body.object);
    if (!reservation) return refuse(reservation.error());
    if ((*reservation)->is_ending()) return ifl::Reply::ok();
    Change change(context.server, context.now);
    delete_reservation(change, change.reservation(**reservation), requestor(context));
    return reply_of(change.commit());
}

// Confirms or denies a reservation of whole hosts, at the request of an operator. All other reservations are
// confirmed by the server's own scheduler.
ifl::Reply confirm_reservation(Context& context) {
    const auto& body = std::get<ifl::RunJob>(context.request.body);
    if (!context.who.operator_()) return ifl::Reply::error(PBSE_PERM);
    const Reservation* current = context.state().reservation(body.job);
    if (current == nullptr) return ifl::Reply::error(PBSE_UNKRESVID);
    if (!is_maintenance(*current) || current->state() != reservation_state::kUnconfirmed)
        return ifl::Reply::error(PBSE_BADSTATE, "Request invalid for state of reservation");
    if (body.argument != 0 && body.argument != static_cast<uint64_t>(current->start()))
        return ifl::Reply::error(PBSE_BADTSPEC, "Bad time specification(s): it has another start");
    Change change(context.server, context.now);
    if (context.request.extend.find("SUCCESS") == std::string::npos) {
        deny_reservation(change, *current, "by " + requestor(context));
        return reply_of(change.commit());
    }
    const auto places = parse_exec_vnode(body.destination, context.state());
    if (!places) return refuse(places.error());
    if (places->empty()) return ifl::Reply::error(PBSE_BADNODESPEC);
    Reservation& reservation = change.reservation(*current);
    confirm_reservation(change, reservation, *places, 0, requestor(context));
    take_hosts(change, reservation);
    return reply_of(change.commit());
}

}  // namespace pbs::host
