// Preempts running jobs of lower levels for a job that can't start, if the job can start then. (PP-748,
// interface 1: preemption, preempt_prio, preempt_queue_prio, preempt_order, preempt_sort)
//
// First all jobs that may be preempted are removed. Then each of them is put back if the preemptor still
// fits: jobs of the highest level first, and among equal levels those that have started first. So no job is
// preempted without need, and none instead of one that comes later in this order.
//
// Each removed job lets fewer jobs exceed a soft limit, so levels change meanwhile. There has to be an order
// in which each victim has a lower level than the preemptor at its turn. Among the possible sets of victims,
// the levels at these turns decide first: the highest of them is as low as possible. Among sets that are
// equal in this, the choice is made as without soft limits.

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "server_plugin/scheduler/framework/judge.h"
#include "server_plugin/scheduler/model/words.h"
#include "values/tables.h"

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
        std::array<std::int64_t, 4> levels{};  // by soft_index()
        std::int64_t level = 0;                // the job's level while all jobs run
        std::int64_t least = 0;                // its lowest possible level when other jobs are removed
        PreemptMethods methods{};
        Placement placement{};  // the place that the job gives back; computed when first needed
        bool gone = false;
    };
    // The job to preempt others for.
    struct Preemptor {
        const OrderedJob& ordered;
        const Candidate& job;
        QueueView& view;
        std::int64_t level;  // the job's present level
    };
    using Victims = std::vector<Victim*>;
    using Chosen = std::vector<std::uint32_t>;  // indices into a list of victims, the last one first

    static std::size_t soft_index(unsigned traits) { return traits / preempt_queue_softlimits; }
    bool levels_change() const { return c_.by_soft_limits && !state_.at_request; }
    std::int64_t level_now(const Victim& victim) const {
        return victim.levels[soft_index(c_.soft_traits(victim.job))];
    }
    void set_levels(Victim& victim) const;
    std::int64_t level_of(const OrderedJob& job) const;
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
    void give_all_back(const Victims& list);
    bool starts(const Preemptor& p);
    void note_steps(JobSlot job) const;
    bool find_room(const Preemptor& p);
    bool find_room(const Preemptor& p, const Victims& list, std::int64_t below);
    void count_use(const Victim& victim, int sign);
    bool may_be_above(const Preemptor& p, const Victims& list, std::int64_t below);
    std::optional<Chosen> fewest(const Preemptor& p, const Victims& list, const Chosen& kept);
    Chosen without_turn(const Preemptor& p, const Victims& list, const Chosen& out, std::int64_t below);
    bool have_turns(Victims& left, std::int64_t below);
    bool is_alike(const Victim& a, const Victim& b) const;
    void explain(JobSlot job, NoRoomMade::Cause why, const Reason& reason = {});

    // The job's signature, owner, group, level, and level once it runs. A preemption that fails for a job
    // fails for all jobs with the same values.
    using Alike = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t, std::int64_t>;
    struct FailedTry {
        std::size_t state = 0;  // the state number at the failure, plus 1
        Blockers blockers = 0;
    };
    // The number of running jobs that a cycle removes without success before it gives up; and the number for
    // one job, if levels change.
    static constexpr std::size_t kMostInVain = 100'000;
    static constexpr std::size_t kMostForOne = 20'000;

    Queues& queues_;
    Judge& judge_;
    std::optional<std::vector<Victim>> victims_;  // in the order of preemption
    values::HashMap<Alike, FailedTry> failed_;
    std::size_t in_vain_ = 0;
    bool room_against_levels_ = false;  // the job would fit if jobs of higher levels could be preempted, too
    mutable std::optional<std::int64_t> lowest_level_;
    Reason why_not_;
    Blockers blockers_ = 0;  // the blockers of why_not_
};

// Sets the victim's levels. A job that was starving when it started still counts as starving; otherwise later
// jobs would preempt it.
void PreemptionRule::set_levels(Victim& victim) const {
    const bool starving = t_.jobs.stime[victim.job] > t_.jobs.eligible[victim.job] + s_.max_starve;
    const unsigned now = c_.soft_traits(victim.job);
    victim.least = std::numeric_limits<std::int64_t>::max();
    for (const unsigned traits : {0U, 0U | preempt_queue_softlimits, 0U | preempt_server_softlimits,
                                  preempt_queue_softlimits | preempt_server_softlimits}) {
        const std::int64_t level = c_.preempt_level_over(victim.job, starving, traits);
        victim.levels[soft_index(traits)] = level;
        if ((traits & ~now) == 0) victim.least = std::min(victim.least, level);
    }
    victim.level = victim.levels[soft_index(now)];
}

