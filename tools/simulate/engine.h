// The simulation: jobs of a trace are submitted to the scheduler at their time, by a clock that jumps from
// one event to the next, and what its cycles decide is done as a server does it.
//
// A cycle runs when jobs arrived or ended (those of the same second together), when the scheduler itself
// wants one (Scheduler::next_deadline and tick: windows, policy switches, decay), and scheduler_iteration
// seconds after the last one. No cycle runs while no job is waiting: it would decide nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
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
    rejected   // by the scheduler
};

struct Outcome {
    Instant start{};  // of a job that was started
    Instant end{};
    JobEnd how = JobEnd::none;
    bool prime = false;  // was it prime time when it started?
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
    // Called now and then.
    std::function<void(const Progress&)> progress{};
};

struct Period {
    Instant start;
    Instant end;
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
    std::map<std::string, std::int64_t> rejections;  // reasons, with the number of jobs
    std::map<std::string, std::int64_t> waiting;     // the last comments of jobs that never started
    std::map<std::string, std::int64_t> refused;     // jobs that no queue took, by why
    std::map<std::string, std::int64_t> elsewhere;   // jobs of queues that aren't there, in the default queue
};

// Errors: what the scheduler can't work with, and a trace without jobs.
Result<Schedule> simulate(const Trace& trace, const Cluster& cluster,
                          const std::shared_ptr<const objects::Snapshot>& snapshot, const rrule::Zone& zone,
                          const EngineOptions& options = {});

}  // namespace pbs::simulate
