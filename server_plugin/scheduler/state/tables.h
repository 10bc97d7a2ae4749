// The tables that events feed, and what they say about single jobs.
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
#include "server_plugin/scheduler/model/told_amounts.h"
#include "server_plugin/scheduler/state/cycle_state.h"

namespace pbs::sched {

// What the host was told about the expected starts of jobs (DecisionKind::estimate).
struct Estimates {
    struct Told {
        std::optional<Instant> start;  // nothing: the host may have forgotten the estimate
        std::uint64_t where = 0;       // a number that stands for the vnodes and shares
        bool still = false;            // within a cycle: the estimate still holds
    };
    bool on = false;
    std::map<JobHandle, Told> told;
    std::map<JobHandle, Told> told_others;  // jobs that nothing is kept for

    // Takes note that the job left the queued state, even if only for an instant.
    void left_queue(JobHandle job) {
        for (auto* list : {&told, &told_others})
            if (const auto at = list->find(job); at != list->end()) at->second.start.reset();
    }
    void forget(JobHandle job) {
        told.erase(job);
        told_others.erase(job);
    }
    std::optional<Instant> start_of(JobHandle job) const {
        for (const auto* list : {&told, &told_others})
            if (const auto at = list->find(job); at != list->end()) return at->second.start;
        return std::nullopt;
    }
};

// An advance reservation, as the host told of it (ReservationRecord).
struct AdvanceReservation {
    struct Share {
        VnodeHandle vnode{};
        std::vector<Need> amounts;
    };
    std::string id;
    QueueHandle queue{};
    bool asked = false;
    Instant start{};
    Instant end{};
    std::uint32_t request = 0;        // in Requests
    std::uint32_t later_request = 0;  // that of the later times, the same or another one
    std::vector<Share> shares;        // that it has, from `held_start` to before `held_end`
    Instant held_start{};
    Instant held_end{};
    struct Occurrence {
        Instant start{};
        Instant end{};
        bool asked = false;
        std::vector<Share> shares{};
    };
    std::vector<Occurrence> later{};  // of a standing one
    bool keeps_first = false;         // only later ones are asked for
    bool soonest = false;             // it is to begin as soon as there are places
};

// All tables that events feed.
struct Tables {
    explicit Tables(rrule::Zone z) : zone(std::move(z)), vnodes(strings) {}

    rrule::Zone zone;
    LastCtime last_ctime;  // of that zone
    Interner strings;
    PlaceMap users;  // JobTable::user plus 1, by group and owner
    Resources resources;
    Requests requests;
    Signatures signatures;
    JobTable jobs;
    QueueTable queues;
    Vnodes vnodes;
    ServerLimits server;
    // What all running jobs use. It is counted as they start and end; the queues have the same for their own
    // jobs.
    RunCounts counts;
    std::int64_t running = 0;
    std::vector<std::int64_t> in_use;  // by resource
    NodeSize counted_size;             // the size of a node by which Queue::nodes_in_use is counted
    PastUsage usage;
    // Where jobs go on that a decision has suspended: what they have given back, one place after the other as
    // the host told of them.
    struct GivenBack {
        VnodeHandle vnode{};
        std::vector<Need> amounts;
    };
    std::unordered_map<JobSlot, std::vector<GivenBack>> suspended;
    // Of jobs that have one; and what running jobs have used, as far as the host has told.
    std::unordered_map<JobSlot, std::uint32_t> accounts;
    std::unordered_map<JobSlot, std::vector<KeptAmount>> used;
    std::map<ReservationHandle, AdvanceReservation> reservations;
    // The advance reservation that a queue is of; null: it is none's.
    const AdvanceReservation* reservation_of(QueueSlot queue) const {
        if (reservations.empty()) return nullptr;
        for (const auto& [handle, reservation] : reservations)
            if (reservation.queue == queues[queue].handle) return &reservation;
        return nullptr;
    }
    Outages outages;
    std::map<std::string, Allocations, std::less<>> allocations;  // by SCHED_ACCT_DIR
    ToldAmounts told;                                             // by programs of the site
    Estimates estimates;
    bool divides_chunks = true;  // the host can give a chunk in pieces
    bool preempts = true;        // and carry out preemptions
    bool node_group_enable = false;
    std::string node_group_key;    // of the server
    std::string suspend_releases;  // what suspended jobs give back: resources, with commas; empty: all
    std::string server_host;

    ReasonContext reason_context() {
        return {zone, jobs, queues, resources, strings, requests, vnodes, counted_size};
    }

    // Returns the number that `strings` gives to an owner under a group, "group:owner".
    std::uint32_t user(std::uint32_t group, std::uint32_t owner);
    // Returns the user to whom the past usage of a job belongs.
    PastUsage::User user_of(JobSlot job) const {
        return {jobs.user[job], strings.text(jobs.group[job]), strings.text(jobs.owner[job])};
    }
    // Finds the place of a suspended job: the vnodes that it was on, with what it gave back there.
    Placement place_of_suspended(JobSlot job) const;
    // How limits count a job.
    CountedJob counted(JobSlot job) const;
    // The eligible time of a job; nothing: it is all time since the job became eligible.
    std::optional<Accrual> accrual(JobSlot job) const;
    // Is a limit on projects?
    bool tells_projects_apart() const;
    bool by_project = false;  // signatures have the projects of jobs
    // Counts a running job in (sign 1) or out (sign -1).
    void count_running(JobSlot job, int sign);
    // recount() counts all running jobs anew, after a resource was defined. count_nodes_by() counts only
    // their nodes anew, if the size of a node is another one.
    void recount();
    void count_nodes_by(const NodeSize& size);
};

// Returns the node-hours of so many nodes for a walltime.
double node_hours(std::int64_t nodes, Seconds walltime);

// The dedicated times that DEDICATED_TIME_COMMAND tells of a host (without a name: of the server's host),
// with those of the system merged in.
struct HostOutages {
    std::vector<Outage> list;
    bool awaited = false;  // an answer is still to come, and nothing is known before it
};
HostOutages host_outages(const Tables& tables, const Settings& settings, std::string_view host);

// Returns the hosts of the queues of a policy for which DEDICATED_TIME_COMMAND is asked, each once.
std::vector<std::string> outage_hosts(const Tables& tables, const Settings& settings);

// Returns the number of nodes (ssinodes) of a job, with nodes of this size.
std::int64_t job_nodes(const Tables& tables, const NodeSize& size, JobSlot job);
// Returns the same with the size of a node that the policy sets.
std::int64_t job_nodes(const Tables& tables, const Settings& settings, JobSlot job);

// Returns the node-hours that a running job is charged of its group's allocation; nothing if allocations
// aren't enforced.
std::optional<double> allocation_charge(const Tables& tables, const Settings& settings, Instant now,
                                        JobSlot job);

}  // namespace pbs::sched
