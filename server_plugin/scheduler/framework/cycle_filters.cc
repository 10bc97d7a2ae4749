// A cycle, third part: each job is put to the filters, placed, and started or refused.

#include <algorithm>
#include <iterator>

#include "server_plugin/scheduler/framework/cycle_parts.h"

namespace pbs::sched {

Candidate Cycle::candidate(const OrderedJob& job) const {
    Candidate c;
    c.job = job.job;
    c.job_class = job.job_class;
    c.user = {t_.jobs.owner[job.job], t_.jobs.group[job.job]};
    c.request_number = t_.jobs.request[job.job];
    c.request = &t_.requests[c.request_number];
    c.run_host = t_.jobs.run_host[job.job];
    c.nodes = job.nodes;
    c.asked = t_.jobs.walltime[job.job];
    c.walltime = t_.jobs.expected_walltime(job.job);
    return c;
}

// A job that asks for no walltime gets the queue's maximum.
void Cycle::set_walltime(Candidate& job, const QueueView& view) const {
    if (job.asked >= Seconds(0)) return;
    job.walltime = view.max_walltime >= Seconds(0) ? view.max_walltime : unlimited_walltime;
}

Targets& Cycle::targets_of(const OrderedJob& job) {
    if (!starts_in_place(job.job_class)) return batch_;
    if (targets_of_queue_.empty()) {
        targets_of_queue_.assign(t_.queues.size(), nullptr);
        for (auto& [queue, targets] : in_place_) targets_of_queue_[queue] = &targets;
    }
    Targets* own = targets_of_queue_[t_.signatures[job.signature].queue];
    return own != nullptr ? *own : batch_;
}

// Without backfilling the first job that waits holds up those behind it.
Reason Cycle::top_job_reason(const Targets& targets) const {
    const JobSlot of_queue = targets.empty() ? no_slot : targets[0]->top_job;
    const JobSlot top = top_job_ != no_slot ? top_job_ : of_queue;
    return top == no_slot ? Reason{}
                          : Reason{ReasonCode::after_top_job, UINT32_MAX, top, s_.strict_ordering ? 0 : 1};
}

Reason Cycle::not_started_reason(QueueSlot home) const {
    return t_.queues[home].started ? Reason{} : Reason{ReasonCode::queue_not_started, home};
}

Blockers Cycle::consider(const OrderedJob& job, Targets& targets) {
    if (!only_early_) ++considered_;
    if (job.job == in_.explained) explain_turn(job, targets);
    const Category category = in_.categories ? category_of(job, targets) : Category{};
    Verdict* const known = category.verdict;
    const auto refuse = [&](Verdict& verdict) {
        const Blockers of_user = verdict.by_user ? category.of_user : 0;
        return refused(job, verdict, targets, of_user);
    };
    if (known != nullptr && known->reason && (known->lasting || known->starts == started_.size()))
        return refuse(*known);
    Candidate c = candidate(job);
    Verdict verdict = judge(job, c, targets, category);
    verdict.starts = static_cast<std::uint32_t>(started_.size());
    if (verdict.view != nullptr) {
        start(c, *verdict.view);
        return blocker::anything;
    }
    if (known == nullptr || verdict.of_job) return refuse(verdict);
    *known = verdict;
    return refuse(*known);
}

// May it start, and where? The queue that it is in is asked first, then those that it may start in.
Verdict Cycle::judge(const OrderedJob& job, Candidate& c, const Targets& targets, const Category& category) {
    Verdict verdict;
    const QueueSlot home = t_.jobs.queue[job.job];
    if (const Reason reason = top_job_reason(targets)) {
        verdict.reason = reason;
        verdict.blockers = blocker::held_up;
    } else if (const Reason stopped = not_started_reason(home))
        verdict.reason = stopped;
    else if (const Refusal other_time = execution_type_refusal(state_, home)) {
        verdict.reason = other_time.reason;
        verdict.later = true;
        verdict.blockers = blockers_of(other_time);
    } else {
        verdict = ask(c, targets, category);
    }
    return verdict;
}

// Asks the queues one after the other. The reason is that of the first one that the job fits.
Verdict Cycle::ask(Candidate& job, const Targets& targets, const Category& category) {
    const Standing* standing = category.standing;
    Verdict verdict;
    for (std::uint32_t i = 0; i < admissions_.size(); ++i) {
        const bool by_user = standing != nullptr && admissions_[i]->is_of_group();
        Refusal refusal;
        if (!by_user)
            refusal = ask_admission(*admissions_[i], state_, job);
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
    Reason best;
    bool fits = false;
    bool fits_and_may = false;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        QueueView* const view = targets[t];
        const bool other_pass = view->early != only_early_ && job.job_class == JobClass::normal;
        if (other_pass && only_early_) continue;
        set_walltime(job, *view);
        Verdict of_queue;
        find_filters(*view);
        const FilterRefusal refusal =
            standing == nullptr ? first_refusal(job, *view)
                                : first_refusal(job, *view, standing->queues[t], category.of_signature[t]);
        weigh(refusal, job, *view, of_queue, standing != nullptr);
        Reason reason = refusal.refusal.reason;
        if (!reason && !other_pass) {
            verdict.view = view;
            verdict.reason = {};
            return verdict;
        }
        if (!reason) {
            reason = {ReasonCode::next_pass, view->slot};
            of_queue.blockers = blocker::anything;
        }
        verdict.blockers |= of_queue.blockers;
        verdict.by_user = verdict.by_user || of_queue.by_user;
        verdict.of_job = verdict.of_job || of_queue.of_job;
        verdict.lasting = verdict.lasting && of_queue.lasting;
        verdict.waits = verdict.waits || of_queue.waits;
        verdict.crosses = verdict.crosses || of_queue.crosses;
        verdict.later = verdict.later || of_queue.later;
        const bool unfit =
            reason.code >= ReasonCode::above_queue_maximum && reason.code <= ReasonCode::above_queue_nodes;
        const bool not_allowed = reason.code == ReasonCode::not_in_acl;
        if (unfit) {
            if (!fits && !best) best = reason;
        } else if (not_allowed) {
            if (!fits) best = reason;
            fits = true;
        } else {
            if (!fits_and_may) best = reason;
            fits = fits_and_may = true;
        }
    }
    verdict.reason = best;
    if (!fits && &targets == &batch_ && !only_early_) return rejection(job);
    return verdict;
}

// A job that fits no batch queue is rejected. Not so if a batch queue isn't there: it may be the one that the
// job would fit.
Verdict Cycle::rejection(const Candidate& job) {
    Verdict verdict;
    for (const QueueSpec& spec : s_.batch_queues) {
        if (t_.queues.find(spec.queue) != no_slot) continue;
        verdict.reason = {ReasonCode::no_such_queue, UINT32_MAX, t_.strings.id(spec.queue)};
        return verdict;
    }
    if (batch_.empty()) {
        verdict.reason = {ReasonCode::no_batch_queues};
        return verdict;
    }
    verdict.rejected = true;
    verdict.reason = {ReasonCode::fits_no_queue, UINT32_MAX, 0, job.nodes,
                      std::max(Seconds(0), job.asked).count()};
    return verdict;
}

Reason Cycle::ask_queue(const Candidate& job, QueueView& view, Verdict& verdict) {
    find_filters(view);
    const FilterRefusal refusal = first_refusal(job, view);
    weigh(refusal, job, view, verdict);
    return refusal.refusal.reason;
}

// What could lift it; the instant is noted.
Blockers Cycle::blockers_of(const Refusal& refusal) {
    if (!refusal.until) return refusal.blockers;
    if (*refusal.until != Instant::max() && *refusal.until != last_instant_)
        state_.instants->insert(last_instant_ = *refusal.until);
    return refusal.blockers | blocker::time(*refusal.until);
}

// What a refusal means beside its reason.
void Cycle::weigh(const FilterRefusal& refused, const Candidate& job, QueueView& view, Verdict& verdict,
                  bool by_standing) {
    const Refusal& refusal = refused.refusal;
    if (!refusal) return;
    verdict.of_job = refused.filter >= view.filters.size();
    const Filter& filter = verdict.of_job ? *view.job_filters[refused.filter - view.filters.size()]
                                          : *view.filters[refused.filter];
    if (by_standing && filter.is_of_user())
        verdict.by_user = true;
    else
        verdict.blockers = blockers_of(refusal);
    verdict.lasting = !refusal.is_lifted_by_start();
    verdict.waits = refusal.waits_for_jobs();
    verdict.later = refusal.until.has_value();
    verdict.crosses = crosses_a_boundary(refusal.reason.code);
    if ((filter.traits & about_prime) != 0 && may_go_early(view)) view.refused_for_prime.push_back(job.job);
}

void Cycle::start(const Candidate& job, QueueView& view) {
    use_reserved(job, view);
    state_.vnodes->assume(state_.placement, *job.request, vnode_share());
    count_into(view, job.job, 1);
    view.empties = std::max(view.empties, state_.ends(job));
    if (view.dedicated) ++state_.dedicated_running;
    ++state_.running;
    if (number_of(job.request->totals, state_.hpm_resource).value_or(0) != 0) state_.hpm_wanted = true;
    if (state_.allocations != nullptr) {
        const auto standing = state_.allocations->of(t_.strings.text(job.user.group));
        double& hours = state_.started_hours[job.user.group];
        const bool was_over = standing.over(hours);
        hours += node_hours(job.nodes, job.walltime);
        rejects_more_ = rejects_more_ || (!was_over && standing.over(hours));
    }
    state_.counts->count(view.slot, job.user.owner, job.user.group);
    if (!starts_of_owner_.empty()) {
        ++starts_of_owner_[job.user.owner];
        ++starts_of_group_[job.user.group];
    }
    for (std::size_t i = 0; i < state_.server_in_use.size(); ++i)
        state_.server_in_use[i] +=
            number_of(job.request->totals, t_.server.resources_available[i].resource).value_or(0);
    started_.push_back({job.job, &view, std::exchange(state_.placement, {}), state_.ends(job)});
    if (refusal_of_.empty()) return;
    if (auto& refusal = refusal_of_[job.job]; refusal != 0) {
        refused_[refusal - 1].job = no_slot;
        refusal = 0;
    }
}

// A job that is told why without having been asked about.
void Cycle::refuse(JobSlot job, const Reason& reason) {
    refused_.push_back({job, static_cast<std::uint32_t>(answers_.size())});
    answers_.push_back({reason});
}

// For which verdict no start was found for a job like this one: how many jobs had been started, and 1. Users
// who are alike now may not be so later.
std::uint32_t& Cycle::no_start_known(const OrderedJob& job, Verdict& verdict, Targets& targets) {
    const bool for_itself =
        std::ranges::any_of(targets, [](const QueueView* view) { return !view->job_filters.empty(); });
    if (for_itself) return verdict.no_start = 0;
    if (!in_.categories || !reads_user(targets)) return verdict.no_start;
    return no_start_of_user_[{job.signature, t_.jobs.owner[job.job], t_.jobs.group[job.job], job.job_class}];
}

Blockers Cycle::refused(const OrderedJob& job, Verdict& verdict, Targets& targets, Blockers of_user) {
    const Blockers blockers = verdict.blockers | of_user;
    if (verdict.answer == UINT32_MAX) {
        verdict.answer = static_cast<std::uint32_t>(answers_.size());
        answers_.push_back({verdict.reason, verdict.rejected});
    }
    if (!only_early_)
        refused_.push_back({job.job, verdict.answer});
    else if (auto& first = refused_[refusal_of_[job.job] - 1].answer;
             answers_[first].reason.code == ReasonCode::next_pass)
        first = verdict.answer;
    if (verdict.rejected || !(verdict.waits || verdict.later)) return blockers;
    if (p_.after_refusal != nullptr) p_.after_refusal->refused(*this, job, verdict, targets);
    return blockers;
}

}  // namespace pbs::sched
