// Simulates a trace: jobs are submitted to the scheduler at their times, the clock jumps from event to event,
// and the decisions of the scheduler's cycles are carried out as by a server.
//
// A cycle runs when jobs have arrived or ended (those of one second together), when the scheduler itself asks
// for one (Scheduler::next_deadline and tick: windows, policy switches, decay), and scheduler_iteration
// seconds after the last cycle. If no job waits, no cycle runs, as it would decide
// nothing; except at the scheduler's own times if the hours of queues stop jobs (at_close).
//
// Preempted jobs release their resources at once, by the first method that is allowed for them: in a
// simulation no method fails. A suspended job later goes on where it stopped; a checkpointed job is queued
// and keeps its work; a requeued job starts anew.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
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

class ExternalScheduler;

enum class JobEnd : std::uint8_t {
    none,      // never started
    finished,  // ran to the end of its work
    killed,    // killed at the end of its walltime
    rejected,  // rejected by the scheduler
    deleted,   // preempted by deletion
    stopped    // preempted and not run again
};

struct Outcome {
    Instant start{};        // first start of a started job
    Instant end{};          // end of its last run
    std::int64_t cpus = 0;  // CPUs of its last run
    JobEnd how = JobEnd::none;
    bool prime = false;  // started in prime time
    bool started() const { return how != JobEnd::none && how != JobEnd::rejected; }
};

struct Progress {
    std::size_t done = 0;  // jobs that have ended, or were rejected or refused
    std::size_t all = 0;   // all jobs
    Instant now{};
};

struct EngineOptions {
    // The shortest time between two cycles that arrivals and ends of jobs cause. A larger value imitates a
    // server with long cycles, or one that is told to wait: one cycle then sees all events of that time.
    Seconds cycle_interval{1};
    // The usage of shares at the beginning. Entities that aren't in it start without usage.
    std::vector<ShareUsage> usage{};
    // True: the machine can checkpoint jobs, which then keep their work when they are preempted.
    bool checkpoints = false;
    // True: hosts have a load, the number of CPUs that jobs have on the host (loads.h).
    bool loads_by_cpus = false;
    // If set, this program schedules (external.h) while a policy with algorithm=external is in force, and no
    // cycles run for such a policy. If not set, the algorithm external is as standard.
    ExternalScheduler* external = nullptr;
    // The simulation ends early, with an error, when a stop is requested.
    std::stop_token stop{};
    // Called from time to time with the progress, if set.
    std::function<void(const Progress&)> progress{};
    // Called when the vnode shares that a job holds change, if set; for tests.
    std::function<void(std::size_t job, std::span<const sched::Place> held)> holds{};
};

struct Period {
    Instant start;
    Instant end;
};

// A time in which a job had its CPUs.
struct RunPeriod {
    Instant start;
    Instant end;
    std::int64_t cpus = 0;
};

// The methods of preemption, in the order of PreemptCounts.
inline constexpr std::array kPreemptMethods = {sched::PreemptMethod::suspend,
                                               sched::PreemptMethod::checkpoint,
                                               sched::PreemptMethod::requeue, sched::PreemptMethod::remove};
using PreemptCounts = std::array<std::int64_t, kPreemptMethods.size()>;

// The stops of a job by other jobs, or by time_windows.
struct Stops {
    PreemptCounts by{};  // number of stops by each method
    Seconds lost{0};     // run time that was lost because the job started anew or was deleted
    double cpu_seconds_lost = 0;
    Seconds suspended{0};
    Seconds queued_again{0};
};

// History of a job that was preempted, or stopped at the end of the hours of its queue (at_close).
struct PreemptedJob {
    std::string queue;  // queue in which it ran
    std::vector<RunPeriod> runs;
    Stops preempted;
    Stops at_close;
    Stops PreemptedJob::*last = nullptr;  // the kind of its last stop
    Seconds lost() const { return preempted.lost + at_close.lost; }
};

// The starts that the scheduler expected for a job for which it kept a place: the first and the last estimate
// before the real start.
struct Estimate {
    Instant first{};
    Instant last{};
};

