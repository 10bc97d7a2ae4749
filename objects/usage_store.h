// Stores the usage that schedulers record, in the same SQLite file as the objects: amounts per user and
// group, the time of the last decay, and the running jobs that were charged at their start.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/error.h"
#include "objects/store.h"

namespace pbs::objects {

// The usage of a user in a group. The unit of the amount depends on the scope: node-hours, or the flat
// charges of past_usage_charge.
struct Usage {
    std::string user;
    std::string group;
    double amount = 0;
    friend bool operator==(const Usage&, const Usage&) = default;
};

// A running job whose start was charged.
struct Charge {
    std::string job;  // the job's id: "12.server"
    std::string user;
    std::string group;
    double amount = 0;
    friend bool operator==(const Charge&, const Charge&) = default;
};

struct UsageState {
    std::vector<Usage> usage{};     // sorted by user, then group
    std::vector<Charge> charges{};  // sorted by job
    std::optional<std::chrono::sys_seconds> last_decay{};
};

// Changes of usage that are written together. An empty member leaves the stored rows alone.
struct UsageBatch {
    std::vector<Usage> usage{};     // amounts that replace those of the user in the group; 0 removes the row
    std::vector<Charge> charged{};  // a job that was charged before keeps its row
    std::vector<std::string> released{};  // jobs that ended: their charges are removed
    std::optional<std::chrono::sys_seconds> last_decay{};
    bool replace_usage = false;    // remove the amounts of users and groups that `usage` doesn't have
    bool replace_charges = false;  // amounts of `charged` replace those of jobs that were charged before
    // Stored amounts first become AMOUNT * decayed_by + decay_adds, and are removed if that is at most
    // `least`.
    double decayed_by = 1;
    double decay_adds = 0;
    double least = 0;
};

// Changes of usage, by scope (UsageStore).
using UsageBatches = std::map<std::string, UsageBatch, std::less<>>;

// The usage records in a store. `scope` separates independent records: "past_usage" for the order by past
// usage of Origin, "fs_group:NAME" for a fairshare tree.
class UsageStore {
  public:
    // The store has to outlive this object.
    explicit UsageStore(Store& store) : store_(&store) {}

    Result<UsageState> load(std::string_view scope) const;
    // Writes the batches in one transaction: after it returns, all of them survive a crash; on an error,
    // none of them is written.
    Result<void> write(const UsageBatches& batches);

  private:
    Store* store_;
};

// Returns whether there is no usage in the scope.
Result<bool> usage_is_empty(Database& database, std::string_view scope);
// Writes the batch of a scope like UsageStore::write(), within a transaction that has begun.
Result<void> write_usage_within(Database& database, std::string_view scope, const UsageBatch& batch);

}  // namespace pbs::objects
