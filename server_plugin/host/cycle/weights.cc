#include "server_plugin/host/cycle/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/run/executor.h"

namespace pbs::host {
namespace {

constexpr int64_t kTryAgainAfter = 30;
// The most weights that are looked at in a second, and the time after which no further one is tried. The
// server answers nobody meanwhile. Each try reads and writes a file, mostly in some microseconds.
constexpr std::size_t kMostTriedAgain = 200;
constexpr std::chrono::milliseconds kTriesLast{20};

}  // namespace

bool Weights::set(const Job& job, int weight, int64_t now) {
    const RunId run = run_id(job);
    if (server_.parts.executor.set_weight(run, weight)) {
        failed_.erase(job.handle);
        say_works();
        return true;
    }
    // The first failure isn't logged: the job may have ended just now.
    failed_.insert_or_assign(job.handle, Failed{run, weight, now + kTryAgainAfter});
    return false;
}

void Weights::try_again(int64_t now) {
    using Steady = std::chrono::steady_clock;
    const auto until = Steady::now() + kTriesLast;
    auto at = failed_.upper_bound(last_);
    for (std::size_t left = std::min(kMostTriedAgain, failed_.size()); left > 0 && !failed_.empty(); --left) {
        if (at == failed_.end()) at = failed_.begin();
        Failed& failed = at->second;
        last_ = at->first;
        // If the clock was set back, `next` may be far away.
        if (failed.next > now && failed.next <= now + kTryAgainAfter) {
            ++at;
            continue;
        }
        const Job* job = server_.state.job(at->first);
        if (job == nullptr || !job->running() || run_id(*job) != failed.run) {
            at = failed_.erase(at);
        } else if (const auto done = server_.parts.executor.set_weight(failed.run, failed.weight); done) {
            at = failed_.erase(at);
            say_works();
        } else {
            if (!said_)
                server_.parts.log.error(
                    job->id, fmt::format("reprioritize: its cpu.weight can't be set: {}; this is tried again "
                                         "every {} seconds",
                                         done.error().message, kTryAgainAfter));
            said_ = true;
            failed.next = now + kTryAgainAfter;
            ++at;
        }
        if (Steady::now() >= until) break;
    }
}

void Weights::say_works() {
    if (!said_ || !failed_.empty()) return;
    said_ = false;
    server_.parts.log.write(LogEvent::sched, LogClass::server, "reprioritize",
                            "the cpu.weight of jobs can be set again");
}

}  // namespace pbs::host
