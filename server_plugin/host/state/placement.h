// Checks whether places that a scheduler or an operator chose fit into what vnodes have left.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Gives the job's chunks to vnodes (at least one) in turn, from the first again when all had one, whether
// they have room or not: for vnodes that an operator names without amounts (qrun -H).
std::vector<Place> deal_chunks(const Job& job, const State& state, const std::vector<Place>& vnodes);

// Amounts taken, by vnode.
using Taken = std::map<uint64_t, Amounts>;

// Checks that the places fit into what the vnodes have left. PBSE_RESCUNAV or PBSE_UNKNODE with the vnode and
// the resource. `taken`: the amounts of other starts that aren't in the state yet.
Result<void> check_places(const std::vector<Place>& places, const State& state, const Taken& taken = {});

}  // namespace pbs::host
