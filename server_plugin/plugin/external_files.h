// algorithm = external: pbs_sched of OpenPBS schedules, by files that are made from the policies:
// sched_config, holidays, dedicated_time and resource_group in its sched_priv. For hosts that have it
// (pbs_host).
//
// The files of a scheduler are ours while its policy for all time is of algorithm external. They are made
// whenever the configuration changes, at each beginning and end of prime time, and at midnight; holidays has
// the hours of the seven days from today on, whatever rules they come of, so it is right until then. What was
// there before is kept beside them, under its name with kKeptSuffix, and comes back when the policy is of
// another algorithm or there is none.
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
    // When look() has something to do.
    sched::Instant next(const State& state, sched::Instant now) const;
    // Makes the files that are another than they were, and has pbs_sched read them. What goes wrong is in the
    // log once, and tried again a minute later.
    void look(State& state, sched::Instant now);
    // Is the scheduler's policy for all time of algorithm external?
    static bool external(const State& state, std::string_view sched);
    // For `list sched`: what pbs_sched doesn't act on, and what is wrong, a line each.
    std::vector<std::string> lines(const State& state, std::string_view sched) const;

  private:
    struct Files {
        std::vector<std::string> left_out;  // what the objects say and the files can't
        std::string error;
    };
    std::string look(State& state, const std::string& sched, const std::string& folder, sched::Instant now);

    std::map<std::string, Files, std::less<>> scheds_;
    std::shared_ptr<const objects::Snapshot> made_of_;
    std::map<std::string, std::string> folders_;  // those that it was made for
    sched::Instant next_{};
};

// The holidays file for the week that begins today, of these hours of prime time: a line a day, with the
// period of the day that is open at `now` or opens next, as the file has room for one. `windows`: those of
// type prime; there has to be one.
std::string week_of_holidays(const rrule::WindowSet& windows, const rrule::Zone& zone, sched::Instant now);

}  // namespace pbs::plugin
