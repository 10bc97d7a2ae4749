// The life of an advance reservation from its request to its end, as steps of a Change.
//
// A reservation is made with a queue of its own ("R12"), in the same transaction. It is unconfirmed until the
// scheduler says that it has places for it, or that it hasn't. The queue takes jobs once the reservation is
// confirmed, and starts them while it runs. If one of its vnodes goes down before its start, it is degraded:
// the scheduler is asked for other places, now and then, until it has found some or the vnode is back. At its
// end, or when it is deleted, the jobs in its queue are deleted; when the last of them has gone, so have the
// reservation and its queue.
//
// A standing reservation ("S12", occurrences.h) is confirmed with places for all of its occurrences, or not
// at all. At the end of an occurrence that isn't the last, the jobs that run are deleted and those that wait
// stay; when the last of the former has gone, the reservation gets the times and places of the next one. If
// only a later occurrence lacks a vnode, only reserve_substate says that the reservation is degraded.
//
// A reservation of whole hosts ("M12") is confirmed by the operator who asks for it, whatever runs or is
// reserved there (take_hosts). A running reservation that lacks vnodes gets others as long as no job runs in
// it; otherwise it goes on with what it has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"

namespace pbs::host {

// Completes the reservation as complete_list() does, and sets its user and group. Errors of complete_list()
// and set_execution_user().
Result<void> settle_resources(Reservation& reservation, Server& server);

// Gives the reservation these places, at each of its occurrences that the scheduler was asked for; denies it
// if the answer doesn't fit. `begins`: the start of a reservation that was to begin as soon as possible; 0:
// its own. `by`: user@host of whoever answers instead of the scheduler; empty: the scheduler.
void confirm_reservation(Change& change, Reservation& reservation, const std::vector<Place>& places,
                         int64_t begins = 0, std::string_view by = {});
// Writes the accounting record and the line in the log of a confirmation. `by` is the user@host who confirmed
// the reservation; `altered`: it was there already, and is changed.
void note_confirmation(Change& change, const Reservation& reservation, bool altered, const std::string& by);
void deny_reservation(Change& change, const Reservation& current, std::string_view why);

// Takes hosts for a reservation of whole hosts that is confirmed: other reservations lose these hosts during
// its time. They are degraded, and the scheduler is asked for other places. Running jobs stay.
void take_hosts(Change& change, const Reservation& maintenance);

// Deletes the reservation's jobs; it goes with the last of them. `requestor` is user@host.
void delete_reservation(Change& change, Reservation& reservation, std::string_view requestor);

// Begins and ends the reservations whose time has come, and removes those that end and have no jobs any more.
Result<void> look_at_reservations(Server& server, int64_t now);
// The next instant at which look_at_reservations() has something to do; INT64_MAX: none.
int64_t next_of_reservations(const State& state);

}  // namespace pbs::host
