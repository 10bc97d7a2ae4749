// A job that can't start preempts running jobs of lower levels, if that makes room for it. (PP-748, interface
// 1: preemption, preempt_prio, preempt_queue_prio, preempt_order, preempt_sort)
//
// Which of them is chosen as OpenPBS's scheduler does it: those of the lowest level first, and of one level
// those that have started last, until the job fits; then each without which it fits as well is spared,
// beginning with the one that was chosen last. So no job is preempted in vain, and none in the place of one
// that comes before it.

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

#include "server_plugin/scheduler/framework/judge.h"

namespace pbs::sched {
namespace {

class PreemptionRule final : public AfterRefusal, CyclePart {
  public:
    explicit PreemptionRule(const CycleParts& parts)
        : CyclePart(parts.context), queues_(parts.queues), judge_(parts.judge) {}

    QueueView* makes_room(const OrderedJob& job, Candidate& candidate, Blockers& blockers,
                          CandidateQueues& queues) override;
    bool wants(const CandidateQueues& queues, JobClass job_class) const override;
    bool wants_every_job() const override;
    Reason holds_up(const QueueView* view) const override;
    void remember() override;

  private:
    // A running job that may be preempted.
    struct Victim {
        JobSlot job = kNoSlot;
        std::int64_t level = 0;
        PreemptMethods methods{};
        Placement placement{};  // what it gives back, once that was asked for
        bool gone = false;
    };
    std::int64_t level_of_running(JobSlot job) const;
    std::int64_t level_once_it_runs(const OrderedJob& job) const;
    std::int64_t lowest_level() const;
    bool methods_come_with_time() const;
    PreemptMethods methods_of(JobSlot job) const;
    bool may_be_preempted(JobSlot job) const;
    bool is_given_back(std::uint32_t resource) const;
    Placement given_back_by(const Victim& victim) const;
    void find_victims();
    void sort_victims();
    void count(const Victim& victim, int sign);
    void use_booked(const Victim& victim, int sign);
    void take(Victim& victim);
    void give_back(Victim& victim);
    bool starts(const Candidate& job, QueueView& view);
    void note_steps(JobSlot job) const;
    bool find_room(const Candidate& job, QueueView& view, std::int64_t level, std::size_t lower);
    bool spare(const Candidate& job, QueueView& view, std::span<Victim* const> out);
    bool find_room_by_soft_limits(const Candidate& job, QueueView& view, std::int64_t level);
    bool is_taken_before(const Victim& a, const Victim& b) const;
    void explain(JobSlot job, NoRoomMade::Why why, const Reason& reason = {});

    // Jobs for which no room can be made are alike in this.
    using Alike = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;
    struct Vain {
        std::size_t state = 0;  // in which that was found, plus 1
        Blockers blockers = 0;
    };
    // How many running jobs are taken out in vain, or looked at by soft limits, before a cycle gives up.
    static constexpr std::size_t kMostInVain = 100'000;