std::int64_t PreemptionRule::level_of(const OrderedJob& job) const {
    if (state_.at_request) return std::numeric_limits<std::int64_t>::max();
    return c_.preempt_level(job.job, job.job_class == JobClass::overdue);
}

// Returns the level of the job once it runs. If it would exceed a soft limit then, it counts as exceeding it
// now; otherwise it would preempt others, and they would preempt it in turn.
std::int64_t PreemptionRule::level_once_it_runs(const OrderedJob& job) const {
    if (state_.at_request) return level_of(job);
    return std::min(level_of(job), c_.preempt_level_over(job.job, job.job_class == JobClass::overdue,
                                                         c_.soft_traits_once_it_runs(job.job)));
}

// Returns a level such that no running job has a lower one.
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

// Returns whether the events since the last cycle may let a preemption for the next job of the class succeed,
// even if the job itself still doesn't fit. They may if more is free, as after the end of a job of its own
// level or above. A start lets none succeed: the started job has taken no more than the next job could have
// had. All other events that matter lift blockers, or have all jobs considered.
bool PreemptionRule::wants(const CandidateQueues& queues, JobClass job_class) const {
    if (!c_.preempts || queues.empty() || c_.is_held_up(*queues[0])) return false;
    const auto& since = in_.events->since;
    if (since.freed.empty() && since.less_of.empty() &&
        (c_.lifted & (blocker::kReserved | blocker::kTimes)) == 0)
        return false;
    return c_.preempt_level(queues[0]->slot, 0, job_class == JobClass::overdue) > lowest_level();
}

// Levels by fair share or by soft limits depend on all running jobs, so any event may let a preemption
// succeed.
bool PreemptionRule::wants_every_job() const {
    return c_.preempts && (c_.by_soft_limits || (s_.fairshare && s_.preempt_prio.names(preempt_fairshare)));
}

// Reserves this cycle's places of preempted jobs until they have stopped: only jobs of higher levels may take
// them.
Reason PreemptionRule::holds_up(const QueueView* view) const {
    if (!s_.sched_preempt_enforce_resumption || c_.preempted.empty()) return {};
    if (view != nullptr && c_.preempt_level(view->slot, 0, false) > s_.preempt_prio.level(preempt_normal, 0))
        return {};
    const JobSlot job = c_.preempted.front().job;
    return {ReasonCode::reserved, t_.jobs.queue[job], job};
}

// Returns whether a job that no method can preempt now may be preempted later.
bool PreemptionRule::methods_come_with_time() const {
    const auto& steps = s_.preempt_order.steps;
    return steps.size() > 1 && !std::ranges::all_of(steps, [](const PreemptOrder::Step& step) {
               return step.methods.find_first_of("SD") != std::string::npos;
           });
}

// Notes the instants at which the steps of preempt_order begin for a running job.
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
    // Run a cycle soon, for the jobs that were held up.
    if (s_.sched_preempt_enforce_resumption && !c_.preempted.empty())
        state_.instants->insert(in_.now + Seconds(1));
    // After a start, the user's jobs may exceed a soft limit, so that other jobs may preempt them: run a
    // cycle soon.
    if (c_.by_soft_limits && !started_.empty()) state_.instants->insert(in_.now + Seconds(1));
    if (!methods_come_with_time()) return;
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        if (t_.queues[q].partition != in_.partition) continue;
        for (const JobSlot job : t_.queues[q].running)
            if (methods_of(job)[0] == PreemptMethod::none) note_steps(job);
    }
}

// The methods of preempt_order that can be used on the job.
PreemptMethods PreemptionRule::methods_of(JobSlot job) const {
    // A job that has overrun its soft walltime counts as nearly done.
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

// Returns whether a job may be preempted. A job with a vnode that is down or offline may not, because no
// other job would start there; nor may a job in an advance reservation, whose places only the reservation's
// jobs may use.
bool PreemptionRule::may_be_preempted(JobSlot job) const {
    if (t_.jobs.state[job] != 'R' || (t_.jobs.flags[job] & job_not_preemptable) != 0) return false;
    if (t_.reservation_of(t_.jobs.queue[job]) != nullptr) return false;
    const auto vnodes = state_.vnodes->held_by(job);
    return !vnodes.empty() &&
           std::ranges::all_of(vnodes, [&](VnodeSlot vnode) { return (*state_.vnodes)[vnode].free; });
}

// Returns whether a suspended job gives the resource back.
bool PreemptionRule::is_given_back(std::uint32_t resource) const {
    return has_word(t_.suspend_releases, t_.resources.name(resource));
}

// Returns the resources that the first of the victim's methods gives back, with their vnodes.
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
            set_levels(victims_->emplace_back(Victim{.job = job, .methods = methods}));
        }
    }
    sort_victims();
}

