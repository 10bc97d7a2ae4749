// Drains queues for jobs that can't start: a reservation holds a queue's places until the job can start
// there. Queues are drained for all overdue jobs, all special jobs, and the head of the list: the first job
// that can't start. (sched-config guide, "MAX_QUEUED_TIME"; origin-overview, "Overview Of Operation": the
// scheduler "goes out of its way" for the first job)

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "server_plugin/scheduler/framework/intake.h"
#include "server_plugin/scheduler/framework/judge.h"
#include "server_plugin/scheduler/framework/lookahead.h"

namespace pbs::sched {
namespace {

// A reservation that drains a queue, with the data that later cycles compare.
struct DrainFor {
    JobHandle job{};
    QueueSlot queue = kNoSlot;
    std::uint32_t host = 0;
    Instant until{};
    std::vector<Reservation::Spare>
        spare;  // for each limit: the amount left for jobs that still run at the start
    // Returns whether every job that was refused because of the drain `before` is refused because of this
    // drain, too. Ignores vnodes.
    bool holds_back_as_much_as(const DrainFor& before) const;
};

// Returns whether the amount is that of a limit with counters of its own (OwnLimit).
bool is_own(const Reservation::Spare& one) {
    return one.key.use.scope == UseScope::own;
}

// The drains of the last cycle with this rule.
struct Drains {
    std::vector<DrainFor> list;     // in the order of the jobs
    std::vector<VnodeSlot> vnodes;  // the vnodes that the drains reserved
};

class Drain final : public AfterRefusal, CyclePart {
  public:
    explicit Drain(const CycleParts& parts)
        : CyclePart(parts.context), intake_(parts.intake), judge_(parts.judge), future_(parts.future) {}

    void refused(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues) override;
    bool wants(const CandidateQueues&, JobClass job_class) const override {
        return is_drained_for(job_class);
    }
    void settle() override;
    void again() override;
    void remember() override;

  private:
    bool is_drained_for(JobClass job_class) const;
    bool drain_for(Candidate& job, const CandidateQueues& queues);
    bool reserve_kept(const Candidate& job);
    void keep_reservation(const Candidate& job, const QueueView& view, const CandidateQueues& queues,
                          std::span<const QueueView* const> possible, bool decided_by_vnodes,
                          JobSlot last_running);
    bool changes_by_user(const Filter& filter, const Candidate& job, const CandidateQueues& queues,
                         KeptReservation& kept) const;
    std::vector<DrainFor> drains_now() const;

