// Reads and writes the attributes about the preemption and suspension of jobs.
//
// Hidden attributes of the jobs store the steps under way, so that they go on after a crash:
//   preempting       a job that is being preempted: the id of the job that it is preempted for, if any, and
//                    the methods that are left to try
//   awaits           a job that is to start: the runs of the jobs that are preempted for it. It holds its
//                    places like a running job, and is launched when all of these runs are gone
//   not_preemptable  a running job with which all methods have failed
//   released         a suspended job: the resources that it has given back, if not all
//   suspended_at     the instant at which an operator suspended it
//   suspended_for    the seconds for which a running job was suspended in all: its walltime stood still
// sched_preempted is the instant at which a job was suspended, or requeued; unset when the job runs again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/decision.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/resource_table.h"

namespace pbs::host {

// The names of the attributes that are explained at the head of this file.
namespace preemption {
inline constexpr const char* kPreempting = "preempting";
inline constexpr const char* kAwaits = "awaits";
inline constexpr const char* kNotPreemptable = "not_preemptable";
inline constexpr const char* kSuspendedFor = "suspended_for";
inline constexpr const char* kSuspendedAt = "suspended_at";
inline constexpr const char* kSchedPreempted = "sched_preempted";
inline constexpr const char* kReleased = "released";
}  // namespace preemption

// The words for a preemption in comments, which server_plugin/openpbs uses, too.
using cluster::names_preemption;
using cluster::occasion_of_preemption;

// The parts of the attribute `preempting`: the id of the job that is to get this job's place (may be empty),
// the method that is being tried, and the methods that are left.
struct Preempting {
    std::string for_job;
    char method = 0;
    std::string left;
};
Preempting preempting_of(const Job& job);

// Returns whether the job was suspended by a preemption. Such a job has given back its places.
bool is_preempted(const Job& job);
// is_preempting() returns whether the job is being preempted. preempted_by() returns the id of the job that
// is to get its place, or an empty text.
bool is_preempting(const Job& job);
std::string preempted_by(const Job& job);
// Returns whether the job waits for preemptions of other jobs before it is launched.
bool is_awaiting(const Job& job);

// Removes all attributes of preemption except sched_preempted. Call it when the job is queued again or
// starts.
void forget_preemption(Job& job);

// Notes that an operator has suspended or resumed the job at `now`. Between the two, the job's walltime
// stands still.
void note_suspension(Job& job, bool suspended, int64_t now);
// suspended_seconds() returns the seconds for which a running or suspended job was suspended in all.
// elapsed_seconds() returns the seconds for which it has run.
int64_t suspended_seconds(const Job& job);
int64_t elapsed_seconds(const Job& job);

// held_places() returns the job's places with the amounts that it holds at present. released_places() returns
// them with the amounts that a suspended job has given back.
std::vector<Place> held_places(const Job& job, const ResourceTable& resources);
std::vector<Place> released_places(const Job& job, const ResourceTable& resources);

// Adds the time from `since` to `now` to the job's suspended time.
void add_suspended(Job& job, int64_t since, int64_t now);

}  // namespace pbs::host
