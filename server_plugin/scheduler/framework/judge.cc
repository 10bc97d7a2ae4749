// The part of a cycle that tests each job by the filters, places it, and starts or refuses it.

#include "server_plugin/scheduler/framework/judge.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "server_plugin/scheduler/framework/range_search.h"
#include "server_plugin/scheduler/framework/shares.h"

namespace pbs::sched {
namespace {

// Chooses the reason for a job that no queue starts: that of the first queue into which the job fits; else of
// the first that admits it; else of the first queue.
class BestReason {
  public:
    void offer(const Reason& reason) {
        const Rank rank = rank_of(reason.code);
        if (rank <= rank_) return;
        rank_ = rank;
        reason_ = reason;
    }
    // Offers a reason that precedes all others of its rank.
    void put_first(const Reason& reason) {
        if (rank_of(reason.code) < rank_) return;
        rank_ = rank_of(reason.code);
        reason_ = reason;
    }
    bool is_nothing() const { return rank_ == Rank::none; }
    const Reason& reason() const { return reason_; }
    bool fits() const { return rank_ > Rank::unfit; }

  private:
    enum class Rank : std::uint8_t { none, unfit, not_allowed, fits };
    static Rank rank_of(ReasonCode code) {
        if (code >= ReasonCode::above_queue_maximum && code <= ReasonCode::above_queue_nodes)
            return Rank::unfit;
        return code == ReasonCode::not_in_acl ? Rank::not_allowed : Rank::fits;
    }
    Rank rank_ = Rank::none;
    Reason reason_;
};

// Sets a flag to true for its own lifetime.
class Trial {
  public:
    explicit Trial(bool& flag) : flag_(flag) { flag_ = true; }
    ~Trial() { flag_ = false; }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

