#include "server_plugin/plugin/dynamic_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "objects/program_file.h"
#include "server_plugin/scheduler/model/told_amounts.h"

namespace pbs::plugin {
namespace {

using std::chrono::seconds;

constexpr std::string_view kDynamicRule = "server_dyn_res";

// The age at which a program's report is outdated. A report gets old if cycles of other schedulers keep the
// cycle that waits for it from beginning.
constexpr seconds kGoodFor{60};
constexpr seconds kAfterHanging{300};

bool is_of_event(sched::CycleTrigger trigger) {
    return trigger == sched::CycleTrigger::job_new || trigger == sched::CycleTrigger::job_ended;
}

}  // namespace

bool DynamicResources::puts_off(sched::Scheduler& scheduler, const Host& host, std::string_view sched,
                                sched::Instant now, sched::CycleTrigger& trigger) {
    const std::vector<sched::Question> questions = scheduler.questions(now, sched, kDynamicRule);
    bool waits = false;
    for (const sched::Question& asked : questions) {
        Answer& answer = answers_[asked.source];
        const bool fresh = answer.fresh && now >= answer.told_at && now - answer.told_at < kGoodFor;
        if (!answer.asked && !fresh && now >= answer.not_before) start(scheduler, host, asked, now);
        waits = waits || answer.asked;
    }
    // A program that can't be started has failed at once, so poll() already has its result.
    if (waits) poll(scheduler, host, now);
    waits = std::ranges::any_of(questions,
                                [&](const sched::Question& asked) { return answers_[asked.source].asked; });
    const auto before = put_off_.find(sched);
    // Keep the wider trigger of the put-off cycle and this one: a cycle over all jobs includes the work of a
    // cycle for single events.
    if (before != put_off_.end() && (!is_of_event(before->second) || trigger == sched::CycleTrigger::timer))
        trigger = before->second;
    if (waits) {
        put_off_.insert_or_assign(std::string(sched), trigger);
        return true;
    }
    for (const sched::Question& asked : questions) answers_[asked.source].fresh = false;
    forget(sched);
    return false;
}

void DynamicResources::forget(std::string_view sched) {
    if (const auto found = put_off_.find(sched); found != put_off_.end()) put_off_.erase(found);
    if (const auto begins = may_begin_.find(sched); begins != may_begin_.end()) may_begin_.erase(begins);
    if (!put_off_.empty()) return;
    for (auto& [element, answer] : answers_) answer.fresh = false;
}

void DynamicResources::start(const sched::Scheduler& scheduler, const Host& host,
                             const sched::Question& asked, sched::Instant now) {
    const std::string& element = asked.source;
    const std::string_view command = sched::DynamicResource::of(element).command;
    objects::ProgramCall call = objects::program_call(command);
    CommandOptions options;
    options.path = std::move(call.path);
    if (root_programs_.has(host, element)) {
        options.shell_command = command;
        // Run the program in the folder of the default scheduler, since managers choose the folders of other
        // schedulers.
        const std::string folder = fmt::format("{}/sched_priv", host.home());
        std::error_code none;
        if (std::filesystem::is_directory(folder, none)) options.folder = folder;
    } else {
        options.arguments = std::move(call.arguments);
        options.of_manager = true;
    }
    options.time_limit = asked.time_limit;
    options.time_zone = scheduler.zone().name();
    answers_[element].asked = true;
    commands_.run(element, std::move(options), now);
}

DynamicResources::Scheds DynamicResources::look(sched::Scheduler& scheduler, const Host& host,
                                                sched::Instant now) {
    poll(scheduler, host, now);
    return std::exchange(may_begin_, {});
}

void DynamicResources::poll(sched::Scheduler& scheduler, const Host& host, sched::Instant now) {
    auto results = commands_.poll(now);
    for (auto& [element, result] : results) take(scheduler, host, element, std::move(result), now);
    if (!results.empty())
        for (const auto& [sched, trigger] : put_off_) may_begin_.insert(sched);
}

void DynamicResources::take(sched::Scheduler& scheduler, const Host& host, const std::string& element,
                            CommandResult result, sched::Instant now) {
    constexpr std::size_t kMostShown = 40;
    Answer& answer = answers_[element];
    answer.asked = false;
    answer.fresh = true;
    answer.told_at = now;
    answer.not_before = result.hung ? now + kAfterHanging : sched::Instant{};
    if (result.failure.empty() && !scheduler.is_amount(element, result.output)) {
        const std::string line = result.output.substr(0, result.output.find('\n'));
        result.failure = fmt::format("{} tells '{}', expected an amount",
                                     objects::program_call(sched::DynamicResource::of(element).command).path,
                                     line.substr(0, kMostShown));
    }
    const std::string_view resource = sched::DynamicResource::of(element).resource;
    if (result.failure.empty() && !answer.said.empty())
        host.log(PBS_LOG_INFO, kDynamicRule, fmt::format("{}: its program works again", resource));
    else if (!result.failure.empty() && answer.said != result.failure)
        host.log(PBS_LOG_ERROR, kDynamicRule,
                 fmt::format("There is nothing of {}: {}", resource, result.failure));
    answer.said = result.failure;
    scheduler.set_told(element, result.failure.empty() ? result.output : "0");
}

}  // namespace pbs::plugin
