// Sets estimated.start_time and exec_vnode of the jobs with reservations, and of as many later jobs as
// estimate_depth.

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/expectations.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

// Returns the time from one cycle over all jobs to the next one, which renews estimates of jobs without
// reservations. Any event may change them, and only a cycle over all jobs renews them, which takes the longer
// the more jobs wait, and the more work the last estimation was.
Seconds renewal(const CycleContext& cycle) {
    constexpr Seconds kLeast{5};
    constexpr Seconds kMost{60};
    constexpr std::size_t kJobsForASecond = 2000;
    constexpr std::size_t kWorkForASecond = 20'000;
    std::size_t waiting = 0;
    const QueueTable& queues = cycle.tables.queues;
    for (QueueSlot q = 0; q < queues.size(); ++q) waiting += queues[q].queued.size();
    return std::min(
        kMost, kLeast + Seconds(waiting / kJobsForASecond + cycle.in.events->estimating / kWorkForASecond));
}

bool expects_others(const CycleContext& cycle) {
    return cycle.settings.estimate_depth > 0 && !cycle.test_only;
}

std::uint64_t number_of(const Placement& placement) {
    std::uint64_t number = placement.parts.size();
    const auto add = [&](std::uint64_t value) { number = (number ^ value) * 0x9E3779B97F4A7C15ULL; };
    for (const Part& part : placement)
        for (const std::uint64_t value :
             {std::uint64_t{part.vnode}, std::uint64_t{part.chunk}, static_cast<std::uint64_t>(part.count)})
            add(value);
    for (const Need& need : placement.amounts) add(static_cast<std::uint64_t>(need.amount));
    return number;
}

// Sends the host the changes of the estimates in one list.
class EstimateSender {
  public:
    EstimateSender(Outcome& outcome, std::map<JobHandle, Estimates::Estimate>& told)
        : outcome_(outcome), told_(told) {}

    void expect(JobSlot job, Instant start, const Placement& placement);
    // Returns whether the host was sent this start of the job before. If so, keeps the estimate as sent. For
    // a reservation that a cycle after events has taken over from the last one, or an estimate that stands.
    bool still_expects(JobHandle job, Instant start) {
        const auto at = told_.find(job);
        if (at == told_.end() || at->second.start != start) return false;
        return at->second.still = true;
    }
    // Withdraws estimates of the scheduler's own jobs that aren't expected any more.
    void take_back();

  private:
    Outcome& outcome_;
    std::map<JobHandle, Estimates::Estimate>& told_;
};

void EstimateSender::expect(JobSlot job, Instant start, const Placement& placement) {
    const JobHandle handle = outcome_.cycle().tables.jobs.handle[job];
    Estimates::Estimate& known = told_[handle];
    known.still = true;
    const std::uint64_t where = number_of(placement);
    if (known.start == start && known.where == where) return;
    known.start = start;
    known.where = where;
    outcome_.out().list.push_back(
        {DecisionKind::estimate, handle, {}, {}, {}, outcome_.places_of(job, placement), start});
}

void EstimateSender::take_back() {
    const CycleContext& cycle = outcome_.cycle();
    const Tables& t = cycle.tables;
    for (auto one = told_.begin(); one != told_.end();) {
        const JobSlot job = t.jobs.find(one->first);
        const Queue* queue = job == kNoSlot ? nullptr : &t.queues[t.jobs.queue[job]];
        const bool own =
            queue == nullptr || queue->partition == cycle.in.partition || cycle.is_unserved(*queue);
        if (std::exchange(one->second.still, false) || !own) {
            ++one;
            continue;
        }
        if (job != kNoSlot && t.jobs.state[job] == 'Q')
            outcome_.out().list.push_back({DecisionKind::estimate, one->first, {}, {}, {}, {}});
        one = told_.erase(one);
    }
}

void tell_of_others(Outcome& outcome) {
    CycleContext& cycle = outcome.cycle();
    Tables& t = cycle.tables;
    const std::int64_t most = expects_others(cycle) ? cycle.settings.estimate_depth : 0;
    EstimateSender others(outcome, t.estimates.told_others);
    if (most > 0) {
        Expectations expectations(outcome.parts());
        std::int64_t expected = 0;
        for (const Refused& refused : cycle.refused) {
            if (expected == most || !expectations.may_go_on()) break;
            if (refused.job == kNoSlot) continue;
            const JobHandle job = t.jobs.handle[refused.job];
            if (cycle.answers[refused.answer].rejected || t.estimates.told.contains(job)) continue;
            const auto found = expectations.of(refused.job);
            if (!found) continue;
            ++expected;
            if (!found->is_kept || !others.still_expects(job, found->start))
                others.expect(refused.job, found->start, *found->placement);
        }
    }
    if (most == 0 && cycle.in.events != nullptr && cycle.in.keep_pending_jobs)
        cycle.in.events->estimates.clear();
    others.take_back();
}

void decide_estimates(Outcome& outcome) {
    const CycleContext& cycle = outcome.cycle();
    Estimates& estimates = cycle.tables.estimates;
    if (!estimates.on) return;
    EstimateSender reserved(outcome, estimates.told);
    const std::size_t made = cycle.test_only ? 0 : cycle.state.reservations.size();
    const bool as_before = made == cycle.reserved_as_before && made == estimates.told.size();
    for (std::size_t i = 0; i < made && !as_before; ++i) {
        const Reservation& reservation = cycle.state.reservations[i];
        const bool kept = i < cycle.reserved_kept;
        const JobHandle job = cycle.tables.jobs.handle[reservation.job];
        estimates.told_others.erase(job);
        if (kept && reserved.still_expects(job, reservation.start)) continue;
        reserved.expect(reservation.job, reservation.start,
                        kept ? cycle.in.events->kept[i].placement : reservation.placement);
    }
    if (!as_before) reserved.take_back();
    if (cycle.everything)
        tell_of_others(outcome);
    else if (expects_others(cycle))
        cycle.state.instants->insert(cycle.in.events->last_full + renewal(cycle));
}

bool wants_every_job(const CycleContext& cycle) {
    return cycle.tables.estimates.on && expects_others(cycle) &&
           cycle.in.now >= cycle.in.events->last_full + renewal(cycle);
}

}  // namespace

extern const Decide kEstimatesDecide{.name = "estimates",
                                     .decide = decide_estimates,
                                     .when = Decide::Cycles::always,
                                     .wants_every_job = wants_every_job};

}  // namespace pbs::sched
