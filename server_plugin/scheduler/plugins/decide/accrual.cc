// Decides which jobs gain eligible time by waiting, on a host that counts it by the reasons of waits
// (eligible_time_enable). A job gains none if limits of its own user, group or project prevent its start, or
// would prevent it if all earlier jobs ran: as in OpenPBS, nobody gains by queueing more jobs than may run at
// once.

#include <utility>
#include <vector>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

class AccrualDecisions {
  public:
    explicit AccrualDecisions(CycleContext& cycle) : c_(cycle), t_(cycle.tables) {}
    // Takes back the jobs that were counted as running.
    ~AccrualDecisions() {
        for (const auto& [queue, job] : counted_) t_.count_use(queue, job, -1);
    }
    AccrualDecisions(const AccrualDecisions&) = delete;
    AccrualDecisions& operator=(const AccrualDecisions&) = delete;

    bool is_over_limits(JobSlot job) const;
    // Counts the job as running from now on.
    void count(JobSlot job) {
        counted_.emplace_back(t_.jobs.queue[job], t_.counted(job));
        t_.count_use(counted_.back().first, counted_.back().second, 1);
    }

  private:
    CycleContext& c_;
    Tables& t_;
    std::vector<std::pair<QueueSlot, CountedJob>> counted_;
};

bool AccrualDecisions::is_over_limits(JobSlot job) const {
    const QueueSlot queue = t_.jobs.queue[job];
    const CountedJob counted = t_.counted(job);
    const EntityUse& use = t_.counts.entities();
    if (is_over_soft(t_.server.limits, use, EntityUse::server_in(c_.in.partition), counted) ||
        is_over_soft(t_.queues[queue].limits, use, queue, counted))
        return true;
    const auto views = c_.setup.in_place.find(queue);
    if (views == c_.setup.in_place.end() || views->second.empty()) return false;
    QueueView& view = *views->second[0];
    Candidate candidate = c_.candidate({job, JobClass::normal, 1, t_.jobs.signature[job], 0});
    c_.set_walltime(candidate, view);
    for (const Filter* filter : c_.filters) {
        if ((filter->traits & about_entities) == 0) continue;
        if (const Refusal refusal = c_.check(*filter, candidate, view); is_of_entity(refusal.reason.code))
            return true;
    }
    return false;
}

bool limits_entities(const CycleContext& cycle) {
    const auto limits = [](const auto& of) {
        return of.max_user_run >= 0 || of.max_group_run >= 0 || !of.limits.empty();
    };
    if (limits(cycle.tables.server)) return true;
    for (const QueueView& view : cycle.views)
        if (limits(*view.queue)) return true;
    return false;
}

void decide_accrual(Outcome& outcome) {
    CycleContext& cycle = outcome.cycle();
    const Tables& t = cycle.tables;
    if (!t.server.eligible_since) return;
    const bool limits = limits_entities(cycle);
    AccrualDecisions accrual(cycle);
    for (const Refused& refusal : cycle.refused) {
        if (refusal.job == kNoSlot || cycle.answers[refusal.answer].rejected) continue;
        const ReasonCode code = cycle.answers[refusal.answer].reason.code;
        const bool gains = !is_of_entity(code) && code != ReasonCode::under_threshold &&
                           !(limits && accrual.is_over_limits(refusal.job));
        if (limits) accrual.count(refusal.job);
        const AccrueType type = gains ? AccrueType::eligible : AccrueType::ineligible;
        if (t.accrual(refusal.job)->type == type) continue;
        Decision decision;
        decision.kind = DecisionKind::accrue;
        decision.job = t.jobs.handle[refusal.job];
        decision.accrue_type = type;
        outcome.out().list.push_back(decision);
    }
}

}  // namespace

// If entities have limits, the decision about a job depends on all earlier jobs: each cycle has to consider
// all jobs.
extern const Decide kAccrualDecide{
    .name = "accrual", .decide = decide_accrual, .wants_every_job = [](const CycleContext& cycle) {
        return cycle.tables.server.eligible_since && limits_entities(cycle);
    }};

}  // namespace pbs::sched
