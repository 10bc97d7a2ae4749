// Eligible time: for how long jobs have waited in a way that counts. With the server's eligible_time_enable
// it is counted by what a job waits for; what a state of the job doesn't decide, the scheduler does
// (Decision::Kind::accrue). Without it, all time since a job became eligible is eligible time.
//
// Three attributes that nobody is shown keep it: what the time counts as, since when, and how much there was
// until then.
#pragma once

#include <cstdint>

#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// What a job's time counts as, with PBS's numbers.
enum class Accrue : std::int8_t { initial = 0, ineligible = 1, eligible = 2, running = 3, exiting = 4 };

// Is eligible time counted by what jobs wait for?
bool counts_eligible_time(const Attributes& server);
// Since when: what a job waited before isn't known.
int64_t eligible_since(const State& state);

Accrue accrue_type(const Job& job);
// In seconds.
int64_t eligible_time(const Job& job, const State& state, int64_t now);

// What the job had before now isn't counted any more: eligible_before says it.
void count_from(Job& job, int64_t now);
// From now on the job's time counts as this.
void set_accrue_type(Job& job, const State& state, Accrue type, int64_t now);
// The same, for a server that counts, where the state of a job that has changed decides it: one that is held
// by its owner, or for others, or until a time, gains nothing.
void settle_accrual(Job& job, const State& state, int64_t now);
// Would settle_accrual() change nothing?
bool is_accrual_settled(const Job& job, const State& state, int64_t now);

}  // namespace pbs::host
