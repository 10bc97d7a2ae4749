// StatusReservation: shows one reservation, or all that the requester may see.
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/describe.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// Unlike a job's, a reservation's owner may see it from any host.
bool may_see(const Context& context, const Reservation& reservation) {
    return may_see_all(context) || context.who.user == reservation.owner();
}

}  // namespace

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

}  // namespace pbs::host
