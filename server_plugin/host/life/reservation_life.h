// What happens to an advance reservation from its request to its end, as steps of a Change.
//
// It is made with a queue of its own ("R12"), in the same transaction: unconfirmed, until the scheduler says
// that it has places for it, or that it hasn't. The queue takes jobs once it is confirmed, and starts them
// while it runs. If a vnode of it goes down before its start, it is degraded: the scheduler is asked for
// other places, now and then, until it has found some or the vnode is back. At its end, or when it is
// deleted, the jobs in its queue are deleted, and when the last has gone the reservation and its queue are.
//
// A standing reservation ("S12", occurrences.h) is confirmed with places for all of its occurrences, or not
// at all. At the end of one that isn't the last, the jobs that run are deleted and those that wait stay; when
// the last of them has gone, the reservation has the times and places of the next one. If it is a later
// occurrence that lacks a vnode, only reserve_substate says that it is degraded.
//
// A reservation of whole hosts ("M12") is confirmed by the operator who asks for it, whatever runs there or
// is reserved (take_hosts). One that runs and lacks vnodes is given others as long as no job runs in it; else
// it goes on with what it has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"

namespace pbs::host {

// Completes the reservation as complete_list() does, and sets the user and group that it is for. Errors as of
// complete_list() and set_execution_user().
Result<void> settle_resources(Reservation& reservation, Server& server);

// The scheduler's answer: the reservation has these places, at each of its occurrences that were asked for,
// or it can't be had. `begins`: when one begins that was to begin as soon as possible; 0: its own. `by`:
// user@host of whoever answers instead of the scheduler; empty: the scheduler does.
void confirm_reservation(Change& change, Reservation& reservation, const std::vector<Place>& places,
                         int64_t begins = 0, std::string_view by = {});
// Writes the accounting record and the line in the log of a confirmation. `by` is the user@host who confirmed
// the reservation; `altered`: it was there already, and is changed.
void note_confirmation(Change& change, const Reservation& reservation, bool altered, const std::string& by);
void deny_reservation(Change& change, const Reservation& current, std::string_view why);

// A reservation of whole hosts is confirmed: others have none of these hosts any more while it is there. They
// are degraded, and the scheduler is asked for other places. Jobs that run stay.
void take_hosts(Change& change, const Reservation& maintenance);

// Deletes its jobs; it goes with the last of them. `requestor` is user@host.
void delete_reservation(Change& change, Reservation& reservation, std::string_view requestor);

// The reservations whose start or end has come, and those that end and have no jobs any more.
Result<void> look_at_reservations(Server& server, int64_t now);
// The next instant at which that has something to do; INT64_MAX: none.
int64_t next_of_reservations(const State& state);

}  // namespace pbs::host