// Sorts the victims in the order of preemption.
void PreemptionRule::sort_victims() {
    const JobTable& jobs = t_.jobs;
    std::ranges::sort(*victims_, [&](const Victim& a, const Victim& b) {
        return std::tuple(a.level, jobs.stime[b.job], jobs.sequence[a.job]) <
               std::tuple(b.level, jobs.stime[a.job], jobs.sequence[b.job]);
    });
}

// Removes a job from all counts except those of vnodes (sign -1), or adds it again.
void PreemptionRule::count(const Victim& victim, int sign) {
    const JobSlot job = victim.job;
    state_.running += sign;
    for (QueueView* view : queues_.counting(job)) {
        queues_.count_into(*view, job, sign);
        if (view->dedicated) state_.dedicated_running += sign;
    }
    t_.count_use(t_.jobs.queue[job], t_.counted(job), sign);
    c_.count_own(job, sign);
    state_.count_in_server(t_.requests[t_.jobs.request[job]], sign);
}

// Takes the victim's part from the bookings, for as long as it would have run, or gives it back.
void PreemptionRule::use_booked(const Victim& victim, int sign) {
    PlaceRules rules;
    rules.node_size = c_.vnode_share();
    rules.begins = in_.now;
    rules.ends =
        std::max(t_.jobs.hard_end(victim.job) + state_.planning.offset, in_.now + KeptReservation::kOverrun);
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

void PreemptionRule::give_all_back(const Victims& list) {
    for (Victim* victim : list)
        if (victim->gone) give_back(*victim);
}

bool PreemptionRule::starts(const Preemptor& p) {
    why_not_ = state_.at_request ? judge_.refusal_about(about_room, p.job, p.view)
                                 : judge_.reason_in(p.job, p.view, blockers_);
    return !why_not_;
}

// Takes running jobs (victims) off their vnodes so that the preemptor can start, and no more than needed.
// Returns false, with all victims back on their vnodes, if no set of victims that it tries is enough.
bool PreemptionRule::find_room(const Preemptor& p) {
    std::set<std::int64_t> bounds{p.level};
    room_against_levels_ = false;
    if (levels_change())
        for (const Victim& victim : *victims_)
            for (const std::int64_t level : victim.levels)
                if (level < p.level) bounds.insert(level + 1);
    std::size_t before = 0;
    for (const std::int64_t below : bounds) {
        Victims list;
        for (Victim& victim : *victims_)
            if (!victim.gone && victim.least < below) list.push_back(&victim);
        // With the same victims as before, only their turns can differ: try again only if turns were the
        // obstacle.
        if (list.empty() || (list.size() == before && !room_against_levels_)) continue;
        before = list.size();
        if (may_be_above(p, list, below) && find_room(p, list, below)) return true;
    }
    return false;
}

// Removes a job from the limits on entities, which decide about levels, or adds it again.
void PreemptionRule::count_use(const Victim& victim, int sign) {
    t_.count_use(t_.jobs.queue[victim.job], t_.counted(victim.job), sign);
}

// Returns whether the preemptor can have the level `below` or a higher one once it runs, with some of the
// victims in the list removed.
bool PreemptionRule::may_be_above(const Preemptor& p, const Victims& list, std::int64_t below) {
    if (!levels_change()) return true;
    const unsigned most = c_.soft_traits_once_it_runs(p.ordered.job);
    for (Victim* victim : list) count_use(*victim, -1);
    const unsigned least = c_.soft_traits_once_it_runs(p.ordered.job);
    for (Victim* victim : list) count_use(*victim, 1);
    for (const unsigned traits :
         {least, least | (most & preempt_queue_softlimits), least | (most & preempt_server_softlimits), most})
        if (c_.preempt_level_over(p.ordered.job, p.ordered.job_class == JobClass::overdue, traits) >= below)
            return true;
    return false;
}

// Searches victims whose levels are below `below` at their turns. Tries sets of victims, the best first. If a
// set has no order of turns, some of its jobs have to be spared.
bool PreemptionRule::find_room(const Preemptor& p, const Victims& list, std::int64_t below) {
    std::set<std::pair<Chosen, Chosen>> tries;  // the victims to remove, and the jobs spared for that
    std::set<Chosen> seen;
    std::size_t taken = 0;
    const auto look = [&](const Chosen& kept) {
        taken += list.size();
        if (auto out = fewest(p, list, kept)) tries.emplace(std::move(*out), kept);
    };
    look({});
    while (!tries.empty()) {
        const auto [out, kept] = std::move(tries.extract(tries.begin()).value());
        for (const std::uint32_t i : out) take(*list[i]);
        const Chosen stuck = without_turn(p, list, out, below);
        if (stuck.empty() && starts(p)) return true;
        give_all_back(list);
        room_against_levels_ = true;
        for (auto i = stuck.begin(); i != stuck.end() && taken < kMostForOne; ++i) {
            // Try to spare only the first of several jobs that are alike.
            if (std::any_of(stuck.begin(), i, [&](auto k) { return is_alike(*list[k], *list[*i]); }))
                continue;
            Chosen more = kept;
            more.insert(std::ranges::lower_bound(more, *i), *i);
            if (seen.insert(more).second) look(more);
        }
    }
    in_vain_ += taken - list.size();
    return false;
}

// Returns the victims of the list that have to be removed for the preemptor to start, if the victims `kept`
// stay. It is worth more to spare a job than to spare all earlier ones in the list. nullopt: the preemptor
// can't start. Puts all back afterwards.
std::optional<PreemptionRule::Chosen> PreemptionRule::fewest(const Preemptor& p, const Victims& all,
                                                             const Chosen& kept) {
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < all.size(); ++i)
        if (!std::ranges::binary_search(kept, i)) list.push_back(i);
    for (const std::uint32_t i : list) take(*all[i]);
    bool fits = starts(p);
    // The shortest sufficient beginning of the list: removing more jobs frees no less.
    std::size_t enough = fits ? list.size() : 0;
    std::size_t too_few = 0;
    std::size_t out = list.size();
    const auto set_out = [&](std::size_t count) {
        for (; out > count; --out) give_back(*all[list[out - 1]]);
        for (; out < count; ++out) take(*all[list[out]]);
    };
    while (too_few + 1 < enough) {
        const std::size_t middle = too_few + (enough - too_few) / 2;
        set_out(middle);
        (starts(p) ? enough : too_few) = middle;
    }
    set_out(enough);
    // Put each removed job back that needn't be removed, from the last but one to the first.
    for (std::size_t i = enough; i-- > 0 && fits;) {
        if (i + 1 == enough) continue;
        give_back(*all[list[i]]);
        if (!starts(p)) take(*all[list[i]]);
    }
    fits = fits && starts(p);
    Chosen chosen;
    for (std::size_t i = enough; i-- > 0;)
        if (all[list[i]]->gone) chosen.push_back(list[i]);
    give_all_back(all);
    return fits ? std::optional(chosen) : std::nullopt;
}

