// The state of one cycle, which filters read. It counts the jobs that the cycle has started.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rrule/window_set.h"
#include "server_plugin/scheduler/model/allocations.h"
#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/model/place_map.h"
#include "server_plugin/scheduler/model/planning.h"
#include "server_plugin/scheduler/model/prime_periods.h"
#include "server_plugin/scheduler/placement/vnodes.h"
#include "server_plugin/scheduler/state/entity_use.h"
#include "server_plugin/scheduler/state/limits.h"
#include "server_plugin/scheduler/state/own_states.h"
#include "server_plugin/scheduler/state/reason.h"
#include "values/sum.h"

namespace pbs::sched {

class SchedShares;
struct Tables;

// The classes of Origin, in the order of the job list. The standard algorithm has only normal and starving
// jobs; starving jobs are `overdue` here, as are the waiting jobs of Origin.
enum class JobClass : std::uint8_t { running, overdue, special, normal, dedicated, rest };

// The classes of queued jobs, in the order in which a cycle considers them.
inline constexpr std::array kQueuedClasses = {JobClass::overdue, JobClass::special, JobClass::normal,
                                              JobClass::dedicated, JobClass::rest};

// Returns whether the Origin algorithm starts jobs of this class in their own queue.
constexpr bool is_in_place(JobClass job_class) {
    return job_class == JobClass::dedicated || job_class == JobClass::rest;
}

// The limits of the server. Owns copies of the record's amounts.
struct ServerLimits {
    std::int64_t max_running = -1;
    std::int64_t max_user_run = -1;
    std::int64_t max_group_run = -1;
    std::vector<KeptAmount> resources_available;
    std::int64_t backfill_depth = -1;         // counts for policies from a sched_config file
    std::optional<Instant> eligible_since{};  // ServerRecord
    EntityLimits limits{};
};

// An amount of the server: from resources_available, or instead of that from a program of server_dyn_res.
struct ServerAmount {
    KeptAmount available;
    std::string_view element{};  // the element of server_dyn_res; empty: no program reports the amount
    bool given_back = false;     // the resource is consumable, so jobs give back their amounts
    values::Sum in_use{};

    bool is_told() const { return !element.empty(); }
};

// Counts the running jobs of each owner and group, in each queue and in each partition, and the entities' use
// of limited resources. A scope is the slot of a queue, or all_of() a partition.
class RunCounts {
  public:
    RunCounts() = default;
    void count(std::uint32_t queue, std::uint32_t partition, const CountedJob& job, int sign);
    std::int64_t of_user(std::uint32_t scope, std::uint32_t owner) const { return get(key(1, scope, owner)); }
    std::int64_t of_group(std::uint32_t scope, std::uint32_t group) const {
        return get(key(2, scope, group));
    }
    static constexpr std::uint32_t all_of(std::uint32_t partition) { return (1U << 28) - 1 - partition; }
    const EntityUse& entities() const { return entities_; }
    // Sets the limits of a scope. Call clear() afterwards, and count all running jobs again.
    void watch(std::uint32_t scope, const EntityLimits& limits) { entities_.watch(scope, limits); }
    void clear();
    // Returns counts of no jobs, with the same limits.
    RunCounts without_jobs() const { return RunCounts(entities_.without_jobs()); }
    // Adds the counts of some running jobs (sign 1), or subtracts them (sign -1): those by these entities,
    // in the queue and the partition. The counts of others, or elsewhere, stay.
    void add(const RunCounts& some, std::uint32_t queue, std::uint32_t partition, const Entities& whose,
             int sign);

  private:
    explicit RunCounts(EntityUse entities) : entities_(std::move(entities)) {}
    static std::uint64_t key(std::uint64_t kind, std::uint64_t scope, std::uint64_t who) {
        return kind << 60 | scope << 32 | who;
    }
    std::int64_t get(std::uint64_t key) const { return static_cast<std::int32_t>(counts_.get(key)); }
    PlaceMap counts_;
    EntityUse entities_;
};

struct Filter;

// The facts about a queue that filters of users read: the settings of the queue, the server and the policy,
// and what changes with time or by a command's answer.
struct QueueFacts {
    const Settings* settings = nullptr;
    const ServerLimits* server = nullptr;
    const Queue* queue = nullptr;
    QueueSlot slot = kNoSlot;
    std::int64_t node_limit = -1;
    bool dedicated = false;
    bool has_dedicated_time = false;
    bool dedicated_awaited = false;
    bool window_open = true;
    friend bool operator==(const QueueFacts&, const QueueFacts&) = default;
};

// A queue in a cycle, or its part on one host if the policy names it as queue@host: its use by jobs, the
// times at which it takes jobs, and its filters.
struct QueueView {
    std::uint32_t number = 0;  // its index among the cycle's views
    QueueSlot slot = kNoSlot;
    const Queue* queue = nullptr;
    std::uint32_t host = 0;
    PoolId pool = 0;                     // the vnodes of the queue, in the order of node_sort_key
    std::vector<PoolId> pools_of_place;  // the same, in the orders of node_sort_key_of_place
    std::int64_t node_limit = -1;        // -1: none
    std::vector<std::uint32_t> groups;   // the resources of node_group_key
    std::int64_t running = 0;
    std::int64_t nodes = 0;  // nodes in use
    // The end of the last of its running jobs, for filters with the trait about_last_end. Not later than now
    // if it has none.
    Instant empties{};
    std::vector<values::Sum> in_use;  // the use of queue->resources_available by jobs, in the same order
    Seconds max_walltime{-1};

