// The tables of jobs, queues, vnodes and the like, which the host's events update; and facts about single
// jobs that follow from them.
#pragma once

#include <map>
#include <optional>
#include <set>
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
#include "server_plugin/scheduler/state/job_changes.h"
#include "server_plugin/scheduler/state/quota_vnodes.h"
#include "values/sum.h"
#include "values/tables.h"

namespace pbs::sched {

// The estimates of jobs' starts that were passed to the host (DecisionKind::estimate).
struct Estimates {
    struct Estimate {
        std::optional<Instant> start;  // empty: the host may have forgotten the estimate
        std::uint64_t where = 0;       // a number that stands for the vnodes and shares
        bool still = false;            // during a cycle: the estimate is still valid
    };
    bool on = false;
    std::map<JobHandle, Estimate> told;
    std::map<JobHandle, Estimate> told_others;  // for jobs without a reservation

    // Notes that the job has left the queued state, even if only for an instant.
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

// An advance reservation, as reported by the host (ReservationRecord).
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
    std::uint32_t request = 0;        // its number in Requests
    std::uint32_t later_request = 0;  // the number for later occurrences, the same or another
    std::vector<Share> shares;        // its places, from `held_start` to before `held_end`
    Instant held_start{};
    Instant held_end{};
    struct Occurrence {
        Instant start{};
        Instant end{};
        bool asked = false;
        std::vector<Share> shares{};
    };
    std::vector<Occurrence> later{};  // later occurrences of a standing reservation
    bool keeps_first = false;         // only later occurrences are requested
    bool soonest = false;             // the reservation is to begin as soon as there are places
};

// All tables that events update.
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
    std::vector<values::Sum> in_use;  // by resource
    NodeSize counted_size;            // the size of a node for Queue::nodes_in_use
    JobChanges running_changes;
    // The same for waiting jobs: those that have arrived, gone or changed while they waited. Changes that
    // concern all jobs are only noted in `running_changes`.
    JobChanges waiting_changes;
    // The vnodes that the filters of quotas select, until vnodes change.
    QuotaVnodes quota_vnodes;
    PastUsage usage;
    // The places where suspended jobs resume: the amounts that they have given back, for each place that the
    // host has reported.
    struct GivenBack {
        VnodeHandle vnode{};
        std::vector<Need> amounts;
    };
    std::unordered_map<JobSlot, std::vector<GivenBack>> suspended;
    // A job that is rejected if it hasn't started in time.
    struct Impatient {
        Seconds within{};
        Instant until{};
        bool started = false;       // the job has run, so its start isn't awaited
        std::int64_t together = 0;  // of an array: the number of subjobs that start together; else 0
        std::string why;            // the last reason why it waits
        // When a cycle last left the array to later cycles without trying it; nullopt: none has.
        std::optional<Instant> left_at{};
    };
    values::HashMap<JobSlot, Impatient> impatient;
    std::set<std::pair<Instant, JobSlot>> impatient_until;  // the jobs of `impatient` that haven't started
    std::int64_t waiting_together = 0;                      // sum of Impatient::together of these jobs
    // Stores the number of seconds within which a job has to start; nullopt, or below 0: it waits for ever.
    // `runs`: it has started already. `together`: as in Impatient.
    void await_start(JobSlot slot, std::optional<std::int64_t> within, bool runs, std::int64_t together);
    // The accounts of jobs that have one; and the resources that running jobs have used, if the host has
    // reported them.
    std::unordered_map<JobSlot, std::uint32_t> accounts;
    std::unordered_map<JobSlot, std::vector<KeptAmount>> used;
    std::map<ReservationHandle, AdvanceReservation> reservations;
    // The advance reservation of a queue; null: it has none.
    const AdvanceReservation* reservation_of(QueueSlot queue) const {
        if (reservations.empty()) return nullptr;
        for (const auto& [handle, reservation] : reservations)
            if (reservation.queue == queues[queue].handle) return &reservation;
        return nullptr;
    }
    Outages outages;
    std::map<std::string, Allocations, std::less<>> allocations;  // by SCHED_ACCT_DIR
    ToldAmounts told;                                             // reports of programs of the site
    Estimates estimates;
    bool divides_chunks = true;  // the host can give a chunk in pieces
    bool preempts = true;        // the host can preempt jobs
    bool weighs = false;         // the host can weigh the processes of running jobs
    bool has_closings = false;   // the hours of a queue stop running jobs when they end (Queue::hours)
    bool node_group_enable = false;
    std::string node_group_key;    // the value of the server's attribute
    std::string suspend_releases;  // resources that suspended jobs give back, separated by commas; empty: all
    std::string server_host;

