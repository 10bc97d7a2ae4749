// Works out what an altered select gives back of a reservation (pbs_ralter -l select): it may ask for fewer
// chunks of the same kinds in the same order, as in OpenPBS. Chunks on which jobs of the reservation run
// stay.
#pragma once

#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Takes the sums over the chunks of a select out of Resource_List. Does nothing if the select is malformed.
void unset_sums(Reservation& reservation, std::string_view select, const State& state);

// Gives the reservation another select, and Resource_List's sums and schedselect with it. Errors as
// complete_resources(); PBSE_SELECT_NOT_SUBSET: the select asks for more, or for something else.
Result<void> set_select(Reservation& reservation, std::string_view select, const State& state);

// The places that `current` keeps when it gets the select of `altered`. PBSE_RESV_NOT_EMPTY: jobs run on more
// of its vnodes than it would keep.
Result<std::vector<Place>> places_kept(const Reservation& current, const Reservation& altered,
                                       const State& state);

}  // namespace pbs::host
