#include "server_plugin/plugin/dedicated_times.h"

#include <fmt/format.h>

#include <utility>

namespace pbs::plugin {
namespace {

constexpr std::size_t kMostRunning = 4;
// A command that fails isn't run in each of many cycles.
constexpr std::chrono::seconds kRetryAfter{30};

}  // namespace

void DedicatedTimes::ask(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                         sched::Instant now, bool anew) {
    for (const sched::OutageQuestion& wanted : scheduler.outage_questions(now, sched)) {
        const Question question{wanted.command, wanted.name};
        Answer& answer = answers_[question];
        if (answer.asked) continue;
        const bool fresh = answer.at && now >= *answer.at && now - *answer.at < wanted.holds_for;
        const bool failed_just_now =
            !answer.said.empty() && now >= answer.failed_at && now - answer.failed_at < kRetryAfter;
        if ((fresh || failed_just_now) && !anew) continue;
        answer.asked = true;
        scheduler.await_outages(wanted.command, wanted.name);
        waiting_.push_back(question);
    }
    start_some(scheduler, now);
    // What can't be started has failed already; the cycle that follows knows, and others are to know too.
    news_ = look(scheduler, host, now);
}

void DedicatedTimes::start_some(const sched::Scheduler& scheduler, sched::Instant now) {
    while (!waiting_.empty() && running_.size() < kMostRunning) {
        const Question question = std::move(waiting_.front());
        waiting_.pop_front();
        CommandOptions options;
        options.path = question.first;
        options.arguments = {question.second};
        options.time_zone = scheduler.zone().name();
        running_.push_back({question, Command(std::move(options), now)});
    }
}

bool DedicatedTimes::look(sched::Scheduler& scheduler, const Host& host, sched::Instant now) {
    bool changed = std::exchange(news_, false);
    std::erase_if(ended_, [](Command& command) { return command.gone(); });
    for (std::size_t i = 0; i < running_.size();) {
        auto result = running_[i].command.poll(now);
        if (!result) {
            ++i;
            continue;
        }
        const Question question = running_[i].question;
        if (!running_[i].command.gone()) ended_.push_back(std::move(running_[i].command));
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        changed = take(scheduler, host, question, *std::move(result), now) || changed;
    }
    start_some(scheduler, now);
    return changed;
}

bool DedicatedTimes::take(sched::Scheduler& scheduler, const Host& host, const Question& question,
                          CommandResult result, sched::Instant now) {
    Answer& answer = answers_[question];
    answer.asked = false;
    const auto& [command, name] = question;
    if (result.failure.empty()) {
        auto outages = sched::parse_outages(result.output, name, scheduler.zone());
        if (outages) {
            if (!answer.said.empty())
                host.log(PBS_LOG_INFO, "dedicated_time", fmt::format("{} {} works again", command, name));
            answer.said.clear();
            answer.at = now;
            return scheduler.set_outages(command, name, *std::move(outages));
        }
        result.failure = fmt::format("output of {} {}, {}", command, name, outages.error().message);
    }
    answer.failed_at = now;
    if (answer.said != result.failure)
        host.log(PBS_LOG_ERROR, "dedicated_time",
                 fmt::format("Dedicated times of {} are not known: {}; {}", name, result.failure,
                             answer.at ? "the ones known before go on" : "none are observed"));
    answer.said = std::move(result.failure);
    return scheduler.settle_outages(command, name);
}

sched::Instant DedicatedTimes::next_deadline(sched::Instant now) const {
    if (!running_.empty() || news_) return now;
    return ended_.empty() ? sched::Instant::max() : now + Command::kLinger;
}

}  // namespace pbs::plugin
