// Reads and completes a job's request for vnodes: `-l select=`, `-l nodes=`, or neither.
//   select  2:ncpus=4:mem=1gb+1:ncpus=1       count, then resource=amount of each chunk
//   nodes   2:ppn=4  or  vnode1+vnode2:ppn=2  older form. ppn is the number of processes on each node. A
//                                             process has one CPU or, with ncpus=N, N CPUs. Without ppn,
//                                             ncpus is the number of CPUs on each node
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// The most lines in a job's node file, which has a line for each MPI process of each chunk.
constexpr int64_t kMostProcesses = 100'000;

struct Chunk {
    int64_t count = 1;
    std::vector<std::pair<std::string, std::string>> resources;  // name, canonical value

    std::string_view value(std::string_view resource) const;
    // Returns the number of processes of one chunk: its mpiprocs, else 1 if the chunk has CPUs, else 0.
    int64_t processes() const;
    // Returns the number of threads of each process: the chunk's ompthreads, else its CPUs; 0: the chunk has
    // no processes.
    int64_t threads() const;
    int64_t cpus() const;  // returns its ncpus, else 1
};

// Reads a select. Errors: PBSE_BADATVAL, PBSE_UNKRESC, PBSE_INVALSELECTRESC (a resource isn't host-level),
// PBSE_DUPRESC.
Result<std::vector<Chunk>> parse_select(std::string_view text, const ResourceTable& resources);
// Reads a `nodes` request as chunks. PBSE_BADNODESPEC.
Result<std::vector<Chunk>> parse_nodes(std::string_view text, const State& state);

std::string select_text(const std::vector<Chunk>& chunks);

// Completes the request of a job that is in `queue` or about to enter it, as PBS does. Sets job-wide defaults
// (of the queue, resources_default of the server, then resources_max of both), default_chunk, select, place,
// schedselect, nodect, and the sums over the chunks (Resource_List.ncpus, mem, ...). Replaces earlier
// defaults. Errors: those of parse_select() and parse_nodes(); PBSE_INVALJOBRESC, PBSE_INVALNODEPLACE and
// PBSE_PLACENOSELECT if job-wide and chunk requests are mixed; PBSE_BADATVAL for more than kMostProcesses in
// all.
Result<void> complete_resources(Job& job, const Queue& queue, const State& state);

// Returns the chunks of a job whose request complete_resources() has completed.
std::vector<Chunk> chunks_of(const Job& job, const State& state);

}  // namespace pbs::host
