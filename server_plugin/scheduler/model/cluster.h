// What the scheduler is told about the server: records of resources, queues, vnodes and jobs, sent whole when
// an object is made or changed. They are the C++ side of the records of pbs_plugin.h and have the same
// meaning.
//
// Strings and spans belong to the caller and are read only during the call. What the scheduler keeps, it
// copies.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server_plugin/scheduler/model/sharing.h"

namespace pbs::sched {

using Instant = std::chrono::sys_seconds;
using Seconds = std::chrono::seconds;

// The host makes the handles, and doesn't use one twice in its life. 0 stands for no object.
enum class JobHandle : std::uint64_t {};
enum class QueueHandle : std::uint64_t {};
enum class VnodeHandle : std::uint64_t {};
enum class ReservationHandle : std::uint64_t {};

enum class ResourceKind : std::uint8_t {
    integer = 1,
    real = 2,      // amounts are in millionths
    size = 3,      // amounts are in bytes
    duration = 4,  // amounts are in seconds
    boolean = 5,
    string = 6,
    string_array = 7
};

// A resource definition. Ids are dense, from 0.
struct ResourceRecord {
    std::uint32_t id = 0;
    ResourceKind kind = ResourceKind::integer;
    std::string_view name;
    bool consumable = false;  // running jobs use up amounts of it, of vnodes, queues or the server
    // Only vnodes have it: one that says nothing of it has none. Otherwise, as long as no vnode says anything
    // of it, vnodes don't decide about it.
    bool host_level = false;
};

// An amount of a resource: `text` for the string kinds, `number` for the others.
struct Amount {
    std::uint32_t resource = 0;
    std::int64_t number = 0;
    std::string_view text;
};

// A share of a vnode that a job holds or is to be given.
struct Place {
    VnodeHandle vnode{};
    std::span<const Amount> amounts;
    // In decisions: the place is a piece of the same chunk as the place before it.
    bool joined = false;
    // The same: it is the first one of the next occurrence of a standing reservation that was asked for.
    bool next_occurrence = false;
};

// The fields of job_fields.def. An instant that is the Epoch hasn't come yet.
struct JobFields {
#define JOB_TEXT(name) std::string_view name{};
#define JOB_NUMBER(name, type) type name = 0;
#define JOB_INSTANT(name) Instant name{};
#define JOB_FLAG(name, upper_name) bool name = false;
#include "server_plugin/scheduler/model/job_fields.def"
};

// What the time of a job that hasn't started counts as, with the numbers of PBS's accrue_type; `initial`:
// that isn't known yet.
enum class AccrueType : std::int8_t { initial = 0, ineligible = 1, eligible = 2 };

// The eligible time of a job, where the host counts it by what jobs wait for.
struct Accrual {
    AccrueType type = AccrueType::initial;
    Seconds before{0};  // the eligible time until `since`,
    Instant since{};    // from when on the type holds
    Seconds at(Instant now) const {
        return type == AccrueType::eligible && now > since ? before + (now - since) : before;
    }
    friend bool operator==(const Accrual&, const Accrual&) = default;
};

struct JobRecord : JobFields {
    JobHandle job{};
    std::string_view id;
    QueueHandle queue{};
    // One of the letters of job_state: Q H W T R E S. A job that a decision has suspended (`suspended`) waits
    // for room; any other one in state S holds what it has as a running job does.
    char state = 'Q';
    Instant etime{};       // Epoch: the job isn't eligible, or the instant isn't known
    Accrual accrual{};     // nothing of it counts while the server has no eligible_since
    Seconds walltime{-1};  // the walltime asked for; -1: none
    // For how long it is expected to run, which all is planned with but advance reservations; 0: its
    // walltime.
    Seconds soft_walltime{0};
    bool extended = false;  // it has run for longer than its soft walltime, which has been extended
    std::span<const Amount> requested;
    std::span<const Place> places;  // what a running job holds, or a suspended one has given back
    std::span<const Place> kept;    // what a suspended job still holds
    std::string_view account;
    // What a running job has used so far, as far as it is known, without walltime.
    std::span<const Amount> used;
};

// Calls visit(text) for each field that is a text.
template <class Visit>
void for_each_text(JobFields& fields, const Visit& visit) {
#define JOB_TEXT(name) visit(fields.name);
#include "server_plugin/scheduler/model/job_fields.def"
}

// When jobs of an execution queue start (PP-748, interface 6).
enum class ExecutionType : std::uint8_t { any = 0, prime = 1, non_prime = 2, dedicated = 3 };

// Whom a limit is on: all jobs together, or those of each user, group or project.
enum class EntityKind : std::uint8_t { all = 0, user = 1, group = 2, project = 3 };

// How much jobs of an entity may use at once, of the server or of a queue.
struct EntityLimitRecord {
    EntityKind entity = EntityKind::all;
    std::string_view name;                // empty: each that has no limit of its own; of `all` always
    std::uint32_t resource = UINT32_MAX;  // UINT32_MAX: how many jobs run
    std::int64_t most = 0;
    bool soft = false;  // jobs beyond it may be preempted
};

// A queue. Limits that are not set are -1.
struct QueueRecord {
    QueueHandle queue{};
    std::string_view name;
    bool execution = true;  // false: a route queue
    bool started = true;
    bool enabled = true;
    bool user_acl = false;  // acl_user_enable
    std::int32_t priority = 0;
    std::int64_t max_running = -1;
    std::int64_t max_user_run = -1;
    std::int64_t max_group_run = -1;
    std::span<const Amount> resources_max;
    std::span<const Amount> resources_min;
    std::span<const Amount> resources_available;
    std::span<const std::string_view> acl_users;  // in order: "+user@host", "-user", "@host"
    std::string_view partition;
    std::int64_t backfill_depth = -1;
    ExecutionType execution_type = ExecutionType::any;
    std::span<const EntityLimitRecord> limits;
    std::string_view node_group_key;  // resources, with commas; empty: the server's
};

struct VnodeRecord {
    VnodeHandle vnode{};
    std::string_view name;
    std::string_view host;
    bool free = true;  // jobs may start there: it isn't offline, down or stale
    std::int32_t priority = 0;
    QueueHandle queue{};  // the only queue that it serves; 0: it serves any
    std::string_view partition;
    std::span<const Amount> resources_available;
    std::int64_t load_thousandths = -1;  // the load average; -1: unknown
    // How much of the CPU time of its host is spent in the system; -1: unknown.
    std::int64_t system_time_thousandths = -1;
    // When the load was measured; the Epoch: unknown. The CPUs of jobs that started since are loaded too.
    Instant load_at{};
    std::int64_t max_load_thousandths = -1;  // load_balancing: from this load on, no job starts; -1: any load
    Sharing sharing = Sharing::default_shared;
    bool busy = false;  // the load has reached the maximum, and hasn't fallen as far as it has to since
};

// The server's limits. Limits that are not set are -1.
struct ServerRecord {
    std::string_view name;
    std::string_view host_name;
    std::int64_t max_running = -1;
    std::int64_t max_user_run = -1;
    std::int64_t max_group_run = -1;
    std::span<const Amount> resources_max;
    std::span<const Amount> resources_available;
    // These two attributes are deprecated. They count for schedulers with a sched_config file only.
    std::int64_t backfill_depth = -1;
    std::string_view job_sort_formula;
    std::string_view suspend_releases;  // what suspended jobs give back: resources, with commas; empty: all
    std::span<const EntityLimitRecord> limits;
    // Since when eligible time is counted by what jobs wait for; nothing: it isn't.
    std::optional<Instant> eligible_since{};
    bool node_group_enable = false;   // otherwise no node_group_key counts
    std::string_view node_group_key;  // resources whose values make placement sets, with commas
};

// One more time that a standing reservation has.
struct ReservationOccurrence {
    Instant start{};
    Instant end{};
    std::span<const Place> places{};  // that it has
    bool asked = false;               // it is to be decided about
};

// An advance reservation: places that jobs of its queue, and no others, have from `start` to before `end`.
struct ReservationRecord {
    ReservationHandle reservation{};
    std::string_view id;
    QueueHandle queue{};
    bool asked = false;  // it is to be decided about
    Instant start{};
    Instant end{};
    std::span<const Amount> requested;  // as a job's: select and place say what is asked for
    std::span<const Place> places;      // that it has
    // Of one that is asked for again: when it has these places.
    Instant held_start{};
    Instant held_end{};
    // Of a standing one: the times after this one, in their order. They don't overlap.
    std::span<const ReservationOccurrence> later{};
    bool keeps_first = false;  // one that is asked for again asks only for later times
    bool soonest = false;      // it begins as soon as there are places, and is as long as from start to end
    std::span<const Amount> later_requested{};  // of the later times; empty: as this one
};

struct SchedRecord {
    std::string_view name;  // "default" always exists
    bool scheduling = true;
    // The scheduler serves the queues and vnodes of this partition. If it is empty, the scheduler `default`
    // serves those that have no partition, and any other scheduler serves nothing.
    std::string_view partition;
    std::string_view sched_priv;  // absolute path
};

}  // namespace pbs::sched
