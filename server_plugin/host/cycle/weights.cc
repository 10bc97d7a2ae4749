#include "server_plugin/host/cycle/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {
namespace {

constexpr int64_t kTryAgainAfter = 30;
// The most weights that a call of try_again() looks at, and the time after which it tries no further one: the
// server answers nobody meanwhile. Each try reads and writes a file, mostly in some microseconds.
constexpr std::size_t kMostTriedAgain = 200;
constexpr std::chrono::milliseconds kTriesLast{20};

// Returns whether the job's processes may not be in its control group yet: its files are being staged in, for
// example.
bool is_starting(const Job& job) {
    return job.state == job_state::kRunning && job.substate == substate::kPrerun;
}

// Returns whether the run goes on, so that it has processes to weigh, or will have them.
bool goes_on(const Job* job, const RunId& run) {
    return job != nullptr && job->running() && job->state != job_state::kExiting && run_id(*job) == run;
}

}  // namespace

bool Weights::set(const Job& job, int weight, int64_t now) {
    Owed owed{run_id(job), weight, now, false};
    if (!goes_on(&job, owed.run)) return false;
    if (!is_starting(job)) {
        if (server_.parts.executor.set_weight(owed.run, weight)) {
            owed_.erase(job.handle);
            succeeded_ = true;
            return true;
        }
        // The first failure isn't logged: the job may have ended just now.
        owed.failed = true;
        owed.next += kTryAgainAfter;
    }
    owed_.insert_or_assign(job.handle, std::move(owed));
    return false;
}

void Weights::try_again(int64_t now) {
    try_some(now);
    // Look even if no weight was set just now: the last job whose weight couldn't be set may have ended.
    if (!said_ || !succeeded_ ||
        std::ranges::any_of(owed_, [](const auto& one) { return one.second.failed; }))
        return;
    said_ = false;
    server_.parts.log.write(LogEvent::sched, LogClass::server, "reprioritize",
                            "the cpu.weight of jobs can be set again");
}

void Weights::try_some(int64_t now) {
    using Steady = std::chrono::steady_clock;
    const auto until = Steady::now() + kTriesLast;
    auto at = owed_.upper_bound(last_);
    for (std::size_t left = std::min(kMostTriedAgain, owed_.size()); left > 0 && !owed_.empty(); --left) {
        if (at == owed_.end()) at = owed_.begin();
        Owed& owed = at->second;
        last_ = at->first;
        const Job* job = server_.state.job(at->first);
        if (!goes_on(job, owed.run)) {
            at = owed_.erase(at);
            continue;
        }
        // If the clock was set back, `next` may be far away.
        const bool later = owed.next > now && owed.next <= now + kTryAgainAfter;
        if (later || is_starting(*job)) {
            ++at;
            continue;
        }
        if (const auto done = server_.parts.executor.set_weight(owed.run, owed.weight); done) {
            at = owed_.erase(at);
            succeeded_ = true;
        } else {
            if (owed.failed && !said_) {
                server_.parts.log.error(
                    job->id, fmt::format("reprioritize: its cpu.weight can't be set: {}; this is tried again "
                                         "every {} seconds",
                                         done.error().message, kTryAgainAfter));
                said_ = true;
                succeeded_ = false;
            }
            owed.failed = true;
            owed.next = now + kTryAgainAfter;
            ++at;
        }
        if (Steady::now() >= until) break;
    }
}

}  // namespace pbs::host
