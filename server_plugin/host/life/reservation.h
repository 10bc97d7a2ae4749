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

namespace reservation_state {
inline constexpr int kDegraded = 10;
inline constexpr int kInConflict = 12;  // a substate: a reservation of whole hosts has taken vnodes of it
}  // namespace reservation_state

// The first letter of the id of a reservation of whole hosts, for their maintenance.
inline constexpr char kMaintenance = 'M';
inline bool is_maintenance(const Reservation& reservation) {
    return reservation.id.starts_with(kMaintenance);
}

// Is it to be decided about? As new, with other times, or for other places than those that it has.
bool awaits_answer(const Reservation& reservation);
// Does it, or a later occurrence of it, lack vnodes?
bool is_degraded(const Reservation& reservation);
// Does it have its vnodes now, whatever runs on them: has it begun, and not yet gone?
bool holds_vnodes(const Reservation& reservation, int64_t now);
// Notes which of its occurrences are to be decided about, if it is: all of a new one, only the next one of
// one that is altered, and those that lack vnodes of one that is degraded.
void choose_asked(Reservation& reservation, const State& state);

void set_attribute(Reservation& reservation, std::string_view name, std::string_view value);

// Start, end and duration follow from each other and from walltime, as two of them are given. `may_be_past`:
// the start may be. PBSE_BADTSPEC.
Result<void> settle_times(Reservation& reservation, int64_t now, bool may_be_past);

// What select and place leave open, with the server's defaults; Resource_List and schedselect are complete
// afterwards. Errors as complete_resources().
Result<void> settle_resources(Reservation& reservation, Server& server);

// The same of Resource_List and schedselect alone.
Result<void> complete_list(Reservation& reservation, const State& state);

// Its owner is among those who may use it; the queue's lists are as its own. PBSE_DUPLIST.
Result<void> settle_access(Reservation& reservation, Queue& queue);

// Jobs that ask for more than the reservation has don't enter its queue.
void limit_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);
// A new queue for it, with these limits.
void settle_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);

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
