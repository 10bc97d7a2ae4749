// Facts about an advance reservation that follow from it alone, or with the state: whether it lacks vnodes,
// whether the scheduler is to decide about it, and what its request leaves open.
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

// Is the scheduler to decide about it: as new, with other times, or because it needs other places?
bool awaits_answer(const Reservation& reservation);
// Does it, or a later occurrence of it, lack vnodes?
bool is_degraded(const Reservation& reservation);
// Does it have its vnodes at `now`, whatever runs on them: has it begun, and not ended yet?
bool holds_vnodes(const Reservation& reservation, int64_t now);
// Notes which occurrences are to be decided about, if the reservation is: all of a new one, only the next one
// of an altered one, and those that lack vnodes of a degraded one.
void choose_asked(Reservation& reservation, const State& state);

// The attribute reserve_substate.
int substate_of(const Reservation& reservation);

// The jobs in its queue, without history; and those of them that have begun. Arrays aren't among the latter,
// as they stay as long as they have other subjobs.
std::vector<const Job*> jobs_of(const State& state, const Reservation& reservation);
std::vector<const Job*> running_jobs_of(const State& state, const Reservation& reservation);

// Does one of these places lie on a vnode that is down, offline or gone, or does a chunk have no place,
// because somebody took the hosts? later_lacks_vnodes() asks the same of later occurrences.
bool lacks_vnodes(const Reservation& reservation, const std::vector<Place>& places, const State& state);
bool later_lacks_vnodes(const Reservation& reservation, const State& state);
// Is any of its occurrences chosen to be decided about (choose_asked)?
bool is_any_asked(const Reservation& reservation);

// Sets reserve_duration and Resource_List.walltime.
void set_duration(Reservation& reservation, int64_t seconds);

// Works out start, end, duration and walltime from the two that are given. `may_be_past`: the start may lie
// in the past. PBSE_BADTSPEC.
Result<void> settle_times(Reservation& reservation, int64_t now, bool may_be_past);

// Makes a job without a queue, complete, that asks for the same as the reservation. Errors as
// complete_resources().
Result<Job> as_job(const Reservation& reservation, const State& state);
// Gives the reservation the job's Resource_List and schedselect.
void take_list(Reservation& reservation, const Job& job);

// Completes what select and place leave open with the server's defaults; sets Resource_List and schedselect.
// Errors as complete_resources().
Result<void> complete_list(Reservation& reservation, const State& state);

// Adds the owner to those who may use the reservation, and gives the queue the same lists. PBSE_DUPLIST.
Result<void> settle_access(Reservation& reservation, Queue& queue);

// Limits the queue so that jobs that ask for more than the reservation has don't enter it.
void limit_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);
// Sets up the reservation's new queue, with these limits.
void settle_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);

}  // namespace pbs::host
