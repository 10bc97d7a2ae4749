// The fair-share tree of a scheduler and an fs_group: the shares and the usage of entities and groups. The
// numbers are computed as in OpenPBS's scheduler, so that the same usage gives the same order: an entity's
// part of the machine is the product of its parts of the groups on its path; usage begins at 1 and never
// falls below; and the usage of an entity counts for all groups on its path.
//
// A running job's usage is linear in its walltime: base + rate * walltime. So each entity's usage at an
// instant follows from sums that change only when jobs start, end or are reported again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/model/fs_group.h"
#include "server_plugin/scheduler/model/past_usage.h"

namespace pbs::sched {

class FairShares {
  public:
    // An element of the tree, or an entity that isn't in it. The numbers are valid until set_group() makes
    // another tree.
    using Node = std::uint32_t;
    static constexpr Node kRoot = 0;
    static constexpr Node kUnknown = 1;  // the group of all entities that aren't in the tree
    static constexpr double kLeastUsage = 1;
    static constexpr std::size_t kMostLeft = 10'000;
    // Usage of at most this is the least usage after a decay.
    static constexpr double kNoUsage = kLeastUsage + 1e-6;

    explicit FairShares(const FsGroup& group);
    const FsGroup& group() const { return group_; }
    // Sets another tree, or other rules. Usage is retained by name; job_runs() has to be called again for
    // running jobs. False: nothing has changed.
    bool set_group(const FsGroup& group);

    // Loads stored usage, before jobs run: rows by entity and by group; charges by the job's id.
    // `last_decay`: the Epoch if there was none.
    void load(std::span<const UsageRow> rows, std::span<const ChargeRow> charges, Instant last_decay);

    // Loads the stored long usage of entities, after load(). Without any row, as after an upgrade, long usage
    // begins with the usage that is left. An entity that isn't in the tree and has no node yet gets none by
    // this, because each node below `unknown` lessens the shares of the others there. If there are more than
    // kMostLeft such entities, the long usage of those with the least counts only for `unknown`.
    void load_long_usage(std::span<const UsageRow> rows);

    // Returns the entity with the name. If it isn't in the tree, makes it below `unknown` with one share.
    // O(1).
    Node entity(std::string_view name);
    // Does the same by a number. REQUIRES: the caller always passes the number with the same name.
    Node entity(std::uint32_t number, std::string_view name);
    std::optional<Node> find(std::string_view name) const;

    struct Job {
        std::uint32_t number = 0;  // the caller's; no other job has it at the same time
        std::string_view id;
    };
    // The usage of a job after a walltime, in the unit of usage_formula.
    struct Use {
        double base = 0;
        double rate = 0;  // for each second of walltime
    };
    // Notes that a job runs since an instant, or that its use is newly known.
    void job_runs(const Job& job, Node entity, Use use, Instant since);
    // Notes that a job doesn't run any more, and has used `used` in all. Does nothing if it didn't run.
    void job_ended(const Job& job, double used);
    // Notes that a job was suspended, and has used this much so far. When it runs again, this isn't charged a
    // second time.
    void job_paused(const Job& job, double used);
    // Forgets the charge of a suspended job that doesn't go on. Does nothing if it wasn't suspended.
    void forget_charge(std::string_view id);
    // The instant at which a job began to run; nullopt: it doesn't run.
    std::optional<Instant> runs_since(std::uint32_t job) const {
        const auto found = running_.find(job);
        return found == running_.end() ? std::nullopt : std::optional(found->second.since);
    }
    // Forgets all running jobs; their charges are still stored by their ids.
    void forget_running();

    // For the rest of the cycle, adds the coming usage of a job that the cycle starts or reserves a place
    // for.
    void expect(Node entity, double amount);
    void forget_expected();

    // The usage of an entity or group at an instant, without expected usage.
    double usage(Node node, Instant now) const;
    // The long usage of an entity or group: the usage of its jobs without decays, and without usage that
    // managers set.
    double long_usage(Node node, Instant now) const;
    // Returns OpenPBS's fairshare_perc as a fraction: the node's part of the machine by its shares.
    double share(Node node) const;
    // Returns OpenPBS's fairshare_tree_usage: the usage of an entity and a part of the usage of its groups,
    // as a fraction of all usage.
    double tree_usage(Node node, Instant now) const;
    // Returns OpenPBS's fairshare_factor: 2^-(tree_usage / share).
    double factor(Node node, Instant now) const;
    // Returns whether the node has used more than its part of all usage.
    bool is_over(Node node, Instant now) const;
    // Computes, for each level from the root down to the entity, the usage divided by the share, including
    // expected usage. The entity whose numbers are less, compared one after the other, goes first. Without a
    // share the number is infinite. `out` has depth() elements; those for levels below the entity get a
    // number less than any ratio.
    void ratios(Node node, Instant now, std::span<double> out) const;
    // The number of levels of the longest path.
    std::size_t depth() const { return depth_; }

