// Runs a scheduling cycle, or finds the place for one job, for the host.
#pragma once

#include <cstdint>
#include <string_view>

#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/state.h"

namespace pbs::plugin {

// Implement pbs_plugin::start_cycle and finish_cycle. The decisions are in state.decisions until the next
// cycle or pbs_plugin::forget_decisions.
int32_t start_cycle(State& state, const pbs_cycle_request* request, int32_t* running);
int32_t finish_cycle(State& state, sched::Instant now, pbs_cycle_result* result);

// Returns whether the scheduler's policy in force leaves its jobs to a program of the site, which registers
// with the host. Cycles then decide nothing.
bool is_external(State& state, sched::Instant now, std::string_view sched);

// Implements pbs_plugin::place_job. The decision is in state.placed until the next call.
int32_t place_job(State& state, const pbs_place_request* request, pbs_cycle_result* result);

// Implements pbs_plugin::test_start. The decision is in state.placed, like that of place_job(). A test that
// takes long runs in the scheduler's thread (BackgroundQueries). The classes of Origin policies are made by a
// whole cycle, so these policies test no starts.
int32_t test_start(State& state, const pbs_start_request* request, pbs_cycle_result* result,
                   pbs_reply* reply);

// Reads the files of SCHED_ACCT_DIR that have changed; with `anew` all of them.
void read_allocations(State& state, std::string_view sched, sched::Instant now, bool anew);

// Writes the text of past usage to the file for the scheduler that keeps past usage. Logs a failure once:
// "The file of past usage isn't written".
void write_usage_file(State& state, std::string_view sched, std::string_view text);

// Appends the scheduler's records of ended jobs to the schedule log: those since the last call.
void append_ended(State& state);

}  // namespace pbs::plugin