    ReasonContext reason_context() {
        return {zone, jobs, queues, resources, strings, requests, vnodes, counted_size};
    }

    // Returns the number in `strings` of an owner in a group, "group:owner".
    std::uint32_t user(std::uint32_t group, std::uint32_t owner);
    // Returns the user whose past usage the job adds to.
    PastUsage::User user_of(JobSlot job) const {
        return {jobs.user[job], strings.text(jobs.group[job]), strings.text(jobs.owner[job])};
    }
    // Finds the place of a suspended job: its vnodes, with the amounts that it gave back there.
    Placement place_of_suspended(JobSlot job) const;
    // Returns the data of a job by which limits count it.
    CountedJob counted(JobSlot job) const;
    // The eligible time of a job; nullopt: all time since the job became eligible counts.
    std::optional<Accrual> accrual(JobSlot job) const;
    // Returns whether any limit is on projects.
    bool tells_projects_apart() const;
    bool projects_in_quotas = false;  // a rule of a quota in use is about projects
    bool shapes_in_quotas = false;    // a rule of a quota in use is about shapes
    bool arrays_in_policies = false;  // a policy limits the running subjobs of arrays
    bool loads_in_policies = false;   // a policy looks at the loads of vnodes
    bool by_shape = false;            // signatures have the shapes of jobs
    bool by_project = false;          // signatures have the projects of jobs
    bool by_array = false;            // signatures have the arrays of jobs
    // Returns, by slot, whether a job or an advance reservation has the queue.
    std::vector<bool> queues_in_use() const;
    // Count a running job in (sign 1) or out (sign -1); count_use() does so in `counts` alone.
    void count_running(JobSlot job, int sign);
    void count_use(QueueSlot queue, const CountedJob& job, int sign);
    // Count all running jobs again: recount(), after a resource was defined or a queue has got another
    // partition; count_nodes_by(), if the size of a node has changed, only the jobs' nodes.
    void recount();
    void count_nodes_by(const NodeSize& size);
};

// Returns the node-hours of that many nodes for a walltime.
double node_hours(std::int64_t nodes, Seconds walltime);

// The dedicated times that DEDICATED_TIME_COMMAND reports for a host (empty: the server's host), merged with
// those of the system.
struct HostOutages {
    std::vector<Outage> list;
    bool awaited = false;  // the first answer is still to come
};
HostOutages host_outages(const Tables& tables, const Settings& settings, std::string_view host);

// Returns the hosts of a policy's queues for which DEDICATED_TIME_COMMAND is run, each once.
std::vector<std::string> outage_hosts(const Tables& tables, const Settings& settings);
// Returns whether the policy enforces dedicated time at the instant, and a dedicated time that the command
// has reported for any of its hosts contains it.
bool in_outage(const Tables& tables, const Settings& settings, Instant t);
// Returns the first instant after `t` at which the policy begins to enforce dedicated time, or at which a
// dedicated time that the command has reported starts or ends; nullopt: there is none.
std::optional<Instant> next_outage_change(const Tables& tables, const Settings& settings, Instant t);

// Returns the number of nodes (ssinodes) of a job, for this size of a node.
std::int64_t job_nodes(const Tables& tables, const NodeSize& size, JobSlot job);
// Returns the number of nodes of a job, for the policy's size of a node.
std::int64_t job_nodes(const Tables& tables, const Settings& settings, JobSlot job);

// Returns the node-hours of a running job that are charged to its group's allocation; nullopt: allocations
// aren't enforced.
std::optional<double> allocation_charge(const Tables& tables, const Settings& settings, Instant now,
                                        JobSlot job);

}  // namespace pbs::sched
