// A cycle that tells of one job what it finds out: the same filters, the same order, at the job's own turn.

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/framework/cycle_lookahead.h"
#include "server_plugin/scheduler/state/explanation.h"

namespace pbs::sched {
std::string_view outcome_name(JobOutcome outcome) {
    switch (outcome) {
        case JobOutcome::starts:
            return "starts";
        case JobOutcome::waits:
            return "waits";
        case JobOutcome::rejected:
            return "rejected";
        case JobOutcome::not_considered:
            break;
    }
    return "not considered";
}

// The numbers that decide among the jobs of a class.
std::vector<OrderKey> Cycle::order_keys(const OrderedJob& job) const {
    const auto ranks = queue_ranks();
    const OrderContext context{in_.now, s_, t_.jobs, t_.queues, t_.requests, ranks};
    const Chain& chain = p_.chain(*in_.policy, job.job_class, state_.prime_now && !only_early_);
    std::vector<OrderKey> keys;
    for (const Link& link : chain) {
        const Comparator& by = *link.comparator;
        const std::uint64_t number = by.number(context, job, link.argument);
        std::string_view name = by.name;
        std::string value;
        bool largest_first = link.reversed;
        switch (by.shown) {
            case Shown::number:
                value = std::to_string(number);
                break;
            case Shown::yes_if_0:
                value = number == 0 ? "yes" : "no";
                break;
            case Shown::duration:
                value = format_duration(Seconds(static_cast<std::int64_t>(number)));
                break;
            case Shown::instant:
                value = ctime_text(Instant(Seconds(static_cast<std::int64_t>(number))), t_.zone);
                break;
            case Shown::score:
                value = fmt::format("{}", job.score);
                largest_first = !largest_first;  // its number is larger for smaller scores
                break;
            case Shown::priority:
                value = std::to_string(t_.jobs.priority[job.job]);
                break;
            case Shown::queue:
                value = t_.queues[t_.jobs.queue[job.job]].name;
                break;
            case Shown::amount:
                name = t_.resources.name(link.argument);
                value = t_.resources.format(link.argument, static_cast<std::int64_t>(number ^ 1ULL << 63));
                break;
        }
        keys.push_back({name, by.attributes, std::move(value), largest_first});
    }
    return keys;
}

void Cycle::explain_place(const OrderedJob& job, Explanation& out) {
    out.job_class = p_.class_names[static_cast<std::size_t>(job.job_class)];
    for (const JobClass job_class : queued_classes) {
        std::size_t jobs = 0;
        for (const LaneId lane : pending_->lanes_of(job_class)) jobs += (*pending_)[lane].jobs;
        if (job_class == job.job_class) {
            out.class_place = turns_of_class_;
            out.class_jobs = jobs;
            out.place = out.jobs + turns_of_class_;
        }
        out.jobs += jobs;
    }
    out.keys = order_keys(ordered(job.job, job.job_class));
    if (deal_ != nullptr && deal_->of_users)
        out.past_usage =
            t_.usage.usage(t_.strings.text(t_.jobs.group[job.job]), t_.strings.text(t_.jobs.owner[job.job]));
}

// What filters would say of the job in a queue at its turn.
QueueAnswers Cycle::explain_queue(Candidate& job, QueueView& view) {
    QueueAnswers out{view.queue->name, std::string(t_.strings.text(view.host)), {}, {}, {}, {}};
    set_walltime(job, view);
    bool refused = static_cast<bool>(execution_type_refusal(state_, t_.jobs.queue[job.job]));
    bool only_waits = true;
    for (const Filter* filter : filters_) {
        const Refusal refusal = check(*filter, job, view);
        out.filters.push_back({filter->name, filter->attributes,
                               text_with_details(refusal.reason, reason_context()), false, refusal.reason});
        if (!refusal) continue;
        refused = true;
        only_waits = only_waits && (refusal.waits_for_jobs() || refusal.until);
    }
    if (!refused || !only_waits) return out;
    Lookahead ahead(*this, job, view);
    out.earliest_start = ahead.earliest(in_.now);
    if (out.earliest_start) out.awaited = ahead.awaited();
    return out;
}

// About the queue that the job is in, and the jobs before it.
void Cycle::explain_home(QueueSlot home, const Targets& targets, Explanation& out) const {
    const auto add = [&](std::string_view filter, std::string_view attributes, const Reason& reason) {
        out.filters.push_back(
            {filter, attributes, text_with_details(reason, reason_context()), false, reason});
    };
    add("queue_started", "", not_started_reason(home));
    if (t_.queues[home].execution_type != ExecutionType::any)
        add("execution_type", "execution_type", execution_type_refusal(state_, home).reason);
    if (s_.strict_ordering || s_.help_starving_jobs)
        add("strict_ordering", "strict_ordering, help_starving_jobs, backfill_depth",
            top_job_reason(targets));
}

// At the job's turn, before the cycle asks for itself. In the second pass, over queues that don't observe
// prime time any more, the answers about these are new.
void Cycle::explain_turn(const OrderedJob& job, const Targets& targets) {
    Explanation& out = *in_.explanation;
    Candidate c = candidate(job);
    if (!only_early_) {
        explain_place(job, out);
        for (const Admission* admission : admissions_) {
            const Reason reason = ask_admission(*admission, state_, c).reason;
            out.filters.push_back(
                {admission->name, admission->attributes, text(reason, reason_context()), false, reason});
        }
        explain_home(t_.jobs.queue[job.job], targets, out);
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (only_early_ && !targets[i]->early) continue;
        QueueAnswers answers = explain_queue(c, *targets[i]);
        if (only_early_ && i < out.queues.size())
            out.queues[i] = std::move(answers);
        else
            out.queues.push_back(std::move(answers));
    }
}

// What came of it, and which of the answers that was.
void Cycle::explain_outcome(JobSlot job, Explanation& out) {
    for (const Started& started : started_) {
        if (started.job != job) continue;
        out.outcome = JobOutcome::starts;
        out.queue = started.view->queue->name;
        return;
    }
    const auto refusal = std::ranges::find(refused_, job, &Refused::job);
    if (refusal == refused_.end()) {
        out.reason = fmt::format("queue {} is none that policy {} takes jobs from",
                                 t_.queues[t_.jobs.queue[job]].name, s_.name);
        return;
    }
    const Answer& answer = answers_[refusal->answer];
    out.outcome = answer.rejected ? JobOutcome::rejected : JobOutcome::waits;
    out.reason = text(answer.reason, reason_context());
    if (answer.reason.queue < t_.queues.size()) out.queue = t_.queues[answer.reason.queue].name;
    const auto decide = [&](std::vector<FilterAnswer>& filters) {
        const auto found = std::ranges::find(filters, answer.reason, &FilterAnswer::reason);
        if (found == filters.end()) return false;
        found->decides = true;
        return true;
    };
    if (decide(out.filters)) return;
    for (QueueAnswers& answers : out.queues)
        if (answers.queue == out.queue && decide(answers.filters)) return;
}

// Origin: the queue that is drained for the job.
void Cycle::explain_drain(JobSlot job, Explanation& out) const {
    const auto made = std::ranges::find(state_.reservations, job, &Reservation::job);
    if (made == state_.reservations.end() || !made->drains) return;
    const QueueView& view = views_[made->view];
    for (QueueAnswers& answers : out.queues)
        if (answers.queue == view.queue->name && answers.host == t_.strings.text(view.host))
            answers.drained_until = made->start;
}

void Cycle::explain() {
    in_.explanation->test_only = s_.test_only.holds(in_.now);
    consider_all();
    explain_drain(in_.explained, *in_.explanation);
    explain_outcome(in_.explained, *in_.explanation);
    take_back();
}

void explain_job(const CycleInput& input) {
    Cycle(input).explain();
}

}  // namespace pbs::sched
