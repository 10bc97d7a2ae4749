// The occurrences of a standing reservation: the times that its rule gives, and the vnodes that it has at
// each.
//
// All of it follows from attributes. reserve_rrule and reserve_timezone are the rule and the zone in which it
// counts, series_start its DTSTART and series_duration the duration of each occurrence. reserve_start,
// reserve_end and resv_nodes describe the current or next occurrence, reserve_index is its number, from 1,
// and reserve_count the number of all. reserve_execvnodes holds the vnodes of this occurrence and of each
// after it (ifl/attributes/execvnodes.h).
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

// At most this many occurrences, a year's days: each costs the scheduler a search, and has vnodes that it
// keeps jobs off.
inline constexpr size_t kMostOccurrences = 366;

// Works out the occurrences of a new reservation whose start, end and duration are known: sets these to the
// first occurrence's, `later` to the others, and reserve_count. A reservation without a rule, or whose rule
// has one occurrence, is an advance reservation. PBSE_BAD_RRULE_*, PBSE_BAD_ICAL_TZ, PBSE_BADTSPEC.
Result<void> settle_occurrences(Reservation& reservation);

// Is it a standing reservation, with more than one occurrence in all?
bool is_standing(const Reservation& reservation);

// Works out the times of its later occurrences anew, by the time zone as the system's files define it now.
// Their vnodes stay. Times that can't be worked out any more, because the zone is gone, stay as they are.
void renew_times(Reservation& reservation);

// Restores the later occurrences of a stored reservation, with their vnodes.
void load_occurrences(Reservation& reservation, const State& state);

// Sets resv_nodes and reserve_execvnodes from the reservation's places.
void write_exec_vnodes(Reservation& reservation, const State& state);

}  // namespace pbs::host