  private:
    bool& flag_;
};

}  // namespace

Seconds least_walltime(const Tables& tables, const Request& request) {
    const std::uint32_t min_walltime = tables.resources.known().min_walltime;
    if (min_walltime == kNoResource) return Seconds(0);
    const auto asked = std::ranges::find(request.amounts, min_walltime, &KeptAmount::resource);
    return asked == request.amounts.end() ? Seconds(0) : Seconds(asked->number);
}

Blockers Judge::consider(const OrderedJob& job, CandidateQueues& queues, std::uint32_t user) {
    if (!c_.second_pass) ++c_.considered;
    for (const auto& log : c_.logs) log->turn(job, queues);
    Category category = in_.categories ? category_of(job, queues, user) : Category{};
    Verdict* const known = category.verdict;
    const auto refuse = [&](Verdict& verdict) {
        const Blockers of_user = verdict.by_user ? category.of_user : 0;
        return refused(job, verdict, queues, of_user);
    };
    const std::int64_t together = c_.together(job.job);
    const auto may_make_room = [&](const Verdict& verdict) {
        return c_.preempts && verdict.waits && !verdict.rejected && together == 1;
    };
    const bool is_known =
        known != nullptr && known->reason && (known->lasting || known->starts == started_.size());
    if (is_known && !may_make_room(*known)) return refuse(*known);
    Candidate c = c_.candidate(job);
    if (is_known) {
        QueueView* const view = room_made(job, c, *known, queues);
        if (view == nullptr) return refuse(*known);
        start(c, *view);
        return blocker::kAnything;
    }
    if (known != nullptr && category.standing != nullptr && !category.by_signature)
        category.of_signature = answers_of_signature(job, queues, *category.standing);
    Verdict verdict = judge(job, c, queues, category);
    if (verdict.view == nullptr && !verdict.rejected) shorten(job, c, queues, verdict);
    if (verdict.view != nullptr) grow(job, c, queues, verdict);
    if (verdict.view != nullptr && together > 1 && start_together(job, c, queues, together, verdict))
        return blocker::kAnything;
    verdict.starts = static_cast<std::uint32_t>(started_.size());
    if (verdict.view == nullptr && may_make_room(verdict)) verdict.view = room_made(job, c, verdict, queues);
    if (verdict.view != nullptr) {
        start(c, *verdict.view);
        return blocker::kAnything;
    }
    if (known == nullptr || verdict.of_job) return refuse(verdict);
    *known = verdict;
    return refuse(*known);
}

// Decides whether and where the job may start. Tests it in its own queue first, then in the queues in which
// it may start.
Verdict Judge::judge(const OrderedJob& job, Candidate& c, CandidateQueues& queues, const Category& category) {
    Verdict verdict;
    const QueueSlot home = t_.jobs.queue[job.job];
    if (const Reason reason = c_.held_up_reason(queues.empty() ? nullptr : queues[0])) {
        verdict.reason = reason;
        verdict.blockers = blocker::kHeldUp;
    } else if (!t_.queues[home].started) {
        verdict.reason = c_.not_started_reason(home);
    } else if (const Refusal other_time = execution_type_refusal(state_, home)) {
        verdict.reason = other_time.reason;
        verdict.later = true;
        verdict.blockers = blockers_of(other_time);
    } else {
        return ask(job, c, queues, category);
    }
    return verdict;
}

// For a job that can't start with its requested walltime: finds the longest walltime, not below its
// min_walltime, with which it can. No filter refuses a shorter walltime and lets a longer one pass, so
// bisection finds it.
void Judge::shorten(const OrderedJob& ordered, Candidate& job, CandidateQueues& queues, Verdict& verdict) {
    const Seconds least = least_walltime(t_, *job.request);
    if (least <= Seconds(0) || least >= job.asked || job.suspended != kNoSlot ||
        job.hard_walltime > Seconds(0))
        return;
    Candidate shorter = job;
    const Trial trial(tries_);
    const auto ask_with = [&](Seconds walltime) {
        shorter.asked = walltime;
        shorter.walltime = walltime + state_.planning.offset;
        return judge(ordered, shorter, queues, {});
    };
    const Verdict with_least = ask_with(least);
    if (with_least.view == nullptr) {
        verdict.reason = with_least.reason;
        verdict.blockers |= with_least.blockers;
        verdict.lasting = verdict.lasting && with_least.lasting;
        verdict.waits = verdict.waits || with_least.waits;
        verdict.later = verdict.later || with_least.later;
        verdict.crosses = verdict.crosses || with_least.crosses;
        verdict.of_job = verdict.of_job || with_least.of_job;
        return;
    }
    Seconds starts = least;
    for (Seconds refused = job.asked; refused - starts > Seconds(1);) {
        const Seconds between = starts + (refused - starts) / 2;
        (ask_with(between).view != nullptr ? starts : refused) = between;
    }
    verdict = ask_with(starts);
    job = shorter;
}

// Gives a job with a select_range that can start the greatest number of chunks with which it can start.
void Judge::grow(const OrderedJob& ordered, Candidate& job, CandidateQueues& queues, Verdict& verdict) {
    if (!RangeSearch::is_for(c_, job)) return;
    const Trial trial(tries_);
    RangeSearch search(c_, job);
    search.grow(*verdict.view, [&] {
        verdict = judge(ordered, job, queues, {});
        return verdict.view != nullptr;
    });
    assert(verdict.view != nullptr);
    search.keep();
}

// Returns the filter that refused the job, if its answer is the same in other queues, so that the job needn't
// be tested there. Null: there is none, or a rule has to see each refusal of the filter.
const Filter* Judge::same_elsewhere(const Candidate& job, const QueueView& view, const FilterRefusal& refusal,
                                    const Standing* standing) const {
    if (!in_.categories || refusal.filter >= view.filters.size() || job.asked < Seconds(0)) return nullptr;
    const Filter* filter = view.filters[refusal.filter];
    if (filter->is_same_in == nullptr || (filter->traits & c_.watched) != 0) return nullptr;
    const bool reads_user = (standing == nullptr || standing->apart) && filter->reads_user_of(state_, view);
    return reads_user ? nullptr : filter;
}

// Returns the bits of the queues that refuse the job's signature for good. Null: no such bits are kept,
// because they would save nothing (for a single queue), or because jobs of other classes may get other
// answers.
std::uint64_t* Judge::refused_for_good(const OrderedJob& job, CandidateQueues& queues) const {
    if (tries_ || !in_.categories || queues.size() < 2 || queues.size() > RefusedForGood::kMostQueues ||
        job.job_class != JobClass::normal)
        return nullptr;
    return &queues.refused_for_good.of(t_.signatures, job.signature);
}

// Returns whether the refusal comes from the queue's first filter, and depends only on the signature and the
// configuration.
bool Judge::is_for_good(const QueueView& view, const FilterRefusal& refusal) {
    if (refusal.filter != 0 || view.filters.empty()) return false;
    const Filter& filter = *view.filters.front();
    return std::holds_alternative<OfSignature>(filter.check) && (filter.traits & ~by_limits_only) == 0 &&
           refusal.refusal.blockers == blocker::kConfiguration && !refusal.refusal.until;
}

// Tests the job in one queue after the other, until one starts it. The reason for a job that no queue starts
// is chosen by BestReason.
Verdict Judge::ask(const OrderedJob& ordered, Candidate& job, CandidateQueues& queues,
                   const Category& category) {
    const Standing* standing = category.standing;
    Verdict verdict;
    for (std::uint32_t i = 0; i < c_.admissions.size(); ++i) {
        const bool by_user = standing != nullptr && c_.admissions[i]->is_of_group();
        Refusal refusal;
        if (!by_user)
            refusal = ask_admission(*c_.admissions[i], state_, job);
        else if (standing->admission.filter == i)
            refusal = standing->admission.refusal;
        if (!refusal) continue;
        verdict.reason = refusal.reason;
        if (by_user)
            verdict.by_user = true;
        else
            verdict.blockers = refusal.blockers;
        verdict.rejected = is_rejection(refusal.reason.code);
        return verdict;
    }
    BestReason best;
    // The filter that would also refuse the job in some of the other queues.
    const Filter* refuser = nullptr;
    const QueueView* refused_in = nullptr;
    std::uint64_t* const for_good = refused_for_good(ordered, queues);
    // The first queue that is known to refuse for good, if the job was tested in none before it.
    QueueView* refuses_for_good = nullptr;
    for (std::size_t t = 0; t < queues.size(); ++t) {
        QueueView* const view = queues[t];
        const bool other_pass = view->early != c_.second_pass && job.job_class == JobClass::normal;
        if (other_pass && c_.second_pass) continue;
        if (refuser != nullptr && refuser->is_same_in(*refused_in, *view)) continue;
        if (for_good != nullptr && (*for_good >> t & 1) != 0) {
            if (best.is_nothing() && refuses_for_good == nullptr) refuses_for_good = view;
            continue;
        }
        c_.set_walltime(job, *view);
        find_filters(*view);
        const FilterRefusal refusal =
            standing == nullptr ? first_refusal(job, *view)
            : category.by_signature
                ? first_refusal(job, *view, by_users_only)
                : first_refusal(job, *view, standing->queues[t], standing->apart,
                                category.of_signature ? category.of_signature + t : nullptr);
        if (refusal.refusal) {
            weigh(refusal, job, *view, verdict, standing != nullptr);
            best.offer(refusal.refusal.reason);
            if (for_good != nullptr && is_for_good(*view, refusal)) *for_good |= std::uint64_t{1} << t;
            if (const Filter* filter = same_elsewhere(job, *view, refusal, standing)) {
                refuser = filter;
                refused_in = view;
            }
        } else if (other_pass) {
            verdict.blockers |= blocker::kAnything;
            best.offer({ReasonCode::next_pass, view->slot});
        } else {
            verdict.view = view;
            return verdict;
        }
    }
    if (refuses_for_good != nullptr && !best.fits()) {
        c_.set_walltime(job, *refuses_for_good);
        find_filters(*refuses_for_good);
        best.put_first(first_refusal(job, *refuses_for_good).refusal.reason);
    }
    verdict.reason = best.reason();
    if (!best.fits() && &queues == &queues_.batch() && !c_.second_pass) return rejection(job);
    return verdict;
}

// Rejects a job that fits no batch queue; but not if a batch queue is missing, since the job might fit that
// one.
Verdict Judge::rejection(const Candidate& job) {
    Verdict verdict;
    for (const QueueSpec& spec : s_.batch_queues) {
        if (t_.queues.find(spec.queue) != kNoSlot) continue;
        verdict.reason = {ReasonCode::no_such_queue, UINT32_MAX, t_.strings.id(spec.queue)};
        return verdict;
    }
    if (queues_.batch().empty()) {
        verdict.reason = {ReasonCode::no_batch_queues};
        return verdict;
    }
    verdict.rejected = true;
    verdict.reason = {ReasonCode::fits_no_queue, UINT32_MAX, 0, job.nodes, job.asked.count()};
    return verdict;
}

QueueView* Judge::room_made(const OrderedJob& job, Candidate& candidate, Verdict& verdict,
                            CandidateQueues& queues) {
    // Jobs of a reservation use its booking, so nothing has to be freed for them.
    const bool is_reservation = !queues.empty() && queues[0]->is_reservation;
    if (t_.jobs.is_elsewhere(job.job) || is_reservation) return nullptr;
    for (const auto& rule : c_.after_refusal)
        if (QueueView* view = rule->makes_room(job, candidate, verdict.blockers, queues)) return view;
    return nullptr;
}

Reason Judge::reason_in(const Candidate& job, QueueView& view, Blockers& blockers) {
    find_filters(view);
    const FilterRefusal refusal = first_refusal(job, view);
    blockers = refusal.refusal ? blockers_of(refusal.refusal) : Blockers{0};
    return refusal.refusal.reason;
}

Reason Judge::ask_queue(const Candidate& job, QueueView& view, Verdict& verdict) {
    find_filters(view);
    const FilterRefusal refusal = first_refusal(job, view);
    if (refusal.refusal) weigh(refusal, job, view, verdict);
    return refusal.refusal.reason;
}

bool Judge::may_start(const OrderedJob& job, CandidateQueues& queues) {
    Candidate c = c_.candidate(job);
    const bool only_asked = std::exchange(state_.only_asked, true);
    const Verdict verdict = judge(job, c, queues, {});
    state_.only_asked = only_asked;
    return verdict.view != nullptr || !verdict.lasting;
}

Reason Judge::start_if_room(const Candidate& job, QueueView& view, PoolId pool) {
    const PoolId own = std::exchange(view.pool, pool);
    const Reason reason = refusal_about(places, job, view);
    view.pool = own;
    if (!reason) start(job, view);
    return reason;
}

Reason Judge::refusal_about(FilterTrait trait, const Candidate& job, QueueView& view) {
    for (const Filter* filter : p_.filters)
        if ((filter->traits & trait) != 0)
            if (const Refusal refusal = c_.check(*filter, job, view)) return refusal.reason;
    return {};
}

// Returns the blockers of a refusal. Adds the instant that may lift it to CycleState::instants.
Blockers Judge::blockers_of(const Refusal& refusal) {
    if (!refusal.until) return refusal.blockers;
    if (*refusal.until != Instant::max() && *refusal.until != last_instant_)
        state_.instants->insert(last_instant_ = *refusal.until);
    return refusal.blockers | blocker::time(*refusal.until);
}

// Adds the consequences of a refusal, apart from its reason, to the verdict.
void Judge::weigh(const FilterRefusal& refused, const Candidate& job, QueueView& view, Verdict& verdict,
                  bool by_standing) {
    const Refusal& refusal = refused.refusal;
    const bool of_job = refused.filter >= view.filters.size();
    verdict.of_job = verdict.of_job || of_job;
    const Filter& filter =
        of_job ? *view.job_filters[refused.filter - view.filters.size()] : *view.filters[refused.filter];
    if (by_standing && filter.is_of_user())
        verdict.by_user = true;
    else
        verdict.blockers |= blockers_of(refusal);
    verdict.lasting = verdict.lasting && !refusal.is_lifted_by_start();
    verdict.waits = verdict.waits || refusal.waits_for_jobs();
    verdict.later = verdict.later || refusal.until.has_value();
    verdict.crosses = verdict.crosses || crosses_a_boundary(refusal.reason.code);
    if ((filter.traits & c_.watched) == 0) return;
    for (const auto& rule : c_.after_refusal)
        if ((filter.traits & rule->watched) != 0) rule->was_refused(job, view);
}

void Judge::start(const Candidate& job, QueueView& view) {
    assert(!state_.looking_ahead && !state_.only_asked);  // estimates and explanations decide nothing
    charge(job, view, state_.placement, 1);
    note_start(job, view, std::exchange(state_.placement, {}));
}

// Adds a job that starts to what the filters read (sign 1); or takes the job out, if it was the last one that
// was added (sign -1).
void Judge::charge(const Candidate& job, QueueView& view, const Placement& placement, int sign) {
    Vnodes::Shares shares;
    const LimitUser user = limit_user(state_, job, job.user, view, placement, shares);
    use_spare(state_, user, state_.now, state_.ends(job), sign);
    for (const OwnLimit* limit : state_.own_limits) limit->count(state_, user, sign);
    state_.vnodes->use_reserved(placement, *job.request, state_.place_rules(job, view), sign);
    if (sign > 0)
        state_.vnodes->assume(placement, *job.request, c_.vnode_share());
    else
        state_.vnodes->forget(placement, *job.request, c_.vnode_share());
    queues_.count_into(view, job.job, sign);
    if (view.dedicated) state_.dedicated_running += sign;
    state_.running += sign;
    t_.count_use(view.slot, t_.counted(job.job), sign);
    state_.count_in_server(*job.request, sign);
    for (ServerAmount& amount : state_.server_amounts)
        if (amount.is_told() && !amount.given_back)
            amount.in_use += sign * number_of(job.request->totals, amount.available.resource).value_or(0);
}

// Notes the start of a job that is charged.
void Judge::note_start(const Candidate& job, QueueView& view, Placement placement, std::int64_t together) {
    forget_sets(placement, *job.request);
    view.empties = std::max(view.empties, state_.ends(job));
    for (const Admission* admission : c_.admissions)
        if (admission->started != nullptr) admission->started(state_, job);
    for (const Filter* filter : c_.filters)
        if (filter->started != nullptr) filter->started(state_, job);
    expect_usage(job.job);
    // The number of starts that a standing lasts for comes from the requests that there were when the cycle
    // began. A job that starts with another request (select_range) may be larger: it ends the standings of
    // its owner and group, and those of all users are compared again.
    const std::uint64_t starts = c_.resized.contains(job.job) ? kEndsAll : 1;
    clock_ += starts;
    if (!starts_of_owner_.empty()) {
        starts_of_owner_[job.user.owner] += starts;
        starts_of_group_[job.user.group] += starts;
    }
    started_.push_back({job.job, &view, std::move(placement), state_.ends(job), job.asked,
                        !c_.preempted.empty(), static_cast<std::uint32_t>(together)});
    if (refusal_of_.empty()) return;
    if (auto& refusal = refusal_of_[job.job]; refusal != 0) {
        c_.refused[refusal - 1].job = kNoSlot;
        refusal = 0;
    }
}

// If a started job has vnodes of a placement set exclusively, forgets refusals because of full placement
// sets: the refused jobs may use any vnodes then.
void Judge::forget_sets(const Placement& placement, const Request& request) {
    const bool waits = in_.events != nullptr && in_.events->refused_by_sets;
    if (state_.refused_by_sets == 0 && !waits) return;
    const auto alone = [&](const Part& part) {
        return state_.vnodes->sole(part.vnode, request.sharing) != Sole::nothing;
    };
    if (std::ranges::none_of(placement.parts, alone)) return;
    c_.room_everywhere = true;
    if (std::exchange(sets_known_, state_.refused_by_sets) != state_.refused_by_sets) forget();
}

// Counts the coming usage of a job that starts, or gets a reservation, for the order of later jobs.
void Judge::expect_usage(JobSlot job) {
    if (!s_.fairshare || state_.shares == nullptr) return;
    SchedShares& shares = *state_.shares;
    shares.tree.expect(shares.entity(t_, job), shares.expected(t_, job));
}

std::uint32_t& Judge::no_start_known(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues) {
    const bool for_itself =
        std::ranges::any_of(queues, [](const QueueView* view) { return !view->job_filters.empty(); });
    if (for_itself) return verdict.no_start = 0;
    if (!in_.categories || !reads_user(queues)) return verdict.no_start;
    return no_start_of_user_[{job.signature, t_.jobs.owner[job.job], t_.jobs.group[job.job], job.job_class}];
}

void Judge::begin_second_pass() {
    done_with_.assign(t_.jobs.handle.size(), false);
    for (const Started& started : started_) done_with_[started.job] = true;
    refusal_of_.assign(t_.jobs.handle.size(), 0);
    for (std::uint32_t i = 0; i < c_.refused.size(); ++i) {
        refusal_of_[c_.refused[i].job] = i + 1;
        if (c_.answers[c_.refused[i].answer].rejected) done_with_[c_.refused[i].job] = true;
    }
    forget();
    // Standings depend on the reservations, which are made anew; their number, by which standings are
    // compared, may be the same.
    queues_.batch().standings = {};
}

void Judge::forget() {
    for (auto& places : verdict_of_) places.clear();
    for (auto& places : answers_of_signature_) places.clear();
    answers_of_few_.clear();
    verdict_of_user_.clear();
    no_start_of_user_.clear();
}

void Judge::fetch(JobClass job_class, std::uint32_t signature) const {
    const auto& of_signature = verdict_of_[static_cast<std::size_t>(job_class)];
    if (signature < of_signature.size()) __builtin_prefetch(&of_signature[signature]);
}

bool Judge::fetch_known(JobClass job_class, JobSlot job, std::uint32_t signature) const {
    const auto& of_signature = verdict_of_[static_cast<std::size_t>(job_class)];
    if (tells_users_apart_ || signature >= of_signature.size() || of_signature[signature] == 0) return false;
    if (!user_numbers_.empty()) __builtin_prefetch(&t_.jobs.user[job]);
    __builtin_prefetch(&verdicts_[of_signature[signature] - 1]);
    return true;
}

Blockers Judge::refused(const OrderedJob& job, Verdict& verdict, CandidateQueues& queues, Blockers of_user) {
    const Blockers blockers = verdict.blockers | of_user;
    if (t_.jobs.is_elsewhere(job.job)) return blockers;
    if (verdict.answer == UINT32_MAX) {
        verdict.answer = static_cast<std::uint32_t>(c_.answers.size());
        c_.answers.push_back({verdict.reason, verdict.rejected});
    }
    if (!c_.second_pass)
        c_.refused.push_back({job.job, verdict.answer});
    else if (auto& first = c_.refused[refusal_of_[job.job] - 1].answer;
             c_.answers[first].reason.code == ReasonCode::next_pass)
        first = verdict.answer;
    if (verdict.rejected || !(verdict.waits || verdict.later)) return blockers;
    if (!queues.empty() && queues[0]->is_reservation) return blockers;
    // Nothing is reserved for an array whose subjobs start together, and it holds up no others.
    if (c_.together(job.job) > 1) return blockers;
    for (const auto& rule : c_.after_refusal) rule->refused(job, verdict, queues);
    return blockers;
}

}  // namespace pbs::sched