    Intake& intake_;
    Judge& judge_;
    Future& future_;
    int passed_over_ = 0;  // jobs before the head of the list for which no queue could be drained
};

// Returns whether a queue may be drained for the next job of the class that can't start. The search for the
// head of the list skips jobs for which no queue can be drained, but at most kMostPassedOver.
bool Drain::is_drained_for(JobClass job_class) const {
    constexpr std::size_t kMostDrained = 64;
    constexpr int kMostPassedOver = 256;
    if (!c_.may_look_ahead()) return false;
    if (job_class == JobClass::overdue || job_class == JobClass::special)
        return state_.reservations.size() < kMostDrained;
    return state_.reservations.empty() && passed_over_ < kMostPassedOver;
}

void Drain::refused(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues) {
    if (!is_drained_for(job.job_class)) return;
    std::uint32_t& no_start = judge_.no_start_known(job, verdict, queues);
    if (no_start != verdict.starts + 1) {
        Candidate c = c_.candidate(job);
        if (drain_for(c, queues)) return;
        no_start = verdict.starts + 1;
    }
    ++passed_over_;
}

// Drains the queue in which the job can start soonest; of two queues with the same start, the one listed
// first. Returns false if no queue is drained, because no start is known, or because the start is later than
// the last end of a job there and so doesn't depend on ends of jobs.
bool Drain::drain_for(Candidate& job, const CandidateQueues& queues) {
    if (reserve_kept(job)) return true;
    const bool home_later = static_cast<bool>(execution_type_refusal(state_, t_.jobs.queue[job.job]));
    QueueView* soonest = nullptr;
    std::optional<Instant> start;
    std::vector<const QueueView*> possible;
    std::optional<Lookahead> ahead;
    bool by_time = false;
    for (QueueView* view : queues) {
        ahead.reset();
        Verdict verdict;
        c_.set_walltime(job, *view);
        const Reason reason = judge_.ask_queue(job, *view, verdict);
        const bool refused = static_cast<bool>(reason);
        by_time = by_time || (verdict.blockers & blocker::kCycle) != 0;  // no event lifts the refusal
        if (refused ? !(verdict.waits || verdict.later) : !home_later) continue;
        ahead.emplace(c_, future_, job, *view);
        const Instant last_end = ahead->last_end();
        // Another queue helps only if the job can start there sooner.
        const bool has_sooner = start && *start <= last_end;
        const auto at = ahead->earliest(in_.now, has_sooner ? *start - Seconds(1) : last_end);
        const bool not_sooner = has_sooner && ahead->too_late();
        if (!at && !not_sooner) {
            c_.failed_steps += ahead->steps();
            by_time = by_time || ahead->too_late();
            continue;
        }
        by_time = by_time || ahead->decided_by_time();
        possible.push_back(view);
        if (at) {
            start = at;
            soonest = view;
        }
    }
    if (soonest == nullptr) return false;
    if (!ahead || &ahead->view() != soonest) {
        ahead.reset();
        c_.set_walltime(job, *soonest);
        ahead.emplace(c_, future_, job, *soonest);
        if (!ahead->earliest(in_.now)) return false;
    }
    const JobSlot last_running = ahead->last_running();
    ahead->reserve();
    state_.reservations.back().drains = true;
    if (in_.events == nullptr) return true;
    // Later stored reservations were computed with another reservation, or none, in its place: drop them.
    const std::size_t number = state_.reservations.size() - 1;
    auto& kept = in_.events->kept;
    if (kept.size() > number) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(number), kept.end());
    if (number == kept.size() && !by_time)
        keep_reservation(job, *soonest, queues, possible, ahead->decided_by_vnodes(), last_running);
    return true;
}

// Makes the last cycle's reservation again if another search for the job's start would find the same one. The
// reservations before it were taken over in the same way.
bool Drain::reserve_kept(const Candidate& job) {
    const std::size_t number = state_.reservations.size();
    if (!c_.by_events || number >= in_.events->kept.size()) return false;
    const KeptReservation& kept = in_.events->kept[number];
    const auto& changed = in_.events->since.changed;
    if (!kept.holds(in_.now) || kept.job != t_.jobs.handle[job.job] || !started_.empty() ||
        kept.vnodes_version != state_.vnodes->version() || std::ranges::binary_search(changed, job.job) ||
        kept.view >= views_.size())
        return false;
    QueueView& view = views_[kept.view];
    if (view.slot != kept.queue || view.host != kept.host) return false;
    // The earlier reservations are on other vnodes: keep_reservation() makes sure of that.
    Vnodes::Shares shares;
    const LimitUser user = limit_user(state_, job, job.user, view, kept.placement, shares);
    Reservation made{job.job, kept.start, kept.end, view.number, kept.spare, true, false, {}};
    for (const OwnLimit* limit : state_.own_limits) limit->keep(state_, user, made);
    for (Reservation::Spare& one : made.spare) {
        if (!is_own(one)) continue;
        const auto more = std::ranges::find(kept.own, one.key, &Reservation::Spare::key);
        if (more == kept.own.end()) return false;
        one.left += more->left;
    }
    use_spare(state_, user, kept.start, kept.end);
    state_.reservations.push_back(std::move(made));
    state_.instants->insert(kept.start);
    for (const auto& log : c_.logs) log->reserved(job.job, view, kept.start, kept.end, kept.placement);
    const std::vector<JobSlot> gone = kept.gone(t_);
    state_.vnodes->reserve(static_cast<std::uint32_t>(number), {kept.start, kept.end}, kept.placement,
                           *job.request, c_.vnode_share(), gone);
    ++c_.reserved_kept;
    return true;
}

// Returns whether the filter is a limit whose answers about the job change, in each of the queues, only by
// jobs of the same owner or group. Notes that owner or group in the reservation.
bool Drain::changes_by_user(const Filter& filter, const Candidate& job, const CandidateQueues& queues,
                            KeptReservation& kept) const {
    const OwnLimit* const limit = filter.own_limit;
    if (limit == nullptr || limit->changed_by == nullptr) return false;
    return std::ranges::all_of(queues, [&](const QueueView* view) {
        const std::optional<EntityKind> by = limit->changed_by(state_, job.user, *view);
        if (by) kept.owner = job.user.owner;
        if (by == EntityKind::group) kept.group = job.user.group;
        return by.has_value();
    });
}

// Stores the reservation for later cycles, after those that are stored already, unless an event that isn't
// checked could change its start. If vnodes decided about the start, a less full limit can only let the job
// start at the same instant in a queue that is tested earlier. `last_running`: the job that runs longest in
// the queue or on its vnodes.
void Drain::keep_reservation(const Candidate& job, const QueueView& view, const CandidateQueues& queues,
                             std::span<const QueueView* const> possible, bool decided_by_vnodes,
                             JobSlot last_running) {
    const Reservation& made = state_.reservations.back();
    const Placement& placement = made.placement;
    std::vector<KeptReservation>& all = in_.events->kept;
    // With chunks of several kinds, fewer free amounts can let a job start earlier, because the first kind
    // then goes elsewhere: don't store the reservation.
    if (job.request->chunks.size() != 1 || !started_.empty() || state_.asks_for_told(*job.request)) return;
    // Don't store it, either, if a filter depends on more than limits of the running jobs of the queue or a
    // host.
    if (s_.max_jobs > 0 || s_.min_jobs > 0 || s_.max_load_percent > 0 || s_.high_systime > 0 ||
        job.request->sharing == AskedSharing::exclhost || state_.vnodes->gives_hosts())
        return;
    KeptReservation kept;
    // The search for the start also called filters that come into force before it: all of them have to depend
    // on limits only, or on jobs of the same owner or group alone.
    if (std::ranges::any_of(p_.filters, [&](const Filter* filter) {
            return (filter->traits & by_limits_only) == 0 &&
                   (filter->wanted == nullptr || filter->wanted(s_, made.start)) &&
                   !changes_by_user(*filter, job, queues, kept);
        }))
        return;
    // Don't store the reservation if each start changes the order of vnodes.
    if (c_.order_moves()) return;
    const auto shares_vnode = [&](const KeptReservation& before) {
        return std::ranges::any_of(placement, [&](const Part& part) {
            return std::ranges::find(before.placement.parts, part.vnode, &Part::vnode) !=
                   before.placement.parts.end();
        });
    };
    if (std::ranges::any_of(all, shares_vnode)) return;
    kept.job = t_.jobs.handle[job.job];
    kept.request = *job.request;
    kept.start = made.start;
    kept.end = made.end;
    kept.view = view.number;
    kept.queue = view.slot;
    kept.host = view.host;
    kept.by_vnode = placement.parts;
    std::ranges::sort(kept.by_vnode, {}, &Part::vnode);
    kept.placement = placement;
    std::ranges::copy_if(made.spare, std::back_inserter(kept.spare), std::not_fn(is_own));
    // Store how much more limits with counters of their own leave at the start than beside the jobs that run
    // now: some of these will have ended then, or others begun. reserve_kept() adds the difference to the
    // amounts that are left beside the jobs that run when it is called.
    Reservation now{made.job, made.start, made.end, made.view, {}, true, false, {}};
    Vnodes::Shares shares;
    const LimitUser user = limit_user(state_, job, job.user, view, placement, shares);
    for (const OwnLimit* limit : state_.own_limits) limit->keep(state_, user, now);
    std::ranges::copy_if(made.spare, std::back_inserter(kept.own), is_own);
    for (Reservation::Spare& one : kept.own) {
        const auto same = std::ranges::find(now.spare, one.key, &Reservation::Spare::key);
        if (same == now.spare.end()) return;
        one.left -= same->left;
    }
    for (const LimitNeed& limit : limits_of(p_.filters, state_, job, view)) {
        const std::int64_t most = future_.schedule().demand(limit).used->max_in({made.start, made.end});
        kept.least_spare.push_back({limit.key, values::Sum(limit.capacity) - most});
    }
    const auto is_of_host = [](const Reservation::Spare& one) { return one.key.use.scope == UseScope::host; };
    std::ranges::copy_if(made.spare, std::back_inserter(kept.least_spare), is_of_host);
    kept.planning = state_.planning;
    kept.made = in_.now;
    kept.node_size = state_.node_size;
    kept.vnode_share = c_.vnode_share();
    kept.vnodes_version = state_.vnodes->version();
    for (const QueueView& v : views_) {
        const bool target = std::ranges::find(possible, &v) != possible.end();
        const bool only = std::ranges::count(views_, v.slot, &QueueView::slot) == 1;
        kept.views.push_back({v.number, v.slot, v.pool, v.dedicated, only, target});
    }
    bool before = true;
    for (const QueueView* target : possible) {
        before = before && target != &view;
        const bool may_decide = before || !decided_by_vnodes || target->pool != view.pool;
        for (const LimitNeed& limit : limits_of(p_.filters, state_, job, *target))
            kept.watched.push_back({limit, future_.schedule().demand(limit).used->at(in_.now), may_decide});
    }
    if (future_.schedule().puts_off_ends())
        for (QueueSlot q = 0; q < t_.queues.size(); ++q)
            for (const JobSlot other : t_.queues[q].running) kept.note_end(t_, other);
    if (last_running == kNoSlot || kept.planned_end(t_, last_running) < kept.start) return;
    kept.outlasting = t_.jobs.handle[last_running];
    all.push_back(std::move(kept));
}

bool DrainFor::holds_back_as_much_as(const DrainFor& before) const {
    const auto as_much = [&](const Reservation::Spare& then) {
        return !then.refused || std::ranges::any_of(spare, [&](const Reservation::Spare& now) {
            return now.key == then.key && now.left <= then.left;
        });
    };
    return job == before.job && queue == before.queue && host == before.host && until <= before.until &&
           std::ranges::all_of(before.spare, as_much);
}

// Drops all reservations before jobs are considered again, if the head of the list has one: the head may
// start now.
void Drain::again() {
    const auto is_head = [&](const Reservation& made) {
        const auto job_class = intake_.class_of(made.job);
        return job_class != JobClass::overdue && job_class != JobClass::special;
    };
    if (!std::ranges::any_of(state_.reservations, is_head)) return;
    future_.clear_reservations();
    passed_over_ = 0;
}

// Releases jobs that earlier cycles refused because of drains: they may start now if less is reserved, or
// other vnodes are.
void Drain::settle() {
    EventMemory& memory = *in_.events;
    const Drains& then = memory.own.of<Drains>();
    const std::vector<DrainFor> drains = drains_now();
    if (c_.reserved_kept < then.list.size()) {
        if (then.vnodes.size() > EventsSince::kMostFreed)
            c_.room_everywhere = true;
        else
            memory.since.freed.insert(memory.since.freed.end(), then.vnodes.begin(), then.vnodes.end());
    }
    for (const DrainFor& before : then.list) {
        const auto now = std::ranges::find(drains, before.job, &DrainFor::job);
        if (now == drains.end() || !now->holds_back_as_much_as(before)) {
            const bool refused =
                std::ranges::any_of(before.spare, [](const auto& spare) { return spare.refused; });
            if (refused) c_.lifted |= blocker::kReserved;
            continue;
        }
        // This cycle has considered only some of the jobs that earlier cycles refused, so copy `refused`.
        auto& spare = state_.reservations[static_cast<std::size_t>(now - drains.begin())].spare;
        for (Reservation::Spare& left : spare)
            for (const Reservation::Spare& was : before.spare)
                if (was.key == left.key && was.refused) left.refused = true;
    }
}

// The drains of this cycle.
std::vector<DrainFor> Drain::drains_now() const {
    std::vector<DrainFor> drains;
    for (const Reservation& made : state_.reservations) {
        const QueueView& view = views_[made.view];
        drains.push_back({t_.jobs.handle[made.job], view.slot, view.host, made.start, made.spare});
    }
    return drains;
}

void Drain::remember() {
    EventMemory& memory = *in_.events;
    memory.own.of<Drains>() = {drains_now(), state_.vnodes->reserved()};
    if (memory.kept.size() > state_.reservations.size()) memory.kept.resize(state_.reservations.size());
}

}  // namespace

extern const AfterRefusalRule kDrainAfterRefusal{
    "drain",
    [](const CycleParts& parts) -> std::unique_ptr<AfterRefusal> { return std::make_unique<Drain>(parts); }};

}  // namespace pbs::sched
