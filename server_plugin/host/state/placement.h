// Checks that the vnodes have enough free resources for places that a scheduler or an operator chose.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// The amounts in use on each vnode, by the vnode's handle.
using Taken = std::map<uint64_t, Amounts>;

// Checks that the places' vnodes have the places' amounts free. PBSE_RESCUNAV or PBSE_UNKNODE, with the vnode
// and the resource. `taken`: the amounts of other starts that aren't in the state yet.
Result<void> check_places(const std::vector<Place>& places, const State& state, const Taken& taken = {});

}  // namespace pbs::host
