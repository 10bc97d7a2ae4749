// The life of an advance reservation, as steps of a Change.
//
// A reservation is made with a queue of its own ("R12"), in the same transaction. It is unconfirmed until the
// scheduler confirms or denies it. The queue takes jobs once the reservation is confirmed, and starts them
// while the reservation runs. If one of its vnodes goes down before its start, the reservation is degraded:
// the scheduler looks for other places at intervals, until it has found some or the vnode is back. When the
// reservation ends or is deleted, the jobs in its queue are deleted; when the last of them is gone, the
// reservation and its queue are removed.
//
// A standing reservation ("S12", occurrences.h) is confirmed with places for all of its occurrences, or
// denied. At the end of an occurrence that isn't the last, its running jobs are deleted, and its waiting jobs
// stay. When the last running job is gone, the reservation gets the times and places of the next occurrence.
// If only a later occurrence lacks a vnode, the reservation is degraded only by its reserve_substate.
//
// A reservation of whole hosts for maintenance ("M12") is confirmed by the operator who requests it, whatever
// runs or is reserved on the hosts (take_hosts). If another reservation that runs lacks vnodes, it gets new
// ones if it has no running job; otherwise it goes on with the vnodes that it has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/change.h"

namespace pbs::host {

// Completes the reservation as complete_list() does, and sets its user and group. Returns the errors of
// complete_list() and set_execution_user().
Result<void> settle_resources(Reservation& reservation, Server& server);

// Gives the reservation these places, for each occurrence that the scheduler was to decide about. If the
// places don't fit those occurrences, denies the reservation. `begins`: the start of a reservation that was
// to begin as soon as possible; 0: the start is known. `by`: the user@host who confirms the reservation;
// empty: the scheduler does.
void confirm_reservation(Change& change, Reservation& reservation, const std::vector<Place>& places,
                         int64_t begins = 0, std::string_view by = {});
// Writes the accounting record and the log line of a confirmation. `by`: the user@host who confirmed.
// `altered`: the reservation existed before, and is changed.
void note_confirmation(Change& change, const Reservation& reservation, bool altered, const std::string& by);
void deny_reservation(Change& change, const Reservation& current, std::string_view why);

// Takes the hosts of a confirmed reservation for maintenance from other reservations, for its time. The other
// reservations become degraded, and the scheduler looks for new places for them. Running jobs stay.
void take_hosts(Change& change, const Reservation& maintenance);

// Deletes the reservation's jobs. When the last of them is gone, the reservation is removed. `requestor` is
// user@host.
void delete_reservation(Change& change, Reservation& reservation, std::string_view requestor);

// Begins and ends the reservations whose time has come, and removes ended ones without jobs.
Result<void> look_at_reservations(Server& server, int64_t now);
// Returns the next instant at which look_at_reservations() has work; INT64_MAX: none.
int64_t next_of_reservations(const State& state);

}  // namespace pbs::host