    bool open = true;  // the present time is inside its time windows
    std::optional<Instant> opens;
    std::optional<Instant> closes;
    const QueueHours* hours = nullptr;  // the hours by its time windows; null: it has none
    bool dedicated = false;             // a queue for dedicated time (Queues::dedicated_queues())
    // The policy names the queue on several hosts (execute@a, execute@b): each view counts its own jobs.
    bool shared = false;
    // The present or next dedicated time of its host, if dedicated time is enforced there.
    std::optional<rrule::Interval> dedicated_time;
    bool dedicated_now = false;
    bool dedicated_awaited = false;  // DEDICATED_TIME_COMMAND hasn't answered for its host yet
    // The queue belongs to an advance reservation. `booking`: the index of its booking; kNoSlot: it has no
    // places now.
    bool is_reservation = false;
    std::uint32_t booking = kNoSlot;
    QueueFacts facts{};  // made from the members above by Queues::set_time()
    bool early = false;  // the queue ignores prime time (NP_DRAIN_BACKTIME, NP_DRAIN_IDLETIME)

    // The filters that may refuse a job here, if `filters_known`. The filters in `job_filters` are called for
    // each job.
    bool filters_known = false;
    std::vector<const Filter*> filters;
    std::vector<const Filter*> job_filters;
    std::vector<std::uint32_t> of_users;  // the indices of those `filters` that may read the user
};

// A job's request, in the queue of the test. It is the same for all jobs of a signature.
struct JobNeeds {
    JobClass job_class = JobClass::normal;
    const Request* request = nullptr;
    std::uint32_t request_number = 0;  // its number in Requests
    std::uint32_t run_host = 0;        // the requested host; 0: none
    std::int64_t nodes = 1;
    Seconds asked{-1};            // the requested walltime; -1: none
    Seconds walltime{0};          // the time for which it is planned in the queue of the test
    Seconds hard_walltime{0};     // the time after which its places are free for sure; 0: `walltime`
    JobSlot suspended = kNoSlot;  // the job, if it is suspended: it resumes in its place
    std::uint32_t project = 0;    // if limits distinguish projects; else 0
    std::uint8_t shape = 0;       // JobTable::shape(), if limits distinguish shapes; else 0
    std::uint32_t array = 0;      // JobTable::array(), if limits distinguish arrays; else 0

    // Returns whether the job is exempt from prime time and related rules. Special and overdue jobs are.
    bool exempt() const { return job_class == JobClass::special || job_class == JobClass::overdue; }
    // Returns 1 if the job requests no walltime, else 0, as a Reason stores it.
    std::int64_t without_walltime() const { return asked < Seconds(0) ? 1 : 0; }
};

// The owner and group of a job.
struct User {
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
};

inline Entities entities_of(const JobNeeds& job, const User& user) {
    return {user.owner, user.group, job.project, job.shape, job.array};
}

// The job that the cycle considers.
struct Candidate : JobNeeds {
    JobSlot job = kNoSlot;
    User user{};
};

struct CycleState {
    Instant now{};
    const Settings* settings = nullptr;
    Planning planning{};  // by the settings
    const QueueTable* queues = nullptr;
    const Resources* resources = nullptr;
    const ServerLimits* server = nullptr;
    Vnodes* vnodes = nullptr;
    NodeSize node_size;
    // The size of a node for shares of vnodes; set if the profile counts ssinodes.
    NodeSize vnode_share{};
    Interner* strings = nullptr;

