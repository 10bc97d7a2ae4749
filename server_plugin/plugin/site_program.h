// Runs programs of the site whose answers the scheduler's rules use (Scheduler::questions()). Each program
// has a file with a class derived from SiteProgram, and a row in site_programs().
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/plugin/command.h"
#include "server_plugin/plugin/host.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::plugin {

class SiteProgram {
  public:
    SiteProgram() = default;
    virtual ~SiteProgram() = default;
    SiteProgram(const SiteProgram&) = delete;
    SiteProgram& operator=(const SiteProgram&) = delete;

    // Returns the name of the rule that uses the answers.
    virtual std::string_view rule() const = 0;
    // Called before a cycle of a scheduler: starts the programs whose answers are needed. `anew`: all known
    // answers are out of date.
    virtual void before_cycle(sched::Scheduler& /*scheduler*/, const Host& /*host*/,
                              std::string_view /*sched*/, sched::Instant /*now*/, bool /*anew*/) {}
    // Called after a cycle. `wanted`: some job waits for nothing but the answer, or starts because of it.
    virtual void after_cycle(sched::Scheduler& /*scheduler*/, const Host& /*host*/,
                             std::string_view /*sched*/, sched::Instant /*now*/, bool /*wanted*/) {}
    // Polls the running programs. Returns true if an answer has changed, so that the schedulers whose
    // policies use it need a cycle.
    virtual bool look(sched::Scheduler& scheduler, const Host& host, sched::Instant now) = 0;
    // Returns the instant at which look() has work; Instant::max(): no program runs.
    virtual sched::Instant next_deadline(sched::Instant now) const = 0;
};

std::unique_ptr<SiteProgram> make_dedicated_times();
std::unique_ptr<SiteProgram> make_hpm_switch();

// Makes one object of each class derived from SiteProgram.
inline std::vector<std::unique_ptr<SiteProgram>> site_programs() {
    std::vector<std::unique_ptr<SiteProgram>> programs;
    programs.push_back(make_dedicated_times());
    programs.push_back(make_hpm_switch());
    return programs;
}

// The running commands, each with its question; and the ended commands whose processes aren't gone yet.
template <class Question>
class RunningCommands {
  public:
    void run(Question asked, CommandOptions options, sched::Instant now) {
        running_.emplace_back(std::move(asked), Command(std::move(options), now));
    }
    // The number of commands that are running.
    std::size_t size() const { return running_.size(); }
    // Returns the results of the commands that have ended since the last call.
    std::vector<std::pair<Question, CommandResult>> poll(sched::Instant now) {
        std::erase_if(ended_, [](Command& command) { return command.gone(); });
        std::vector<std::pair<Question, CommandResult>> results;
        for (auto at = running_.begin(); at != running_.end();) {
            auto result = at->second.poll(now);
            if (!result) {
                ++at;
                continue;
            }
            results.emplace_back(std::move(at->first), *std::move(result));
            if (!at->second.gone()) ended_.push_back(std::move(at->second));
            at = running_.erase(at);
        }
        return results;
    }
    // Returns the instant at which poll() has work; Instant::max(): no command is left.
    sched::Instant next_deadline(sched::Instant now) const {
        if (!running_.empty()) return now;
        return ended_.empty() ? sched::Instant::max() : now + Command::kLinger;
    }

  private:
    std::vector<std::pair<Question, Command>> running_;
    std::vector<Command> ended_;
};

}  // namespace pbs::plugin
