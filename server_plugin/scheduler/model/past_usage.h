// The recent past usage of each user (SORT_BY_PAST_USAGE): it is charged when jobs start, and decays every 24
// hours. pending/past_usage_deal.h sorts by it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

// A running job that has been charged already. Stored, so that a job that is still running after a restart
// isn't charged twice.
struct ChargeRow {
    std::string job_id;
    std::string user;
    std::string group;
    double charge = 0;
};

// A decay of all amounts of a scope: each becomes AMOUNT * factor + added, and 0 if that is at most `least`.
struct UsageDecay {
    double factor = 1;
    double added = 0;
    double least = 0;
    // Makes this decay and `next` after it one decay.
    void then(const UsageDecay& next) {
        factor *= next.factor;
        added = added * next.factor + next.added;
        least = next.least;
    }
};

// The changes since the last take_changes(). The plugin writes them in one transaction.
struct UsageChanges {
    UsageDecay decay;                       // of the stored usage, before `usage` is written
    std::vector<UsageRow> usage;            // new usage of users
    std::vector<UsageRow> long_usage;       // new long usage of the entities of a tree of shares; 0: none
    std::vector<ChargeRow> charged;         // the charges of jobs that started
    std::vector<std::string> charges_gone;  // the ids of jobs that don't run any more
    bool decayed = false;                   // last_decay changed
    Instant last_decay{};
    bool empty() const {
        return usage.empty() && long_usage.empty() && charged.empty() && charges_gone.empty() && !decayed;
    }
};

// The changes of charges since the last take_into(): for each job only the last one.
class ChargeChanges {
  public:
    void note(ChargeRow charge) { changes_.insert_or_assign(charge.job_id, std::move(charge)); }
    void note_gone(std::string_view job_id) { changes_.insert_or_assign(std::string(job_id), std::nullopt); }
    bool empty() const { return changes_.empty(); }
    void clear() { changes_.clear(); }
    // Moves the changes, in no order.
    void take_into(UsageChanges& out);

  private:
    std::unordered_map<std::string, std::optional<ChargeRow>> changes_;  // nullopt: the charge is gone
};

class PastUsage {
  public:
    // Loads stored usage. `last_decay`: the instant of the last decay; the Epoch: there was none, and
    // counting begins with the first decay().
    void load(std::span<const UsageRow> rows, std::span<const ChargeRow> charges, Instant last_decay);

    // Returns the usage of a user; 0 if there is none.
    double usage(std::string_view group, std::string_view user) const;
    // A user. The caller gives each user a number, always the same one.
    struct User {
        std::uint32_t number = 0;
        std::string_view group;
        std::string_view user;
    };
    // Returns usage(). O(1), except the first time.
    double usage_of(const User& user);

    // A running job. The caller gives it a number that no other running job has.
    struct Job {
        std::uint32_t number = 0;
        std::string_view id;
    };
    // Charges a job that started. Does nothing if the job is charged already, or if its charge was loaded.
    void charge(const Job& job, const User& user, double amount);
    // Notes that the job doesn't run any more; its charge stays in the usage. Does nothing if the job isn't
    // charged.
    void forget_job(const Job& job);
    bool is_charged(std::uint32_t job) const { return job < charged_.size() && charged_[job]; }

    // Returns the instant of the next decay: 24 hours after the last one; now if there was none, because
    // counting begins then.
    Instant next_decay(Instant now) const;
    // Multiplies each usage by the factor of its group, once for each 24 hours since the last decay, so that
    // the time while the server was down counts, too. Values below a millionth become 0. Returns true if a
    // decay was due.
    using FactorOfGroup = std::function<double(std::string_view group)>;
    bool decay(Instant now, const FactorOfGroup& factor);
    bool decay(Instant now, double factor) {
        return decay(now, [factor](std::string_view) { return factor; });
    }

    // Sets whether changes are stored for take_changes(). The default is yes.
    void keep_changes(bool keep);
    UsageChanges take_changes();
    bool has_changes() const;

    // Returns the usage of all users, in no order.
    std::vector<UsageRow> rows() const;
    // Returns the ids of loaded charges whose jobs the host hasn't reported since.
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
    // By the caller's number for a user: the index in entries_ plus 1; 0: none was found yet.
    std::vector<std::uint32_t> entry_of_;
    std::vector<std::uint32_t> changed_;
    std::vector<bool> charged_;  // by the caller's number of a job: the job is charged
    std::unordered_set<std::string> loaded_;
    bool keeps_changes_ = true;
    UsageChanges pending_;  // without those of charges
    ChargeChanges charge_changes_;
    Instant last_decay_{};
};

}  // namespace pbs::sched
