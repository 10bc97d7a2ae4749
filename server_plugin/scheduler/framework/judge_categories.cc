// The functions of Judge that store answers of filters, and find the jobs for which an answer holds.

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/framework/judge.h"

namespace pbs::sched {

// reads_user_too: with the signature, the owner and the group.
enum ReadsUser : unsigned { reads_owner = 1, reads_group = 2, reads_user_too = 4 };

// Returns which facts about a user the filters of these queues read, as ReadsUser.
unsigned Judge::user_reads_of(CandidateQueues& queues) const {
    if (queues.user_reads) return *queues.user_reads;
    unsigned reads = 0;
    for (const Admission* admission : c_.admissions)
        if (admission->is_of_group()) reads |= reads_group;
    for (QueueView* view : queues) {
        find_filters(*view);
        for (const Filter* filter : view->filters) {
            if (filter->is_of_owner()) reads |= reads_owner;
            if (filter->is_of_group()) reads |= reads_group;
            if (filter->reads_user_of(state_, *view)) reads |= reads_user_too;
        }
    }
    queues.user_reads = reads;
    return reads;
}

// Finds where the verdict for the job's category is stored, and the stored answers about its user. No verdict
// is stored if no other job has the same signature.
Category Judge::category_of(const OrderedJob& job, CandidateQueues& queues, std::uint32_t of) {
    Category category;
    const bool is_shared = t_.signatures.is_shared(job.signature);
    std::uint32_t standing = 0;
    if (const unsigned reads = user_reads_of(queues); reads != 0) {
        if (const auto* user = restricted(of != UINT32_MAX ? of : t_.jobs.user[job.job], job, queues)) {
            standing = user->standing;
            category.of_user = user->blockers;
        }
        category.standing = &queues.standings[standing];
        category.by_signature =
            (standing == 0 || !category.standing->apart) && (reads & (reads_owner | reads_group)) == 0;
    }
    if (!is_shared) return category;
    std::uint32_t* place = nullptr;
    if (standing == 0 && !c_.by_events) {
        auto& of_signature = verdict_of_[static_cast<std::size_t>(job.job_class)];
        if (of_signature.empty()) of_signature.resize(t_.signatures.size());
        place = &of_signature[job.signature];
    } else {
        const auto job_class = static_cast<std::uint64_t>(job.job_class);
        place = &verdict_of_user_[job_class << 61 | std::uint64_t{standing} << 32 | job.signature];
    }
    if (*place == 0) {
        verdicts_.emplace_back();
        *place = static_cast<std::uint32_t>(verdicts_.size());
    }
    category.verdict = &verdicts_[*place - 1];
    return category;
}

// Returns the standing of the job's user, as standing_of(); null: the user surely gets no refusals.
const Standings::User* Judge::restricted(std::uint32_t who, const OrderedJob& job, CandidateQueues& queues) {
    const std::uint64_t kept = state_.reservations.size() + c_.preempted.size();
    if (kept != kept_) {
        kept_ = kept;
        clock_ += kEndsAll;
    }
    if (who < user_numbers_.size() && queues.standings.is_clear(user_numbers_[who], clock_)) return nullptr;
    return &standing_of(who, job, queues);
}

bool Judge::is_closed_to(const OrderedJob& job, CandidateQueues& queues) {
    if (queues.empty() || (user_reads_of(queues) & (reads_owner | reads_group)) == 0) return false;
    const Standings::User* const user = restricted(t_.jobs.user[job.job], job, queues);
    if (user == nullptr) return false;
    const Standing& standing = queues.standings[user->standing];
    return !standing.admission.refusal &&
           std::ranges::all_of(standing.queues, [](const FilterRefusal& of_user) {
               const Refusal& refusal = of_user.refusal;
               return refusal && (refusal.blockers & ~blocker::kUsesOfUsers) == 0 && !refusal.until;
           });
}

// Returns the standing of the job's user (the refusals that its jobs get because of the user). `who`: the
// user's number in JobTable::user. The standing is computed again when the cycle has started as many jobs of
// the same owner or group (whichever the filters read) as the standing lasts for, or has made a reservation.
const Standings::User& Judge::standing_of(std::uint32_t who, const OrderedJob& job, CandidateQueues& queues) {
    if (user_numbers_.empty()) {
        user_numbers_.assign(t_.strings.size(), UINT32_MAX);
        starts_of_owner_.resize(t_.strings.size());
        starts_of_group_.resize(t_.strings.size());
    }
    auto& number = user_numbers_[who];
    if (number == UINT32_MAX) number = users_++;
    Standings::User& user = queues.standings.user(number);
    if (user.kept == UINT64_MAX) {
        user.owner = t_.jobs.owner[job.job];
        user.group = t_.jobs.group[job.job];
    }
    const unsigned reads = *queues.user_reads;
    const bool both = (reads & reads_user_too) != 0;
    const bool of_owner = both || (reads & reads_owner) != 0;
    const bool of_group = both || (reads & reads_group) != 0;
    const std::uint64_t starts =
        (of_owner ? starts_of_owner_[user.owner] : 0U) + (of_group ? starts_of_group_[user.group] : 0U);
    if (user.kept != kept_ || starts - user.starts >= static_cast<std::uint64_t>(user.lasts)) {
        user.starts = starts;
        user.kept = kept_;
        user.blockers = find_standing(c_.candidate(job), queues);
        user.lasts = standing_lasts_;
        queues.standings.change(user, standing_);
        tells_users_apart_ = tells_users_apart_ || user.standing != 0;
    }
    // A start counts twice if owner and group count, and the job is of both.
    const std::uint64_t left = static_cast<std::uint64_t>(user.lasts) - (starts - user.starts);
    queues.standings.hold(number, clock_ + std::min(of_owner && of_group ? left - left / 2 : left, kEndsAll));
    return user;
}

// Stores the refusals of the job's user in `standing_`, and in `standing_lasts_` how many starts of the owner
// or group change them at the earliest. Returns their blockers.
Blockers Judge::find_standing(const Candidate& job, const CandidateQueues& queues) {
    Blockers blockers = 0;
    standing_.admission = {};
    standing_.queues.assign(queues.size(), {});
    standing_lasts_ = kNever;
    for (std::uint32_t i = 0; i < c_.admissions.size() && !standing_.admission.refusal; ++i) {
        if (!c_.admissions[i]->is_of_group()) continue;
        standing_lasts_ = 1;
        if (const Refusal refusal = ask_admission(*c_.admissions[i], state_, job)) {
            standing_.admission = {i, refusal};
            blockers |= refusal.blockers;
        }
    }
    bool apart =
        std::ranges::any_of(c_.after_refusal, [](const auto& rule) { return rule->tells_users_apart(); });
    for (std::size_t t = 0; t < queues.size(); ++t) {
        QueueView& view = *queues[t];
        find_filters(view);
        for (const std::uint32_t i : view.of_users) {
            const Filter& filter = *view.filters[i];
            if (!apart && filter.reads_user_of(state_, view)) {
                const std::int64_t starts =
                    filter.refuses_after != nullptr ? filter.refuses_after(state_, job.user, view) : 0;
                apart = starts == 0;
                if (!apart) standing_lasts_ = std::min(standing_lasts_, starts);
            }
            if (!filter.is_of_user()) continue;
            if (const Limit* const limit = filter.limit()) {
                const std::int64_t starts = limit->refuses_after(state_, job.user, view);
                if (starts > 0) {
                    standing_lasts_ = std::min(standing_lasts_, starts);
                    continue;
                }
            } else {
                standing_lasts_ = 1;
            }
            if (const Refusal refusal = c_.check(filter, job, view)) {
                standing_.queues[t] = {i, refusal};
                blockers |= blockers_of(refusal);
                break;
            }
        }
    }
    standing_.apart = apart;
    standing_.owner = apart ? job.user.owner : 0;
    standing_.group = apart ? job.user.group : 0;
    return blockers;
}

// Returns the stored answers of filters about the job's signature (categories.h), one for each candidate
// queue; makes empty ones if there are none.
SignatureAnswer* Judge::answers_of_signature(const OrderedJob& job, const CandidateQueues& queues,
                                             const Standing& standing) {
    const std::size_t kind = static_cast<std::size_t>(job.job_class) + (standing.apart ? 6 : 0);
    auto& places = answers_of_signature_[kind];
    if (places.empty() && !c_.by_events) places.resize(t_.signatures.size());
    std::uint32_t& place =
        c_.by_events ? answers_of_few_[std::uint64_t{kind} << 32 | job.signature] : places[job.signature];
    if (place == 0) {
        place = static_cast<std::uint32_t>(signature_answers_.size()) + 1;
        signature_answers_.resize(signature_answers_.size() + queues.size());
    }
    return &signature_answers_[place - 1];
}

void Judge::find_filters(QueueView& view) const {
    if (std::exchange(view.filters_known, true)) return;
    view.filters.clear();
    view.of_users.clear();
    view.job_filters.clear();
    const QueueFacts& facts = view.facts;
    for (const Filter* filter : c_.filters)
        if (!filter->lets_all_pass(facts) &&
            // In the queue of an advance reservation, whose times are fixed, filters about time aren't
            // called.
            !(view.is_reservation && (filter->traits & (about_time | about_prime)) != 0))
            (filter->is_of_job() ? view.job_filters : view.filters).push_back(filter);
    for (std::uint32_t i = 0; i < view.filters.size(); ++i)
        if (view.filters[i]->may_read_user()) view.of_users.push_back(i);
}

FilterRefusal Judge::first_refusal(const Candidate& job, QueueView& view, unsigned except) {
    for (std::uint32_t i = 0; i < view.filters.size(); ++i) {
        if ((view.filters[i]->traits & except) != 0) continue;
        if (const Refusal refusal = c_.check(*view.filters[i], job, view)) return {i, refusal};
    }
    return first_refusal_of_job(job, view);
}

// Returns the first refusal by a filter that is called for each job. Such filters are numbered after all
// others.
FilterRefusal Judge::first_refusal_of_job(const Candidate& job, QueueView& view) {
    const auto others = static_cast<std::uint32_t>(view.filters.size());
    for (std::uint32_t i = 0; i < view.job_filters.size(); ++i)
        if (const Refusal refusal = c_.check(*view.job_filters[i], job, view)) return {others + i, refusal};
    return {};
}

// Returns the first refusal of the job by the queue's filters, using known answers. Filters of owners and
// groups aren't called again; nor are those that let all jobs of the user pass, if the user isn't `apart`
// (Standing); nor is any filter if the signature is known to be refused whatever else starts.
FilterRefusal Judge::first_refusal(const Candidate& job, QueueView& view, const FilterRefusal& of_user,
                                   bool apart, SignatureAnswer* of_signature) {
    const auto end = std::min(of_user.filter, static_cast<std::uint32_t>(view.filters.size()));
    if (of_signature != nullptr) {
        if (const std::uint32_t i = of_signature->refused_by; i < end) {
            const Filter& filter = *view.filters[i];
            const bool is_kept = (filter.traits & places) != 0;
            return {i, is_kept ? signature_refusals_[of_signature->refusal] : c_.check(filter, job, view)};
        }
        if (of_user.refusal && of_signature->passed >= end && of_signature->starts == started_.size())
            return of_user;
    }
    const auto passes = [&](std::uint32_t filters) {
        of_signature->passed = filters;
        of_signature->starts = static_cast<std::uint32_t>(started_.size());
    };
    bool of_signature_only = of_signature != nullptr;
    for (std::uint32_t i = 0; i < end; ++i) {
        const Filter& filter = *view.filters[i];
        if (filter.is_of_user() || (!apart && (filter.traits & by_users_only) != 0)) continue;
        if (apart && of_signature_only && filter.reads_user_of(state_, view)) {
            of_signature_only = false;
            passes(i);
        }
        const FilterRefusal refusal{i, c_.check(filter, job, view)};
        if (!refusal.refusal) continue;
        if (of_signature_only && !refusal.refusal.is_lifted_by_start()) {
            of_signature->refused_by = i;
            of_signature->refusal = static_cast<std::uint32_t>(signature_refusals_.size());
            if ((filter.traits & places) != 0) signature_refusals_.push_back(refusal.refusal);
        }
        return refusal;
    }
    if (of_signature_only) passes(end);
    return of_user.refusal ? of_user : first_refusal_of_job(job, view);
}

}  // namespace pbs::sched
