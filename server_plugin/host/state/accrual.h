// Counts eligible time: the part of a job's waiting time that counts. If the server's eligible_time_enable is
// set, the reason of the wait decides whether time counts. The job's state gives the reason or, if the state
// leaves it open, the scheduler does (Decision::Kind::accrue). If eligible_time_enable is unset, all time
// since a job became eligible counts.
//
// Three hidden attributes of the job store the count: the type of the time that passes at present
// (accrues_as), the beginning of the present period (accrues_since), and the eligible time before that period
// (eligible_before).
#pragma once

#include <cstdint>

#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

// The types of time that a job accrues, with PBS's numbers.
enum class Accrue : std::int8_t { initial = 0, ineligible = 1, eligible = 2, running = 3, exiting = 4 };

// Returns whether the server counts a job's waiting time by the reason for which the job waits. It does if
// its attribute eligible_time_enable is true.
bool counts_eligible_time(const Attributes& server);
// Returns the instant since which the server counts waiting time by its reason. Why jobs waited before is
// unknown, so no time before that instant counts.
int64_t eligible_since(const State& state);

Accrue accrue_type(const Job& job);
// Returns the job's eligible time until `now`, in seconds.
int64_t eligible_time(const Job& job, const State& state, int64_t now);

// Makes the period of accrues_since begin at `now`. REQUIRES: eligible_before includes the time until now.
void count_from(Job& job, int64_t now);
// Makes the job's time count as `type` from `now` on.
void set_accrue_type(Job& job, const State& state, Accrue type, int64_t now);
// Sets the type of the job's time if the job's state decides it. On a server that counts by reasons, a job
// that its owner holds, or that waits for other jobs or for a time, accrues nothing.
void settle_accrual(Job& job, const State& state, int64_t now);
// Returns whether settle_accrual() would change nothing.
bool is_accrual_settled(const Job& job, const State& state, int64_t now);

}  // namespace pbs::host
