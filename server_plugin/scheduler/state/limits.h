// The limits that jobs share: a job's use of each, and the amounts that reservations leave.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server_plugin/scheduler/model/entity_limits.h"
#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/placement/vnodes.h"
#include "server_plugin/scheduler/state/reason.h"
#include "server_plugin/scheduler/state/use_key.h"
#include "values/sum.h"

namespace pbs::sched {

struct CycleState;
struct JobNeeds;
struct LimitKey;
struct LimitUser;
struct QueueView;
struct Settings;
struct Reservation;
struct Tables;
struct User;
class OwnStates;

// In place of a number of starts after which a limit may refuse a job: it never does, whatever starts.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// An amount with its use and its limit, for explanations.
struct Leaves {
    std::string limit;       // its name for people
    std::uint32_t what = 0;  // kWalltimeAmount or a resource
    std::int64_t asked = 0;
    std::int64_t used = 0;
    std::int64_t most = 0;
    bool of_vnodes = false;  // sums over vnodes
};

// A limit with counters of its own, such as one for each user on each vnode. The rule stores the counters in
// CycleState::own.
struct OwnLimit {
    const char* words = "";  // the comment of a job that only this limit prevents from starting
    // The kind of entity whose jobs a counter counts. With users or groups, a refused job is considered again
    // when a job of the same entity ends, or when vnodes have more free amounts; else when any job ends.
    EntityKind entity = EntityKind::all;
    bool reads_user = true;  // the answers depend on the user
    // The limit finds the running jobs by itself: `count` is called only for those that the cycle starts or
    // preempts, or that begin or end in a look-ahead.
    bool finds_running = false;
    // Returns how many running jobs the limit has to count before its first answer in a cycle by these
    // settings. Null: none, because the limit doesn't find the running jobs and keep their sums
    // (SchedMemory::sums).
    std::size_t (*uncounted)(const Settings& settings, const Tables& tables, const OwnStates& sums,
                             Instant now) = nullptr;
    // Called at the beginning of a cycle, before the other functions; but not if an operator wants a job
    // started. Null: never.
    void (*begin_cycle)(CycleState& state) = nullptr;
    // Further events that may lift a refusal of a job that only limits keep from starting.
    std::uint32_t lifted_by = 0;
    // Called before a place for a job is searched. Null: never.
    void (*begin)(CycleState& state) = nullptr;
    // Returns whether `most` can limit anything by these settings. Null: it always can.
    bool (*binds_vnodes)(const Settings& settings) = nullptr;
    // Returns whether `count` and `keep` read the shares of vnodes by these settings. Null: they do.
    bool (*counts_vnodes)(const Settings& settings) = nullptr;
    // Returns after how many starts of the user's owner or group `most` or `check` may refuse places to the
    // job; 0: they may now. If `job` is null: to any job of the user in the queue with a request that there
    // was when the cycle began. A null function: they may now.
    std::int64_t (*refuses_after)(CycleState& state, const JobNeeds* job, const User& user,
                                  const QueueView& view) = nullptr;
    // Returns the next instant at which time may lift a refusal. Null: time lifts none.
    std::optional<Instant> (*until)(CycleState& state) = nullptr;
    // Returns the number of chunks with these needs (by column) that a vnode may give a job that is being
    // placed and has been given some chunks already; at least 0.
    std::int64_t (*most)(CycleState& state, const JobNeeds& job, const User& user, const QueueView& view,
                         VnodeSlot vnode, const Row& needs, const Placement& given) = nullptr;
    // Returns the reason why the job may not have these places together; no reason: it may. Called where
    // `most` hasn't looked at all of the places: for chunks in pieces, and for a job that goes on where it
    // was.
    Reason (*check)(CycleState& state, const JobNeeds& job, const User& user, const QueueView& view,
                    const Placement& places) = nullptr;
    // Returns details, for people, about the counter that caused the last refusal; empty: another limit
    // caused it. Null: there are no details.
    std::string (*details)(CycleState& state, const Reason& reason) = nullptr;
    // Returns the counter, the amounts and the limit of a refusal as names and values, for programs. Null:
    // there are none.
    std::vector<AnswerFact> (*facts)(CycleState& state, const Reason& reason) = nullptr;
    // Returns the amounts of resources that its counters leave for a job in the queue. Null: nothing is
    // known.
    std::vector<Leaves> (*leaves)(CycleState& state, const JobNeeds& job, const User& user,
                                  const QueueView& view) = nullptr;
    // Returns lines about limits that aren't in force for the job, for its explanation. Null: there are none.
    std::vector<std::string> (*notes)(CycleState& state, const JobNeeds& job, const User& user,
                                      const QueueView& view) = nullptr;
    // Counts a job in (sign 1) or out (sign -1): a job that runs when the cycle begins, that the cycle starts
    // or preempts, or that begins or ends in a look-ahead.
    void (*count)(CycleState& state, const LimitUser& user, int sign) = nullptr;
    // Adds to the reservation, for each counter that counts the job, the amount that is left once the job is
    // counted.
    void (*keep)(CycleState& state, const LimitUser& user, Reservation& reservation) = nullptr;
    // Returns after how many starts of the user's owner or group a job of the user may need more of a counter
    // than is `left` now; 0: it may now. Null: it always may.
    std::int64_t (*exceeds_after)(CycleState& state, const User& user, const LimitKey& key,
                                  std::int64_t left) = nullptr;
    // Returns the entity whose jobs alone change, by their starts and ends, the answers about a job of the
    // user in the queue: its owner (user) or its group. nullopt: other jobs or time may change them, too. A
    // null function: nullopt.
    std::optional<EntityKind> (*changed_by)(CycleState& state, const User& user,
                                            const QueueView& view) = nullptr;
    // Returns a job's use of a counter; 0 if it doesn't count there.
    std::int64_t (*use)(CycleState& state, const LimitUser& user, const LimitKey& key) = nullptr;
    // Returns whether a refusal by the filter of vnodes has its reason from this limit. Null: explanations
    // don't ask.
    bool (*gives)(const Reason& reason) = nullptr;
};

// LimitKey::what for nodes. entity_limits.h has the other numbers that aren't resources.
constexpr std::uint32_t kNodes = UINT32_MAX - 2;

// The counter of a limit.
struct LimitKey {
    UseKey use;                       // the jobs that are counted
    std::uint32_t what = kJobs;       // kJobs, kNodes, kWalltimeAmount or a resource; with a pool: a column
    const OwnLimit* limit = nullptr;  // if `use` has UseScope::own: the limit that counts by itself
    friend auto operator<=>(const LimitKey&, const LimitKey&) = default;
};

// A limit that a job has to observe, and the job's need of it.
struct LimitNeed {
    LimitKey key;
    std::int64_t amount = 0;
    std::int64_t capacity = 0;
};

// The facts about a job that decide its use of limits. The pointers belong to the tables and to the cycle.
struct LimitUser {
    Entities whose{};
    std::int64_t nodes = 0;
    const Request* request = nullptr;
    Seconds walltime{-1};  // the requested walltime; -1: none
    QueueSlot queue = kNoSlot;
    // The numbers of the queue views that count the job, and how many of these are of dedicated queues. It is
    // one view, unless the job runs on the hosts of several.
    std::span<const std::uint32_t> views;
    std::int64_t dedicated_views = 0;
    const Placement* placement = nullptr;  // for limits on hosts; null: the job uses none of them
    // For an OwnLimit: the job's shares of vnodes, its planned end, the cycle's state, and the job's start.
    std::span<const Vnodes::Share> shares{};
    Instant ends{};
    CycleState* state = nullptr;
    Instant began{};
};

// Makes the LimitUser of a running job, for limits with counters of their own. `shares` is filled.
LimitUser limit_user(CycleState& state, JobSlot job, Vnodes::Shares& shares);

// Makes the LimitUser of a candidate that is placed, in the queue of the view. It is valid as long as the
// arguments are. `shares` is filled where an OwnLimit reads it.
LimitUser limit_user(CycleState& state, const JobNeeds& job, const User& user, const QueueView& view,
                     const Placement& placement, Vnodes::Shares& shares);

// Returns a job's use of a limit that isn't on a pool; 0: it doesn't count there.
std::int64_t use_of(const Vnodes& vnodes, const LimitUser& user, const LimitKey& key);

// A reservation for a waiting job, which starts at `start`, whatever jobs start before.
struct Reservation {
    // The amount of a limit that is left for other jobs that still run at `start`.
    struct Spare {
        LimitKey key;
        values::Sum left;
        bool refused = false;  // a job was refused because it needed more
    };
    JobSlot job = kNoSlot;
    Instant start{};
    Instant end{};
    std::uint32_t view = 0;  // the number of the view in which the job will start
    std::vector<Spare> spare;
    bool drains = false;  // the queue is drained for the job, as in the Origin algorithm
    bool begun = false;   // in a look-ahead: the job is counted as running, or has ended
    Placement placement;  // empty: the KeptReservation has the placement
};

// Subtracts a job's use from the spare amounts of the reservations that start while it runs, from `starts` to
// `ends` (sign 1), or gives it back (sign -1). The job was placed, or has a reservation itself.
void use_spare(CycleState& state, const LimitUser& user, Instant starts, Instant ends, int sign = 1);

}  // namespace pbs::sched
