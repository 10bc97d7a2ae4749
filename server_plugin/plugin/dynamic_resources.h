// Dynamic resources: before a cycle that needs their amounts, runs the programs of server_dyn_res, and hands
// the amounts to the scheduler (OpenPBS's design document PP-748, interface 1).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/plugin/root_programs.h"
#include "server_plugin/plugin/site_program.h"

namespace pbs::plugin {

// Runs the programs of server_dyn_res. A cycle of a policy with server_dyn_res is put off until the programs
// have reported their amounts. Cycles of other schedulers go on meanwhile. The programs run in parallel, and
// only those for resources that some job requests. A report holds for one cycle. If a program fails, its
// resource has the amount 0, which is logged once. A program that has hung isn't run again for some minutes,
// so that it doesn't delay every cycle.
class DynamicResources {
  public:
    // Called before each cycle. Returns true if the cycle is put off; look() then returns its scheduler as
    // soon as the cycle may begin. Widens `trigger` to include the trigger of the cycle that was put off
    // before.
    bool puts_off(sched::Scheduler& scheduler, const Host& host, std::string_view sched, sched::Instant now,
                  sched::CycleTrigger& trigger);

    // Forgets that a cycle of the scheduler was put off. Call it if the cycle won't begin, because scheduling
    // is off or the scheduler is gone. If no cycle waits any more, all reports are outdated.
    void forget(std::string_view sched);

    // Polls the running programs. Returns the schedulers whose cycles may begin.
    using Scheds = std::set<std::string, std::less<>>;
    Scheds look(sched::Scheduler& scheduler, const Host& host, sched::Instant now);

    RootPrograms& root_programs() { return root_programs_; }

    // Returns the instant at which look() has work; Instant::max() if no program runs.
    sched::Instant next_deadline(sched::Instant now) const {
        return may_begin_.empty() ? commands_.next_deadline(now) : now;
    }

  private:
    struct Answer {
        bool asked = false;
        bool fresh = false;           // no cycle has begun since the report
        sched::Instant told_at{};     // the time of the report, if fresh
        sched::Instant not_before{};  // when the program may run again
        std::string said;             // the failure that has been logged; empty: none
    };
    void start(const sched::Scheduler& scheduler, const Host& host, const sched::Question& asked,
               sched::Instant now);
    void poll(sched::Scheduler& scheduler, const Host& host, sched::Instant now);
    void take(sched::Scheduler& scheduler, const Host& host, const std::string& element, CommandResult result,
              sched::Instant now);

    std::map<std::string, Answer, std::less<>> answers_;  // by element of server_dyn_res
    RunningCommands<std::string> commands_;               // by element of server_dyn_res, too
    // By scheduler: the trigger of its cycle that is put off.
    std::map<std::string, sched::CycleTrigger, std::less<>> put_off_;
    Scheds may_begin_;  // schedulers that look() is to return
    RootPrograms root_programs_;
};

}  // namespace pbs::plugin
