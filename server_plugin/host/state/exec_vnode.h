// The places of a job as texts: exec_vnode and exec_host.
//   exec_vnode  (n1:ncpus=2:mem=1048576kb)+(n2:ncpus=2)+(n1:ncpus=1+n2:ncpus=1)
//   exec_host   host/0*2+host/1*2+host/2*2
// In exec_vnode a pair of parentheses is a chunk; a chunk on several vnodes of a host has a part for each. In
// exec_host a chunk is a host, the chunk's number among the job's chunks there, and its CPUs unless it has
// exactly one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Writes exec_vnode. `chunks` is the job's schedselect: as in OpenPBS, the amounts of a place are in its
// order.
std::string exec_vnode_text(const std::vector<Place>& places, const ResourceTable& resources,
                            std::string_view chunks = {});
std::string exec_host_text(const std::vector<Place>& places, const State& state);

// The name of the machine of the place.
std::string host_of(const Place& place, const State& state);

// Reads an exec_vnode, also in the form for qrun -H: with or without parentheses and amounts. Errors:
// PBSE_UNKNODE, PBSE_UNKRESC, PBSE_BADATVAL.
Result<std::vector<Place>> parse_exec_vnode(std::string_view text, const State& state);

// Reads an exec_vnode that the server wrote. Omits vnodes and resources that are gone.
std::vector<Place> places_of(std::string_view exec_vnode, const State& state);

}  // namespace pbs::host
