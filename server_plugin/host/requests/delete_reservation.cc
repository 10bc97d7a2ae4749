// DeleteReservation: deletes the jobs of a reservation. The reservation is removed with the last of them.
#include "ifl/pbs_error.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/requests/reservation_requests.h"

namespace pbs::host {

Result<const Reservation*> own_reservation(const Context& context, std::string_view id) {
    const Reservation* reservation = context.state().reservation(id);
    if (reservation == nullptr) return fail(PBSE_UNKRESVID);
    const bool at_home = context.state().server.boolean("flatuid", false) ||
                         same_name(context.who.host, reservation->owner_host());
    const bool own = context.who.user == reservation->owner() && at_home;
    if (!own && !context.who.operator_()) return fail(PBSE_PERM);
    return reservation;
}

ifl::Reply delete_reservation(Context& context) {
    const auto& body = std::get<ifl::Manage>(context.request.body);
    const auto reservation = own_reservation(context, body.object);
    if (!reservation) return refuse(reservation.error());
    if ((*reservation)->is_ending()) return ifl::Reply::ok();
    Change change(context.server, context.now);
    delete_reservation(change, change.reservation(**reservation), requestor(context));
    return reply_of(change.commit());
}

}  // namespace pbs::host
