// Computes the places that a reservation keeps when its select is altered (pbs_ralter -l select). The new
// select may only have fewer chunks, of the same kinds in the same order, as in OpenPBS. Chunks on which jobs
// of the reservation run are kept.
#pragma once

#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Unsets nodect and the sums of the select's resources in Resource_List. Does nothing if the select is
// malformed.
void unset_sums(Reservation& reservation, std::string_view select, const State& state);

// Replaces the reservation's select, and sets the sums in Resource_List and schedselect accordingly. Errors:
// those of complete_resources(). PBSE_SELECT_NOT_SUBSET: the new select requests more chunks, or others.
Result<void> set_select(Reservation& reservation, std::string_view select, const State& state);

// Returns the places of `current` that remain with the select of `altered`. PBSE_RESV_NOT_EMPTY: jobs run on
// more vnodes than would remain.
Result<std::vector<Place>> places_kept(const Reservation& current, const Reservation& altered,
                                       const State& state);

}  // namespace pbs::host
