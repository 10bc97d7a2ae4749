// One scheduling cycle, or the place of one job, asked for by the host.
#pragma once

#include <cstdint>
#include <string_view>

#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// pbs_plugin::start_cycle and finish_cycle. The decisions are in state.decisions until the next cycle.
int32_t start_cycle(State& state, const pbs_cycle_request* request, int32_t* running);
int32_t finish_cycle(State& state, sched::Instant now, pbs_cycle_result* result);

// pbs_plugin::place_job. The decision is in state.placed until the next one.
int32_t place_job(State& state, const pbs_place_request* request, pbs_cycle_result* result);

// Reads the files of SCHED_ACCT_DIR if they have changed, and in any case with `anew`.
void read_allocations(State& state, std::string_view sched, sched::Instant now, bool anew);

// Writes past usage to its file for the scheduler that keeps it. A failure is logged once: "<what> isn't
// written".
void write_usage_file(State& state, std::string_view sched, std::string_view text);

// Appends to the schedule log the scheduler's records of jobs that have ended since.
void append_ended(State& state);

}  // namespace pbs::plugin
