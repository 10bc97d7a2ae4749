// Facts about preemption in a job's attributes: what is under way, and how long the job was suspended.
//
// The steps under way are kept in hidden attributes of the jobs, so that they go on after a crash:
//   preempting       a job that makes room: the id of the other job, and the methods that are left to try
//   awaits           a job that is to start: the runs of the jobs that make room for it. It holds its places
//                    as a running job does, and is launched when all of them have gone
//   not_preemptable  a running job with which all methods have failed
//   released         a suspended job: the resources that it has given back, if not all
//   suspended_at     the instant at which an operator suspended it
//   suspended_for    how many seconds a running job was suspended in all: its walltime stood still
// sched_preempted is the instant at which a job was suspended, or requeued, until it runs again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/resource_table.h"

namespace pbs::host {

// The names of these hidden attributes.
namespace preemption {
inline constexpr const char* kPreempting = "preempting";
inline constexpr const char* kAwaits = "awaits";
inline constexpr const char* kNotPreemptable = "not_preemptable";
inline constexpr const char* kSuspendedFor = "suspended_for";
inline constexpr const char* kSuspendedAt = "suspended_at";
inline constexpr const char* kSchedPreempted = "sched_preempted";
inline constexpr const char* kReleased = "released";
}  // namespace preemption

// The words of `preempting`: the id of the other job, the method that is under way, and those that are left.
struct Preempting {
    std::string for_job;
    char method = 0;
    std::string left;
};
Preempting preempting_of(const Job& job);

// Has the job been suspended by a preemption, so that it has given back its places?
bool is_preempted(const Job& job);
// Is the job making room for another one? preempted_by(): the id of that one; empty: it isn't.
bool is_preempting(const Job& job);
std::string preempted_by(const Job& job);
// Does it wait for others to make room before it is launched?
bool is_awaiting(const Job& job);

// Forgets all notes of preemption except since when, as the job is queued again or starts.
void forget_preemption(Job& job);

// Notes that an operator has suspended the job, or resumed it: while suspended, its walltime stands still.
void note_suspension(Job& job, bool suspended, int64_t now);
// The seconds for which a job that runs or is suspended was suspended; and those for which it has run.
int64_t suspended_seconds(const Job& job);
int64_t elapsed_seconds(const Job& job);

// The places that a job holds now; and what a suspended job has given back of its places.
std::vector<Place> held_places(const Job& job, const ResourceTable& resources);
std::vector<Place> released_places(const Job& job, const ResourceTable& resources);

// Adds the time from `since` until now to the job's suspended time.
void add_suspended(Job& job, int64_t since, int64_t now);

}  // namespace pbs::host
