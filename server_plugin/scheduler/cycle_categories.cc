// A cycle: which answers hold for which jobs.

#include <algorithm>

#include "server_plugin/scheduler/cycle_parts.h"

namespace pbs::sched {

// What of a user the gates of these queues read.
unsigned Cycle::user_reads_of(Targets& targets) const {
    if (targets.user_reads) return *targets.user_reads;
    unsigned reads = 0;
    for (const JobGate* gate : job_gates_) reads |= gate->reads_user;
    for (const Gate* gate : gates_) {
        if (gate->reads_user == nullptr) continue;
        for (const QueueView* view : targets) reads |= gate->reads_user(state_, *view);
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
        category.of_shape = answers_of_shape(job, targets);
    }
    std::uint32_t* place = nullptr;
    if (standing == 0 && !by_events_) {
        auto& of_shape = verdict_of_[static_cast<std::size_t>(job.job_class)];
        if (of_shape.empty()) of_shape.resize(t_.shapes.size());
        place = &of_shape[job.shape];
    } else {
        const auto job_class = static_cast<std::uint64_t>(job.job_class);
        place = &verdict_of_user_[job_class << 61 | std::uint64_t{standing} << 32 | job.shape];
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
    standing_.job = {};
    standing_.queues.assign(targets.size(), {});
    for (std::uint32_t i = 0; i < job_gates_.size() && !standing_.job.reason; ++i) {
        if (job_gates_[i]->reads_user == 0) continue;
        if (const Reason reason = job_gates_[i]->check(state_, job)) {
            standing_.job = {i, reason};
            blockers |= job_gates_[i]->blockers;
        }
    }
    // Early non-prime time is asked for by the jobs of single users.
    bool apart = early_is_possible();
    for (std::size_t t = 0; t < targets.size(); ++t) {
        QueueView& view = *targets[t];
        find_gates(view);
        for (std::uint32_t i = 0; i < view.gates.size() && standing_.queues[t].gate == GateRefusal::none;
             ++i) {
            const unsigned reads = sched::user_reads(*view.gates[i], state_, view);
            if ((reads & reads_job_too) != 0) apart = true;
            if (reads == 0 || (reads & reads_job_too) != 0) continue;
            if (const Reason reason = view.gates[i]->check(state_, job, view)) {
                standing_.queues[t] = {i, reason};
                blockers |= blockers_of(*view.gates[i], state_, job, view, reason);
            }
        }
    }
    standing_.owner = apart ? job.owner : 0;
    standing_.group = apart ? job.group : 0;
    return blockers;
}

// Of a job's shape, by target.
ShapeAnswer* Cycle::answers_of_shape(const OrderedJob& job, const Targets& targets) {
    const auto job_class = static_cast<std::size_t>(job.job_class);
    auto& places = answers_of_shape_[job_class];
    if (places.empty() && !by_events_) places.resize(t_.shapes.size());
    std::uint32_t& place =
        by_events_ ? answers_of_few_[std::uint64_t{job_class} << 32 | job.shape] : places[job.shape];
    if (place == 0) {
        place = static_cast<std::uint32_t>(shape_answers_.size()) + 1;
        shape_answers_.resize(shape_answers_.size() + targets.size());
    }
    return &shape_answers_[place - 1];
}

void Cycle::forget_answers() {
    for (auto& places : verdict_of_) places.clear();
    for (auto& places : answers_of_shape_) places.clear();
    answers_of_few_.clear();
    verdict_of_user_.clear();
}

void Cycle::find_gates(QueueView& view) const {
    if (!view.gates.empty()) return;
    std::ranges::copy_if(gates_, std::back_inserter(view.gates), [&](const Gate* gate) {
        return gate->is_open == nullptr || !gate->is_open(state_, view);
    });
}

GateRefusal Cycle::first_refusal(const Candidate& job, QueueView& view) {
    for (std::uint32_t i = 0; i < view.gates.size(); ++i)
        if (const Reason reason = view.gates[i]->check(state_, job, view)) return {i, reason};
    return {};
}

// The same for a job of which something is known. Gates that read the user alone aren't asked again, nor is
// any where the shape is known to be refused whatever else starts.
GateRefusal Cycle::first_refusal(const Candidate& job, QueueView& view, const GateRefusal& of_user,
                                 ShapeAnswer& of_shape) {
    const auto end = std::min(of_user.gate, static_cast<std::uint32_t>(view.gates.size()));
    if (of_shape.refusal.gate < end) return of_shape.refusal;
    if (of_user.reason && of_shape.passed >= end && of_shape.starts == started_.size()) return of_user;
    const auto passes = [&](std::uint32_t gates) {
        of_shape.passed = gates;
        of_shape.starts = static_cast<std::uint32_t>(started_.size());
    };
    bool of_shape_only = true;
    for (std::uint32_t i = 0; i < end; ++i) {
        const Gate& gate = *view.gates[i];
        const unsigned reads = sched::user_reads(gate, state_, view);
        if (reads != 0 && (reads & reads_job_too) == 0) continue;
        if (of_shape_only && reads != 0) {
            of_shape_only = false;
            passes(i);
        }
        const GateRefusal refusal{i, gate.check(state_, job, view)};
        if (!refusal.reason) continue;
        if (of_shape_only && (gate.traits & lifted_by_start) == 0) of_shape.refusal = refusal;
        return refusal;
    }
    if (of_shape_only) passes(end);
    return of_user;
}
}  // namespace pbs::sched
