// One scheduling cycle: classify, order, and for each job gates, place, decide.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server_plugin/scheduler/allocations.h"
#include "server_plugin/scheduler/events_since.h"
#include "server_plugin/scheduler/outages.h"
#include "server_plugin/scheduler/policy.h"
#include "server_plugin/scheduler/scheduler.h"
#include "server_plugin/scheduler/shape.h"

namespace pbs::sched {

// What the host was told of when jobs are expected to start.
struct Estimates {
    struct Told {
        std::optional<Instant> start;  // nothing: the host may have forgotten it
        std::uint64_t where = 0;       // a number of the vnodes and shares
        bool still = false;            // within a cycle: it holds
    };
    bool on = false;
    std::map<JobHandle, Told> told;

    // The job isn't queued now, even if only for an instant.
    void left_queue(JobHandle job) {
        const auto at = told.find(job);
        if (at != told.end()) at->second.start.reset();
    }
};

// All that events feed.
struct Tables {
    explicit Tables(rrule::Zone z) : zone(std::move(z)), vnodes(strings) {}

    rrule::Zone zone;
    LastCtime last_ctime;  // in that zone
    Interner strings;
    PlaceMap users;  // JobTable::user by group and owner, and 1
    Resources resources;
    Requests requests;
    Shapes shapes;
    JobTable jobs;
    QueueTable queues;
    Vnodes vnodes;
    ServerLimits server;
    // Of all jobs that run, kept as they start and end; those of a queue are with the queue.
    RunCounts counts;
    std::int64_t running = 0;
    std::vector<std::int64_t> in_use;  // by resource
    NodeSize counted_size;             // by which the nodes in use of queues are counted
    PastUsage usage;
    Outages outages;
    std::map<std::string, Allocations, std::less<>> allocations;  // by SCHED_ACCT_DIR
    HpmCounters hpm = HpmCounters::unknown;
    Estimates estimates;
    bool divides_chunks = true;  // the host knows pieces of chunks
    std::string server_host;

    // By a policy.
    Chunks chunks_by(const Settings& settings) const;

    ReasonContext reason_context() {
        return {zone, jobs, queues, resources, strings, requests, vnodes, counted_size};
    }

    // The number of an owner under a group, of `strings`: "group:owner".
    std::uint32_t user(std::uint32_t group, std::uint32_t owner);
    // Whom past usage is kept of.
    PastUsage::User user_of(JobSlot job) const {
        return {jobs.user[job], strings.text(jobs.group[job]), strings.text(jobs.owner[job])};
    }
    // Counts a running job in (1) or out (-1).
    void count_running(JobSlot job, int sign);
    // Counts all of them anew, after a resource was defined; the second one if the nodes are others only.
    void recount();
    void count_nodes_by(const NodeSize& size);
};

struct CycleScratch;  // cycle_parts.h

// Memory that a cycle works in, kept for the next one; null before the first. A copy has none.
struct KeptScratch {
    KeptScratch() = default;
    KeptScratch(const KeptScratch&) {}
    KeptScratch(KeptScratch&&) = default;
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
    KeptScratch& operator=(const KeptScratch&) { return *this; }
    KeptScratch& operator=(KeptScratch&&) = default;
    ~KeptScratch() = default;
    std::shared_ptr<CycleScratch> scratch;
};

// What one scheduler remembers from cycle to cycle.
struct SchedMemory {
    KeptScratch kept;
    // Queues on which prime time was given up early, and until when (NP_DRAIN_BACKTIME).
    std::unordered_map<QueueSlot, Instant> early_until;
    // Jobs that the first cycle found queued in a batch queue that isn't their own (SCHED_RESTART_ACTION).
    bool first_cycle = true;
    std::map<JobHandle, QueueSlot> found_at_start;
};

struct CycleInput {
    Tables* tables = nullptr;
    const Configuration* configuration = nullptr;
    Policy* policy = nullptr;  // the one in force
    SchedMemory* memory = nullptr;
    EventMemory* events = nullptr;  // null: every job is looked at
    std::uint32_t partition = 0;
    // The partitions that have a scheduler, for the one that tells jobs of other partitions.
    std::optional<std::span<const std::uint32_t>> served;
    Instant now{};
    bool categories = true;
    bool keep_pending_jobs = false;  // in order, for the cycles to come
    bool by_events = false;          // only events happened since the last cycle: those that `events` tells
    // The job that is to be explained, and where to; null: none.
    JobSlot explained = no_slot;
    Explanation* explanation = nullptr;
};

Decisions run_cycle(const CycleInput& input);

// Goes through a cycle without deciding anything, and adds to the explanation what it finds of the job. The
// job has to be queued.
void explain_job(const CycleInput& input);

// A place for one job that isn't running, whatever the policy, the order, limits and times say: `run`, in the
// queue that it is in; or `comment`: why there is none now.
Decisions place_job(const CycleInput& input, JobSlot job);

// A job's nodes times the walltime that it asks for.
double node_hours(std::int64_t nodes, Seconds walltime);

// The dedicated times that DEDICATED_TIME_COMMAND tells of a host (empty: the server's), the system's merged
// in.
struct HostOutages {
    std::vector<Outage> list;
    bool awaited = false;  // an answer is still to come, and nothing is known without it
};
HostOutages host_outages(const Tables& tables, const Settings& settings, std::string_view host);

// The hosts of the queues of a policy for which DEDICATED_TIME_COMMAND is asked, each once.
std::vector<std::string> outage_hosts(const Tables& tables, const Settings& settings);

// The charge of a job that starts, by a policy (SORT_BY_PAST_USAGE); nothing if it keeps no usage.
std::optional<double> start_charge(const Tables& tables, const Settings& settings, Instant now, JobSlot job);

// The nodes (ssinodes) of a job.
std::int64_t job_nodes(const Tables& tables, const NodeSize& size, JobSlot job);
// The same by a policy.
std::int64_t job_nodes(const Tables& tables, const Settings& settings, JobSlot job);

// The node-hours that a running job is charged of its group's allocation; nothing if they aren't enforced.
std::optional<double> allocation_charge(const Tables& tables, const Settings& settings, Instant now,
                                        JobSlot job);

}  // namespace pbs::sched
