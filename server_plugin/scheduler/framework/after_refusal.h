// What is done after a job was refused that may start later: room is reserved for it, or it holds up those
// behind it.
#pragma once

#include <cstdint>

namespace pbs::sched {

class Cycle;
struct OrderedJob;
struct Targets;
struct Verdict;
enum class JobClass : std::uint8_t;

struct AfterRefusal {
    // A job was refused that waits for others to end or for a time to come.
    void (*refused)(Cycle& cycle, const OrderedJob& job, Verdict& verdict, Targets& targets);
    // Would the next job of the class that is refused in these queues matter to those behind it? Else a cycle
    // after events passes over jobs that nothing was released for.
    bool (*wants)(const Cycle& cycle, const Targets& targets, JobClass job_class);
    // In a cycle after events, before any job is looked at, and before the first one that is passed over:
    // releases what jobs were refused in earlier cycles for those that have nothing reserved now. May be
    // null.
    void (*begin)(Cycle& cycle);
    void (*settle)(Cycle& cycle);
};

// The queues that special and waiting jobs, and the head of the list, wait for are drained for them (origin).
extern const AfterRefusal drain_after_refusal;
// The first jobs have reservations, or hold up those behind them (standard).
extern const AfterRefusal top_jobs_after_refusal;

}  // namespace pbs::sched
