// The whole state of a Scheduler as records, to be written down and made again elsewhere:
// Inspector::describe() hands them out, Scheduler::restore() takes them. A scheduler that was restored
// decides what the described one does, comments included.
#pragma once

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
    bool known = true;     // false: it was removed, or jobs were told of before it
    Instant idle_since{};  // the instant since when nothing runs in it; Epoch: a job runs, or it isn't known
};

// A scheduler and what it remembers from cycle to cycle. `sched_priv` of the record is the host's business
// and empty here.
struct SchedState {
    SchedRecord record;
    std::string_view policy;  // the policy in force at the last tick; empty: none
    bool first_cycle = true;  // no cycle has run yet
    std::span<const EarlyQueue> early;
    std::span<const FoundJob> found_at_start;
};

struct VnodeState {
    VnodeRecord record;
    bool known = true;  // false: it was removed
};

// A job as far as the scheduler knows it: etime is the time since which it is eligible, and places have
// consumable amounts only.
struct JobState {
    JobRecord record;
    bool fresh = true;          // it came to its queue after the last cycle
    std::uint32_t comment = 0;  // number of the text of its last comment; 0: none
};

struct PastUsageState {
    std::span<const UsageRow> rows;
    std::span<const std::string> charged;  // ids of jobs whose charge is in the rows
    Instant last_decay{};                  // Epoch: there was none
};

// The usage of shares that a scheduler keeps of an fs_group, by the name of its scope (scheduler.h).
struct FairShareState {
    std::string_view scope;
    std::span<const UsageRow> rows;
    std::span<const ChargeRow> charges;
    Instant last_decay{};  // Epoch: there was none
};

struct AllocationsState {
    std::string_view dir;  // SCHED_ACCT_DIR as configured
    Allocations::State state;
};

struct OutagesState {
    std::string_view command;
    std::string_view name;
    Outages::Known known;
};

// A program's answer (Scheduler::set_told).
struct ToldState {
    std::string_view element;
    ToldAmounts::Known known;
};

struct ReservationState {
    ReservationRecord record;
};

// The objects that the scheduler was given; null: its configuration was set from values, which aren't
// described.
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
    bool look_again = false;  // zones have changed since, or the clock was set back
};

// One record. Strings, spans and the data that they point to are valid during the call that hands it on.
using AnyStateRecord =
    std::variant<ResourceRecord, ServerRecord, QueueState, SchedState, VnodeState, JobState, PastUsageState,
                 AllocationsState, OutagesState, ToldState, ConfigurationState, SchedConfigState,
                 FairShareState, TickState, ReservationState>;
struct StateRecord : AnyStateRecord {
    using AnyStateRecord::AnyStateRecord;
};

using StateSink = std::function<void(const StateRecord&)>;

}  // namespace pbs::sched