    bool prime_enforced = false;          // ENFORCE_PRIME_TIME is in force
    bool prime_now = false;               // prime_enforced, and it is prime time now
    PrimePeriods* prime = nullptr;        // the periods of prime time from `now` on; never null
    std::optional<Instant> prime_change;  // the next start or end of prime time

    SchedShares* shares = nullptr;  // the tree of the policy's fs_group; null: it has none
    Tables* tables = nullptr;       // the tables in which jobs' entities are looked up

    const Allocations* allocations = nullptr;  // null: allocations aren't enforced, or not known yet
    bool admits_less = false;  // after a start, an admission refuses jobs that it would have admitted before

    RunCounts* counts = nullptr;
    // The scope, in `counts`, of all jobs of the scheduler.
    std::uint32_t everywhere() const { return RunCounts::all_of(partition); }
    const std::deque<QueueView>* views = nullptr;
    std::set<Instant>* instants = nullptr;     // the instants that may lift refusals
    std::uint32_t partition = 0;               // the scheduler's partition
    std::int64_t running = 0;                  // the number of the partition's running jobs
    std::int64_t dedicated_running = 0;        // the number of running jobs in dedicated queues
    std::vector<ServerAmount> server_amounts;  // the amounts of the server
    // Reservations in the order of creation. The index of a reservation is its id.
    std::vector<Reservation> reservations;

    // True: an operator wants the job started, so the policy's rules about hosts don't count.
    bool at_request = false;

    // True during a look-ahead, the search for a later start: `now` is in the future. Filters then only
    // decide whether a job may start, without a reason.
    bool looking_ahead = false;

    // True: filters are asked only for an explanation or a look-ahead, so their answers have no effect.
    bool only_asked = false;

    // The number of refusals in this cycle of jobs that may use any vnodes if their placement sets are too
    // small. Vnodes that other jobs have exclusively count for less in the sets, so starts may make sets too
    // small.
    std::size_t refused_by_sets = 0;

    std::vector<std::uint32_t> reserved_resources;  // the policy's attribute reserved_resources

    std::uint32_t load_order = 0;  // the order of vnodes by the policy's load_formula (HostLoads); 0: none

    std::vector<const OwnLimit*> own_limits;    // the OwnLimits of the policy
    std::vector<const OwnLimit*> vnode_limits;  // those of own_limits that limit the chunks from a vnode
    bool limits_count_vnodes = false;           // one of own_limits reads jobs' shares of vnodes
    // Objects that rules keep for the length of the cycle.
    OwnStates own;
    OwnStates* sums = nullptr;  // SchedMemory::sums; null: nothing is kept from cycle to cycle

    // The filter on hosts stores its place here, for the start of the job, and the name of the placement set
    // in which it is; empty: in none.
    Placement placement;
    std::string chosen_set;
    // The places at which a start is tested: the filter searches no other. Null: it searches.
    const Placement* named_place = nullptr;
    std::string only_set;   // the filter searches in this placement set alone; empty: in all
    bool on_trial = false;  // a search only tests whether there is a place, and ignores preferences

    // Adds a job to the amounts of the server that jobs use and give back (sign 1), or subtracts it (sign
    // -1).
    void count_in_server(const Request& request, int sign);
    // Returns whether the request asks for an amount that a program of server_dyn_res tells. Such an amount
    // may change between two cycles, or a start may take of it, without an event about jobs.
    bool asks_for_told(const Request& request) const;
    // Returns the element of node_sort_key_of_place that is for the request; null: none is.
    const KeysOfPlace* keys_of_place(const Request& request) const;
    // Returns the queue's pool in the order in which a place for the request is searched.
    PoolId pool_for(const QueueView& view, const Request& request) const;
    // Returns whether the policy excludes the resource (exclude_resources).
    bool is_excluded(std::uint32_t resource) const;

    // Returns whether the policy's algorithm can read and supports all of the request.
    bool supports(const Request& request) const {
        return request.unsupported.empty() &&
               (request.unspread.empty() || settings->algorithm != Algorithm::standard);
    }
    Instant ends(const JobNeeds& job) const { return now + job.walltime; }
    // planned_end() returns the instant until which a running job is planned to hold its places;
    // planned_course() returns also the time before it for which the job will be suspended.
    Instant planned_end(JobSlot job) const { return planned_course(job).end; }
    QueueHours::Course planned_course(JobSlot job) const;
    PlaceRules place_rules(const JobNeeds& job) const;
    PlaceRules place_rules(const JobNeeds& job, const QueueView& view) const;
    // The rules for a job with this request that may run on any host and ends at once.
    PlaceRules place_rules(const Request& request) const;
};

}  // namespace pbs::sched