    // The instant of the next decay: decay_time after the last one; now if there was none.
    Instant next_decay(Instant now) const;
    // Decays for every decay_time since the last decay. Returns true if any was due.
    bool decay(Instant now);
    // Decays once, at `now`. The next decay is due decay_time later.
    void decay_now(Instant now);
    // Returns the usage that a decay at `now` would leave.
    double after_decay(Node node, Instant now) const;
    // Sets the usage of an entity, which has to exist.
    void set_usage(Node node, double usage, Instant now);
    // Removes the usage and the long usage of entities that aren't in the fs_group, and subtracts them from
    // `unknown` and the root.
    void trim(Instant now);
    Instant last_decay() const { return last_decay_; }

    // Ends counting: take_changes() then has all usage until now.
    void close(Instant now);
    UsageChanges take_changes();
    bool has_changes() const { return !changed_.empty() || !charge_changes_.empty() || !pending_.empty(); }

    // A node, for display and records. Parents have lower numbers than their children.
    struct View {
        std::string_view name;
        Node parent = kRoot;
        std::int64_t shares = 0;
        bool is_group = false;
        double usage = 0;
        double long_usage = 0;
    };
    std::size_t size() const { return nodes_.size(); }
    View view(Node node, Instant now) const;
    // Returns whether the node is an element of the fs_group, the root, or `unknown`.
    bool is_in_tree(Node node) const { return node < in_tree_; }
    std::vector<UsageRow> rows() const;
    std::vector<ChargeRow> charges() const;

  private:
    struct Element {
        std::string name;
        Node parent = kRoot;
        std::int64_t shares = 0;
        std::int64_t shares_of_children = 0;
        bool is_group = false;
        bool changed = false;
        double usage = kLeastUsage;
        double long_usage = 0;
        // Usage of running jobs that these two don't include: offset + rate * seconds since origin_.
        double offset = 0;
        double rate = 0;
        double expected = 0;
        std::uint32_t depth = 0;
    };
    struct Running {
        Node entity = kRoot;
        Use use;
        Instant since{};
        double charged = 0;
    };
    Node add(std::string_view name, Node parent, std::int64_t shares);
    void make_tree();
    double seconds(Instant t) const { return static_cast<double>((t - origin_).count()); }
    template <class Change>
    void on_path(Node node, const Change& change);
    double usage_of_members(Node group) const;
    void count(const Running& job, double sign);
    // Takes a job out of the running ones, and charges the rest of its use. nullopt: it didn't run.
    std::optional<Running> take_out(const Job& job, double used);
    void charge(Node entity, double amount);
    double not_settled(Node node, Instant now) const;
    std::vector<UsageRow> long_rows() const;
    void set_long_usage(std::span<const UsageRow> rows);
    void join_least();
    void settle(Instant now);
    void decay_once(Instant at, double factor);
    void note_changed(Node node);
    void note_path_changed(Node node);

    FsGroup group_;
    std::vector<Element> nodes_;
    std::size_t in_tree_ = 0;  // the number of nodes in the fs_group; they come first
    std::size_t depth_ = 2;
    std::unordered_map<std::string, Node> by_name_;
    // The long usage of entities without a node, by name; the node `unknown` includes it. The name `unknown`
    // has that of the entities whose names are forgotten (join_least()).
    std::map<std::string, double, std::less<>> long_left_;
    std::vector<Node> by_number_;  // by the caller's number: the node plus 1; 0: not looked up yet
    std::unordered_map<std::uint32_t, Running> running_;
    std::unordered_map<std::string, double> charged_;  // by the id of jobs that the host hasn't reported yet
    std::unordered_map<std::uint32_t, std::string> ids_;
    std::vector<Node> expecting_;
    Instant origin_{};
    Instant last_decay_{};
    std::vector<Node> changed_;
    UsageChanges pending_;  // without those of charges
    ChargeChanges charge_changes_;
};

}  // namespace pbs::sched
