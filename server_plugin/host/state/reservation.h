// Facts about an advance reservation: whether it lacks vnodes, whether the scheduler is to decide about it,
// and what its complete request is. They follow from the reservation alone, or from it and the state.
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

// Returns whether the scheduler is to decide about the reservation: as a new one, with other times, or
// because it needs other vnodes.
bool awaits_answer(const Reservation& reservation);
// Returns whether the reservation, or a later occurrence of it, lacks vnodes by its reserve_substate.
bool is_degraded(const Reservation& reservation);
// Returns whether the reservation has begun and not ended yet at `now`, so that it holds its vnodes even
// without running jobs.
bool holds_vnodes(const Reservation& reservation, int64_t now);
// Marks the occurrences about which the scheduler is to decide, if it is asked: of a new reservation all
// occurrences; of an altered one only the next; of a degraded one those that lack vnodes.
void choose_asked(Reservation& reservation, const State& state);

// Returns the attribute reserve_substate.
int substate_of(const Reservation& reservation);

// jobs_of() returns the jobs in the reservation's queue, without those in the history. running_jobs_of()
// returns the jobs among them that have begun. It omits arrays, because an array stays as long as it has
// subjobs that haven't ended.
std::vector<const Job*> jobs_of(const State& state, const Reservation& reservation);
std::vector<const Job*> running_jobs_of(const State& state, const Reservation& reservation);

// Returns whether one of the places is on a vnode that is down, offline or gone, or whether a chunk has no
// place because a maintenance reservation took its host. later_lacks_vnodes() checks the same for all later
// occurrences.
bool lacks_vnodes(const Reservation& reservation, const std::vector<Place>& places, const State& state);
bool later_lacks_vnodes(const Reservation& reservation, const State& state);
// Returns whether choose_asked() has chosen any occurrence.
bool is_any_asked(const Reservation& reservation);

// Sets reserve_duration and Resource_List.walltime.
void set_duration(Reservation& reservation, int64_t seconds);

// Computes start, end, duration and walltime. At least two of the four have to be given. `may_be_past`: the
// start may be in the past. PBSE_BADTSPEC.
Result<void> settle_times(Reservation& reservation, int64_t now, bool may_be_past);

// Makes a job with the reservation's completed request, for checks and limits. The job is in no queue.
// Errors: those of complete_resources().
Result<Job> as_job(const Reservation& reservation, const State& state);
// Copies the job's Resource_List and schedselect to the reservation.
void take_list(Reservation& reservation, const Job& job);

// Completes select and place with the server's defaults; sets Resource_List and schedselect. Errors: those of
// complete_resources().
Result<void> complete_list(Reservation& reservation, const State& state);

// Adds the owner to the reservation's authorized users, and copies the lists of authorized users, groups and
// hosts to the queue. PBSE_DUPLIST.
Result<void> settle_access(Reservation& reservation, Queue& queue);

// Sets limits on the queue, so that jobs that request more than the reservation has can't enter it.
void limit_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);
// Sets up the reservation's new queue, with the limits of limit_queue().
void settle_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources);

}  // namespace pbs::host
