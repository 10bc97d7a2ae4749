// What happens to an advance reservation from its request to its end, as steps of a Change.
//
// It is made with a queue of its own ("R12"), in the same transaction: unconfirmed, until the scheduler says
// that it has places for it, or that it hasn't. The queue takes jobs once it is confirmed, and starts them
// while it runs. If a vnode of it goes down before its start, it is degraded: the scheduler is asked for
// other places, now and then, until it has found some or the vnode is back. At its end, or when it is
// deleted, the jobs in its queue are deleted, and when the last has gone the reservation and its queue are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/change.h"
#include "server_plugin/host/error.h"

namespace pbs::host {

namespace reservation_state {
inline constexpr int kDegraded = 10;
}  // namespace reservation_state

// Is it to be decided about? As new, with other times, or for other places than those that it has.
bool awaits_answer(const Reservation& reservation);

void set_attribute(Reservation& reservation, std::string_view name, std::string value);

// Start, end and duration follow from each other and from walltime, as two of them are given. `may_be_past`:
// the start may be. PBSE_BADTSPEC.
Result<void> settle_times(Reservation& reservation, int64_t now, bool may_be_past);

// What select and place leave open, with the server's defaults; Resource_List and schedselect are complete
// afterwards. Errors as complete_resources().
Result<void> settle_resources(Reservation& reservation, const Server& server);

// Its owner is among those who may use it; the queue's lists are as its own. PBSE_DUPLIST.
Result<void> settle_access(Reservation& reservation, Queue& queue);

// A new queue for it: jobs that ask for more than the reservation has don't enter it.
void settle_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);

// The scheduler's answer: it has these places, or it can't be had.
void confirm_reservation(Change& change, Reservation& reservation, const std::vector<Place>& places);
void deny_reservation(Change& change, const Reservation& current, std::string_view why);

// Deletes its jobs; it goes with the last of them. `requestor` is user@host.
void delete_reservation(Change& change, Reservation& reservation, std::string_view requestor);

// The reservations whose start or end has come, and those that end and have no jobs any more.
Result<void> look_at_reservations(Server& server, int64_t now);
// The next instant at which that has something to do; INT64_MAX: none.
int64_t next_of_reservations(const State& state);

}  // namespace pbs::host
