// start_within of jobs: rejects a job that hasn't started within the time that it asks for. An array whose
// subjobs start together isn't rejected by a cycle that has left it to another one without trying it.

#include <fmt/format.h>

#include <string>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"
#include "values/tables.h"

namespace pbs::sched {
namespace {

// Returns whether the job waits for its first start, in a queue that the cycle serves.
bool waits_for_first_start(const CycleContext& cycle, JobSlot job) {
    const JobTable& jobs = cycle.tables.jobs;
    const Queue& queue = cycle.tables.queues[jobs.queue[job]];
    return jobs.state[job] == 'Q' && !jobs.is_suspended(job) && !jobs.is_elsewhere(job) && queue.execution &&
           queue.partition == cycle.in.partition && jobs.rare_fields(job).preempted_at == Instant{};
}

void decide_immediate(Outcome& outcome) {
    CycleContext& cycle = outcome.cycle();
    Tables& t = cycle.tables;
    if (!cycle.settings.immediate || t.impatient_until.empty()) return;
    values::HashMap<JobSlot, Refused*> refused;
    values::HashSet<JobSlot> settled;  // jobs that start, or are rejected for another reason
    for (Refused& refusal : cycle.refused) {
        if (refusal.job == kNoSlot) continue;
        const auto known = t.impatient.find(refusal.job);
        if (known == t.impatient.end()) continue;
        if (cycle.answers[refusal.answer].rejected) {
            settled.insert(refusal.job);
            continue;
        }
        known->second.why = without_verdict(outcome.text(cycle.answers[refusal.answer]));
        refused[refusal.job] = &refusal;
    }
    for (const Started& start : cycle.started)
        if (t.impatient.contains(start.job)) settled.insert(start.job);
    for (const auto& [until, job] : t.impatient_until) {
        if (cycle.in.now < until) {
            cycle.state.instants->insert(until);
            break;
        }
        if (settled.contains(job) || !waits_for_first_start(cycle, job)) continue;
        const Tables::Impatient& impatient = t.impatient.at(job);
        if (impatient.left_at == cycle.in.now) {  // it isn't rejected before it was tried
            cycle.state.instants->insert(cycle.in.now + Seconds(1));
            continue;
        }
        if (const auto refusal = refused.find(job); refusal != refused.end())
            refusal->second->job = kNoSlot;  // the job gets no comment
        const std::string text = fmt::format("Not started within {} s{}{}", impatient.within.count(),
                                             impatient.why.empty() ? "" : ": ", impatient.why);
        outcome.out().list.push_back(
            {DecisionKind::reject, t.jobs.handle[job], {}, outcome.keep_text(text), {}, {}});
    }
}

}  // namespace

extern const Decide kImmediateDecide{.name = "immediate", .decide = decide_immediate};

}  // namespace pbs::sched
