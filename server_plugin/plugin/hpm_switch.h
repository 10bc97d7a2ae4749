// Switches the hardware performance counters between global monitoring and the jobs that ask for them
// (sched-config guide, "MANAGE_HPM_COUNTERS" and "REVOKE_HPM_COUNTERS"), by running the program `hpm_ctl`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/plugin/command.h"
#include "server_plugin/plugin/host.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// After a cycle in which a job waited for the counters and for nothing else, they are put into user mode;
// when no job that asked for them runs or waits any more, back into global mode. Before each change the
// program is asked for the mode there is. What fails is tried again after the next cycle.
//
// Managers, who need not be root, choose the program. PBS_HOME/sched_priv/hpm_ctl, which only the
// administrator of the server can have put there, runs as the server's user; any other as nobody.
class HpmSwitch {
  public:
    // After a cycle of a scheduler; `wanted`: a job waits for the counters, or starts with them.
    void after_cycle(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                     sched::Instant now, bool wanted);

    // Looks after the program. True if a job can start for what it did: a cycle is wanted.
    bool look(sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    // When look() has something to do; Instant::max(): nothing runs.
    sched::Instant next_deadline(sched::Instant now) const;

  private:
    void run(sched::Scheduler& scheduler, const Host& host, const char* mode, sched::Instant now);
    void change_mode(sched::Scheduler& scheduler, const Host& host, sched::Instant now);
    void failed(const Host& host, const std::string& why);

    std::optional<Command> command_;
    std::vector<Command> ended_;  // until they have gone
    std::string mode_;            // the argument of the program that runs
    std::string program_;
    sched::HpmCounters counters_ = sched::HpmCounters::unknown;
    bool user_needed_ = false;
    bool revoke_ = false;   // REVOKE_HPM_COUNTERS
    bool revoked_ = false;  // in this change
    std::string said_;      // the failure that the log has been told of
};

}  // namespace pbs::plugin
