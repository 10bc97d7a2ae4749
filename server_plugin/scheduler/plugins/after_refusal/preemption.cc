// A job that can't start preempts running jobs of lower levels, if that makes room for it. (PP-748, interface
// 1: preemption, preempt_prio, preempt_queue_prio, preempt_order, preempt_sort)
//
// Which of them is chosen as OpenPBS's scheduler does it: those of the lowest level first, and of one level
// those that have started last, until the job fits; then each without which it fits as well is spared,
// beginning with the one that was chosen last. So no job is preempted in vain, and none in the place of one
// that comes before it.

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "server_plugin/scheduler/framework/judge.h"

namespace pbs::sched {
namespace {

class PreemptionRule final : public AfterRefusal, CyclePart {
  public:
    explicit PreemptionRule(const CycleParts& parts)
        : CyclePart(parts.context), queues_(parts.queues), judge_(parts.judge) {}

    QueueView* makes_room(const OrderedJob& job, Candidate& candidate, const Verdict& verdict,
                          CandidateQueues& queues) override;
    // The order of jobs that have been preempted, and of levels, isn't that in which events find jobs.
    bool wants_every_job() const override { return c_.preempts || t_.preempted_waiting > 0; }

  private:
    // A running job that may be preempted.
    struct Victim {
        JobSlot job = kNoSlot;
        std::int64_t level = 0;
        PreemptMethods methods{};
        Placement placement;  // what it holds
        bool gone = false;
    };
    std::int64_t level_of_running(JobSlot job) const;
    PreemptMethods methods_of(JobSlot job) const;
    bool may_be_preempted(JobSlot job) const;
    Placement held_by(JobSlot job) const;
    void find_victims();
    void count(const Victim& victim, int sign);
    void take(Victim& victim);
    void give_back(Victim& victim);
    bool starts(const Candidate& job, QueueView& view);
    bool find_room(const Candidate& job, QueueView& view, std::size_t lower);
    void explain(JobSlot job, NoRoomMade::Why why, const Reason& reason = {});

    // Jobs for which no room can be made are alike in this.
    using Vain = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;