    Queues& queues_;
    Judge& judge_;
    std::optional<std::vector<Victim>> victims_;  // those that come first are preempted first
    absl::flat_hash_map<Alike, Vain> vain_;
    std::size_t in_vain_ = 0;
    mutable std::optional<std::int64_t> lowest_level_;
    Reason why_not_;
    Blockers blockers_ = 0;  // of why_not_
};

// A job that was starving when it started still is: else it would be preempted by those that came after it.
std::int64_t PreemptionRule::level_of_running(JobSlot job) const {
    const bool starving = t_.jobs.stime[job] > t_.jobs.eligible[job] + s_.max_starve;
    return c_.preempt_level(job, starving);
}

// A job that would be over a soft limit then counts as over it: else it would preempt others, and they would
// preempt it in turn.
std::int64_t PreemptionRule::level_once_it_runs(const OrderedJob& job) const {
    if (state_.at_request) return std::numeric_limits<std::int64_t>::max();
    return std::min(c_.preempt_level(job.job, job.job_class == JobClass::overdue),
                    c_.preempt_level_once_it_runs(job));
}

// No running job has a lower one.
std::int64_t PreemptionRule::lowest_level() const {
    if (lowest_level_) return *lowest_level_;
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    if (c_.by_soft_limits || (s_.fairshare && s_.preempt_prio.names(preempt_fairshare))) lowest = 0;
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        if (t_.queues[q].partition != in_.partition || t_.queues[q].running.empty()) continue;
        for (const bool starving : {false, true}) lowest = std::min(lowest, c_.preempt_level(q, 0, starving));
    }
    lowest_level_ = lowest;
    return lowest;
}

// A job may have room once more is free than before, though for itself it is too little. What starts takes
// no more than what the job could have had, so it gives none: but for a job of its level or above that ends,
// all that changes this is said of each refusal, or lets all jobs be looked at.
bool PreemptionRule::wants(const CandidateQueues& queues, JobClass job_class) const {
    if (!c_.preempts || queues.empty() || c_.is_held_up(*queues[0])) return false;
    const auto& since = in_.events->since;
    if (since.freed.empty() && since.less_of.empty() &&
        (c_.lifted & (blocker::kReserved | blocker::kTimes)) == 0)
        return false;
    return c_.preempt_level(queues[0]->slot, 0, job_class == JobClass::overdue) > lowest_level();
}

// Who is over his share, or over a soft limit, changes with all that runs.
bool PreemptionRule::wants_every_job() const {
    return c_.preempts && (c_.by_soft_limits || (s_.fairshare && s_.preempt_prio.names(preempt_fairshare)));
}

// Room is kept for the jobs that are preempted in this cycle as soon as they have stopped: until then no job
// takes it that doesn't come before them.
Reason PreemptionRule::holds_up(const QueueView* view) const {
    if (!s_.sched_preempt_enforce_resumption || c_.preempted.empty()) return {};
    if (view != nullptr && c_.preempt_level(view->slot, 0, false) > s_.preempt_prio.level(preempt_normal, 0))
        return {};
    const JobSlot job = c_.preempted.front().job;
    return {ReasonCode::reserved, t_.jobs.queue[job], job};
}

// May there be no method now for a job that can be preempted later?
bool PreemptionRule::methods_come_with_time() const {
    const auto& steps = s_.preempt_order.steps;
    return steps.size() > 1 && !std::ranges::all_of(steps, [](const PreemptOrder::Step& step) {
               return step.methods.find_first_of("SD") != std::string::npos;
           });
}

// When the steps of preempt_order begin for a running job.
void PreemptionRule::note_steps(JobSlot job) const {
    const auto walltime = t_.jobs.walltime[job].count();
    if (walltime <= 0) return;
    for (const PreemptOrder::Step& step : s_.preempt_order.steps) {
        const Instant at = t_.jobs.stime[job] + Seconds(walltime * (99 - step.percent) / 100 + 1);
        if (at > in_.now) state_.instants->insert(at);
    }
}

void PreemptionRule::remember() {
    if (!c_.preempts) return;
    // Those that were held up.
    if (s_.sched_preempt_enforce_resumption && !c_.preempted.empty())
        state_.instants->insert(in_.now + Seconds(1));
    // What has started may be over a soft limit now, with all that its user runs: others may have its place.
    if (c_.by_soft_limits && !started_.empty()) state_.instants->insert(in_.now + Seconds(1));
    if (!methods_come_with_time()) return;
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        if (t_.queues[q].partition != in_.partition) continue;
        for (const JobSlot job : t_.queues[q].running)
            if (methods_of(job)[0] == PreemptMethod::none) note_steps(job);
    }
}

