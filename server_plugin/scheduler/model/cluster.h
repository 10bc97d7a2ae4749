// Records by which the server's resources, queues, vnodes and jobs are reported to the scheduler. A record is
// sent completely when an object is made or changed. They are the C++ side of the records of pbs_plugin.h,
// with the same meaning.
//
// Strings and spans belong to the caller and are read only during the call. The scheduler copies what it
// stores.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server_plugin/scheduler/model/sharing.h"
#include "values/amount.h"

namespace pbs::sched {

using Instant = std::chrono::sys_seconds;
using Seconds = std::chrono::seconds;

// Lowers `best` to `other` if that is sooner; nullopt is later than all instants.
inline void sooner(std::optional<Instant>& best, std::optional<Instant> other) {
    if (other && (!best || *other < *best)) best = other;
}

// Handles: the numbers by which the host names its objects. The host never uses one twice. 0 means no object.
enum class JobHandle : std::uint64_t {};
enum class QueueHandle : std::uint64_t {};
enum class VnodeHandle : std::uint64_t {};
enum class ReservationHandle : std::uint64_t {};

using values::ResourceKind;

// A resource definition. Ids are dense, from 0.
struct ResourceRecord {
    std::uint32_t id = 0;
    ResourceKind kind = ResourceKind::integer;
    std::string_view name;
    bool consumable = false;  // running jobs use up amounts of it, on vnodes, in queues or in the server
    // Only vnodes can have the resource, so a vnode without a value has none of it. Any other resource is
    // ignored on vnodes if no vnode has a value of it.
    bool host_level = false;
};

// An amount of a resource: `text` for the string kinds, `number` for the others.
struct Amount {
    std::uint32_t resource = 0;
    std::int64_t number = 0;
    std::string_view text;
};

// A share of a vnode that a job holds or is to get.
struct Place {
    VnodeHandle vnode{};
    std::span<const Amount> amounts;
    // In decisions: the place belongs to the same chunk as the place before it.
    bool joined = false;
    // In decisions: the place is the first one of the next requested occurrence of a standing reservation.
    bool next_occurrence = false;
};

// The fields of job_fields.def. The Epoch stands for an instant that hasn't come yet.
struct JobFields {
#define JOB_TEXT(name) std::string_view name{};
#define JOB_NUMBER(name, type) type name = 0;
#define JOB_INSTANT(name) Instant name{};
#define JOB_FLAG(name, upper_name) bool name = false;
#include "server_plugin/scheduler/model/job_fields.def"
};

// The kind of time that a job accrues before its start, with the numbers of PBS's accrue_type; `initial`: not
// known yet.
enum class AccrueType : std::int8_t { initial = 0, ineligible = 1, eligible = 2 };

// The eligible time of a job, if the host counts it by the reasons of waits.
struct Accrual {
    AccrueType type = AccrueType::initial;
    Seconds before{0};  // eligible time until `since`
    Instant since{};    // the instant since which the type holds
    Seconds at(Instant now) const {
        return type == AccrueType::eligible && now > since ? before + (now - since) : before;
    }
    friend bool operator==(const Accrual&, const Accrual&) = default;
};

struct JobRecord : JobFields {
    JobHandle job{};
    std::string_view id;
    QueueHandle queue{};
    // A letter of job_state: Q H W T R E S. In state S, a job that a decision has suspended (`suspended`)
    // waits for its resources; any other job holds its places like a running one.
    char state = 'Q';
    Instant etime{};       // Epoch: the job isn't eligible, or the instant isn't known
    Accrual accrual{};     // ignored while the server has no eligible_since
    Seconds walltime{-1};  // the walltime asked for; -1: none
    // The time for which the job is expected to run; 0: its walltime. All planning uses this time, except
    // that of advance reservations.
    Seconds soft_walltime{0};
    bool extended = false;  // the job has overrun its soft walltime, which has been extended
    std::span<const Amount> requested;
    // The places that a running job holds, or that a suspended one has given back.
    std::span<const Place> places;
    std::span<const Place> kept;  // the places that a suspended job still holds
    std::string_view account;
    // The resources that a running job has used so far, if known, without walltime.
    std::span<const Amount> used;
};

// Calls visit(text) for each field that is a text.
template <class Visit>
void for_each_text(JobFields& fields, const Visit& visit) {
#define JOB_TEXT(name) visit(fields.name);
#include "server_plugin/scheduler/model/job_fields.def"
}

// The kind of time in which jobs of an execution queue start (PP-748, interface 6).
enum class ExecutionType : std::uint8_t { any = 0, prime = 1, non_prime = 2, dedicated = 3 };

// The jobs that a limit counts: all together, those of each user, group or project, or the subjobs of each
// array. Only policies have limits on arrays.
enum class EntityKind : std::uint8_t { all = 0, user = 1, group = 2, project = 3, array = 4 };

// The most that an entity's jobs may use at once, in the server or in a queue.
struct EntityLimitRecord {
    EntityKind entity = EntityKind::all;
    std::string_view name;  // empty: each entity without a limit of its own; always empty with `all`
    std::uint32_t resource = UINT32_MAX;  // UINT32_MAX: the number of running jobs
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
    std::string_view node_group_key;  // resources, separated by commas; empty: the server's
};

struct VnodeRecord {
    VnodeHandle vnode{};
    std::string_view name;
    std::string_view host;
    bool free = true;  // jobs may start there: not offline, down or stale
    std::int32_t priority = 0;
    QueueHandle queue{};  // the only queue that it serves; 0: it serves any
    std::string_view partition;
    std::span<const Amount> resources_available;
    std::int64_t load_thousandths = -1;  // the load average; -1: unknown
    // The share of its host's CPU time that is spent in the system; -1: unknown.
    std::int64_t system_time_thousandths = -1;
    // The instant of the measurement of the load; the Epoch: unknown. The CPUs of jobs that have started
    // since are added to the load.
    Instant load_at{};
    // For load_balancing: no job starts at this load or above; -1: no maximum.
    std::int64_t max_load_thousandths = -1;
    Sharing sharing = Sharing::default_shared;
    bool busy = false;  // the load has reached the maximum, and hasn't fallen below the ideal load since
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
    // Two deprecated attributes of the server. They only affect schedulers with a sched_config file.
    std::int64_t backfill_depth = -1;
    std::string_view job_sort_formula;
    std::string_view suspend_releases;  // resources that suspended jobs give back, with commas; empty: all
    std::span<const EntityLimitRecord> limits;
    // The instant since which eligible time is counted by the reasons of waits; nullopt: it isn't.
    std::optional<Instant> eligible_since{};
    bool node_group_enable = false;   // false: every node_group_key is ignored
    std::string_view node_group_key;  // resources whose values make placement sets, with commas
};

// A further occurrence of a standing reservation.
struct ReservationOccurrence {
    Instant start{};
    Instant end{};
    std::span<const Place> places{};  // the places that it holds
    bool asked = false;               // to be confirmed or denied
};

// An advance reservation: places only for jobs of its queue, from `start` to before `end`.
struct ReservationRecord {
    ReservationHandle reservation{};
    std::string_view id;
    QueueHandle queue{};
    bool asked = false;  // to be confirmed or denied
    Instant start{};
    Instant end{};
    std::span<const Amount> requested;  // the requested amounts, as a job's, with select and place
    std::span<const Place> places;      // the places that it holds
    // If a confirmed reservation is requested again: the time for which it holds `places`.
    Instant held_start{};
    Instant held_end{};
    // The later occurrences of a standing reservation, in order and without overlaps.
    std::span<const ReservationOccurrence> later{};
    bool keeps_first = false;  // with `asked`: the first occurrence has its places; decide only about `later`
    // The reservation is to begin as soon as there are places, and to last as long as from `start` to `end`.
    bool soonest = false;
    std::span<const Amount> later_requested{};  // requested for the later occurrences; empty: as `requested`
};

struct SchedRecord {
    std::string_view name;  // "default" always exists
    bool scheduling = true;
    // The scheduler serves the queues and vnodes of this partition. If it is empty, the scheduler `default`
    // serves those without a partition; any other scheduler serves none.
    std::string_view partition;
    std::string_view sched_priv;  // absolute path
};

}  // namespace pbs::sched
