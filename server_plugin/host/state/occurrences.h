// The occurrences of a standing reservation: the times that its rule gives, and which vnodes it has at each.
//
// All of it follows from attributes. reserve_rrule and reserve_timezone are the rule and the zone in which it
// counts, series_start its DTSTART and series_duration how long each occurrence is. reserve_start,
// reserve_end and resv_nodes are of the occurrence that is there or comes next, reserve_index is its number,
// from 1, and reserve_count is how many there are. reserve_execvnodes says of this one and those after it
// which vnodes they have (ifl/attributes/execvnodes.h).
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

// Each occurrence costs the scheduler a search, and has vnodes that it keeps jobs off: as many as a year has
// days.
inline constexpr size_t kMostOccurrences = 366;

// Of a new reservation whose start, end and duration are known: those of the first occurrence take their
// place, the others are its `later` ones, and reserve_count is set. One whose rule has one occurrence, or
// that has no rule, is an advance reservation. PBSE_BAD_RRULE_*, PBSE_BAD_ICAL_TZ, PBSE_BADTSPEC.
Result<void> settle_occurrences(Reservation& reservation);

// Is it a standing one, with more than one occurrence altogether?
bool is_standing(const Reservation& reservation);

// The times of its later occurrences, by the zone as the system's files have it now; what they have stays.
// Those that can't be told any more, because the zone is gone, stay as they are.
void renew_times(Reservation& reservation);

// The later occurrences of a reservation that was stored, with their vnodes.
void load_occurrences(Reservation& reservation, const State& state);

// Sets resv_nodes and reserve_execvnodes by what it has.
void write_exec_vnodes(Reservation& reservation, const State& state);

}  // namespace pbs::host
