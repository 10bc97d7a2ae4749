// Makes reservations for the first waiting jobs, up to backfill_depth. Without backfilling, the first of them
// holds up all later jobs; or the later jobs of its queue, if only the queue doesn't backfill. With
// sched_preempt_enforce_resumption, preempted jobs get further reservations. (PP-748, interface 1:
// strict_ordering, help_starving_jobs)

#include <algorithm>
#include <unordered_map>

#include "server_plugin/scheduler/framework/judge.h"
#include "server_plugin/scheduler/framework/lookahead.h"
#include "server_plugin/scheduler/framework/plain_jobs.h"
#include "server_plugin/scheduler/future/gone_jobs.h"
#include "server_plugin/scheduler/model/sort_unique.h"

namespace pbs::sched {
namespace {

// A reservation of the last cycle, because of which later jobs were refused.
struct ReservedFor {
    JobHandle job{};
    QueueSlot queue = kNoSlot;
    Instant start{};
    Instant end{};
    Placement placement;
    std::vector<Reservation::Spare> spare;
    // Returns whether each job that was refused because of this reservation is refused because of `now`,
    // too, as far as no job has ended.
    bool is_as_before(const Reservation& now, const JobTable& jobs, const QueueView& view) const;
};

// The last cycle's reservations.
struct TopJobs {
    std::vector<ReservedFor> list{};
    bool limits = false;              // a part of limits on running jobs is reserved
    std::vector<VnodeSlot> vnodes{};  // the vnodes with a reservation
};

class TopJobsRule final : public AfterRefusal, CyclePart {
  public:
    explicit TopJobsRule(const CycleParts& parts)
        : CyclePart(parts.context), parts_(parts), judge_(parts.judge), future_(parts.future) {}

    void refused(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues) override;
    bool wants(const CandidateQueues& queues, JobClass job_class) const override;
    JobSlot last_as_before() override;
    void take_over() override;
    bool wants_every_job() const override;
    Reason holds_up(const QueueView* view) const override;
    void settle() override;
    void remember() override;
    void leave() override;

  private:
    std::int64_t backfill_depth() const;
    bool backfills() const;
    bool may_hold_up(const QueueView& view) const;
    bool is_closed(const QueueView& view) const;
    bool is_preempted(JobSlot job) const { return t_.jobs.rare_fields(job).preempted_at != Instant{}; }
    bool is_to_resume(const OrderedJob& job) const;
    bool was_stopped_at_close(JobSlot job) const;
    void hold_up(JobSlot job, const QueueView& view);
    void look_at_order_again() const;
    // no_start: the job can't start at any time. too_far: its start is too far ahead; other reservations may
    // change that.
    enum class Kept : std::uint8_t { yes, no_start, too_far };
    Kept reserve_for(Candidate& job, QueueView& view);
    bool may_keep(const Candidate& job, const QueueView& view, Instant start) const;
    bool may_keep_any() const;
    bool may_take_over() const;
    bool reserve_kept(const Candidate& job, QueueView& view);
    void reserve_at(const Candidate& job, QueueView& view, const rrule::Interval& when,
                    const Placement& placement, const KeptEstimates* chain = nullptr);
    void keep(const Candidate& job, const QueueView& view, bool by_time, bool has_limits);
    bool may_chain() const;
    KeptEstimates* chain();
    bool reserve_in_chain(const Candidate& job, QueueView& view, KeptEstimates& chain,
                          std::optional<PlainJobs::Plain>& plain);
    void add_to_chain(KeptEstimates& chain, const std::optional<PlainJobs::Plain>& plain) const;

