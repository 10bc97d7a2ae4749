// Checks that the vnodes have enough free resources for places that a scheduler or an operator chose.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Distributes the job's chunks over the vnodes that an operator names without amounts (qrun -H): one chunk to
// each vnode in turn, and again from the first vnode. Doesn't check whether the vnodes have the amounts.
// REQUIRES: there is a vnode.
std::vector<Place> deal_chunks(const Job& job, const State& state, const std::vector<Place>& vnodes);

// The amounts in use on each vnode, by the vnode's handle.
using Taken = std::map<uint64_t, Amounts>;

// Checks that the places' vnodes have the places' amounts free. PBSE_RESCUNAV or PBSE_UNKNODE, with the vnode
// and the resource. `taken`: the amounts of other starts that aren't in the state yet.
Result<void> check_places(const std::vector<Place>& places, const State& state, const Taken& taken = {});

}  // namespace pbs::host