// The chunks of a job that asked for a range of them (select_range).
struct ChunksOfRun {
    std::int64_t asked = 0;       // the greatest number that the range and the policy allow
    std::int64_t cpus_asked = 0;  // CPUs of the job with that number
    std::int64_t had = 0;         // the number at its last start; 0: it has never started
};

// The preferences of a job (the resource `prefer`).
struct PreferencesOfRun {
    bool started = false;
    std::int64_t missed = 0;  // preferences that its vnodes missed at its last start, summed over its chunks
};

// The tickets of a job, summed over the seconds in which it waited or ran, without those of suspension.
struct TicketsOfRun {
    double by_override = 0;
    double functional = 0;
    double share = 0;
    double running = 0;  // the part of the sum of the three from the time in which the job ran
    double sum() const { return by_override + functional + share; }
};

// A tree of shares that a policy used, with the entities of the jobs.
struct SharesOfRun {
    static constexpr std::uint32_t kNone = UINT32_MAX;
    sched::SharesView view;                // at the end of the simulation
    Names entities;                        // entities of the started jobs
    std::vector<std::uint32_t> entity_of;  // by the job's index in the trace; kNone: none
};

// The figures of a limit of a quota's rule, over all of its counters.
struct QuotaOfRun {
    std::string limit;         // last value of the limit
    std::string most;          // the most that a counter used
    Seconds full{0};           // time in which a counter was at its limit
    std::int64_t jobs = 0;     // jobs that waited for it
    std::vector<Period> held;  // times in which jobs waited for it
    bool holds = false;        // a job waits for it at present
};

struct Schedule {
    std::vector<Outcome> outcomes;  // by the job's index in the trace
    Instant begin{};                // first submission
    Instant end{};                  // last end or submission of a job
    std::vector<Period> prime;      // prime time between `begin` and `end`
    std::int64_t cpus = 0;          // CPUs of the machine
    std::size_t vnodes = 0;
    std::int64_t cycles = 0;  // cycles, and ends of waits of a program that schedules
    std::int64_t started = 0;
    std::vector<std::string> policies;  // policies that were in force, in the order of their first use
    std::vector<SharesOfRun> shares;
    std::vector<TicketsOfRun> tickets;  // by the job's index in the trace; empty: no policy gave tickets
    std::map<std::string, QuotaOfRun> quotas;               // by limit, "q1 (guests): ncpus"
    std::map<std::uint32_t, PreemptedJob> preempted;        // by the job's index in the trace
    std::unordered_map<std::uint32_t, Estimate> estimates;  // by the job's index in the trace
    std::unordered_map<std::uint32_t, Instant> deadlines;   // by the job's index in the trace
    std::map<std::uint32_t, ChunksOfRun> chunks;            // by the job's index in the trace
    std::map<std::uint32_t, PreferencesOfRun> preferences;  // by the job's index in the trace
    std::map<std::string, std::int64_t> rejections;         // jobs by the reason of their rejection
    std::map<std::string, std::int64_t> waiting;            // jobs that never started, by their last comment
    std::map<std::string, std::int64_t> refused;            // jobs that no queue took, by the reason
    std::map<std::string, std::int64_t> refused_starts;  // starts that a program was refused, by the reason
    std::map<std::string, std::int64_t> elsewhere;       // jobs whose queue is missing and that went to the
                                                         // default queue, by the missing queue

    // Calls visit(from, until, cpus) for each time at which the job had its CPUs.
    template <class Visit>
    void for_each_run(std::size_t job, const Visit& visit) const {
        if (!preempted.empty())
            if (const auto found = preempted.find(static_cast<std::uint32_t>(job));
                found != preempted.end()) {
                for (const RunPeriod& period : found->second.runs)
                    visit(period.start, period.end, period.cpus);
                return;
            }
        if (outcomes[job].started()) visit(outcomes[job].start, outcomes[job].end, outcomes[job].cpus);
    }
};

// Runs the simulation. Errors: a configuration that the scheduler refuses, a trace without jobs, a stop;
// those of ExternalScheduler::turn().
Result<Schedule> simulate(const Trace& trace, const Cluster& cluster,
                          const std::shared_ptr<const objects::Snapshot>& snapshot, const rrule::Zone& zone,
                          const EngineOptions& options = {});

}  // namespace pbs::simulate
