#include "server_plugin/host/cycle/sched_logs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <ctime>

#include "server_plugin/host/life/preempt.h"
#include "server_plugin/host/state/preemption.h"

namespace pbs::host {
namespace {

constexpr std::string_view kNotRunning = "Not Running: ";

std::string date_text(int64_t at) {
    const std::time_t seconds = at;
    std::tm local{};
    localtime_r(&seconds, &local);
    char text[64];
    return {text, std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &local)};
}

// Returns the text of a decision for the log; empty: the decision isn't logged.
std::string text_of(const Decision& decision, const State& state) {
    switch (decision.kind) {
        case Decision::Kind::run:
            return "Job run";
        case Decision::Kind::comment: {
            std::string_view text = decision.text;
            if (text.starts_with(kNotRunning)) text.remove_prefix(kNotRunning.size());
            return std::string(text);
        }
        case Decision::Kind::reject:
            return fmt::format("Job rejected: {}", decision.text);
        case Decision::Kind::move: {
            const Queue* queue = state.queue(decision.queue);
            return fmt::format("Job moved to queue {}", queue == nullptr ? "?" : queue->name);
        }
        case Decision::Kind::estimate:
            return decision.start == 0
                       ? std::string()
                       : fmt::format("Job is a top job and will run at {}", date_text(decision.start));
        case Decision::Kind::preempt: {
            const Job* other = state.job_told_as(decision.for_job);
            const std::string for_job = decision.for_job == 0 ? "" : other == nullptr ? "?" : other->id;
            std::string text = fmt::format("Job preempted {}, by", occasion_of_preemption(for_job));
            for (const char method : decision.methods) {
                if (method != decision.methods.front()) text += ", else by";
                text.append(" ").append(way_text(method));
            }
            return text;
        }
        case Decision::Kind::accrue:
            return fmt::format("Accrue type is {}", decision.accrue_type);
        case Decision::Kind::weigh:
            return fmt::format("CPU weight is {}", decision.weight);
        case Decision::Kind::confirm:
            return "Reservation Confirmed";
        case Decision::Kind::deny:
            return fmt::format("Reservation denied: {}", decision.text);
    }
    return {};
}

}  // namespace

Log& SchedLogs::of(const Sched& sched) {
    std::string folder(sched.attributes.text("sched_log"));
    SchedLog& known = known_[sched.name];
    if (known.log == nullptr || known.folder != folder) {
        if (folder.starts_with(home_ + "/") && folder.find('/', home_.size() + 1) == std::string::npos)
            // If mkdir() fails, the log counts its lines as lost.
            static_cast<void>(::mkdir(folder.c_str(), 0755));
        known = {folder, std::make_unique<Log>(folder, "pbs_sched", clock_)};
    }
    return *known.log;
}

void write_decision(Log& log, const Decision& decision, std::string_view job, const State& state) {
    const bool is_minor = decision.kind == Decision::Kind::accrue || decision.kind == Decision::Kind::weigh;
    const LogEvent event = is_minor ? LogEvent::debug3 : LogEvent::sched;
    if (!log.writes(event)) return;
    if (const std::string text = text_of(decision, state); !text.empty())
        log.write(event, LogClass::job, job, text);
}

}  // namespace pbs::host
