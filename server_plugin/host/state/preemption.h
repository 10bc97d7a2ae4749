// What a job's attributes say of preemption: what is under way, and how long it was suspended.
//
// What is under way is kept in attributes of the jobs that nobody is shown, so that it goes on after a crash:
//   preempting       of a job that makes room: the id of the other one, and the methods that are left to try
//   awaits           of a job that is to start: the runs of those that make room for it. It holds its places
//                    as a running job does, and is launched when all of them have gone
//   not_preemptable  of a running job with which all methods have failed
//   released         of a suspended job: which resources it has given back, if not all
//   suspended_at     since when an operator has suspended it
//   suspended_for    how many seconds a running job was suspended in all: its walltime stood still
// sched_preempted says since when a job has been suspended, or when it was requeued, until it runs again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/resource_table.h"

namespace pbs::host {

// The names of these attributes.
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

// Has the job been suspended by a decision, so that it has given back its places?
bool is_preempted(const Job& job);
// Is it on its way out? For which job, by its id; empty: it isn't.
bool is_preempting(const Job& job);
std::string preempted_by(const Job& job);
// Does it wait for others to make room before it is launched?
bool is_awaiting(const Job& job);

// The job is queued again, or starts: what was noted of preemption, but for when, is forgotten.
void forget_preemption(Job& job);

// An operator suspends a job, or resumes it: its walltime stands still.
void note_suspension(Job& job, bool suspended, int64_t now);
// The suspended seconds of a job that runs, or is suspended; and how long it has run.
int64_t suspended_seconds(const Job& job);
int64_t elapsed_seconds(const Job& job);

// What a job holds of its places now, and what a suspended one has given back of them.
std::vector<Place> held_places(const Job& job, const ResourceTable& resources);
std::vector<Place> released_places(const Job& job, const ResourceTable& resources);

// The job has been suspended from `since` until now.
void add_suspended(Job& job, int64_t since, int64_t now);

}  // namespace pbs::host
