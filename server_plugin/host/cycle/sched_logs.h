// Writes the schedulers' logs: what each cycle decided for each job, in the format of the server's log and in
// the words of OpenPBS's scheduler. A log is in the folder of the scheduler's sched_log. The log_event of the
// policy in force selects the kinds of events.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/state/objects.h"
#include "server_plugin/host/state/state.h"

namespace pbs::host {

class SchedLogs {
  public:
    SchedLogs(std::string home, Clock& clock) : home_(std::move(home)), clock_(clock) {}
    // Returns the log of a scheduler, valid until the next call for this scheduler. Makes the log's folder if
    // its parent is the server's home.
    Log& of(const Sched& sched);

  private:
    struct SchedLog {
        std::string folder;
        std::unique_ptr<Log> log;
    };
    std::string home_;
    Clock& clock_;
    std::map<std::string, SchedLog, std::less<>> known_;
};

// Logs a decision that was carried out, for the job or subjob with this id.
void write_decision(Log& log, const Decision& decision, std::string_view job, const State& state);

}  // namespace pbs::host
