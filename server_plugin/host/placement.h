// Which vnodes a job's chunks fit on: for runs that no scheduler placed (qrun), and to check those that one
// did.
#ifndef PBSPOLICY_HOST_PLACEMENT_H
#define PBSPOLICY_HOST_PLACEMENT_H

#include <cstdint>
#include <map>
#include <vector>

#include "server_plugin/host/error.h"
#include "server_plugin/host/state.h"

namespace pbs::host {

// Places each chunk on the first vnode, by name, that is free, serves the job's queue and has room. `only`:
// the vnodes to choose from, in order; empty: all. `place=scatter` keeps chunks apart. PBSE_RESCUNAV if the
// job doesn't fit now.
Result<std::vector<Place>> place_job(const Job& job, const State& state,
                                     const std::vector<const Node*>& only = {});

// Amounts by vnode.
using Taken = std::map<uint64_t, Amounts>;

// Do these places fit into what the vnodes have left? PBSE_RESCUNAV or PBSE_UNKNODE with the vnode and the
// resource. `taken` is what other starts, not yet in the state, have taken.
Result<void> check_places(const std::vector<Place>& places, const State& state, const Taken& taken = {});

}  // namespace pbs::host

#endif
