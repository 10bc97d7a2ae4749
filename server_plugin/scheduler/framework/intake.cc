// The part of a cycle that takes the pending jobs in, by classes, and sorts them.

#include "server_plugin/scheduler/framework/intake.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "server_plugin/scheduler/framework/judge.h"
#include "server_plugin/scheduler/framework/shares.h"
#include "server_plugin/scheduler/model/share_out.h"
#include "server_plugin/scheduler/model/sort_unique.h"
#include "server_plugin/scheduler/pending/deal.h"

namespace pbs::sched {

Intake::Intake(CycleContext& context, Queues& queues) : CyclePart(context), queues_(queues) {
    std::ranges::copy_if(c_.filters, std::back_inserter(before_turns_),
                         [](const Filter* filter) { return (filter->traits & before_turns) != 0; });
}

void Intake::take_in() {
    if (knows_jobs()) {
        pending_ = &in_.events->pending;
        queues_.set_up();
        renew();
    } else {
        queues_.set_up();
        collect();
        load();
    }
    if (!c_.everything) find_news();
}

Intake::Again::Again(Intake& intake, JobClass job_class, std::vector<OrderedJob> jobs, bool prime_order)
    : intake_(intake), before_(std::exchange(intake.pending_, &own_)) {
    intake.classes_[static_cast<std::size_t>(job_class)] = std::move(jobs);
    std::vector<std::optional<LeastNeeds>> needs(intake.t_.requests.size());
    intake.load(job_class, prime_order, needs);
}

bool Intake::knows_jobs() {
    const EventMemory* memory = in_.events;
    if (memory == nullptr || !memory->pending_known || memory->since.lost || memory->policy != in_.policy ||
        memory->prime_now != state_.prime_now)
        return false;
    const auto grows_alike = [&](JobSlot job) { return t_.jobs.state[job] != 'Q' || grows_exactly(job); };
    if (in_.policy->growth() &&
        (memory->last > in_.now || !std::ranges::all_of(memory->since.changed, grows_alike)))
        return false;
    if (!s_.weighted_priority) return true;
    if (!weighted_) queues_.set_up();  // weighted() needs the queues' jobs for the range
    return memory->urgencies && memory->urgencies == weighted().lasting_range();
}

void Intake::add_job(JobSlot job, JobClass job_class) {
    const OrderedJob candidate = ordered(job, job_class);
    if (!has_no_turn(candidate)) classes_[static_cast<std::size_t>(job_class)].push_back(candidate);
}

// Returns whether the formula's value for the job is at or below job_sort_formula_threshold. If so, gives the
// job a comment. The job has no turn and holds up no other job, as in OpenPBS.
bool Intake::is_under_threshold(const OrderedJob& job) {
    const auto& formula = in_.policy->formula;
    if (!s_.job_sort_formula_threshold || !formula || job.score > *s_.job_sort_formula_threshold)
        return false;
    if (t_.jobs.is_elsewhere(job.job)) {
        // A job on another server gets no comment.
    } else if (under_threshold_) {
        c_.refused.push_back({job.job, *under_threshold_});
    } else {
        c_.refuse(job.job, {ReasonCode::under_threshold});
        under_threshold_ = c_.refused.back().answer;
    }
    if (formula->changes_with_time()) state_.instants->insert(c_.usage_as_of() + std::chrono::minutes(1));
    return true;
}

bool Intake::is_refused_before(const OrderedJob& job) {
    for (const Filter* filter : before_turns_) {
        QueueView view;
        view.slot = t_.jobs.queue[job.job];
        view.queue = &t_.queues[view.slot];
        Candidate candidate;
        candidate.job = job.job;
        const Refusal refusal = ask_any_filter(*filter, state_, t_.jobs, candidate, view);
        if (!refusal) continue;
        if (!t_.jobs.is_elsewhere(job.job)) c_.refuse(job.job, refusal.reason);
        return true;
    }
    return false;
}

// Makes an OrderedJob. Looks up the nodes of queued jobs by request: with the same request they have the same
// number of nodes.
OrderedJob Intake::ordered(JobSlot job, JobClass job_class) {
    if (!p_.counts_nodes || in_.policy->has_scores()) {
        OrderedJob ordered{job, job_class, p_.counts_nodes ? c_.nodes_of_ordered(job) : 1,
                           t_.jobs.signature[job], 0};
        if (in_.policy->formula) {
            OrderContext context = order_context();
            if (in_.policy->formula->reads_priorities()) context.priorities = &weighted();
            ordered.score = in_.policy->formula->value(context, t_.resources, job);
        } else if (s_.weighted_priority) {
            ordered.score = weighted().order(job);
        }
        return ordered;
    }
    if (job_class == JobClass::running || c_.by_events)
        return {job, job_class, c_.nodes_of_ordered(job), t_.jobs.signature[job], 0};
    if (nodes_of_request_.empty()) nodes_of_request_.resize(t_.requests.size());
    std::uint32_t& nodes = nodes_of_request_[t_.jobs.request[job]];
    if (nodes == 0) nodes = c_.nodes_of_ordered(job);
    return {job, job_class, nodes, t_.jobs.signature[job], 0};
}

const WeightedPriority& Intake::weighted() {
    if (!weighted_) {
        std::vector<QueueSlot> queues;
        for (const Source& source : c_.setup.sources) queues.push_back(source.queue);
        if (state_.sums == nullptr) own_urgencies_.emplace();
        weighted_.emplace(s_, t_, state_.shares, in_.now, queues,
                          own_urgencies_ ? *own_urgencies_ : state_.sums->of<Urgencies>());
    }
    return *weighted_;
}

// The first instant at which a job is overdue or starving; Instant::max(): never.
Instant Intake::overdue_from(JobSlot job) const {
    if (s_.help_starving_jobs) return t_.jobs.eligible[job] + s_.max_starve + Seconds(1);
    Seconds most = s_.max_queued_time;
    if ((t_.jobs.flags[job] & job_interactive) != 0 && s_.interactive_long_wait > Seconds(0)) {
        if (!state_.prime_now) return Instant::max();
        most = t_.jobs.expected_walltime(job) + s_.interactive_long_wait;
    } else if (most <= Seconds(0)) {
        return Instant::max();
    }
    return t_.jobs.eligible[job] + most + Seconds(1);
}

JobClass Intake::class_by_time(JobSlot job) const {
    return overdue_from(job) <= in_.now ? JobClass::overdue : JobClass::normal;
}

std::optional<JobClass> Intake::class_of(JobSlot job) const {
    const QueueSlot queue = t_.jobs.queue[job];
    if (p_.intake == JobSource::every_queue)
        return c_.setup.in_place.contains(queue) ? std::optional(class_by_time(job)) : std::nullopt;
    const auto source = std::ranges::find(c_.setup.sources, queue, &Source::queue);
    if (source != c_.setup.sources.end()) return source->job_class ? *source->job_class : class_by_time(job);
    if (std::ranges::none_of(c_.setup.batch, [&](const QueueView* view) { return view->slot == queue; }))
        return std::nullopt;
    const auto origin = t_.strings.text(t_.jobs.origin_queue[job]);
    if (c_.setup.special != kNoSlot && origin == t_.queues[c_.setup.special].name) return JobClass::special;
    if (c_.setup.submit != kNoSlot && origin == t_.queues[c_.setup.submit].name) return class_by_time(job);
    return std::nullopt;
}

// Collects the jobs by class. Notes the first instant at which one becomes overdue, because filters may let
// it pass then.
void Intake::collect() {
    Instant due = Instant::max();
    const auto by_time = [&](JobSlot job) {
        const Instant from = overdue_from(job);
        if (from <= in_.now) return JobClass::overdue;
        due = std::min(due, from);
        return JobClass::normal;
    };
    for (const Source& source : c_.setup.sources) {
        const auto& queued = t_.queues[source.queue].queued;
        if (!source.job_class) classes_[static_cast<std::size_t>(JobClass::normal)].reserve(queued.size());
        for (const JobSlot job : queued) add_job(job, source.job_class ? *source.job_class : by_time(job));
    }
    if (due != Instant::max()) state_.instants->insert(due);
    add_requeued();
}

// Adds jobs that were started and requeued (by an operator, or because their machine failed). Such a job
// stays in the batch queue to which it was moved. It still counts as a job of the queue to which it was
// submitted, which also distinguishes it from jobs of the batch queue itself.
void Intake::add_requeued() {
    std::vector<QueueSlot> seen = {kNoSlot, c_.setup.submit, c_.setup.special};
    for (const QueueSpec& spec : s_.batch_queues) {
        const QueueSlot slot = t_.queues.find(spec.queue);
        if (std::ranges::find(seen, slot) != seen.end() || c_.setup.in_place.contains(slot)) continue;
        seen.push_back(slot);
        if (t_.queues[slot].partition != in_.partition) continue;
        for (const JobSlot job : t_.queues[slot].queued) {
            const auto takes_in = [&](const auto& rule) { return rule->takes_in(job, slot); };
            if (std::ranges::any_of(c_.after_refusal, takes_in)) continue;
            const auto job_class = class_of(job);
            if (!job_class) continue;
            if (*job_class == JobClass::normal && overdue_from(job) != Instant::max())
                state_.instants->insert(overdue_from(job));
            add_job(job, *job_class);
        }
    }
}

// Returns the user or the queue to whose lane (sorted list of pending jobs) the job belongs.
std::uint32_t Intake::lane_is_of(JobSlot job, JobClass job_class) const {
    if (queues_.starts_in_place(job_class)) return t_.jobs.queue[job];
    return queues_.has_lane_by_user(job_class) ? t_.jobs.user[job] : 0;
}

// Returns the entity to whose lane the job belongs. If lanes take turns by fair shares: the entity in the
// tree. If preemption levels depend on soft limits, which are the same for all jobs of a user: the user.
// Else: the number by which the deal (deal.h) splits lanes.
std::uint32_t Intake::entity_of(JobSlot job, const Deal* deal) const {
    if (s_.fairshare && state_.shares != nullptr) return state_.shares->entity(t_, job);
    if (c_.by_soft_limits) return t_.jobs.user[job];
    return deal != nullptr && deal->part != nullptr ? deal->part(t_.jobs, job) : 0;
}

PendingJobs::Entry Intake::entry_of(const OrderedJob& job, const Chain& chain, const Deal* deal,
                                    const LeastNeeds& needs) const {
    PendingJobs::Entry entry;
    entry.job = job.job;
    entry.signature = job.signature;
    entry.sequence = t_.jobs.sequence[job.job];
    entry.owner = t_.jobs.owner[job.job];
    entry.group = t_.jobs.group[job.job];
    OrderedJob as_kept = job;
    if (grows(job.job)) as_kept.score -= grown();
    order_key(chain, order_context(), as_kept, entry.key);
    put_preempted_first(job.job, entry.key);
    entry.size = job_size(job, t_.jobs.walltime[job.job], needs);
    // A suspended job may have kept the amounts that it needs.
    if (t_.jobs.is_suspended(job.job)) entry.size.ncpus = entry.size.mem = 0;
    // Others may start at a place of their own, or with a shorter walltime.
    const std::uint32_t request = t_.signatures[job.signature].request;
    if (t_.signatures[job.signature].run_host == 0 && !t_.jobs.is_suspended(job.job) &&
        least_walltime(t_, t_.requests[request]) == Seconds(0))
        entry.request = request;
    if (deal != nullptr && deal->charge != nullptr) entry.charge = deal->charge(s_, t_.jobs, job);
    entry.overdue_from = overdue_from(job.job).time_since_epoch().count();
    return entry;
}

// Replaces a preempted job's key, so that such jobs go first, in the order of their preemption. Of the
// comparators' numbers, the new key has only the first 64 bits; the job's number follows.
void Intake::put_preempted_first(JobSlot job, PendingKey& key) const {
    if (!is_preempted(job)) return;
    key = {static_cast<std::uint64_t>(t_.jobs.rare_fields(job).preempted_at.time_since_epoch().count()),
           key[0], t_.jobs.sequence[job]};
}

// Returns whether the jobs' order by their keys stays the same while no event concerns them.
bool Intake::order_lasts() {
    if (!order_lasts_) order_lasts_ = find_whether_order_lasts();
    return *order_lasts_;
}

bool Intake::find_whether_order_lasts() {
    if (s_.weighted_priority && !weighted().lasting_range()) return false;
    const auto exact = [&](const std::vector<OrderedJob>& jobs) {
        return std::ranges::all_of(jobs, [&](const OrderedJob& job) { return grows_exactly(job.job); });
    };
    if (in_.policy->growth() && !std::ranges::all_of(classes_, exact)) return false;
    return std::ranges::all_of(kQueuedClasses, [&](JobClass job_class) {
        const Chain& chain = p_.lane_chain(*in_.policy, job_class, state_.prime_now);
        return !changes_by_itself(chain, *in_.policy) &&
               key_bits(chain) <= std::tuple_size_v<PendingKey> * 64;
    });
}

// Returns whether the value of the formula grows for the job, as for all jobs that gain eligible time.
bool Intake::grows(JobSlot job) const {
    if (!in_.policy->growth() || !order_lasts_.value_or(true)) return false;
    const auto counted = t_.accrual(job);
    return !counted || counted->type == AccrueType::eligible;
}

// Returns whether the differences to the values of other such jobs stay the same to the last digit.
bool Intake::grows_exactly(JobSlot job) const {
    const auto counted = t_.accrual(job);
    if (counted && counted->type == AccrueType::eligible && counted->since > in_.now) return false;
    return in_.policy->formula->is_exact(order_context(), t_.resources, job);
}

// Returns how much such a value has grown since the Epoch.
double Intake::grown() const {
    return in_.policy->growth().value_or(0) * static_cast<double>(in_.now.time_since_epoch().count());
}

PendingKey Intake::key_now(LaneId id, PendingJobs::Position at) const {
    PendingKey key = pending_->key(id, at);
    const Lane& lane = (*pending_)[id];
    if (!lane.grows) return key;
    std::uint64_t& number = key[lane.preempted ? 1 : 0];  // put_preempted_first()
    number = ~ordered_bits(number_of_bits(~number) + grown());
    return key;
}

// Puts all collected jobs, sorted or not, into their lanes (sorted lists of pending jobs).
void Intake::load() {
    const bool kept = in_.keep_pending_jobs && order_lasts();
    pending_ = kept ? &in_.events->pending : &c_.scratch->pending;
    pending_->clear();
    std::vector<std::optional<LeastNeeds>> needs(t_.requests.size());
    for (const JobClass job_class : kQueuedClasses) {
        load(job_class, state_.prime_now, needs);
        // Free the memory; assigning {} wouldn't.
        std::vector<OrderedJob>().swap(classes_[static_cast<std::size_t>(job_class)]);
    }
    if (in_.events == nullptr) return;
    EventMemory& memory = *in_.events;
    memory.pending_known = kept;
    memory.policy = in_.policy;
    memory.prime_now = state_.prime_now;
    memory.by_growth = kept && in_.policy->growth();
    memory.urgencies = s_.weighted_priority ? weighted().lasting_range() : std::nullopt;
}

// Fills the lanes of a class. Jobs whose keys don't last are ordered by their index in the sorted list.
void Intake::load(JobClass job_class, bool prime_order, std::vector<std::optional<LeastNeeds>>& needs) {
    std::vector<OrderedJob>& jobs = classes_[static_cast<std::size_t>(job_class)];
    if (jobs.empty()) return;
    const Chain& chain = p_.lane_chain(*in_.policy, job_class, prime_order);
    const bool by_place = !order_lasts();
    const Chain none;
    prepare(chain, order_context(), jobs, state_.own);
    if (by_place) sort_by(chain, order_context(), jobs);
    const Deal* deal = lasting_deal_of(job_class);
    std::vector<PendingJobs::Beginning> lanes;
    std::vector<std::uint32_t> jobs_of;  // by lane: the number of its jobs
    std::vector<std::uint32_t> lane_by(std::max<std::size_t>(t_.strings.size(), t_.queues.size()) + 1,
                                       UINT32_MAX);
    std::unordered_map<LaneId, std::uint32_t> lane_by_entity;
    const bool by_entity = c_.by_soft_limits || (s_.fairshare && state_.shares != nullptr) ||
                           (deal != nullptr && deal->part != nullptr) || in_.policy->growth();
    struct InLane {
        std::uint32_t lane;
        std::uint32_t index;
    };
    std::vector<InLane> places;
    places.reserve(jobs.size());
    for (const OrderedJob& job : jobs) {
        std::uint32_t& lane =
            by_entity || is_preempted(job.job)
                ? lane_by_entity.try_emplace(lane_of(job.job, job_class, deal), UINT32_MAX).first->second
                : lane_by[lane_is_of(job.job, job_class)];
        if (lane == UINT32_MAX) {
            lane = static_cast<std::uint32_t>(lanes.size());
            lanes.push_back({lane_of(job.job, job_class, deal), {}});
            jobs_of.push_back(0);
        }
        places.push_back({lane, jobs_of[lane]++});
        const std::uint32_t request = t_.jobs.request[job.job];
        if (!needs[request]) needs[request] = least_needs(t_.requests[request], t_.resources);
    }
    share_out(jobs.size(), lanes.size(), [&](std::size_t lane) { lanes[lane].jobs.resize(jobs_of[lane]); });
    // The list is roughly in the order of the tables, so each thread takes a stretch of it, to read
    // neighbouring rows.
    constexpr std::size_t kStretch = 4096;
    share_out(jobs.size(), (jobs.size() + kStretch - 1) / kStretch, [&](std::size_t part) {
        for (std::size_t i = part * kStretch; i < std::min(jobs.size(), (part + 1) * kStretch); ++i) {
            PendingJobs::Entry& entry = lanes[places[i].lane].jobs[places[i].index];
            entry = entry_of(jobs[i], by_place ? none : chain, deal, *needs[t_.jobs.request[jobs[i].job]]);
            if (!by_place) continue;
            entry.key = {in_.policy->has_scores() ? ~ordered_bits(jobs[i].score) : 0, i};
            if (is_preempted(jobs[i].job)) entry.key[0] = i;
            put_preempted_first(jobs[i].job, entry.key);
        }
    });
    pending_->fill(lanes);
}

// Puts jobs that have arrived, changed, or become overdue or starving into their lanes (sorted lists) again.
void Intake::renew() {
    EventMemory& memory = *in_.events;
    auto& changed = memory.since.changed;
    pending_->find_due(in_.now, changed);
    sort_unique(changed);
    std::erase_if(changed, [&](JobSlot job) { return t_.jobs.state[job] != 'Q'; });
    for (const JobSlot job : changed) {
        pending_->remove(job);
        const auto job_class = class_of(job);
        if (!job_class) continue;
        const OrderedJob candidate = ordered(job, *job_class);
        if (has_no_turn(candidate)) continue;
        const Deal* deal = lasting_deal_of(*job_class);
        pending_->insert(lane_of(job, *job_class, deal),
                         entry_of(candidate, p_.lane_chain(*in_.policy, *job_class, state_.prime_now), deal,
                                  least_needs(t_.requests[t_.jobs.request[job]], t_.resources)));
    }
}

// Finds the jobs that this cycle considers in any case: those that have changed.
void Intake::find_news() {
    const PendingJobs& pending = *pending_;
    for (const JobSlot job : in_.events->since.changed)
        if (pending.contains(job)) news_.push_back({pending.lane_of(job), pending.position_of(job)});
    sort_unique(news_);
}

const Deal* Intake::deal_of(JobClass job_class, Instant at) const {
    for (const Deal* deal : p_.deals)
        if (deal->of_users == queues_.has_lane_by_user(job_class) &&
            !(deal->spares_overdue && job_class == JobClass::overdue) &&
            !(deal->by_shares && state_.shares == nullptr) && deal->wanted(s_, at))
            return deal;
    return nullptr;
}

}  // namespace pbs::sched
