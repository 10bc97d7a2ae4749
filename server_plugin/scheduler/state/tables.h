// All that events feed, and what it says of single jobs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/model/allocations.h"
#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/model/decisions.h"
#include "server_plugin/scheduler/model/outages.h"
#include "server_plugin/scheduler/model/past_usage.h"
#include "server_plugin/scheduler/model/signature.h"
#include "server_plugin/scheduler/state/cycle_state.h"

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
    Signatures signatures;
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
    // Of jobs that have one; and what running jobs have used, as far as the host has told.
    std::unordered_map<JobSlot, std::uint32_t> accounts;
    std::unordered_map<JobSlot, std::vector<KeptAmount>> used;
    Outages outages;
    std::map<std::string, Allocations, std::less<>> allocations;  // by SCHED_ACCT_DIR
    HpmCounters hpm = HpmCounters::unknown;
    Estimates estimates;
    bool divides_chunks = true;  // the host knows pieces of chunks
    std::string server_host;

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

// The nodes (ssinodes) of a job.
std::int64_t job_nodes(const Tables& tables, const NodeSize& size, JobSlot job);
// The same by a policy.
std::int64_t job_nodes(const Tables& tables, const Settings& settings, JobSlot job);

// The node-hours that a running job is charged of its group's allocation; nothing if they aren't enforced.
std::optional<double> allocation_charge(const Tables& tables, const Settings& settings, Instant now,
                                        JobSlot job);

}  // namespace pbs::sched
