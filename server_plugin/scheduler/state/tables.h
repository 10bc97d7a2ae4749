// The tables that events feed, and facts about single jobs from them.
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

// The estimates of jobs' starts as the host was told of them (DecisionKind::estimate).
struct Estimates {
    struct Told {
        std::optional<Instant> start;  // empty: the host may have forgotten the estimate
        std::uint64_t where = 0;       // a number that stands for the vnodes and shares
        bool still = false;            // within a cycle: the estimate still holds
    };
    bool on = false;
    std::map<JobHandle, Told> told;
    std::map<JobHandle, Told> told_others;  // for jobs without a reservation

    // Notes that the job left the queued state, even if only for an instant.
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
    std::uint32_t later_request = 0;  // for later occurrences, the same or another one
    std::vector<Share> shares;        // places that it has, from `held_start` to before `held_end`
    Instant held_start{};
    Instant held_end{};
    struct Occurrence {
        Instant start{};
        Instant end{};
        bool asked = false;
        std::vector<Share> shares{};
    };
    std::vector<Occurrence> later{};  // later occurrences of a standing reservation
    bool keeps_first = false;         // only later occurrences are asked for
    bool soonest = false;             // it begins as soon as there are places
};

// All tables that events feed.
struct Tables {
    explicit Tables(rrule::Zone z) : zone(std::move(z)), vnodes(strings) {}

    rrule::Zone zone;
    LastCtime last_ctime;  // in the zone above
    Interner strings;
    PlaceMap users;  // JobTable::user plus 1, by group and owner
    Resources resources;
    Requests requests;
    Signatures signatures;
    JobTable jobs;
    QueueTable queues;
    Vnodes vnodes;
    ServerLimits server;
    // Amounts that all running jobs use, counted as jobs start and end; queues have the same for their own
    // jobs.
    RunCounts counts;
    std::int64_t running = 0;
    std::vector<std::int64_t> in_use;  // by resource
    NodeSize counted_size;             // the size of a node by which Queue::nodes_in_use is counted
    PastUsage usage;
    // The places where suspended jobs go on: the amounts that they have given back, place by place as the
    // host told of them.
    struct GivenBack {
        VnodeHandle vnode{};
        std::vector<Need> amounts;
    };
    std::unordered_map<JobSlot, std::vector<GivenBack>> suspended;
    // The accounts of jobs that have one; and the resources that running jobs have used, where the host has
    // told.
    std::unordered_map<JobSlot, std::uint32_t> accounts;
    std::unordered_map<JobSlot, std::vector<KeptAmount>> used;
    std::map<ReservationHandle, AdvanceReservation> reservations;
    // The advance reservation whose queue it is; null: none.
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
    bool preempts = true;        // the host can preempt jobs
    bool node_group_enable = false;
    std::string node_group_key;    // of the server
    std::string suspend_releases;  // resources that suspended jobs give back, with commas; empty: all
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
    // Finds the place of a suspended job: its vnodes, with the amounts that it gave back there.
    Placement place_of_suspended(JobSlot job) const;
    // Returns the job as limits count it.
    CountedJob counted(JobSlot job) const;
    // The eligible time of a job; empty: all time since the job became eligible.
    std::optional<Accrual> accrual(JobSlot job) const;
    // Is a limit on projects?
    bool tells_projects_apart() const;
    bool projects_in_quotas = false;  // a rule of a quota in use is about projects
    bool by_project = false;          // signatures have the projects of jobs
    // Counts a running job in (sign 1) or out (sign -1).
    void count_running(JobSlot job, int sign);
    // Counts all running jobs anew, after a resource was defined (recount), or only their nodes, if the size
    // of a node has changed (count_nodes_by).
    void recount();
    void count_nodes_by(const NodeSize& size);
};

// Returns the node-hours of that many nodes for a walltime.
double node_hours(std::int64_t nodes, Seconds walltime);

// The dedicated times that DEDICATED_TIME_COMMAND reports for a host (without a name: for the server's host),
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
// Returns the number of nodes of a job, with the policy's size of a node.
std::int64_t job_nodes(const Tables& tables, const Settings& settings, JobSlot job);

// Returns the node-hours of a running job that are charged to its group's allocation; empty if allocations
// aren't enforced.
std::optional<double> allocation_charge(const Tables& tables, const Settings& settings, Instant now,
                                        JobSlot job);

}  // namespace pbs::sched
