// start_within of jobs: rejects those that haven't started in time.

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

// Does the job wait for its first start, in a queue that the cycle serves? Only the first subjob of an array
// is awaited.
bool waits_for_first_start(const CycleContext& cycle, JobSlot job) {
    const JobTable& jobs = cycle.tables.jobs;
    const Queue& queue = cycle.tables.queues[jobs.queue[job]];
    return jobs.state[job] == 'Q' && !jobs.is_suspended(job) && !jobs.is_elsewhere(job) && queue.execution &&
           queue.partition == cycle.in.partition && jobs.rare_fields(job).preempted_at == Instant{} &&
           (jobs.array(job) == 0 || cycle.tables.counts.entities().of_array(jobs.array(job)) == 0);
}

void decide_immediate(Outcome& outcome) {
    CycleContext& cycle = outcome.cycle();
    if (!cycle.settings.immediate || cycle.tables.impatient.empty()) return;
    for (auto& [job, impatient] : cycle.tables.impatient) {
        if (!waits_for_first_start(cycle, job) ||
            std::ranges::find(cycle.started, job, &Started::job) != cycle.started.end())
            continue;
        const auto refused = std::ranges::find(cycle.refused, job, &Refused::job);
        if (refused != cycle.refused.end()) {
            if (cycle.answers[refused->answer].rejected) continue;
            impatient.why = outcome.text(cycle.answers[refused->answer]);
        }
        const Instant until = cycle.tables.jobs.eligible[job] + impatient.within;
        if (cycle.in.now < until) {
            cycle.state.instants->insert(until);
            continue;
        }
        if (refused != cycle.refused.end()) refused->job = kNoSlot;  // it gets no comment
        const std::string text = fmt::format("Not started within {} s{}{}", impatient.within.count(),
                                             impatient.why.empty() ? "" : ": ", impatient.why);
        outcome.out().list.push_back(
            {DecisionKind::reject, cycle.tables.jobs.handle[job], {}, outcome.keep_text(text), {}, {}});
    }
}

}  // namespace

extern const Decide kImmediateDecide;
const Decide kImmediateDecide{.name = "immediate", .decide = decide_immediate};

}  // namespace pbs::sched
