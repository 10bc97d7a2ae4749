// The limits that jobs share: what a job uses of each limit, and what reservations leave of it.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/placement/vnodes.h"

namespace pbs::sched {

struct CycleState;
struct Asked;
struct User;
struct QueueView;

enum class LimitKind : std::uint8_t {
    queue_jobs,      // max_running; object: the number of the QueueView, as in the next two kinds
    queue_nodes,     // ssinodes
    queue_amount,    // resources_available; of: the resource
    queue_user,      // max_user_run; object: the queue, of: the owner
    queue_group,     // max_group_run; of: the group
    server_jobs,     // max_running
    server_amount,   // resources_available; of: the resource
    server_user,     // max_user_run, MAX_USER_RUN_JOBS; of: the owner
    server_group,    // max_group_run; of: the group
    dedicated_jobs,  // MAX_DEDICATED_JOBS
    host_jobs,       // MAX_JOBS; object: the host
    pool_amount,     // what all vnodes of a pool have together; object: the pool, of: the column
    entity,          // max_run, max_run_res; object: the scope (EntityUse), of: the entity
};

struct LimitKey {
    LimitKind kind{};
    std::uint32_t object = 0;
    std::uint32_t of = 0;
    EntityKind entity{};         // of `entity`
    std::uint32_t resource = 0;  // of `entity`: as EntityLimits has it
    friend auto operator<=>(const LimitKey&, const LimitKey&) = default;
};

// A limit, and what a job needs of it.
struct Limit {
    LimitKey key;
    std::int64_t amount = 0;
    std::int64_t capacity = 0;
};

// What the use that a job makes of limits depends on. Everything belongs to the tables and to the cycle.
struct LimitUser {
    Entities whose{};
    std::int64_t nodes = 0;
    const Request* request = nullptr;
    Seconds walltime{-1};  // that the job asks for; -1: none
    QueueSlot queue = kNoSlot;
    // The numbers of the queue views that the job is counted in, and how many of these views are of dedicated
    // queues. It is counted in one view, unless it runs on the hosts of several.
    std::span<const std::uint32_t> views;
    std::int64_t dedicated_views = 0;
    const Placement* placement = nullptr;  // for host_jobs; null: the job uses none of these limits
};

// Makes the LimitUser of a candidate that is placed, in the queue of the view. It is valid as long as the
// arguments are.
LimitUser limit_user(const Asked& job, const User& user, const QueueView& view, const Placement& placement);

// Returns the limits that a candidate would meet in a queue, apart from what vnodes and hosts have. They are
// what the filters on running jobs check, as amounts.
std::vector<Limit> limits_of(const CycleState& state, const Asked& job, const User& user,
                             const QueueView& view);

// Returns what a job uses of a limit other than pool_amount; 0 if it doesn't count there.
std::int64_t use_of(const Vnodes& vnodes, const LimitUser& user, const LimitKey& key);

// A promise to a job that waits: it starts at `start`, whatever starts before.
struct Reservation {
    // How much of a limit may be used by other jobs that still run at `start`.
    struct Spare {
        LimitKey key;
        std::int64_t left = 0;
        bool refused = false;  // a job was refused because it needed more
    };
    JobSlot job = kNoSlot;
    Instant start{};
    Instant end{};
    std::uint32_t view = 0;  // the number of the view in which the job will start
    std::vector<Spare> spare;
    bool drains = false;  // the queue is drained for the job, as the Origin algorithm does it
    bool begun = false;   // in a look ahead: the job counts as running, or has ended
    Placement placement;  // empty: the KeptReservation has the placement
};

// Takes what a job uses of limits from what is left of them by the reservations that start while it runs,
// which is from `starts` to `ends`. The job is one that was placed, or has a reservation itself.
void use_spare(CycleState& state, const LimitUser& user, Instant starts, Instant ends);

}  // namespace pbs::sched