    Queues& queues_;
    Judge& judge_;
    std::optional<std::vector<Victim>> victims_;  // those that come first are preempted first
    absl::flat_hash_map<Vain, std::size_t> vain_;
    Reason why_not_;
};

// A job that was starving when it started still is: else it would be preempted by those that came after it.
std::int64_t PreemptionRule::level_of_running(JobSlot job) const {
    const bool starving = t_.jobs.stime[job] > t_.jobs.eligible[job] + s_.max_starve;
    return c_.preempt_level(job, starving);
}

// Those of its order that there are for the job.
PreemptMethods PreemptionRule::methods_of(JobSlot job) const {
    const Seconds elapsed = std::max(Seconds(0), in_.now - t_.jobs.stime[job]);
    PreemptMethods methods{};
    std::size_t n = 0;
    for (const char letter : s_.preempt_order.methods(t_.jobs.walltime[job], elapsed)) {
        const auto method = static_cast<PreemptMethod>(letter);
        const unsigned flags = t_.jobs.flags[job];
        if (method == PreemptMethod::checkpoint && (flags & job_checkpointable) == 0) continue;
        if (method == PreemptMethod::requeue && (flags & job_rerunnable) == 0) continue;
        if (n < methods.size()) methods[n++] = method;
    }
    return methods;
}

// On a vnode that is down or offline nothing would start in its place.
bool PreemptionRule::may_be_preempted(JobSlot job) const {
    if (t_.jobs.state[job] != 'R' || (t_.jobs.flags[job] & job_not_preemptable) != 0) return false;
    const auto vnodes = state_.vnodes->held_by(job);
    return !vnodes.empty() &&
           std::ranges::all_of(vnodes, [&](VnodeSlot vnode) { return (*state_.vnodes)[vnode].free; });
}

Placement PreemptionRule::held_by(JobSlot job) const {
    Placement placement;
    state_.vnodes->for_each_held(job, [&](VnodeHandle handle, std::span<const Need> needs) {
        const VnodeSlot vnode = state_.vnodes->find(handle);
        if (vnode == kNoSlot || needs.empty()) return;
        const auto first = static_cast<std::uint32_t>(placement.amounts.size());
        placement.amounts.insert(placement.amounts.end(), needs.begin(), needs.end());
        placement.parts.push_back({vnode, 0, 1, first, static_cast<std::uint32_t>(needs.size()), false});
    });
    return placement;
}

void PreemptionRule::find_victims() {
    victims_.emplace();
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        if (t_.queues[q].partition != in_.partition) continue;
        for (const JobSlot job : t_.queues[q].running) {
            if (!may_be_preempted(job)) continue;
            const PreemptMethods methods = methods_of(job);
            if (methods[0] == PreemptMethod::none) continue;
            victims_->push_back({job, level_of_running(job), methods, held_by(job), false});
        }
    }
    std::ranges::sort(*victims_, [&](const Victim& a, const Victim& b) {
        const JobTable& jobs = t_.jobs;
        return std::tuple(a.level, jobs.stime[b.job], jobs.sequence[a.job]) <
               std::tuple(b.level, jobs.stime[a.job], jobs.sequence[b.job]);
    });
}

// Counts a job out (sign -1), or in again, of all but vnodes.
void PreemptionRule::count(const Victim& victim, int sign) {
    const JobSlot job = victim.job;
    const Request& request = t_.requests[t_.jobs.request[job]];
    state_.running += sign;
    for (QueueView* view : queues_.counting(job)) {
        queues_.count_into(*view, job, sign);
        if (view->dedicated) state_.dedicated_running += sign;
    }
    state_.counts->count(t_.jobs.queue[job], t_.jobs.owner[job], t_.jobs.group[job], sign);
    for (std::size_t i = 0; i < state_.server_in_use.size(); ++i)
        state_.server_in_use[i] +=
            sign * number_of(request.totals, t_.server.resources_available[i].resource).value_or(0);
}

void PreemptionRule::take(Victim& victim) {
    victim.gone = true;
    count(victim, -1);
    state_.vnodes->forget(victim.placement, t_.requests[t_.jobs.request[victim.job]], c_.vnode_share());
}

void PreemptionRule::give_back(Victim& victim) {
    victim.gone = false;
    count(victim, 1);
    state_.vnodes->assume(victim.placement, t_.requests[t_.jobs.request[victim.job]], c_.vnode_share());
}

bool PreemptionRule::starts(const Candidate& job, QueueView& view) {
    why_not_ = judge_.refusal_in(job, view).reason;
    return !why_not_;
}

// Takes out as many of the first `lower` jobs as are needed, and no more. If the job can't start all the
// same, they are all back.
bool PreemptionRule::find_room(const Candidate& job, QueueView& view, std::size_t lower) {
    std::vector<Victim*> list;
    for (std::size_t i = 0; i < lower; ++i)
        if (!(*victims_)[i].gone) list.push_back(&(*victims_)[i]);
    for (Victim* victim : list) take(*victim);
    const auto give_up = [&] {
        for (Victim* victim : list)
            if (victim->gone) give_back(*victim);
        return false;
    };
    if (!starts(job, view)) return give_up();
    // The least number of jobs from the beginning of the list: more of them make no less room.
    std::size_t enough = list.size();
    std::size_t too_few = 0;
    std::size_t out = list.size();
    const auto set_out = [&](std::size_t count) {
        for (; out > count; --out) give_back(*list[out - 1]);
        for (; out < count; ++out) take(*list[out]);
    };
    while (too_few + 1 < enough) {
        const std::size_t middle = too_few + (enough - too_few) / 2;
        set_out(middle);
        (starts(job, view) ? enough : too_few) = middle;
    }
    set_out(enough);
    for (std::size_t i = enough - 1; i-- > 0;) {
        give_back(*list[i]);
        if (!starts(job, view)) take(*list[i]);
    }
    return starts(job, view) || give_up();
}

void PreemptionRule::explain(JobSlot job, NoRoomMade::Why why, const Reason& reason) {
    if (job == in_.explained) c_.no_room_made = {why, reason};
}

QueueView* PreemptionRule::makes_room(const OrderedJob& job, Candidate& candidate, const Verdict& /*verdict*/,
                                      CandidateQueues& queues) {
    if (!c_.preempts || job.job_class == JobClass::running) return nullptr;
    if (!victims_) find_victims();
    const std::int64_t level = c_.preempt_level(job.job, job.job_class == JobClass::overdue);
    const auto lower = static_cast<std::size_t>(
        std::ranges::lower_bound(*victims_, level, {}, &Victim::level) - victims_->begin());
    const bool any = std::any_of(victims_->begin(), victims_->begin() + static_cast<std::ptrdiff_t>(lower),
                                 [](const Victim& victim) { return !victim.gone; });
    if (!any) return explain(job.job, NoRoomMade::Why::no_lower), nullptr;
    const std::size_t state = c_.state_number() + c_.preempted.size();
    std::size_t& vain = vain_[{job.signature, candidate.user.owner, candidate.user.group, level}];
    const bool by_job =
        std::ranges::any_of(queues, [](const QueueView* view) { return !view->job_filters.empty(); });
    if (in_.categories && !by_job && job.job != in_.explained && vain == state + 1) return nullptr;
    if (!c_.may_look_ahead()) return explain(job.job, NoRoomMade::Why::tried_enough), nullptr;
    for (QueueView* view : queues) {
        CycleContext::set_walltime(candidate, *view);
        if (!find_room(candidate, *view, lower)) continue;
        for (Victim& victim : *victims_) {
            const auto known = [&](const Preempted& other) { return other.job == victim.job; };
            if (victim.gone && std::ranges::none_of(c_.preempted, known))
                c_.preempted.push_back({victim.job, job.job, victim.methods, victim.placement});
        }
        judge_.forget();
        return view;
    }
    c_.vain_steps += static_cast<std::int64_t>(lower);
    explain(job.job, NoRoomMade::Why::not_by_room, why_not_);
    vain = state + 1;
    return nullptr;
}

}  // namespace

extern const AfterRefusalRule kPreemptionAfterRefusal;
const AfterRefusalRule kPreemptionAfterRefusal{"preemption",
                                               [](const CycleParts& parts) -> std::unique_ptr<AfterRefusal> {
                                                   return std::make_unique<PreemptionRule>(parts);
                                               }};

}  // namespace pbs::sched
