// Writes and reads the places of a job as texts, exec_vnode and exec_host:
//   exec_vnode  (n1:ncpus=2:mem=1048576kb)+(n2:ncpus=2)+(n1:ncpus=1+n2:ncpus=1)
//   exec_host   host/0*2+host/1*2+host/2*2
// In exec_vnode each pair of parentheses is a chunk. A chunk on several vnodes of a host has one part for
// each vnode, with "+" between them. In exec_host each chunk is HOST/NUMBER*CPUS. NUMBER counts the job's
// chunks on that host, from 0. CPUS is the chunk's number of CPUs; "*CPUS" is omitted if it is 1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// Writes exec_vnode. `chunks` is the job's schedselect, which gives the order of the amounts in each place,
// as in OpenPBS.
std::string exec_vnode_text(const std::vector<Place>& places, const ResourceTable& resources,
                            std::string_view chunks = {});
std::string exec_host_text(const std::vector<Place>& places, const State& state);

// Returns the name of the machine of the place's vnode.
std::string host_of(const Place& place, const State& state);

// Reads an exec_vnode. Accepts the forms of qrun -H, too, in which parentheses and amounts may be missing.
// Errors: PBSE_UNKNODE, PBSE_UNKRESC, PBSE_BADATVAL.
Result<std::vector<Place>> parse_exec_vnode(std::string_view text, const State& state);

// Reads an exec_vnode that the server wrote. Omits vnodes and resources that are gone.
std::vector<Place> places_of(std::string_view exec_vnode, const State& state);

}  // namespace pbs::host
