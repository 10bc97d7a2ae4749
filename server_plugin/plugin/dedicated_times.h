// Keeps the scheduler told of dedicated times: runs DEDICATED_TIME_COMMAND for each host and for SYSTEM_NAME,
// and gives it what the command says (sched-config guide, "DEDICATED_TIME_COMMAND").
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/plugin/command.h"
#include "server_plugin/plugin/host.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

// An answer holds for DEDICATED_TIME_CACHE_SECS; the first cycle after that asks again, and goes on with what
// was known until there is another answer. So it does when the command fails, which the log tells of once.
// Until the first answer no job is started where it would matter; if there is none, as if there were no
// dedicated times.
class DedicatedTimes {
  public:
    // Before a cycle: asks what has to be asked. `anew`: whatever is known is out of date.
    void ask(sched::Scheduler& scheduler, const Host& host, std::string_view sched, sched::Instant now,
             bool anew);

    // Looks after commands that run. True if what the scheduler knows has changed: a cycle is wanted.
    bool look(sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    // When look() has something to do; Instant::max(): nothing runs.
    sched::Instant next_deadline(sched::Instant now) const;

  private:
    using Question = std::pair<std::string, std::string>;  // command and name
    struct Answer {
        std::optional<sched::Instant> at;  // of the last good one
        sched::Instant failed_at{};
        std::string said;  // the failure that the log has been told of
        bool asked = false;
    };
    struct Running {
        Question question;
        Command command;
    };
    void start_some(const sched::Scheduler& scheduler, sched::Instant now);
    bool take(sched::Scheduler& scheduler, const Host& host, const Question& question, CommandResult result,
              sched::Instant now);

    std::map<Question, Answer> answers_;
    std::deque<Question> waiting_;
    std::vector<Running> running_;
    std::vector<Command> ended_;  // until they have gone
    bool news_ = false;           // what ask() found out
};

}  // namespace pbs::plugin