// Those of its order that there are for the job.
PreemptMethods PreemptionRule::methods_of(JobSlot job) const {
    // Beyond its soft walltime it is as good as done.
    const Seconds elapsed =
        t_.jobs.is_extended(job) ? t_.jobs.walltime[job] : std::max(Seconds(0), in_.now - t_.jobs.stime[job]);
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

// On a vnode that is down or offline nothing would start in its place, and none but jobs of the same
// reservation where an advance reservation has it.
bool PreemptionRule::may_be_preempted(JobSlot job) const {
    if (t_.jobs.state[job] != 'R' || (t_.jobs.flags[job] & job_not_preemptable) != 0) return false;
    if (t_.reservation_of(t_.jobs.queue[job]) != nullptr) return false;
    const auto vnodes = state_.vnodes->held_by(job);
    return !vnodes.empty() &&
           std::ranges::all_of(vnodes, [&](VnodeSlot vnode) { return (*state_.vnodes)[vnode].free; });
}

// By a job that is suspended.
bool PreemptionRule::is_given_back(std::uint32_t resource) const {
    std::string_view names = t_.suspend_releases;
    for (;;) {
        const auto end = names.find(',');
        if (names.substr(0, end) == t_.resources.name(resource)) return true;
        if (end == names.npos) return false;
        names.remove_prefix(end + 1);
    }
}

// By the first of its methods.
Placement PreemptionRule::given_back_by(const Victim& victim) const {
    const bool all = victim.methods[0] != PreemptMethod::suspend || t_.suspend_releases.empty();
    Placement placement;
    state_.vnodes->for_each_held(victim.job, [&](VnodeHandle handle, std::span<const Need> needs) {
        const VnodeSlot vnode = state_.vnodes->find(handle);
        if (vnode == kNoSlot || needs.empty()) return;
        const auto first = static_cast<std::uint32_t>(placement.amounts.size());
        std::ranges::copy_if(needs, std::back_inserter(placement.amounts),
                             [&](const Need& need) { return all || is_given_back(need.resource); });
        const auto count = static_cast<std::uint32_t>(placement.amounts.size()) - first;
        placement.parts.push_back({vnode, 0, 1, first, count, false});
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
            victims_->push_back({.job = job, .level = level_of_running(job), .methods = methods});
        }
    }
    sort_victims();
}

bool PreemptionRule::is_taken_before(const Victim& a, const Victim& b) const {
    const JobTable& jobs = t_.jobs;
    return std::tuple(a.level, jobs.stime[b.job], jobs.sequence[a.job]) <
           std::tuple(b.level, jobs.stime[a.job], jobs.sequence[b.job]);
}

void PreemptionRule::sort_victims() {
    std::ranges::sort(*victims_, [&](const Victim& a, const Victim& b) { return is_taken_before(a, b); });
}

// Counts a job out (sign -1), or in again, of all but vnodes.
void PreemptionRule::count(const Victim& victim, int sign) {
    const JobSlot job = victim.job;
    state_.running += sign;
    for (QueueView* view : queues_.counting(job)) {
        queues_.count_into(*view, job, sign);
        if (view->dedicated) state_.dedicated_running += sign;
    }
    state_.counts->count(t_.jobs.queue[job], t_.counted(job), sign);
    state_.count_in_server(t_.requests[t_.jobs.request[job]], sign);
}

// What advance reservations leave over for as long as it would have run.
void PreemptionRule::use_booked(const Victim& victim, int sign) {
    PlaceRules rules;
    rules.node_size = c_.vnode_share();
    rules.begins = in_.now;
    rules.ends = std::max(t_.jobs.hard_end(victim.job), in_.now + KeptReservation::kOverrun);
    rules.hard_ends = rules.ends;
    state_.vnodes->use_booked(victim.placement, t_.requests[t_.jobs.request[victim.job]], rules, sign);
}

void PreemptionRule::take(Victim& victim) {
    victim.gone = true;
    if (victim.placement.parts.empty()) victim.placement = given_back_by(victim);
    count(victim, -1);
    use_booked(victim, -1);
    state_.vnodes->forget(victim.placement, t_.requests[t_.jobs.request[victim.job]], c_.vnode_share());
}

void PreemptionRule::give_back(Victim& victim) {
    victim.gone = false;
    count(victim, 1);
    use_booked(victim, 1);
    state_.vnodes->assume(victim.placement, t_.requests[t_.jobs.request[victim.job]], c_.vnode_share());
}

bool PreemptionRule::starts(const Candidate& job, QueueView& view) {
    why_not_ = state_.at_request ? judge_.refusal_about(about_room, job, view)
                                 : judge_.reason_in(job, view, blockers_);
    return !why_not_;
}

// Gives back those that were taken out and without which the job starts as well, beginning with the one that
// was taken last but one. Does it start?
bool PreemptionRule::spare(const Candidate& job, QueueView& view, std::span<Victim* const> out) {
    for (std::size_t i = out.size() - 1; i-- > 0;) {
        give_back(*out[i]);
        if (!starts(job, view)) take(*out[i]);
    }
    return starts(job, view);
}

// Takes out as many of the first `lower` jobs as are needed, and no more. If the job can't start all the
// same, they are all back.
bool PreemptionRule::find_room(const Candidate& job, QueueView& view, std::int64_t level, std::size_t lower) {
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
    if (c_.by_soft_limits) {
        for (Victim* victim : list) give_back(*victim);
        return find_room_by_soft_limits(job, view, level);
    }
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
    return spare(job, view, std::span(list).first(enough)) || give_up();
}

// Who is over a soft limit changes with each job that is taken out: one that isn't any more is left alone.
bool PreemptionRule::find_room_by_soft_limits(const Candidate& job, QueueView& view, std::int64_t level) {
    std::vector<Victim*> out;
    bool fits = false;
    while (!fits) {
        Victim* next = nullptr;
        for (Victim& victim : *victims_) {
            if (victim.gone) continue;
            victim.level = level_of_running(victim.job);
            if (victim.level < level && (next == nullptr || is_taken_before(victim, *next))) next = &victim;
        }
        in_vain_ += victims_->size();
        if (next == nullptr || in_vain_ >= kMostInVain) break;
        take(*next);
        out.push_back(next);
        fits = starts(job, view);
    }
    if (fits && spare(job, view, out)) return true;
    for (Victim* victim : out)
        if (victim->gone) give_back(*victim);
    return false;
}

void PreemptionRule::explain(JobSlot job, NoRoomMade::Why why, const Reason& reason) {
    if (job == in_.explained) c_.no_room_made = {why, reason};
}

QueueView* PreemptionRule::makes_room(const OrderedJob& job, Candidate& candidate, Blockers& blockers,
                                      CandidateQueues& queues) {
    if (!c_.preempts || job.job_class == JobClass::running) return nullptr;
    const std::int64_t level = level_once_it_runs(job);
    if (level <= lowest_level()) return explain(job.job, NoRoomMade::Why::no_lower), nullptr;
    if (!victims_) {
        find_victims();
    } else if (c_.by_soft_limits) {
        for (Victim& victim : *victims_)
            if (!victim.gone) victim.level = level_of_running(victim.job);
        sort_victims();
    }
    const auto lower = static_cast<std::size_t>(
        std::ranges::lower_bound(*victims_, level, {}, &Victim::level) - victims_->begin());
    const bool any = std::any_of(victims_->begin(), victims_->begin() + static_cast<std::ptrdiff_t>(lower),
                                 [](const Victim& victim) { return !victim.gone; });
    if (!any) return explain(job.job, NoRoomMade::Why::no_lower), nullptr;
    const std::size_t state = c_.state_number() + c_.preempted.size() + 1;
    Vain& vain = vain_[{job.signature, candidate.user.owner, candidate.user.group, level}];
    const bool by_job =
        std::ranges::any_of(queues, [](const QueueView* view) { return !view->job_filters.empty(); });
    if (in_.categories && !by_job && job.job != in_.explained && vain.state == state) {
        blockers |= vain.blockers;
        return nullptr;
    }
    if (in_vain_ >= kMostInVain) {
        blockers |= blocker::kCycle;
        return explain(job.job, NoRoomMade::Why::tried_enough), nullptr;
    }
    vain = {state, 0};
    for (QueueView* view : queues) {
        CycleContext::set_walltime(candidate, *view);
        if (!find_room(candidate, *view, level, lower)) {
            vain.blockers |= blockers_;
            continue;
        }
        for (Victim& victim : *victims_) {
            const auto known = [&](const Preempted& other) { return other.job == victim.job; };
            if (victim.gone && std::ranges::none_of(c_.preempted, known))
                c_.preempted.push_back({victim.job, job.job, victim.methods, victim.placement});
        }
        judge_.forget();
        if (s_.sched_preempt_enforce_resumption) ++c_.held_up;
        return view;
    }
    in_vain_ += lower;
    explain(job.job, NoRoomMade::Why::not_by_room, why_not_);
    blockers |= vain.blockers;
    return nullptr;
}

}  // namespace

extern const AfterRefusalRule kPreemptionAfterRefusal;
const AfterRefusalRule kPreemptionAfterRefusal{"preemption",
                                               [](const CycleParts& parts) -> std::unique_ptr<AfterRefusal> {
                                                   return std::make_unique<PreemptionRule>(parts);
                                               }};

}  // namespace pbs::sched
