// Dedicated times: runs the site's program DEDICATED_TIME_COMMAND for each host and for SYSTEM_NAME, and
// hands its answers to the scheduler (sched-config guide, "DEDICATED_TIME_COMMAND").

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "server_plugin/plugin/site_program.h"

namespace pbs::plugin {
namespace {

constexpr std::size_t kMostRunning = 4;
// The pause after a failure, so that a failing command doesn't run in every cycle.
constexpr std::chrono::seconds kRetryAfter{30};
constexpr std::string_view kRule = "dedicated_time";

// An answer of the command holds for DEDICATED_TIME_CACHE_SECS. The first cycle after that time runs the
// command again, and uses the old answer until a new one comes. If the command fails, which is logged once,
// the old answer stays. Before the first answer, no job starts that a dedicated time could affect; if the
// command fails then, jobs start as if there were no dedicated times.
class DedicatedTimes final : public SiteProgram {
  public:
    std::string_view rule() const override { return kRule; }
    void before_cycle(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                      sched::Instant now, bool anew) override;
    bool look(sched::Scheduler& scheduler, const Host& host, sched::Instant now) override;
    sched::Instant next_deadline(sched::Instant now) const override {
        return news_ ? now : commands_.next_deadline(now);
    }

  private:
    using Call = std::pair<std::string, std::string>;  // the command, and the name that is its argument
    struct Answer {
        std::optional<sched::Instant> at;  // the time of the last good answer
        sched::Instant failed_at{};
        std::string said;  // the last failure, which has been logged; empty: the last answer was good
        bool asked = false;
    };
    void start_some(const sched::Scheduler& scheduler, sched::Instant now);
    bool take(sched::Scheduler& scheduler, const Host& host, const Call& asked, CommandResult result,
              sched::Instant now);

    std::map<Call, Answer> answers_;
    std::deque<Call> waiting_;
    RunningCommands<Call> commands_;
    bool news_ = false;  // before_cycle() has got an answer that look() has to report
};

void DedicatedTimes::before_cycle(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                                  sched::Instant now, bool anew) {
    for (const sched::Question& wanted : scheduler.questions(now, sched, kRule)) {
        const Call asked{wanted.source, wanted.argument};
        Answer& answer = answers_[asked];
        if (answer.asked) continue;
        const bool fresh = answer.at && now >= *answer.at && now - *answer.at < wanted.holds_for;
        const bool failed_just_now =
            !answer.said.empty() && now >= answer.failed_at && now - answer.failed_at < kRetryAfter;
        if ((fresh || failed_just_now) && !anew) continue;
        answer.asked = true;
        scheduler.await_outages(wanted.source, wanted.argument);
        waiting_.push_back(asked);
    }
    start_some(scheduler, now);
    // A command that can't be started has failed at once. This cycle takes the failure into account; news_
    // makes the next look() ask for cycles of the other schedulers.
    news_ = look(scheduler, host, now);
}

void DedicatedTimes::start_some(const sched::Scheduler& scheduler, sched::Instant now) {
    while (!waiting_.empty() && commands_.size() < kMostRunning) {
        Call asked = std::move(waiting_.front());
        waiting_.pop_front();
        CommandOptions options;
        options.path = asked.first;
        options.arguments = {asked.second};
        options.time_zone = scheduler.zone().name();
        commands_.run(std::move(asked), std::move(options), now);
    }
}

bool DedicatedTimes::look(sched::Scheduler& scheduler, const Host& host, sched::Instant now) {
    bool changed = std::exchange(news_, false);
    for (auto& [asked, result] : commands_.poll(now))
        changed = take(scheduler, host, asked, std::move(result), now) || changed;
    start_some(scheduler, now);
    return changed;
}

bool DedicatedTimes::take(sched::Scheduler& scheduler, const Host& host, const Call& asked,
                          CommandResult result, sched::Instant now) {
    Answer& answer = answers_[asked];
    answer.asked = false;
    const auto& [command, name] = asked;
    if (result.failure.empty()) {
        auto outages = sched::parse_outages(result.output, name, scheduler.zone());
        if (outages) {
            if (!answer.said.empty())
                host.log(PBS_LOG_INFO, kRule, fmt::format("{} {} works again", command, name));
            answer.said.clear();
            answer.at = now;
            return scheduler.set_outages(command, name, *std::move(outages));
        }
        result.failure = fmt::format("output of {} {}, {}", command, name, outages.error().message);
    }
    answer.failed_at = now;
    if (answer.said != result.failure)
        host.log(PBS_LOG_ERROR, kRule,
                 fmt::format("Dedicated times of {} are not known: {}; {}", name, result.failure,
                             answer.at ? "the ones known before go on" : "none are observed"));
    answer.said = std::move(result.failure);
    return scheduler.settle_outages(command, name);
}

}  // namespace

std::unique_ptr<SiteProgram> make_dedicated_times() {
    return std::make_unique<DedicatedTimes>();
}

}  // namespace pbs::plugin
