// Scheduler::explain().

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/explain/explain.h"
#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {
namespace {

// The reason why no cycle considers a job in a state other than queued.
std::string not_queued(const Tables& tables, JobSlot job) {
    const char state = tables.jobs.state[job];
    if (state == 'S') return "it is suspended";
    if (is_running(state))
        return fmt::format("it runs, since {}", ctime_text(tables.jobs.stime[job], tables.zone));
    switch (state) {
        case 'A':
            return "it couldn't be run when that was tried last, and is tried again later";
        case 'H':
            return "it is held";
        case 'B':
            return "no more of its subjobs may start now";
        case 'W':
            return "it waits for its execution time";
        case 'T':
            return "it is being moved";
        default:
            return fmt::format("its state is {}", state);
    }
}

JobSlot find_job(const JobTable& jobs, std::string_view id) {
    const auto found = std::ranges::find(jobs.id, id);
    return id.empty() || found == jobs.id.end() ? kNoSlot : static_cast<JobSlot>(found - jobs.id.begin());
}

}  // namespace

std::optional<Explanation> Inspector::explain(Instant now, std::string_view job_id) {
    Tables& tables = impl_->tables;
    const JobSlot job = find_job(tables.jobs, job_id);
    if (job == kNoSlot) return std::nullopt;
    Explanation out;
    out.job = job_id;
    const Queue& queue = tables.queues[tables.jobs.queue[job]];
    const auto sched = std::ranges::find_if(
        impl_->scheds, [&](const auto& s) { return impl_->serves(s.first, s.second, queue.partition); });
    if (sched == impl_->scheds.end()) {
        out.reason = text({ReasonCode::no_scheduler, tables.jobs.queue[job], queue.partition},
                          tables.reason_context());
        return out;
    }
    out.sched = sched->first;
    Policy* policy = impl_->active_policy(sched->first, now);
    if (policy != nullptr) {
        out.policy = policy->settings.name;
        out.algorithm = policy->settings.profile->name;
        if (SchedShares* shares = impl_->shares_of(sched->second, *policy))
            out.shares = impl_->shares_of_job(*shares, sched->first, sched->second, job, now);
    }
    if (tables.jobs.state[job] != 'Q') {
        out.reason = not_queued(tables, job);
    } else if (!sched->second.scheduling) {
        out.reason = fmt::format("scheduling is off in sched {}", sched->first);
    } else if (policy == nullptr) {
        out.reason = fmt::format("sched {} has no policy", sched->first);
    } else {
        SchedMemory memory = sched->second.memory;  // a copy, because a cycle changes it
        CycleInput input;
        input.tables = &tables;
        input.configuration = &impl_->configuration;
        input.policy = policy;
        input.memory = &memory;
        input.partition = sched->second.partition;
        input.now = now;
        input.categories = impl_->categories;
        input.explained = job;
        input.shares = impl_->shares_of(sched->second, *policy);
        input.explanation = &out;
        explain_job(input);
    }
    return out;
}

}  // namespace pbs::sched
