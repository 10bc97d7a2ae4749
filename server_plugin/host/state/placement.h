// Checks whether the vnodes have the amounts for places that a scheduler or an operator chose.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Distributes the job's chunks over vnodes (at least one): one after the other, and from the first again.
// Doesn't check whether they have the amounts. For vnodes that an operator names without amounts (qrun -H).
std::vector<Place> deal_chunks(const Job& job, const State& state, const std::vector<Place>& vnodes);

// Amounts in use, by vnode.
using Taken = std::map<uint64_t, Amounts>;

// Checks that the vnodes have the amounts of the places left. PBSE_RESCUNAV or PBSE_UNKNODE, with the vnode
// and the resource. `taken`: the amounts of other starts that aren't in the state yet.
Result<void> check_places(const std::vector<Place>& places, const State& state, const Taken& taken = {});

}  // namespace pbs::host
