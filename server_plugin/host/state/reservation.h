// Facts about an advance reservation that follow from it alone or with the state: whether it lacks vnodes,
// whether the scheduler is to decide about it, and the complete form of its request.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// The first letter of the id of a reservation of whole hosts for maintenance.
inline constexpr char kMaintenance = 'M';
inline bool is_maintenance(const Reservation& reservation) {
    return reservation.id.starts_with(kMaintenance);
}

// Is the scheduler to decide about the reservation: as a new one, with other times, or because it needs other
// places?
bool awaits_answer(const Reservation& reservation);
// Does the reservation, or a later occurrence of it, lack vnodes?
bool is_degraded(const Reservation& reservation);
// Has the reservation begun and not ended yet at `now`, so that it holds its vnodes whatever runs on them?
bool holds_vnodes(const Reservation& reservation, int64_t now);
// Chooses the occurrences about which the scheduler is to decide, if it is to decide at all: of a new
// reservation all; of an altered one only the next; of a degraded one those that lack vnodes.
void choose_asked(Reservation& reservation, const State& state);

// The attribute reserve_substate.
int substate_of(const Reservation& reservation);

// jobs_of(): the jobs in the reservation's queue, without those in the history. running_jobs_of(): those that
// have begun, without arrays, because an array stays as long as it has other subjobs.
std::vector<const Job*> jobs_of(const State& state, const Reservation& reservation);
std::vector<const Job*> running_jobs_of(const State& state, const Reservation& reservation);

// Is one of these places on a vnode that is down, offline or gone, or does a chunk have no place, because a
// maintenance reservation took the hosts? later_lacks_vnodes() checks the same for later occurrences.
bool lacks_vnodes(const Reservation& reservation, const std::vector<Place>& places, const State& state);
bool later_lacks_vnodes(const Reservation& reservation, const State& state);
// Has choose_asked() chosen any occurrence?
bool is_any_asked(const Reservation& reservation);

// Sets reserve_duration and Resource_List.walltime.
void set_duration(Reservation& reservation, int64_t seconds);

// Computes start, end, duration and walltime from the two that are given. `may_be_past`: the start may be in
// the past. PBSE_BADTSPEC.
Result<void> settle_times(Reservation& reservation, int64_t now, bool may_be_past);

// Makes a complete job, without a queue, with the reservation's request. Errors as complete_resources().
Result<Job> as_job(const Reservation& reservation, const State& state);
// Sets the reservation's Resource_List and schedselect to the job's.
void take_list(Reservation& reservation, const Job& job);

// Completes select and place with the server's defaults; sets Resource_List and schedselect. Errors as
// complete_resources().
Result<void> complete_list(Reservation& reservation, const State& state);

// Adds the owner to the users of the reservation, and sets the same lists on the queue. PBSE_DUPLIST.
Result<void> settle_access(Reservation& reservation, Queue& queue);

// Sets limits on the queue, so that jobs that request more than the reservation has can't enter it.
void limit_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);
// Sets up the reservation's new queue, with these limits.
void settle_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);

}  // namespace pbs::host