// Returns the victims for which there is no turn; empty: there is an order in which each victim has a level
// below `below` at its turn. Otherwise one of the returned ones has to be spared. If a job exceeds a limit
// with all other victims removed, it also exceeds the limit with fewer removed. So any job that can have the
// last turn may have it.
PreemptionRule::Chosen PreemptionRule::without_turn(const Preemptor& p, const Victims& list,
                                                    const Chosen& out, std::int64_t below) {
    if (!levels_change()) return {};
    if (level_once_it_runs(p.ordered) < below) return out;
    // As in OpenPBS, spare a job that would rise above the preemptor once it is removed, because its user
    // then exceeds no limit any more.
    Chosen left;
    std::ranges::copy_if(out, std::back_inserter(left),
                         [&](std::uint32_t i) { return level_now(*list[i]) > p.level; });
    if (!left.empty()) return left;
    left = out;
    const auto has_last_turn = [&](std::uint32_t i) {
        count_use(*list[i], 1);
        if (level_now(*list[i]) < below) return true;
        count_use(*list[i], -1);
        return false;
    };
    while (std::erase_if(left, has_last_turn) > 0) {
    }
    for (const std::uint32_t i : out)
        if (std::ranges::find(left, i) == left.end()) count_use(*list[i], -1);
    if (left.empty()) return left;
    // The turns above assume that no job has a lower level when it exceeds fewer limits. If one has, try all
    // orders.
    using Step = std::pair<std::size_t, std::size_t>;
    const auto rises = [&](std::uint32_t i) {
        const auto& levels = list[i]->levels;
        return std::ranges::any_of(
            std::array{Step(0, 1), Step(0, 2), Step(1, 3), Step(2, 3)},
            [&](const Step& step) { return levels[step.first] < below && levels[step.second] >= below; });
    };
    if (std::ranges::none_of(out, rises)) return left;
    Victims in_any_order;
    for (const std::uint32_t i : out) in_any_order.push_back(list[i]);
    return have_turns(in_any_order, below) ? Chosen{} : out;
}

