// Recent past usage of each user (SORT_BY_PAST_USAGE), the keeper of the numbers: charged when jobs start,
// decayed every 24 hours. Sorting by it is order/past_usage.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// The usage of one user under one group, in node-hours (or in units of the flat charge).
struct UsageRow {
    std::string group;
    std::string user;
    double usage = 0;
};

// A running job whose charge is in the usage already. Kept so that a job found running after a restart isn't
// charged twice.
struct ChargeRow {
    std::string job_id;
    std::string user;
    std::string group;
    double charge = 0;
};

// What changed since the last take_changes(): to be written by the plugin, in one transaction.
struct UsageChanges {
    std::vector<UsageRow> usage;            // new values
    std::vector<ChargeRow> charged;         // jobs that started
    std::vector<std::string> charges_gone;  // ids of jobs that run no longer
    bool decayed = false;                   // last_decay is new
    Instant last_decay{};
    bool empty() const { return usage.empty() && charged.empty() && charges_gone.empty() && !decayed; }
};

class PastUsage {
  public:
    // Takes what was stored. `last_decay` is the instant of the last decay; Epoch: never, counting begins
    // with the first call of decay_due.
    void load(std::span<const UsageRow> rows, std::span<const ChargeRow> charges, Instant last_decay);

    // The usage of a user, 0 if nothing is known.
    double usage(std::string_view group, std::string_view user) const;
    // A user, with a number of the caller's own, the same each time.
    struct User {
        std::uint32_t number = 0;
        std::string_view group;
        std::string_view user;
    };
    // The same as usage(): O(1) but for the first time.
    double usage_of(const User& user);

    // A running job, by a number of the caller's own that no other one has at the time.
    struct Job {
        std::uint32_t number = 0;
        std::string_view id;
    };
    // Adds the charge of a job that started. Does nothing if that job is charged already, or was when its
    // charge was loaded.
    void charge(const Job& job, const User& user, double amount);
    // The job runs no longer; its charge stays in the usage. Harmless if it isn't charged.
    void forget_job(const Job& job);
    bool is_charged(std::uint32_t job) const { return job < charged_.size() && charged_[job]; }

    // When the next decay is due (24 hours after the last); now, if there never was one: counting begins
    // then.
    Instant next_decay(Instant now) const;
    // Multiplies every usage by the factor of its group once for each 24 hours since the last decay, so that
    // the decay is caught up after the server was down. Values below a millionth become 0. True if anything
    // was due.
    using FactorOfGroup = std::function<double(std::string_view group)>;
    bool decay(Instant now, const FactorOfGroup& factor);
    bool decay(Instant now, double factor) {
        return decay(now, [factor](std::string_view) { return factor; });
    }

    // Are changes kept for take_changes()? From the start they are.
    void keep_changes(bool keep);
    UsageChanges take_changes();
    bool has_changes() const;

    // All that is known, in no particular order.
    std::vector<UsageRow> rows() const;
    // The ids of the jobs whose charges were loaded and that haven't been told of since.
    const std::unordered_set<std::string>& loaded() const { return loaded_; }
    Instant last_decay() const { return last_decay_; }

  private:
    struct Entry {
        std::string group;
        std::string user;
        double usage = 0;
        bool changed = false;
    };
    static std::string key(std::string_view group, std::string_view user);
    void note_decay();
    Entry& entry(std::string_view group, std::string_view user);
    std::uint32_t& number_of_entry(const User& user);

    std::unordered_map<std::string, std::uint32_t> index_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> entry_of_;  // by the caller's number, and 1; 0: not looked for, or none
    std::vector<std::uint32_t> changed_;
    std::vector<bool> charged_;  // by the number of the job
    std::unordered_set<std::string> loaded_;
    bool keeps_changes_ = true;
    UsageChanges pending_;
    Instant last_decay_{};
};

}  // namespace pbs::sched
