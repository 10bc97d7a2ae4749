// The configuration as the scheduler works with it: plain values, names resolved, windows compiled. Made once
// for each change from a snapshot of the objects (read_configuration.cc).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rrule/non_work_days.h"
#include "rrule/window_cache.h"
#include "rrule/window_set.h"
#include "rrule/zone.h"
#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/error.h"

namespace pbs::objects {
class Object;
class Snapshot;
}  // namespace pbs::objects

namespace pbs::sched {

struct Profile;

// A boolean option of Origin: plain, or false until an instant and true from then on.
struct Since {
    bool value = false;
    std::optional<Instant> from{};
    bool holds(Instant now) const { return from ? now >= *from : value; }
};

// <queue> or <queue>@<host> (sched-config guide, "Argument types").
struct QueueSpec {
    std::string queue;
    std::string host{};  // empty: not given
    friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

enum class Algorithm : std::uint8_t { standard, origin };
enum class RestartAction : std::uint8_t { none, restart, resubmit };
enum class PastUsageCharge : std::uint8_t { node_hours, flat };

// One key of job_sort_key or node_sort_key.
struct SortKey {
    std::string name;  // a resource, job_priority, sort_priority
    bool high_first = true;
};

// A policy. The members have the names of the attributes; 0 stands for "not set" in limits and durations.
struct Settings {
    std::string name;
    // Read from a sched_config file: the server's backfill_depth and job_sort_formula count (PP-748,
    // interface 6).
    bool from_sched_config = false;
    Algorithm algorithm = Algorithm::standard;
    const Profile* profile = nullptr;  // null: the one of the algorithm

    // Standard (PP-748, interface 1).
    bool round_robin = false;
    bool round_robin_all = false;
    bool by_queue = true;
    bool strict_ordering = false;
    bool help_starving_jobs = true;
    Seconds max_starve{24 * 3600};
    std::int64_t backfill_depth = 1;
    std::string job_sort_formula;
    std::string schedule_log;  // as configured; empty: none is kept
    std::vector<SortKey> job_sort_key;
    bool backfill_prime = false;
    bool prime_exempt_anytime_queues = false;
    Seconds time_window_spill{0};

    // Shared.
    std::vector<QueueSpec> dedicated_queues;

    // Origin (sched-config guide).
    std::vector<QueueSpec> submit_queue;  // at most one
    std::vector<QueueSpec> batch_queues;
    std::vector<QueueSpec> special_queue;  // at most one
    std::vector<QueueSpec> external_queues;
    Since enforce_prime_time;
    Seconds prime_time_wallt_limit{0};
    std::int64_t prime_time_small_node_limit = 0;
    Seconds prime_time_small_wallt_limit{0};
    std::int64_t small_job_max = 0;
    Seconds wallt_limit_small_job{0};
    Seconds wallt_limit_large_job{0};
    Since enforce_dedicated_time{true};  // not set: wherever there are dedicated windows
    std::int64_t max_dedicated_jobs = 0;
    std::string dedicated_time_command;  // empty: none is run
    Seconds dedicated_time_cache{0};     // for how long its answers hold
    std::string system_name;
    Since nonprime_drain_sys;
    Seconds np_drain_backtime{0};
    Seconds np_drain_idletime{0};
    std::int64_t max_jobs = 0;
    std::int64_t min_jobs = 0;
    std::int64_t high_systime = 0;  // percent
    std::int64_t max_user_run_jobs = 0;
    std::int64_t max_load_percent = 0;  // target_load_pct plus the variance above; 0: target_load_pct not set
    Since sort_by_past_usage{true};
    PastUsageCharge past_usage_charge = PastUsageCharge::node_hours;
    double decay_factor = 0.75;
    double oa_decay_factor = 0.95;  // of users whose group is over its allocation
    Since enforce_allocation;
    std::string sched_acct_dir;  // as configured; relative to the scheduler's sched_priv
    Seconds max_queued_time{0};
    Seconds interactive_long_wait{0};
    Seconds small_queued_time{0};
    std::string sorted_job_dumpfile;
    Since manage_hpm_counters;
    Since revoke_hpm_counters;
    std::string hpm_ctl;  // the program that switches the counters
    RestartAction sched_restart_action = RestartAction::none;
    std::string sched_host;  // where jobs are restarted; empty: anywhere
    Since avoid_fragmentation{true};
    Since test_only;
    std::int64_t fake_machine_mult = 0;
    std::int64_t ssinode_cpus = 2;
    std::int64_t ssinode_mem = 512LL << 20;  // bytes

    // Prime time for this policy: the windows of type prime; if there are none, prime_time_start to
    // prime_time_end on Mondays to Fridays that aren't non_work_days.
    rrule::WindowSet prime;
};

// The three policy slots of a scheduler (PP-748, interface 1); an empty name: the slot is empty.
struct Slots {
    std::string all_time;
    std::string prime{};
    std::string non_prime{};
};

template <class T>
using ByName = std::map<std::string, T, std::less<>>;

struct Configuration {
    ByName<Settings> policies;  // those that a scheduler has
    ByName<Slots> scheds;
    ByName<rrule::WindowSet> queue_windows;  // of queues that have any
    rrule::WindowSet prime;                  // union of the time_windows of type prime
    rrule::WindowSet dedicated;              // and of those of type dedicated
    rrule::NonWorkDays non_work_days;
};

// Errors name the object and what is wrong with it. Windows that `cache` knows from an earlier reading are
// not parsed and compiled again.
Result<Configuration> read_configuration(const objects::Snapshot& snapshot, const rrule::Zone& zone,
                                         rrule::WindowCache& cache);

// The settings of one policy object, within a configuration whose windows and non_work_days are read.
Settings read_policy(const objects::Object& policy, const Configuration& configuration,
                     const rrule::Zone& zone);

// "queue@host" or "queue".
QueueSpec parse_queue_spec(std::string_view text);

}  // namespace pbs::sched
