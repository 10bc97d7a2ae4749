// Computes the places that a reservation loses by an altered select (pbs_ralter -l select). The select may
// have fewer chunks of the same kinds in the same order, as in OpenPBS. Chunks on which jobs of the
// reservation run stay.
#pragma once

#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Removes the sums over the chunks of a select from Resource_List. Does nothing if the select is malformed.
void unset_sums(Reservation& reservation, std::string_view select, const State& state);

// Sets another select, and the sums in Resource_List and schedselect accordingly. Errors as
// complete_resources(); PBSE_SELECT_NOT_SUBSET: the select requests more, or other chunks.
Result<void> set_select(Reservation& reservation, std::string_view select, const State& state);

// The places that `current` still has with the select of `altered`. PBSE_RESV_NOT_EMPTY: jobs run on more
// vnodes than it would have.
Result<std::vector<Place>> places_kept(const Reservation& current, const Reservation& altered,
                                       const State& state);

}  // namespace pbs::host
