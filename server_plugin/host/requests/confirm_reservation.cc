// ConfirmReservation: takes the vnodes for a reservation of whole hosts, on the request of an operator. All
// other reservations are confirmed by the server's own scheduler.
#include "ifl/pbs_error.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/requests/reservation_requests.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/reservation.h"

namespace pbs::host {

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
