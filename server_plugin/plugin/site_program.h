// Programs of the site that rules of the scheduler go by (Scheduler::questions()). Each of them is one file
// with a class derived from SiteProgram, and a row in site_programs().
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

    // The name of the rule whose questions it answers.
    virtual std::string_view rule() const = 0;
    // Before a cycle of a scheduler: asks what has to be asked. `anew`: whatever is known is out of date.
    virtual void before_cycle(sched::Scheduler& /*scheduler*/, const Host& /*host*/,
                              std::string_view /*sched*/, sched::Instant /*now*/, bool /*anew*/) {}
    // After it; `wanted`: a job waits for the answer and for nothing else, or starts by it.
    virtual void after_cycle(sched::Scheduler& /*scheduler*/, const Host& /*host*/,
                             std::string_view /*sched*/, sched::Instant /*now*/, bool /*wanted*/) {}
    // Looks after what runs. True if what the scheduler knows has changed: a cycle is wanted of those whose
    // policies go by it.
    virtual bool look(sched::Scheduler& scheduler, const Host& host, sched::Instant now) = 0;
    // When look() has something to do; Instant::max(): nothing runs.
    virtual sched::Instant next_deadline(sched::Instant now) const = 0;
};

std::unique_ptr<SiteProgram> make_dedicated_times();
std::unique_ptr<SiteProgram> make_hpm_switch();

// Makes one of each.
inline std::vector<std::unique_ptr<SiteProgram>> site_programs() {
    std::vector<std::unique_ptr<SiteProgram>> programs;
    programs.push_back(make_dedicated_times());
    programs.push_back(make_hpm_switch());
    return programs;
}

// Commands that run, each to answer a question, and those that have ended but haven't gone.
template <class Asked>
class RunningCommands {
  public:
    void run(Asked asked, CommandOptions options, sched::Instant now) {
        running_.emplace_back(std::move(asked), Command(std::move(options), now));
    }
    // The number of commands that are running.
    std::size_t size() const { return running_.size(); }
    // Returns the results of the commands that have ended since the last call.
    std::vector<std::pair<Asked, CommandResult>> poll(sched::Instant now) {
        std::erase_if(ended_, [](Command& command) { return command.gone(); });
        std::vector<std::pair<Asked, CommandResult>> results;
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
    // When poll() has something to do; Instant::max(): nothing runs.
    sched::Instant next_deadline(sched::Instant now) const {
        if (!running_.empty()) return now;
        return ended_.empty() ? sched::Instant::max() : now + Command::kLinger;
    }

  private:
    std::vector<std::pair<Asked, Command>> running_;
    std::vector<Command> ended_;
};

}  // namespace pbs::plugin
