// Node-hours that groups were given and have used (sched-config guide, "SCHED_ACCT_DIR").
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pbs::sched {

// Node-hours by group.
using NodeHours = std::map<std::string, double, std::less<>>;

// Of one SCHED_ACCT_DIR. Between two updates of `current`, what started jobs ask for is added to what it
// says; an update has the use of the jobs that have ended, so that those that still run go on counting with
// what they ask for.
class Allocations {
  public:
    // What the file `allocations` says; below 0: unlimited.
    void set_allocated(NodeHours groups);
    // What the file `current` says: the sums over the users of a group.
    void set_used(NodeHours groups);
    // Both files were read.
    bool known() const { return allocated_known_ && used_known_; }

    // A job started, or was found running.
    void charge(std::string_view job_id, std::string_view group, double node_hours);
    // It runs no longer.
    void job_ended(std::string_view job_id);

    struct Standing {
        bool listed = false;
        double allocated = 0;
        double used = 0;
        // Nothing is left; `more` is what was started besides.
        bool over(double more = 0) const { return listed && allocated >= 0 && used + more >= allocated; }
    };
    Standing of(std::string_view group) const;

    struct Charge {
        std::string group;
        double node_hours = 0;
        bool ended = false;
    };
    // All that is known; the sums as they were added up, to the last bit.
    struct State {
        std::optional<NodeHours> allocated;  // nothing: not read yet
        std::optional<NodeHours> used;
        std::map<std::string, Charge> charges;  // by job
        NodeHours charged;                      // their sums by group
    };
    State state() const;
    void restore(State state);

  private:
    bool allocated_known_ = false;
    bool used_known_ = false;
    NodeHours allocated_;
    NodeHours used_;
    std::unordered_map<std::string, Charge> charges_;  // by job
    NodeHours charged_;                                // their sums
};

}  // namespace pbs::sched
