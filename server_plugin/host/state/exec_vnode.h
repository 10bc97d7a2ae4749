// exec_vnode and exec_host: where a job runs, as text.
//   exec_vnode  (n1:ncpus=2:mem=1048576kb)+(n2:ncpus=2)+(n1:ncpus=1+n2:ncpus=1)
//   exec_host   host/0*2+host/1*2+host/2*2
// A pair of parentheses is a chunk; one that lies on several vnodes of a host has a part for each. In
// exec_host a chunk is a host, a number among the job's chunks there, and its CPUs unless it has one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// `chunks`: what the job asks for, its schedselect. The amounts of a place are in the order of that, as in
// OpenPBS.
std::string exec_vnode_text(const std::vector<Place>& places, const ResourceTable& resources,
                            std::string_view chunks = {});
std::string exec_host_text(const std::vector<Place>& places, const State& state);

// The name of the machine that the place is on.
std::string host_of(const Place& place, const State& state);

// Reads an exec_vnode, as qrun -H gives it too: with or without parentheses, amounts or not. Errors:
// PBSE_UNKNODE, PBSE_UNKRESC, PBSE_BADATVAL.
Result<std::vector<Place>> parse_exec_vnode(std::string_view text, const State& state);

// As parse_exec_vnode, for what the server wrote itself: vnodes and resources that have gone are left out.
std::vector<Place> places_of(std::string_view exec_vnode, const State& state);

}  // namespace pbs::host
