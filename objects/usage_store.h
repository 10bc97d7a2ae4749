// What schedulers remember of usage, in the same SQLite file as the objects: amounts per user and group, when
// they were last decayed, and which running jobs were charged already.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/error.h"
#include "objects/store.h"

namespace pbs::objects {

// The scope says what unit the amount has: node-hours, or the flat charges of past_usage_charge.
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
    std::vector<Usage> usage{};     // by user, then group
    std::vector<Charge> charges{};  // by job
    std::optional<std::chrono::sys_seconds> last_decay{};
};

// Changes to write together. Those that are left empty leave what is stored alone.
struct UsageBatch {
    std::vector<Usage> usage{};     // amounts that replace what is stored for the pair; 0 removes the row
    std::vector<Charge> charged{};  // a job that is known as charged already keeps its row
    std::vector<std::string> released{};  // jobs that ended: their charges are forgotten
    std::optional<std::chrono::sys_seconds> last_decay{};
    bool replace_usage = false;    // `usage` is all there is: other pairs are removed
    bool replace_charges = false;  // amounts of `charged` replace those that are known already
    double decayed_by = 1;         // what is stored is multiplied by it before all else,
    double least = 0;              // and then what is no more than this is removed
};

// `scope` keeps independent records apart: "past_usage" for Origin's permutation, "fs_group:NAME" for a
// fairshare tree.
class UsageStore {
  public:
    // The store has to outlive it.
    explicit UsageStore(Store& store) : store_(&store) {}

    Result<UsageState> load(std::string_view scope) const;
    // Writes the batch in one transaction: after it returns, all of it survives a crash; on an error, none
    // of it was written.
    Result<void> write(std::string_view scope, const UsageBatch& batch);

  private:
    Store* store_;
};

}  // namespace pbs::objects
