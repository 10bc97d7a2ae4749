// A cycle: which answers hold for which jobs.

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/framework/cycle_parts.h"

namespace pbs::sched {

enum ReadsUser : unsigned { reads_owner = 1, reads_group = 2 };

// What of a user the filters of these queues read.
unsigned Cycle::user_reads_of(Targets& targets) const {
    if (targets.user_reads) return *targets.user_reads;
    unsigned reads = 0;
    for (const Admission* admission : admissions_)
        if (admission->is_of_group()) reads |= reads_group;
    for (QueueView* view : targets) {
        find_filters(*view);
        for (const Filter* filter : view->filters) {
            if (filter->is_of_owner()) reads |= reads_owner;
            if (filter->is_of_group()) reads |= reads_group;
            if (filter->reads_user_of(state_, *view)) reads |= reads_owner | reads_group;
        }
    }
    targets.user_reads = reads;
    return reads;
}

bool Cycle::reads_user(Targets& targets) const {
    return user_reads_of(targets) != 0;
}

// Where the answer for jobs like this one is kept, and what is known for it.
Category Cycle::category_of(const OrderedJob& job, Targets& targets) {
    Category category;
    std::uint32_t standing = 0;
    if (reads_user(targets)) {
        const Standings::User& user = standing_of(job, targets);
        standing = user.standing;
        category.of_user = user.blockers;
        category.standing = &targets.standings[standing];
        category.of_signature = answers_of_signature(job, targets);
    }
    std::uint32_t* place = nullptr;
    if (standing == 0 && !by_events_) {
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

// The standing of the job's user, found anew if something was started of theirs, or something reserved.
const Standings::User& Cycle::standing_of(const OrderedJob& job, Targets& targets) {
    if (user_numbers_.empty()) {
        user_numbers_.assign(t_.strings.size(), UINT32_MAX);
        starts_of_owner_.resize(t_.strings.size());
        starts_of_group_.resize(t_.strings.size());
    }
    auto& number = user_numbers_[t_.jobs.user[job.job]];
    if (number == UINT32_MAX) number = users_++;
    Standings::User& user = targets.standings.user(number);
    const bool is_new = user.as_of == UINT64_MAX;
    if (is_new) {
        user.owner = t_.jobs.owner[job.job];
        user.group = t_.jobs.group[job.job];
    }
    const unsigned reads = *targets.user_reads;
    const std::uint64_t now = ((reads & reads_owner) != 0 ? starts_of_owner_[user.owner] : 0U) +
                              ((reads & reads_group) != 0 ? starts_of_group_[user.group] : 0U) +
                              state_.reservations.size();
    if (user.as_of == now) return user;
    user.as_of = now;
    user.blockers = find_standing(candidate(job), targets);
    targets.standings.change(user, standing_);
    return user;
}

// What could lift its refusals.
Blockers Cycle::find_standing(const Candidate& job, const Targets& targets) {
    Blockers blockers = 0;
    standing_.admission = {};
    standing_.queues.assign(targets.size(), {});
    for (std::uint32_t i = 0; i < admissions_.size() && !standing_.admission.refusal; ++i) {
        if (!admissions_[i]->is_of_group()) continue;
        if (const Refusal refusal = ask_admission(*admissions_[i], state_, job)) {
            standing_.admission = {i, refusal};
            blockers |= refusal.blockers;
        }
    }
    // Early non-prime time is asked for by the jobs of single users.
    bool apart = early_is_possible();
    for (std::size_t t = 0; t < targets.size(); ++t) {
        QueueView& view = *targets[t];
        find_filters(view);
        for (std::uint32_t i = 0; i < view.filters.size() && !standing_.queues[t].refusal; ++i) {
            const Filter& filter = *view.filters[i];
            if (filter.reads_user_of(state_, view)) apart = true;
            if (!filter.is_of_user()) continue;
            if (const Refusal refusal = check(filter, job, view)) {
                standing_.queues[t] = {i, refusal};
                blockers |= blockers_of(refusal);
            }
        }
    }
    standing_.owner = apart ? job.user.owner : 0;
    standing_.group = apart ? job.user.group : 0;
    return blockers;
}

// Of a job's signature, by target.
SignatureAnswer* Cycle::answers_of_signature(const OrderedJob& job, const Targets& targets) {
    const auto job_class = static_cast<std::size_t>(job.job_class);
    auto& places = answers_of_signature_[job_class];
    if (places.empty() && !by_events_) places.resize(t_.signatures.size());
    std::uint32_t& place =
        by_events_ ? answers_of_few_[std::uint64_t{job_class} << 32 | job.signature] : places[job.signature];
    if (place == 0) {
        place = static_cast<std::uint32_t>(signature_answers_.size()) + 1;
        signature_answers_.resize(signature_answers_.size() + targets.size());
    }
    return &signature_answers_[place - 1];
}

void Cycle::forget_answers() {
    for (auto& places : verdict_of_) places.clear();
    for (auto& places : answers_of_signature_) places.clear();
    answers_of_few_.clear();
    verdict_of_user_.clear();
}

void Cycle::find_filters(QueueView& view) const {
    if (std::exchange(view.filters_known, true)) return;
    view.filters.clear();
    view.job_filters.clear();
    const Opening opening = Opening::of(state_, view);
    for (const Filter* filter : filters_)
        if (filter->is_open == nullptr || !filter->is_open(opening))
            (filter->is_of_job() ? view.job_filters : view.filters).push_back(filter);
}

FilterRefusal Cycle::first_refusal(const Candidate& job, QueueView& view) {
    for (std::uint32_t i = 0; i < view.filters.size(); ++i)
        if (const Refusal refusal = check(*view.filters[i], job, view)) return {i, refusal};
    return first_refusal_of_job(job, view);
}

// Of the filters that are asked for each job, numbered behind the others.
FilterRefusal Cycle::first_refusal_of_job(const Candidate& job, QueueView& view) {
    const auto others = static_cast<std::uint32_t>(view.filters.size());
    for (std::uint32_t i = 0; i < view.job_filters.size(); ++i)
        if (const Refusal refusal = check(*view.job_filters[i], job, view)) return {others + i, refusal};
    return {};
}

// The same for a job of which something is known. Filters of owners and groups aren't asked again, nor is any
// where the signature is known to be refused whatever else starts.
FilterRefusal Cycle::first_refusal(const Candidate& job, QueueView& view, const FilterRefusal& of_user,
                                   SignatureAnswer& of_signature) {
    const auto end = std::min(of_user.filter, static_cast<std::uint32_t>(view.filters.size()));
    if (of_signature.refusal.filter < end) return of_signature.refusal;
    if (of_user.refusal && of_signature.passed >= end && of_signature.starts == started_.size())
        return of_user;
    const auto passes = [&](std::uint32_t filters) {
        of_signature.passed = filters;
        of_signature.starts = static_cast<std::uint32_t>(started_.size());
    };
    bool of_signature_only = true;
    for (std::uint32_t i = 0; i < end; ++i) {
        const Filter& filter = *view.filters[i];
        if (filter.is_of_user()) continue;
        if (of_signature_only && filter.reads_user_of(state_, view)) {
            of_signature_only = false;
            passes(i);
        }
        const FilterRefusal refusal{i, check(filter, job, view)};
        if (!refusal.refusal) continue;
        if (of_signature_only && !refusal.refusal.is_lifted_by_start()) of_signature.refusal = refusal;
        return refusal;
    }
    if (of_signature_only) passes(end);
    return of_user.refusal ? of_user : first_refusal_of_job(job, view);
}

}  // namespace pbs::sched
