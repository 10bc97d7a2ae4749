// The simulation: jobs of a trace are submitted to the scheduler at their time, by a clock that jumps from
// one event to the next, and what its cycles decide is done as a server does it.
//
// A cycle runs when jobs arrived or ended (those of the same second together), when the scheduler itself
// wants one (Scheduler::next_deadline and tick: windows, policy switches, decay), and scheduler_iteration
// seconds after the last one. No cycle runs while no job is waiting: it would decide nothing.
//
// Running jobs make room for others at once and by the first method that there is for them, as nothing fails
// here. A suspended job stands still and goes on where it was; a checkpointed one is queued with what it has
// done; a requeued one begins anew.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "rrule/zone.h"
#include "server_plugin/scheduler/scheduler.h"
#include "tools/simulate/machine.h"
#include "tools/simulate/trace.h"
#include "tools/simulate/usage.h"

namespace pbs::objects {
class Snapshot;
}

namespace pbs::simulate {

enum class JobEnd : std::uint8_t {
    none,      // never started
    finished,  // ran for its run time
    killed,    // at the end of its walltime
    rejected,  // by the scheduler
    deleted,   // to make room for another job
    stopped    // to make room for another job, and didn't run again
};

struct Outcome {
    Instant start{};  // the first one of a job that was started
    Instant end{};    // of its last run
    JobEnd how = JobEnd::none;
    bool prime = false;  // was it prime time when it started?
    bool started() const { return how != JobEnd::none && how != JobEnd::rejected; }
};

struct Progress {
    std::size_t done = 0;  // how many jobs have come to their end
    std::size_t all = 0;   // how many jobs there are
    Instant now{};
};

struct EngineOptions {
    // The least time between two cycles that jobs cause. A server that takes long for a cycle, or is told to
    // wait, sees the events of this time together.
    Seconds cycle_interval{1};
    // Of shares, when it begins; none of what isn't named.
    std::vector<ShareUsage> usage{};
    // Can jobs be checkpointed, so that what they have done is kept when they are preempted?
    bool checkpoints = false;
    // Called now and then.
    std::function<void(const Progress&)> progress{};
    // Called when a job holds other shares of vnodes than before; for tests.
    std::function<void(std::size_t job, std::span<const sched::Place> held)> holds{};
};

struct Period {
    Instant start;
    Instant end;
};

// In the order in which they are counted.
inline constexpr std::array kPreemptMethods = {sched::PreemptMethod::suspend,
                                               sched::PreemptMethod::checkpoint,
                                               sched::PreemptMethod::requeue, sched::PreemptMethod::remove};
using PreemptCounts = std::array<std::int64_t, kPreemptMethods.size()>;

// What became of a job that was preempted.
struct PreemptedJob {
    std::string queue;         // in which it ran
    std::vector<Period> runs;  // when it had its CPUs
    PreemptCounts by{};        // how often, by each method
    Seconds lost{0};           // of its runs: it began anew, or was deleted
    Seconds suspended{0};
    Seconds queued_again{0};
};

// When a job was expected to start for which the scheduler kept a place, as it was told before the start.
struct Estimate {
    Instant first{};
    Instant last{};
};

// A tree of shares that a policy went by.
struct SharesOfRun {
    static constexpr std::uint32_t kNone = UINT32_MAX;
    sched::SharesView view;                // in the end
    Names entities;                        // of the jobs that were started
    std::vector<std::uint32_t> entity_of;  // by the position of the job in the trace; kNone: none
};

struct Schedule {
    std::vector<Outcome> outcomes;  // by the position of the job in the trace
    Instant begin{};                // the first submission
    Instant end{};                  // the last end of a job, or submission
    std::vector<Period> prime;      // prime time within that
    std::int64_t cpus = 0;          // of the machine
    std::size_t vnodes = 0;
    std::int64_t cycles = 0;
    std::int64_t started = 0;
    std::vector<std::string> policies;  // that were in force, in the order in which they were first
    std::vector<SharesOfRun> shares;
    std::map<std::uint32_t, PreemptedJob> preempted;        // by the position of the job in the trace
    std::unordered_map<std::uint32_t, Estimate> estimates;  // the same
    std::map<std::string, std::int64_t> rejections;         // reasons, with the number of jobs
    std::map<std::string, std::int64_t> waiting;            // the last comments of jobs that never started
    std::map<std::string, std::int64_t> refused;            // jobs that no queue took, by why
    std::map<std::string, std::int64_t> elsewhere;  // jobs of queues that aren't there, in the default queue

    // Calls visit(from, until) for each time in which the job had its CPUs.
    template <class Visit>
    void for_each_run(std::size_t job, const Visit& visit) const {
        if (!preempted.empty())
            if (const auto found = preempted.find(static_cast<std::uint32_t>(job));
                found != preempted.end()) {
                for (const Period& period : found->second.runs) visit(period.start, period.end);
                return;
            }
        if (outcomes[job].started()) visit(outcomes[job].start, outcomes[job].end);
    }
};

// Errors: what the scheduler can't work with, and a trace without jobs.
Result<Schedule> simulate(const Trace& trace, const Cluster& cluster,
                          const std::shared_ptr<const objects::Snapshot>& snapshot, const rrule::Zone& zone,
                          const EngineOptions& options = {});

}  // namespace pbs::simulate