// Returns whether the victims in `left` can have their turns in some order, each with a level below `below`
// at its turn. Tries all orders, but gives up after kMostInVain tries in a cycle.
bool PreemptionRule::have_turns(Victims& left, std::int64_t below) {
    if (left.empty()) return true;
    for (std::size_t i = 0; i < left.size() && in_vain_ < kMostInVain; ++i) {
        Victim* const last = left[i];
        ++in_vain_;
        count_use(*last, 1);
        bool found = false;
        if (level_now(*last) < below) {
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
            found = have_turns(left, below);
            left.insert(left.begin() + static_cast<std::ptrdiff_t>(i), last);
        }
        count_use(*last, -1);
        if (found) return true;
    }
    return false;
}

// Returns whether two victims differ only in their start times. Returns false if there are advance
// reservations, which may distinguish victims by their start times.
bool PreemptionRule::is_alike(const Victim& a, const Victim& b) const {
    const auto same_part = [](const Part& x, const Part& y) {
        return x.vnode == y.vnode && x.first_amount == y.first_amount && x.amounts == y.amounts;
    };
    const auto same_need = [](const Need& x, const Need& y) {
        return x.resource == y.resource && x.amount == y.amount;
    };
    const JobTable& jobs = t_.jobs;
    return jobs.user[a.job] == jobs.user[b.job] && jobs.signature[a.job] == jobs.signature[b.job] &&
           a.levels == b.levels && a.methods == b.methods && state_.vnodes->bookings().empty() &&
           std::ranges::equal(a.placement.parts, b.placement.parts, same_part) &&
           std::ranges::equal(a.placement.amounts, b.placement.amounts, same_need);
}

void PreemptionRule::explain(JobSlot job, NoRoomMade::Cause why, const Reason& reason) {
    if (job == in_.explained) c_.no_room_made = {why, reason};
}

QueueView* PreemptionRule::makes_room(const OrderedJob& job, Candidate& candidate, Blockers& blockers,
                                      CandidateQueues& queues) {
    if (!c_.preempts || job.job_class == JobClass::running) return nullptr;
    const std::int64_t level = level_of(job);
    if (level <= lowest_level()) return explain(job.job, NoRoomMade::Cause::no_lower), nullptr;
    if (!victims_) {
        find_victims();
    } else if (c_.by_soft_limits) {
        for (Victim& victim : *victims_)
            if (!victim.gone) set_levels(victim);
        sort_victims();
    }
    const auto is_lower = [&](const Victim& victim) { return !victim.gone && victim.least < level; };
    const auto lower = static_cast<std::size_t>(std::ranges::count_if(*victims_, is_lower));
    if (lower == 0) return explain(job.job, NoRoomMade::Cause::no_lower), nullptr;
    const std::size_t state = c_.state_number() + c_.preempted.size() + 1;
    FailedTry& failed =
        failed_[{job.signature, candidate.user.owner, candidate.user.group, level, level_once_it_runs(job)}];
    const bool by_job =
        std::ranges::any_of(queues, [](const QueueView* view) { return !view->job_filters.empty(); });
    if (in_.categories && !by_job && job.job != in_.explained && failed.state == state) {
        blockers |= failed.blockers;
        return nullptr;
    }
    if (in_vain_ >= kMostInVain) {
        blockers |= blocker::kCycle;
        return explain(job.job, NoRoomMade::Cause::tried_enough), nullptr;
    }
    failed = {state, 0};
    for (QueueView* view : queues) {
        c_.set_walltime(candidate, *view);
        if (!find_room({job, candidate, *view, level})) {
            failed.blockers |= blockers_;
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
    explain(job.job, room_against_levels_ ? NoRoomMade::Cause::by_levels : NoRoomMade::Cause::not_by_room,
            why_not_);
    blockers |= failed.blockers;
    return nullptr;
}

}  // namespace

extern const AfterRefusalRule kPreemptionAfterRefusal{
    "preemption", [](const CycleParts& parts) -> std::unique_ptr<AfterRefusal> {
        return std::make_unique<PreemptionRule>(parts);
    }};

}  // namespace pbs::sched
