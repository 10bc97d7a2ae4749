// Computes the occurrences of a standing reservation: the times that its rule gives, and the vnodes of each.
//
// Everything is computed from attributes. reserve_rrule is the rule, reserve_timezone its time zone,
// series_start its DTSTART, and series_duration the duration of each occurrence. reserve_start, reserve_end
// and resv_nodes describe the current or next occurrence, reserve_index is its number, from 1, and
// reserve_count the number of all occurrences. reserve_execvnodes has the vnodes of the current occurrence
// and of each later one (ifl/attributes/execvnodes.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// The largest number of occurrences: the days of a year. There is a limit because the scheduler has to find
// and protect places for each occurrence.
inline constexpr size_t kMostOccurrences = 366;

// Computes the occurrences of a new reservation whose start, end and duration are known. Sets start and end
// to those of the first occurrence, `later` to the further occurrences, and reserve_count to their number in
// all. Without a rule, or if the rule has only one occurrence, the reservation is an advance reservation.
// PBSE_BAD_RRULE_*, PBSE_BAD_ICAL_TZ, PBSE_BADTSPEC.
Result<void> settle_occurrences(Reservation& reservation);

// Returns whether the reservation is a standing one: it had more than one occurrence when it was made.
bool is_standing(const Reservation& reservation);

// Computes the times of later occurrences again, by the present definition of the time zone in the system's
// files. The vnodes of the occurrences stay. If the system doesn't have the zone any more, the times stay,
// too.
void renew_times(Reservation& reservation);

// Restores the later occurrences of a stored reservation, with their vnodes.
void load_occurrences(Reservation& reservation, const State& state);

// Sets resv_nodes and reserve_execvnodes from the reservation's places.
void write_exec_vnodes(Reservation& reservation, const State& state);

}  // namespace pbs::host
