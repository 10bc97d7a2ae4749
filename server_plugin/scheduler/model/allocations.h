// Node-hours that groups have been allocated and have used (sched-config guide, "SCHED_ACCT_DIR").
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pbs::sched {

// Node-hours by group.
using NodeHours = std::map<std::string, double, std::less<>>;

// The node-hours that groups have been allocated and have used, of one SCHED_ACCT_DIR. Between two updates of
// its file `current`, the requests of jobs that start are added to the file's amounts. An update includes the
// use of ended jobs, so after it only running jobs count with their requests.
class Allocations {
  public:
    // Sets the contents of the file `allocations`; a number below 0 is unlimited.
    void set_allocated(NodeHours groups);
    // Sets the contents of the file `current`, summed over the users of each group.
    void set_used(NodeHours groups);
    // Returns whether both files have been read.
    bool known() const { return allocated_known_ && used_known_; }

    // Notes that a job started, or was found running.
    void charge(std::string_view job_id, std::string_view group, double node_hours);
    // Notes that a job doesn't run any more.
    void job_ended(std::string_view job_id);

    struct Standing {
        bool listed = false;
        double allocated = 0;
        double used = 0;
        // Returns whether nothing is left. `more`: node-hours of further started jobs.
        bool over(double more = 0) const { return listed && allocated >= 0 && used + more >= allocated; }
    };
    Standing of(std::string_view group) const;

    struct Charge {
        std::string group;
        double node_hours = 0;
        bool ended = false;
    };
    // All data, for storage. The sums are included, so that a restored state is equal to the last bit.
    struct State {
        std::optional<NodeHours> allocated;  // empty: the file hasn't been read yet
        std::optional<NodeHours> used;
        std::map<std::string, Charge> charges;  // by job
        NodeHours charged;                      // the sums of the charges by group
    };
    State state() const;
    void restore(State state);

  private:
    bool allocated_known_ = false;
    bool used_known_ = false;
    NodeHours allocated_;
    NodeHours used_;
    std::unordered_map<std::string, Charge> charges_;  // by job
    NodeHours charged_;                                // the sums of the charges by group
};

}  // namespace pbs::sched