    CycleParts parts_;
    Judge& judge_;
    Future& future_;
    JobSlot top_job_ = kNoSlot;  // the job that holds up all later jobs; kNoSlot: none
    // By number of a view: the job that holds up all later jobs of the view.
    std::unordered_map<std::uint32_t, JobSlot> top_job_of_view_;
    std::unordered_map<QueueSlot, std::int64_t> reservations_;
    // All reservations so far are those of KeptTops: the next one may be, too.
    bool are_kept_ = true;
    std::optional<bool> list_may_be_used_;  // KeptTops::may_be_used(), once it is known
    // The starts of the top jobs, if they are many. Null: they are found one by one.
    KeptEstimates* chain_ = nullptr;
    bool is_chain_known_ = false;
    std::optional<PlainJobs> plain_jobs_;
    std::size_t started_in_chain_ = 0;  // the number of started jobs that the chain takes into account
    bool failed_ = false;               // a job got no reservation, because no start was found
    std::size_t taken_over_ = 0;        // the number of reservations that were taken over at once
    KeptTops::Whole whole_;             // these, without what the state has of them
};

// Returns the backfill_depth for queues without one of their own: that of the policy; with a sched_config
// file that of the server (PP-748, interface 6).
std::int64_t TopJobsRule::backfill_depth() const {
    return s_.from_sched_config && t_.server.backfill_depth >= 0 ? t_.server.backfill_depth
                                                                 : s_.backfill_depth;
}

// Returns whether the policy or any queue backfills. If so, a queue's depth of 0 affects only that queue; and
// jobs for which the policy's depth of 0 counts get no reservations and hold up no others.
bool TopJobsRule::backfills() const {
    return backfill_depth() > 0 ||
           std::ranges::any_of(views_, [](const QueueView& view) { return view.queue->backfill_depth > 0; });
}

// Returns whether the job was preempted and gets a reservation to be resumed. As in OpenPBS, its level must
// not be below the normal one, given the other running jobs.
bool TopJobsRule::is_to_resume(const OrderedJob& job) const {
    return s_.sched_preempt_enforce_resumption && is_preempted(job.job) &&
           c_.preempt_level(job.job, job.job_class == JobClass::overdue) >=
               s_.preempt_prio.level(preempt_normal, 0);
}

// Returns whether the job was suspended because the hours of its queue had ended (at_close). Such a job goes
// on before jobs that wait.
bool TopJobsRule::was_stopped_at_close(JobSlot job) const {
    const QueueHours* hours = t_.queues[t_.jobs.queue[job]].hours;
    return hours != nullptr && t_.jobs.is_suspended(job) &&
           !hours->open().contains(t_.jobs.rare_fields(job).preempted_at + QueueHours::kStart);
}

void TopJobsRule::refused(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues) {
    const bool was_stopped = was_stopped_at_close(job.job);
    const bool resumes = was_stopped || is_to_resume(job);
    if (!resumes && !s_.strict_ordering && job.job_class != JobClass::overdue) return;
    if (std::ranges::all_of(queues, [&](const QueueView* view) { return is_closed(*view); })) return;
    if (execution_type_refusal(state_, t_.jobs.queue[job.job])) return;
    QueueView& view = *queues[0];
    if (holds_up(&view)) return;
    const bool own = view.queue->backfill_depth >= 0;
    const std::int64_t depth = own ? view.queue->backfill_depth : backfill_depth();
    // As in OpenPBS, a job with topjob_ineligible gets no reservation, but holds up others if nothing is
    // backfilled.
    if (depth != 0 && !resumes && (t_.jobs.flags[job.job] & job_topjob_ineligible) != 0) return;
    if (depth == 0 && !resumes) {
        if (!own && backfills()) return;
        if (verdict.waits || verdict.crosses) hold_up(job.job, view);
        return;
    }
    auto& made = reservations_[own ? view.slot : kNoSlot];
    // As in OpenPBS, preempted jobs get reservations before others, however many there are.
    const bool preempted = is_preempted(job.job);
    if ((made >= depth && !preempted) || !c_.may_look_ahead()) return;
    std::uint32_t& no_start = judge_.no_start_known(job, verdict, queues);
    if (no_start == verdict.starts + 1) return;
    Candidate top = c_.candidate(job);
    c_.set_walltime(top, view);
    const Kept kept = reserve_for(top, view);
    if (kept == Kept::no_start)
        no_start = verdict.starts + 1;
    else if (kept == Kept::yes && !was_stopped && (!preempted || !s_.sched_preempt_enforce_resumption))
        ++made;
}

// Preempted jobs get reservations however many there are. Any event may matter to one of them, because later
// jobs may use its places, so consider all jobs.
bool TopJobsRule::wants_every_job() const {
    const bool stopped = t_.has_closings && std::ranges::any_of(t_.suspended, [&](const auto& job) {
                             return was_stopped_at_close(job.first);
                         });
    if (stopped) return true;
    if (!s_.sched_preempt_enforce_resumption && !s_.strict_ordering && !s_.help_starving_jobs) return false;
    const auto& memory = *in_.events;
    return std::ranges::any_of(memory.pending.lanes(),
                               [](const Lane& lane) { return lane.preempted && lane.jobs > 0; }) ||
           std::ranges::any_of(memory.since.changed, [&](JobSlot job) { return is_preempted(job); });
}

bool TopJobsRule::wants(const CandidateQueues& queues, JobClass job_class) const {
    if (queues.empty() || taken_over_ > 0) return false;
    const QueueView& view = *queues[0];
    return view.queue->started && (s_.strict_ordering || job_class == JobClass::overdue) && may_hold_up(view);
}

// Returns whether prime time or dedicated time closes the queue. As in OpenPBS, none of its jobs is a top job
// then.
bool TopJobsRule::is_closed(const QueueView& view) const {
    return view.dedicated != view.dedicated_now || execution_type_refusal(state_, view.slot);
}

bool ReservedFor::is_as_before(const Reservation& now, const JobTable& jobs, const QueueView& view) const {
    const auto as_much = [&](const Reservation::Spare& then) {
        return std::ranges::any_of(now.spare, [&](const Reservation::Spare& left) {
            return left.key == then.key && left.left <= then.left;
        });
    };
    return jobs.handle[now.job] == job && view.slot == queue && now.start == start && now.end == end &&
           now.placement == placement && std::ranges::all_of(spare, as_much);
}

// Releases the jobs that were refused because of the last cycle's reservations, as far as these have
// changed. If all vnodes of hosts are reserved, which a placement doesn't tell, any change releases all
// reserved vnodes.
void TopJobsRule::settle() {
    if (taken_over_ > 0) return;
    const TopJobs& before = in_.events->own.of<TopJobs>();
    const bool of_hosts = t_.requests.wants_hosts() || t_.vnodes.gives_hosts();
    const auto& changed = in_.events->since.changed;  // Intake has sorted it
    auto& freed = in_.events->since.freed;
    const std::size_t others = freed.size();
    bool all_hold = true;
    for (std::size_t i = 0; i < before.list.size(); ++i) {
        const ReservedFor& then = before.list[i];
        if (i < state_.reservations.size()) {
            const Reservation& now = state_.reservations[i];
            const bool is_altered = std::ranges::binary_search(changed, now.job);
            if (!is_altered && then.is_as_before(now, t_.jobs, views_[now.view])) continue;
        }
        all_hold = false;
        for (const Part& part : then.placement) freed.push_back(part.vnode);
    }
    if (all_hold) return;
    if (before.limits) c_.lifted |= blocker::kReserved;
    if (of_hosts) freed.insert(freed.end(), before.vnodes.begin(), before.vnodes.end());
    if (freed.size() > others) sort_unique(freed);
}

void TopJobsRule::hold_up(JobSlot job, const QueueView& view) {
    (view.queue->backfill_depth == 0 && backfills() ? top_job_of_view_[view.number] : top_job_) = job;
    ++c_.held_up;
    look_at_order_again();
}

// Usage that grows meanwhile may change the order: run a cycle again in a minute.
void TopJobsRule::look_at_order_again() const {
    if (s_.fairshare && state_.shares != nullptr)
        state_.instants->insert(c_.usage_as_of() + std::chrono::minutes(1));
}

Reason TopJobsRule::holds_up(const QueueView* view) const {
    JobSlot top = top_job_;
    if (top == kNoSlot && view != nullptr && !top_job_of_view_.empty())
        if (const auto own = top_job_of_view_.find(view->number); own != top_job_of_view_.end())
            top = own->second;
    if (top == kNoSlot) return {};
    return {ReasonCode::after_top_job, UINT32_MAX, top, s_.strict_ordering ? 0 : 1};
}

// Returns whether the next waiting job may get a reservation in its queue, or hold up later jobs.
bool TopJobsRule::may_hold_up(const QueueView& view) const {
    if (holds_up(&view)) return false;
    const bool own = view.queue->backfill_depth >= 0;
    const std::int64_t depth = own ? view.queue->backfill_depth : backfill_depth();
    if (depth == 0) return own || !backfills();
    const auto made = reservations_.find(own ? view.slot : kNoSlot);
    return (made == reservations_.end() || made->second < depth) && c_.may_look_ahead();
}

// Returns whether later cycles may keep reservations: the search for a place depends on free amounts alone,
// so that it finds the same one as long as the job's vnodes leave it its place, and no other vnode is freer.
bool TopJobsRule::may_keep_any() const {
    return in_.events != nullptr && !c_.test_only && c_.preempted.empty() && state_.own_limits.empty() &&
           state_.vnodes->bookings().empty() && state_.load_order == 0 && !c_.order_moves() &&
           !s_.backfill_prime && !s_.load_balancing && s_.max_jobs <= 0 && s_.min_jobs <= 0 &&
           s_.max_load_percent <= 0 && s_.high_systime <= 0 && !t_.has_closings && !c_.fake_vnodes &&
           !t_.vnodes.gives_hosts() && !t_.requests.wants_hosts();
}

// Returns the same for the reservation of one job. With chunks of several kinds, fewer free amounts can let
// a job start earlier, because the first kind then goes elsewhere.
bool TopJobsRule::may_keep(const Candidate& job, const QueueView& view, Instant start) const {
    const Request& request = *job.request;
    const PlaceRules rules = state_.place_rules(job, view);
    const bool in_order =
        !rules.spreads || ((request.order == ChunkOrder::fill ||
                            (request.order == ChunkOrder::by_policy && rules.order == ChunkOrder::fill)) &&
                           request.per_host == 0);
    return may_keep_any() && !state_.asks_for_told(request) && request.chunks.size() == 1 &&
           request.preferences.empty() && request.group == kNoResource && view.groups.empty() && in_order &&
           view.hours == nullptr && view.queue->execution_type == ExecutionType::any &&
           job.suspended == kNoSlot && !RangeSearch::is_for(c_, job) &&
           !state_.vnodes->divides(state_.pool_for(view, request)) &&
           std::ranges::all_of(p_.filters, [&](const Filter* filter) {
               return (filter->traits & by_limits_only) != 0 ||
                      (filter->wanted != nullptr && !filter->wanted(s_, in_.now) &&
                       !filter->wanted(s_, start));
           });
}

// Makes the last cycle's reservation again, if a search for the job's start would find the same one.
bool TopJobsRule::reserve_kept(const Candidate& job, QueueView& view) {
    const std::size_t number = state_.reservations.size();
    if (!c_.by_events || !are_kept_ || !started_.empty()) return false;
    const KeptTops& kept = in_.events->tops;
    if (number >= kept.list.size()) return false;
    const KeptTops::Top& top = kept.list[number];
    if (!may_keep(job, view, top.start)) return false;
    if (top.job != t_.jobs.handle[job.job] || top.view != view.number || top.queue != view.slot ||
        top.host != view.host || top.start <= in_.now ||
        std::ranges::binary_search(in_.events->since.changed, job.job))
        return false;
    if (!list_may_be_used_) list_may_be_used_ = kept.may_be_used(t_, future_.is_late());
    if (!*list_may_be_used_ || !kept.still_holds(t_, top, view.pool, *job.request)) return false;
    Vnodes::Shares shares;
    const LimitUser user = limit_user(state_, job, job.user, view, top.placement, shares);
    std::vector<Reservation::Spare> spare;
    for (const LimitNeed& limit : limits_of(p_.filters, state_, job, view)) {
        const Timeline& used = *future_.schedule().demand(limit).used;
        spare.push_back({limit.key, values::Sum(limit.capacity) -
                                        used.max_in({top.start, top.start + Seconds(1)}) - limit.amount});
    }
    use_spare(state_, user, top.start, top.end);
    reserve_at(job, view, {top.start, top.end}, top.placement);
    state_.reservations.back().spare = std::move(spare);
    return true;
}

// Makes a reservation at a place that is known. `chain`: null, or the chain that has the job already.
void TopJobsRule::reserve_at(const Candidate& job, QueueView& view, const rrule::Interval& when,
                             const Placement& placement, const KeptEstimates* chain) {
    const auto number = static_cast<std::uint32_t>(state_.reservations.size());
    PlaceRules rules = state_.place_rules(job, view);
    rules.ends = when.end;
    state_.vnodes->use_reserved(placement, *job.request, rules, 1, when.start);
    if (chain != nullptr) {
        for (const Part& part : placement) {
            Row left = chain->left_at(part.vnode, when.start);
            state_.vnodes->enter(part.vnode, job.request->sharing, left);
            state_.vnodes->reserve_part(number, when, part, *job.request, c_.vnode_share(), std::move(left));
        }
    } else {
        std::vector<JobSlot> gone;
        for (const Part& part : placement)
            add_gone(
                t_, part.vnode, when.start, [&](JobSlot other) { return state_.planned_end(other); }, gone);
        sort_unique(gone);
        state_.vnodes->reserve(number, when, placement, *job.request, c_.vnode_share(), gone);
    }
    state_.reservations.push_back({job.job, when.start, when.end, view.number, {}, false, false, placement});
    future_.add_later(number);
    state_.instants->insert(when.start);
    for (const auto& log : c_.logs) log->reserved(job.job, view, when.start, when.end, placement);
}

// Keeps the reservation that was made, for later cycles. If it isn't the one that was kept, drops those after
// it. `by_time`: a filter about time has refused the job at an instant before the start.
void TopJobsRule::keep(const Candidate& job, const QueueView& view, bool by_time, bool has_limits) {
    if (in_.events == nullptr) return;
    auto& list = in_.events->tops.list;
    const Reservation& made = state_.reservations.back();
    const std::size_t number = state_.reservations.size() - 1;
    const KeptTops::Top top{t_.jobs.handle[job.job], view.number, view.slot, view.host, made.start, made.end,
                            made.placement,          has_limits};
    if (are_kept_ && number < list.size() && list[number] == top) return;
    are_kept_ = false;
    if (list.size() > number) list.resize(number);
    if (list.size() == number && !by_time && made.start > in_.now && may_keep(job, view, made.start))
        list.push_back(top);
}

bool TopJobsRule::may_chain() const {
    constexpr std::size_t kMany = 8;  // to read the free amounts of all vnodes pays from here on
    return in_.events != nullptr && in_.keep_pending_jobs && !c_.preempts && state_.reservations.empty() &&
           in_.events->own.of<TopJobs>().list.size() >= kMany && may_keep_any();
}

// Returns the chain of the top jobs with all jobs that the cycle has started. Null: there is none.
KeptEstimates* TopJobsRule::chain() {
    if (!std::exchange(is_chain_known_, true) && may_chain()) {
        plain_jobs_.emplace(parts_);
        if (plain_jobs_->are_any()) {
            chain_ = &in_.events->top_starts;
            plain_jobs_->begin(*chain_);
            started_in_chain_ = started_.size();
        }
    }
    if (chain_ == nullptr) return nullptr;
    for (; started_in_chain_ < started_.size(); ++started_in_chain_) {
        const Started& started = started_[started_in_chain_];
        Vnodes::Shares shares;
        state_.vnodes->shares_of(started.placement, t_.requests[t_.jobs.request[started.job]],
                                 c_.vnode_share(), shares);
        chain_->start(shares, {in_.now, started.end});
    }
    return chain_;
}

// Makes the reservation of a job for which only room decides, by the chain. False: only a look-ahead can find
// its start.
bool TopJobsRule::reserve_in_chain(const Candidate& job, QueueView& view, KeptEstimates& chain,
                                   std::optional<PlainJobs::Plain>& plain) {
    KeptEstimates::Estimate* const old = chain.take(t_.jobs.handle[job.job]);
    if (view.queue->execution_type == ExecutionType::any) plain = plain_jobs_->of(job, view);
    bool is_kept = false;
    std::optional<KeptEstimates::Estimate> found;
    if (plain) found = plain_jobs_->find(job, view, *plain, old, chain, is_kept);
    if (old != nullptr && !is_kept) chain.give_up(*old);
    if (plain && !found && plain->wish.chunks > 1)
        found = plain_jobs_->find_several(job, view, *plain, chain);
    if (!found || !found->is_found() || found->start <= in_.now) return false;
    chain.add(*std::move(found));
    const KeptEstimates::Estimate& last = chain.list().back();
    reserve_at(job, view, {last.start, last.end}, last.placement, &chain);
    keep(job, view, false, false);
    return true;
}

// Adds the last reservation to the chain.
void TopJobsRule::add_to_chain(KeptEstimates& chain, const std::optional<PlainJobs::Plain>& plain) const {
    const Reservation& made = state_.reservations.back();
    KeptEstimates::Estimate estimate;
    estimate.job = t_.jobs.handle[made.job];
    estimate.start = made.start;
    estimate.end = made.end;
    estimate.placement = made.placement;
    Vnodes::Shares shares;
    state_.vnodes->shares_of(made.placement, t_.requests[t_.jobs.request[made.job]], c_.vnode_share(),
                             shares);
    estimate.shares.assign(shares.begin(), shares.end());
    if (plain) estimate.wish = plain->wish;
    chain.add(std::move(estimate));
}

TopJobsRule::Kept TopJobsRule::reserve_for(Candidate& job, QueueView& view) {
    KeptEstimates* const chain = this->chain();
    std::optional<PlainJobs::Plain> plain;
    const bool in_chain = chain != nullptr && reserve_in_chain(job, view, *chain, plain);
    if (in_chain || reserve_kept(job, view)) {
        if (chain != nullptr && !in_chain) add_to_chain(*chain, std::nullopt);
        judge_.expect_usage(job.job);
        look_at_order_again();
        return Kept::yes;
    }
    Lookahead ahead(c_, future_, job, view);
    const bool starts = ahead.earliest(in_.now).has_value();
    if (!starts || !ahead.is_foreseeable()) {
        failed_ = true;
        c_.failed_steps += ahead.steps();
        return starts ? Kept::too_far : Kept::no_start;
    }
    ahead.reserve();
    keep(job, view, ahead.refused_by_time(), ahead.has_limits());
    if (chain != nullptr) {
        const bool by_room = plain && !ahead.refused_by_time() &&
                             plain_jobs_->may_start_at(state_.reservations.back().start, job, view);
        add_to_chain(*chain, by_room ? plain : std::nullopt);
    }
    judge_.expect_usage(job.job);
    look_at_order_again();
    return Kept::yes;
}

void TopJobsRule::remember() {
    if (chain_ != nullptr)
        chain_->end();
    else if (is_chain_known_)
        in_.events->top_starts.clear();
    if (taken_over_ == 0 || taken_over_ != state_.reservations.size()) {
        TopJobs made;
        for (const Reservation& r : state_.reservations) {
            made.list.push_back(
                {t_.jobs.handle[r.job], views_[r.view].slot, r.start, r.end, r.placement, r.spare});
            made.limits = made.limits || !r.spare.empty();
        }
        made.vnodes = state_.vnodes->reserved();
        in_.events->own.of<TopJobs>() = std::move(made);
    }
    KeptTops& tops = in_.events->tops;
    if (tops.list.size() > state_.reservations.size()) tops.list.resize(state_.reservations.size());
    if (!tops.list.empty() && (!may_keep_any() || future_.is_late())) tops.list.clear();
    std::vector<KeptTops::Assumed> assumed;
    for (const Started& started : started_) {
        if (tops.list.empty()) break;
        auto& one = assumed.emplace_back(KeptTops::Assumed{t_.jobs.handle[started.job], started.end});
        for (const Part& part : started.placement) one.vnodes.push_back(part.vnode);
        sort_unique(one.vnodes);
    }
    tops.cycle_ended(t_, state_.planning, c_.vnode_share(), std::move(assumed));
}

// Returns whether a cycle that considers none of the top jobs differs from others in nothing but their
// reservations: nobody is told why they wait, and their order doesn't depend on the reservations.
bool TopJobsRule::may_take_over() const {
    return in_.keep_pending_jobs && !in_.comments && in_.explanation == nullptr && c_.logs.empty() &&
           !c_.preempts && c_.held_up == 0 && !t_.server.eligible_since &&
           !(s_.fairshare && state_.shares != nullptr) && s_.estimate_depth == 0;
}

JobSlot TopJobsRule::last_as_before() {
    KeptTops& tops = in_.events->tops;
    const EventsSince& since = in_.events->since;
    if (!tops.whole || !tops.is_nothing_freed() || !since.freed.empty() || c_.room_everywhere ||
        tops.whole->first_start <= in_.now || !may_take_over() || !may_keep_any() ||
        !tops.may_be_used(t_, future_.is_late()))
        return kNoSlot;
    const std::vector<JobSlot>& jobs = tops.whole->jobs;
    const bool are_as_before =
        std::ranges::all_of(jobs, [&](JobSlot job) { return in_.events->pending.contains(job); }) &&
        std::ranges::none_of(since.changed,
                             [&](JobSlot job) { return std::ranges::binary_search(jobs, job); });
    return are_as_before ? tops.whole->reservations.back().job : kNoSlot;
}

void TopJobsRule::take_over() {
    whole_ = *std::exchange(in_.events->tops.whole, std::nullopt);
    state_.reservations = std::move(whole_.reservations);
    state_.vnodes->put_back(std::move(whole_.on_vnodes));
    reservations_ = std::move(whole_.made);
    taken_over_ = c_.reserved_as_before = state_.reservations.size();
    for (std::uint32_t i = 0; i < taken_over_; ++i) future_.add_later(i);
}

void TopJobsRule::leave() {
    KeptTops& tops = in_.events->tops;
    tops.whole.reset();
    const bool are_all_kept = !tops.list.empty() && tops.list.size() == state_.reservations.size();
    if (!are_all_kept || failed_ || !may_take_over() ||
        std::ranges::any_of(tops.list, &KeptTops::Top::has_limits))
        return;
    if (taken_over_ != state_.reservations.size()) {
        whole_.jobs.clear();
        whole_.first_start = Instant::max();
        for (const Reservation& made : state_.reservations) {
            whole_.jobs.push_back(made.job);
            whole_.first_start = std::min(whole_.first_start, made.start);
        }
        sort_unique(whole_.jobs);
    }
    whole_.reservations = std::move(state_.reservations);
    whole_.on_vnodes = state_.vnodes->take_reservations();
    whole_.made = std::move(reservations_);
    tops.whole = std::move(whole_);
}

}  // namespace

extern const AfterRefusalRule kTopJobsAfterRefusal{
    "top_jobs", [](const CycleParts& parts) -> std::unique_ptr<AfterRefusal> {
        return std::make_unique<TopJobsRule>(parts);
    }};

}  // namespace pbs::sched
