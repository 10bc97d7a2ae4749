// What filters look at: the state of one cycle, with the jobs that it has started so far counted in.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "rrule/window_set.h"
#include "server_plugin/scheduler/model/allocations.h"
#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/model/place_map.h"
#include "server_plugin/scheduler/model/prime_periods.h"
#include "server_plugin/scheduler/placement/vnodes.h"
#include "server_plugin/scheduler/state/limits.h"
#include "server_plugin/scheduler/state/reason.h"

namespace pbs::sched {

class SchedShares;
struct Tables;

// Origin's classes, in the order of the job list. The standard algorithm has normal jobs only, and starving
// ones, which are `overdue`: Origin calls these waiting jobs.
enum class JobClass : std::uint8_t { running, overdue, special, normal, dedicated, rest };

// The classes of queued jobs, in the order in which jobs are looked at.
inline constexpr std::array queued_classes = {JobClass::overdue, JobClass::special, JobClass::normal,
                                              JobClass::dedicated, JobClass::rest};

// By the Origin algorithm: do jobs of the class start in the queue that they are in?
constexpr bool is_in_place(JobClass job_class) {
    return job_class == JobClass::dedicated || job_class == JobClass::rest;
}

// The server's limits, with amounts of its own.
struct ServerLimits {
    std::int64_t max_running = -1;
    std::int64_t max_user_run = -1;
    std::int64_t max_group_run = -1;
    std::vector<KeptAmount> resources_available;
    std::int64_t backfill_depth = -1;  // for settings from a sched_config file
};

// How many jobs of whom are running where.
class RunCounts {
  public:
    void count(std::uint32_t queue, std::uint32_t owner, std::uint32_t group, int sign = 1);
    std::int64_t of_user(std::uint32_t queue, std::uint32_t owner) const { return get(key(1, queue, owner)); }
    std::int64_t of_group(std::uint32_t queue, std::uint32_t group) const {
        return get(key(2, queue, group));
    }
    static constexpr std::uint32_t everywhere = (1U << 28) - 1;

  private:
    static std::uint64_t key(std::uint64_t kind, std::uint64_t queue, std::uint64_t who) {
        return kind << 60 | queue << 32 | who;
    }
    std::int64_t get(std::uint64_t key) const { return static_cast<std::int32_t>(counts_.get(key)); }
    PlaceMap counts_;
};

struct Filter;

// What of a queue jobs use, and what a waiting job has been promised of it.
struct QueueView {
    std::uint32_t number = 0;  // of the views of the cycle, from 0
    QueueSlot slot = no_slot;
    const Queue* queue = nullptr;
    std::uint32_t host = 0;
    PoolId pool = 0;
    std::int64_t node_limit = -1;  // -1: none
    std::int64_t running = 0;
    std::int64_t nodes = 0;            // in use
    Instant empties{};                 // when the last of its running jobs ends; now or before: nothing runs
    std::vector<std::int64_t> in_use;  // of queue->resources_available, in that order
    Seconds max_walltime{-1};

    bool open = true;  // inside its time windows
    std::optional<Instant> opens;
    std::optional<Instant> closes;
    bool has_windows = false;
    bool dedicated = false;  // one of dedicated_queues
    bool shared = false;     // the same queue on several hosts (execute@a, execute@b): each has its own jobs
    // The current or next dedicated time of its host, where it is enforced.
    std::optional<rrule::Interval> dedicated_time;
    bool dedicated_now = false;
    bool dedicated_awaited = false;  // what DEDICATED_TIME_COMMAND says of it isn't known yet
    bool early = false;              // doesn't observe prime time any more

    // That may refuse a job, once they have been found out: `job_filters` those that are asked for each job.
    bool filters_known = false;
    std::vector<const Filter*> filters;
    std::vector<const Filter*> job_filters;
};

// What a job asks for, in a queue that is being asked: the same for all jobs of a signature.
struct Asked {
    JobClass job_class = JobClass::normal;
    const Request* request = nullptr;
    std::uint32_t request_number = 0;  // in Requests
    std::uint32_t run_host = 0;        // the host that it asks for; 0: none
    std::int64_t nodes = 1;
    Seconds asked{-1};    // walltime; -1: none
    Seconds walltime{0};  // what is reckoned with in the queue that is being asked

    // Special and waiting jobs are exempt from prime time and what belongs to it.
    bool exempt() const { return job_class == JobClass::special || job_class == JobClass::overdue; }
};

// Whose it is.
struct User {
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
};

// A job that is being looked at.
struct Candidate : Asked {
    JobSlot job = no_slot;
    User user{};
};

struct CycleState {
    Instant now{};
    const Settings* settings = nullptr;
    const QueueTable* queues = nullptr;
    const Resources* resources = nullptr;
    const ServerLimits* server = nullptr;
    Vnodes* vnodes = nullptr;
    NodeSize node_size;
    // How a share of a vnode is reckoned: with ssinodes, where the profile counts them.
    NodeSize vnode_share{};
    Interner* strings = nullptr;

    bool prime_enforced = false;          // ENFORCE_PRIME_TIME holds
    bool prime_now = false;               // it holds, and it is prime time
    PrimePeriods* prime = nullptr;        // from `now` on; never null
    std::optional<Instant> prime_change;  // the next boundary of prime time, either way

    SchedShares* shares = nullptr;  // of the policy's fs_group; null: it has none
    Tables* tables = nullptr;       // that its entities are found by

    const Allocations* allocations = nullptr;                 // null: they aren't enforced, or not read
    std::unordered_map<std::uint32_t, double> started_hours;  // node-hours by group, of jobs of this cycle
    std::uint32_t hpm_resource = no_resource;
    bool hpm_ready = false;   // the counters are in user mode
    bool hpm_wanted = false;  // a job waits for nothing else

    RunCounts* counts = nullptr;
    const std::deque<QueueView>* views = nullptr;
    std::set<Instant>* instants = nullptr;    // at which refusals may be lifted
    std::int64_t running = 0;                 // in the server
    std::int64_t dedicated_running = 0;       // in dedicated queues
    std::vector<std::int64_t> server_in_use;  // of server->resources_available
    std::vector<Reservation> reservations;    // in the order they were made; the index is their id

    // An operator wants the job started: what the policy allows on hosts doesn't matter.
    bool at_request = false;

    bool looking_ahead = false;  // `now` is later than it is: the question is whether, not why

    // Left by the filter on hosts for whoever starts the job.
    Placement placement;

    Instant ends(const Asked& job) const { return now + job.walltime; }
    PlaceRules place_rules(const Asked& job) const;
    // Of a job that may run on any host and is over at once.
    PlaceRules place_rules() const;
};

}  // namespace pbs::sched
