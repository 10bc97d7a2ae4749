// algorithm = external: OpenPBS's pbs_sched schedules, by files in its sched_priv that the plugin makes from
// the policies: sched_config, holidays, dedicated_time and resource_group. Only for hosts that have pbs_sched
// (pbs_host).
//
// The plugin writes a scheduler's files while the algorithm of the scheduler's policy for all time is
// external: whenever the configuration changes, at each beginning and end of prime time, and at midnight.
// `holidays` has the hours of the seven days from today on, so it is right until the next midnight, whatever
// the rules of the windows are. The site's files are copied beside these, with kKeptSuffix added to their
// names, and are restored when the policy gets another algorithm or is deleted.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "objects/snapshot.h"
#include "rrule/window_set.h"
#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::plugin {

struct State;

inline constexpr std::string_view kKeptSuffix = ".before_pbs_policy";

class ExternalFiles {
  public:
    // Returns the instant at which look() has work.
    sched::Instant next(const State& state, sched::Instant now) const;
    // Writes the files whose text has changed, and makes pbs_sched read them. A failure is logged once, and
    // the files are tried again a minute later.
    void look(State& state, sched::Instant now);
    // Returns whether the scheduler's policy for all time leaves its jobs to pbs_sched.
    static bool external(const State& state, std::string_view sched);
    // Returns lines for `list sched`: settings that pbs_sched doesn't act on, and errors.
    std::vector<std::string> lines(const State& state, std::string_view sched) const;

  private:
    struct Files {
        std::vector<std::string> left_out;  // settings of the objects that the files can't express
        std::string error;
    };
    std::string look(State& state, const std::string& sched, const std::string& folder, sched::Instant now);

    std::map<std::string, Files, std::less<>> scheds_;
    std::shared_ptr<const objects::Snapshot> made_of_;
    std::map<std::string, std::string> folders_;  // by scheduler: the folder that files were made for
    sched::Instant next_{};
};

// Returns the text of a holidays file for the seven days from today on, a line for each. The format permits
// one period of prime time a day: the text has the period that is open at `now` or opens next. `windows` has
// at least one window, and only those of type prime.
std::string week_of_holidays(const rrule::WindowSet& windows, const rrule::Zone& zone, sched::Instant now);

}  // namespace pbs::plugin
