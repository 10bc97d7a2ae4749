// What follows from an advance reservation alone, or with the state: whether it lacks vnodes, is to be
// decided about, and what its request leaves open.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

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

// reserve_substate.
int substate_of(const Reservation& reservation);

// The jobs in its queue that aren't history; and those of them that have begun, without arrays, which stay as
// long as they have other subjobs.
std::vector<const Job*> jobs_of(const State& state, const Reservation& reservation);
std::vector<const Job*> running_jobs_of(const State& state, const Reservation& reservation);

// Does one of these places lie on a vnode that is down, offline or gone, or has a chunk no place, because
// somebody took the hosts? The same of the places of later occurrences.
bool lacks_vnodes(const Reservation& reservation, const std::vector<Place>& places, const State& state);
bool later_lacks_vnodes(const Reservation& reservation, const State& state);
// Is one of its occurrences chosen to be decided about (choose_asked)?
bool is_any_asked(const Reservation& reservation);

// Sets reserve_duration and Resource_List.walltime.
void set_duration(Reservation& reservation, int64_t seconds);

// Start, end and duration follow from each other and from walltime, as two of them are given. `may_be_past`:
// the start may be. PBSE_BADTSPEC.
Result<void> settle_times(Reservation& reservation, int64_t now, bool may_be_past);

// A job of no queue that asks for the same as the reservation, complete. Errors as complete_resources().
Result<Job> as_job(const Reservation& reservation, const State& state);
// Gives the reservation the job's Resource_List and schedselect.
void take_list(Reservation& reservation, const Job& job);

// What select and place leave open, with the server's defaults; Resource_List and schedselect are complete
// afterwards. Errors as complete_resources().
Result<void> complete_list(Reservation& reservation, const State& state);

// Its owner is among those who may use it; the queue's lists are as its own. PBSE_DUPLIST.
Result<void> settle_access(Reservation& reservation, Queue& queue);

// Jobs that ask for more than the reservation has don't enter its queue.
void limit_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);
// A new queue for it, with these limits.
void settle_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);

}  // namespace pbs::host
