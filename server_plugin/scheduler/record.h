// The whole state of a Scheduler as records, to be stored and restored elsewhere: Inspector::describe() makes
// them, and Scheduler::restore() reads them. A restored scheduler makes the same decisions as the original,
// including comments.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server_plugin/scheduler/model/allocations.h"
#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/kept_by_rules.h"
#include "server_plugin/scheduler/model/outages.h"
#include "server_plugin/scheduler/model/past_usage.h"
#include "server_plugin/scheduler/model/told_amounts.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::sched {

struct QueueState {
    QueueRecord record;
    bool known = true;     // false: it was removed, or jobs were reported before it
    Instant idle_since{};  // the instant since which no job runs in it; Epoch: one runs, or unknown
};

// A scheduler and its memory from cycle to cycle. `sched_priv` of the record is only for the host, and empty
// here.
struct SchedState {
    SchedRecord record;
    std::string_view policy;  // the policy in force at the last tick; empty: none
    bool first_cycle = true;  // no cycle has run yet
    std::span<const EarlyQueue> early;
    std::span<const FoundJob> found_at_start;
};

struct VnodeState {
    VnodeRecord record;
    bool known = true;  // false: the vnode was removed
};

// A job as the scheduler knows it: etime is the time since which it is eligible, and places have only
// consumable amounts.
struct JobState {
    JobRecord record;
    bool fresh = true;          // the job entered its queue after the last cycle
    std::uint32_t comment = 0;  // the number of the text of its last comment; 0: none
};

struct PastUsageState {
    std::span<const UsageRow> rows;
    std::span<const std::string> charged;  // ids of jobs whose charge is in the rows
    Instant last_decay{};                  // Epoch: there was none
};

// The usage of shares of a scheduler and an fs_group, under the name of its scope (scheduler.h).
struct FairShareState {
    std::string_view scope;
    std::span<const UsageRow> rows;
    std::span<const ChargeRow> charges;
    Instant last_decay{};  // Epoch: there was none
};

struct AllocationsState {
    std::string_view dir;  // SCHED_ACCT_DIR, as in the policy
    Allocations::State state;
};

struct OutagesState {
    std::string_view command;
    std::string_view name;
    Outages::Report known;
};

// A program's answer (Scheduler::set_told).
struct ToldState {
    std::string_view element;
    ToldAmounts::Report known;
};

struct ReservationState {
    ReservationRecord record;
};

// The objects of the scheduler's configuration; null: the configuration was set from values, which aren't in
// records.
struct ConfigurationState {
    std::shared_ptr<const objects::Snapshot> snapshot;
};

// The policies of a scheduler's sched_config file; `prime` and `non_prime` may be null.
struct SchedConfigState {
    std::string_view sched;
    std::shared_ptr<const objects::Object> all_time;
    std::shared_ptr<const objects::Object> prime;
    std::shared_ptr<const objects::Object> non_prime;
};

struct TickState {
    std::optional<Instant> last;
    bool look_again = false;  // zones have changed since the last tick, or the clock was set back
};

// One record. Its strings, spans and their data are valid during the call that passes it.
using AnyStateRecord =
    std::variant<ResourceRecord, ServerRecord, QueueState, SchedState, VnodeState, JobState, PastUsageState,
                 AllocationsState, OutagesState, ToldState, ConfigurationState, SchedConfigState,
                 FairShareState, TickState, ReservationState>;
struct StateRecord : AnyStateRecord {
    using AnyStateRecord::AnyStateRecord;
};

using StateSink = std::function<void(const StateRecord&)>;

// Names one object of the state, for Inspector::describe_one().
struct ObjectRef {
    enum class Kind : std::uint8_t { resource, server, sched, queue, vnode, reservation, job, configured };
    Kind kind = Kind::server;
    // A handle; of a resource its id, of a configured object its objects::ObjectType. 0: the object has only
    // a name.
    std::uint64_t id = 0;
    std::string name{};  // of scheds and configured objects
    auto operator<=>(const ObjectRef&) const = default;
};

}  // namespace pbs::sched
