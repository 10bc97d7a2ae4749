// Explains one job: runs the filters and rules of a cycle over all jobs, and notes the answers at the job's
// turn.

#include "server_plugin/scheduler/explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "server_plugin/scheduler/framework/intake.h"
#include "server_plugin/scheduler/framework/lookahead.h"
#include "server_plugin/scheduler/framework/range_search.h"
#include "server_plugin/scheduler/model/sort_unique.h"
#include "server_plugin/scheduler/state/explanation.h"
#include "values/amount.h"

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

namespace {

class Explainer final : public CycleLog, CyclePart {
  public:
    explicit Explainer(const CycleParts& parts)
        : CyclePart(parts.context),
          queues_(parts.queues),
          intake_(parts.intake),
          future_(parts.future),
          out_(*in_.explanation) {
        out_.test_only = c_.test_only;
    }

    void turn(const OrderedJob& job, CandidateQueues& queues) override;
    void end(Decisions& out) override;

  private:
    std::vector<OrderKey> order_keys(const OrderedJob& job);
    void explain_weighted_priority(const OrderedJob& job);
    void explain_place(const OrderedJob& job);
    QueueAnswers::Chunks explain_range(Candidate& job, QueueView& view, bool starts, bool only_waits);
    void explain_missed(const Started& started);
    void explain_missed(const Candidate& job, Instant start);
    void give_to_limits(std::vector<FilterAnswer>& answers) const;
    void explain_home(QueueSlot home, const CandidateQueues& queues);
    QueueAnswers explain_queue(Candidate& job, QueueView& view);
    void explain_drain(JobSlot job);
    void explain_outcome(JobSlot job);
    void explain_preemption(JobSlot job);
    std::string why_preempts_none() const;

    Queues& queues_;
    Intake& intake_;
    Future& future_;
    Explanation& out_;
    std::size_t turns_ = 0;  // the number of jobs that have had their turn; by class in turns_of_class_
    std::array<std::size_t, 6> turns_of_class_{};
    std::optional<OrderedJob> before_{};  // the job that had its turn last
    std::optional<Instant> missed_at_;    // the start of which out_.missed tells
};

// Returns the numbers by which the job is sorted among the jobs of its class (JobClass).
std::vector<OrderKey> Explainer::order_keys(const OrderedJob& job) {
    const OrderContext context{in_.now,         s_,      t_.jobs, t_.queues,  t_.requests,
                               queues_.ranks(), nullptr, nullptr, &state_.own};
    const Chain& chain = p_.chain(*in_.policy, job.job_class, state_.prime_now && !c_.second_pass);
    std::vector<OrderKey> keys;
    for (const Link& link : chain) {
        const Comparator& by = *link.comparator;
        const std::uint64_t number = by.number(context, job, link.argument);
        std::string_view name = by.name;
        std::string value;
        bool largest_first = link.reversed;
        switch (by.shown) {
            case KeyForm::number:
                value = std::to_string(number);
                break;
            case KeyForm::yes_if_0:
                value = number == 0 ? "yes" : "no";
                break;
            case KeyForm::duration:
                value = values::duration_text(Seconds(static_cast<std::int64_t>(number)));
                break;
            case KeyForm::instant:
                value = ctime_text(Instant(Seconds(static_cast<std::int64_t>(number))), t_.zone);
                break;
            case KeyForm::score:
                value = fmt::format("{}", job.score);
                largest_first = !largest_first;  // the comparator's number decreases as the score grows
                break;
            case KeyForm::weighted:
                value = intake_.weighted().text(job.job);
                largest_first = !largest_first;
                break;
            case KeyForm::priority:
                value = std::to_string(t_.jobs.priority[job.job]);
                break;
            case KeyForm::queue:
                value = t_.queues[t_.jobs.queue[job.job]].name;
                break;
            case KeyForm::amount:
                name = t_.resources.name(link.argument);
                value = t_.resources.format(link.argument, static_cast<std::int64_t>(number ^ 1ULL << 63));
                break;
        }
        keys.push_back({name, by.attributes, std::move(value), largest_first});
    }
    return keys;
}

// Lists the terms of the job's weighted priority, and those of the job before it in its class.
void Explainer::explain_weighted_priority(const OrderedJob& job) {
    if (!s_.weighted_priority) return;
    out_.priority_terms = intake_.weighted().table(job.job);
    if (!before_ || before_->job_class != job.job_class) return;
    out_.job_before = t_.jobs.id[before_->job];
    out_.owner_before = t_.strings.text(t_.jobs.owner[before_->job]);
    out_.terms_before = intake_.weighted().table(before_->job);
}

void Explainer::explain_place(const OrderedJob& job) {
    out_.job_class = p_.class_names[static_cast<std::size_t>(job.job_class)];
    for (const JobClass job_class : kQueuedClasses) {
        std::size_t jobs = 0;
        for (const LaneId lane : intake_.jobs().lanes_of(job_class)) jobs += intake_.jobs()[lane].jobs;
        if (job_class == job.job_class) {
            out_.class_place = turns_of_class_.at(static_cast<std::size_t>(job_class));
            out_.class_jobs = jobs;
            out_.place = turns_;
        }
        out_.jobs += jobs;
    }
    out_.keys = order_keys(intake_.ordered(job.job, job.job_class));
    explain_weighted_priority(job);
    const Deal* deal = intake_.deal_of(job.job_class, in_.now);
    if (deal != nullptr && deal->of_users)
        out_.past_usage =
            t_.usage.usage(t_.strings.text(t_.jobs.group[job.job]), t_.strings.text(t_.jobs.owner[job.job]));
}

// The filter of vnodes also has the refusals of limits that look at vnodes, which have filters of their own:
// makes such a refusal the answer of the limit's filter. The vnodes let the job pass then.
void Explainer::give_to_limits(std::vector<FilterAnswer>& answers) const {
    for (const Filter* filter : c_.filters) {
        const OwnLimit* limit = filter->own_limit;
        const auto own = std::ranges::find(answers, filter->name, &FilterAnswer::filter);
        if (limit == nullptr || limit->gives == nullptr || own == answers.end() || !own->why.empty())
            continue;
        const auto given = std::ranges::find_if(answers, [&](const FilterAnswer& answer) {
            return !answer.why.empty() && limit->gives(answer.reason);
        });
        if (given == answers.end()) continue;
        std::swap(own->why, given->why);
        std::swap(own->reason, given->reason);
        std::swap(own->facts, given->facts);
    }
}

// Calls all filters for the job in a queue, at the job's turn.
QueueAnswers Explainer::explain_queue(Candidate& job, QueueView& view) {
    QueueAnswers out{view.queue->name, std::string(t_.strings.text(view.host)), {}, {}, {}, {}, {}, {}, {}};
    c_.set_walltime(job, view);
    bool refused = static_cast<bool>(execution_type_refusal(state_, t_.jobs.queue[job.job]));
    bool only_waits = true;
    for (const Filter* filter : c_.filters) {
        const Refusal refusal = c_.check(*filter, job, view);
        std::string why = text_with_details(refusal.reason, c_.reason_context());
        for (const OwnLimit* limit : state_.own_limits) {
            const std::string more =
                refusal && limit->details != nullptr ? limit->details(state_, refusal.reason) : "";
            if (!more.empty()) why += fmt::format(" ({})", more);
        }
        std::vector<AnswerFact> facts;
        for (const OwnLimit* limit : state_.own_limits)
            if (refusal && limit->facts != nullptr)
                std::ranges::move(limit->facts(state_, refusal.reason), std::back_inserter(facts));
        out.filters.push_back(
            {filter->name, filter->attributes, std::move(why), false, refusal.reason, std::move(facts)});
        if (!refusal) continue;
        refused = true;
        only_waits = only_waits && (refusal.waits_for_jobs() || refusal.until);
    }
    give_to_limits(out.filters);
    for (const OwnLimit* limit : state_.own_limits)
        if (limit->notes != nullptr)
            std::ranges::move(limit->notes(state_, job, job.user, view), std::back_inserter(out.notes));
    if (in_.tests_start && !refused) explain_missed(job, in_.now);
    // The rest is about starts at other places and times.
    if (in_.tests_start) return out;
    if (RangeSearch::is_for(c_, job)) out.chunks = explain_range(job, view, !refused, only_waits);
    if (refused) out.layers = layers_of(c_, future_, job, view);
    // The answers above are about the first of subjobs that start together.
    if (!(refused || c_.together(job.job) > 1) || !only_waits) return out;
    Lookahead ahead(c_, future_, job, view);
    const auto start = ahead.earliest(in_.now);
    if (!start || (!refused && *start == in_.now)) return out;
    out.earliest_start = start;
    out.awaited = ahead.awaited();
    explain_missed(job, *out.earliest_start);
    out_.test_only = out_.test_only || s_.test_only.holds(*out.earliest_start);
    return out;
}

// Finds the numbers of chunks that a job with a select_range may have now, and later.
QueueAnswers::Chunks Explainer::explain_range(Candidate& job, QueueView& view, bool starts, bool only_waits) {
    QueueAnswers::Chunks out;
    const auto asked =
        std::ranges::find(job.request->amounts, t_.resources.known().select_range, &KeptAmount::resource);
    out.range = asked->text;
    const Candidate own = job;
    RangeSearch search(c_, job);
    if (starts) {
        search.grow(view, [&] {
            return std::ranges::none_of(
                c_.filters, [&](const Filter* f) { return static_cast<bool>(c_.check(*f, job, view)); });
        });
        out.now = job.request->chunks.front().count;
    }
    if (only_waits)
        search.find_greatest([&] {
            Lookahead ahead(c_, future_, job, view);
            const auto start = ahead.earliest(in_.now);
            if (!start) return false;
            out.most = job.request->chunks.front().count;
            out.most_from = start;
            return true;
        });
    job = own;
    return out;
}

std::vector<VnodeSlot> vnodes_of(const Placement& placement) {
    std::vector<VnodeSlot> vnodes;
    for (const Part& part : placement) vnodes.push_back(part.vnode);
    return vnodes;
}

// Adds to the answer the preferences that are missed by the job's place in the state, at a start that isn't
// later than that of another queue.
void Explainer::explain_missed(const Candidate& job, Instant start) {
    if (!s_.preferences || job.request->preferences.empty() || (missed_at_ && *missed_at_ <= start)) return;
    missed_at_ = start;
    out_.missed = missed_on(*state_.vnodes, *job.request, vnodes_of(state_.placement));
}

// Adds to the answer the preferences that are missed by vnodes on which the job starts.
void Explainer::explain_missed(const Started& started) {
    const Request& request = t_.requests[t_.jobs.request[started.job]];
    if (!s_.preferences || request.preferences.empty()) return;
    // Look at the vnodes as they were when the job was placed: take its start and all later ones back
    // meanwhile.
    const auto first = std::ranges::find(started_, started.job, &Started::job);
    const auto change = [&](const Started& one, bool back) {
        const Request& asked = t_.requests[t_.jobs.request[one.job]];
        if (back)
            state_.vnodes->forget(one.placement, asked, c_.vnode_share());
        else
            state_.vnodes->assume(one.placement, asked, c_.vnode_share());
    };
    for (auto one = first; one != started_.end(); ++one) change(*one, true);
    out_.missed = missed_on(*state_.vnodes, request, vnodes_of(started.placement));
    for (auto one = first; one != started_.end(); ++one) change(*one, false);
}

// Adds the answers about the job's own queue, and about the jobs before it.
void Explainer::explain_home(QueueSlot home, const CandidateQueues& queues) {
    const auto add = [&](std::string_view filter, std::string_view attributes, const Reason& reason) {
        out_.filters.push_back(
            {filter, attributes, text_with_details(reason, c_.reason_context()), false, reason});
    };
    add("queue_started", "", c_.not_started_reason(home));
    if (t_.queues[home].execution_type != ExecutionType::any)
        add("execution_type", "execution_type", execution_type_refusal(state_, home).reason);
    if (!in_.tests_start && (s_.strict_ordering || s_.help_starving_jobs))
        add("strict_ordering", "strict_ordering, help_starving_jobs, backfill_depth",
            c_.held_up_reason(queues.empty() ? nullptr : queues[0]));
}

// Called at the turn of each job, before the cycle calls the filters. In the second pass, over queues that
// ignore prime time, the answers about these queues replace those of the first pass.
void Explainer::turn(const OrderedJob& job, CandidateQueues& queues) {
    if (!c_.second_pass) {
        ++turns_;
        ++turns_of_class_.at(static_cast<std::size_t>(job.job_class));
    }
    if (job.job != in_.explained) {
        before_ = job;
        return;
    }
    Candidate c = c_.candidate(job);
    if (!c_.second_pass) {
        if (!in_.tests_start) explain_place(job);
        for (const Admission* admission : c_.admissions) {
            const Reason reason = ask_admission(*admission, state_, c).reason;
            out_.filters.push_back(
                {admission->name, admission->attributes, text(reason, c_.reason_context()), false, reason});
        }
        explain_home(t_.jobs.queue[job.job], queues);
    }
    for (std::size_t i = 0; i < queues.size(); ++i) {
        if (c_.second_pass && !queues[i]->early) continue;
        QueueAnswers answers = explain_queue(c, *queues[i]);
        if (c_.second_pass && i < out_.queues.size())
            out_.queues[i] = std::move(answers);
        else
            out_.queues.push_back(std::move(answers));
    }
}

// Finds the cycle's decision about the job, and the answer that decided.
void Explainer::explain_outcome(JobSlot job) {
    for (const Started& started : started_) {
        if (started.job != job) continue;
        out_.outcome = JobOutcome::starts;
        out_.queue = started.view->queue->name;
        explain_missed(started);
        return;
    }
    const auto refusal = std::ranges::find(c_.refused, job, &Refused::job);
    if (in_.tests_start && refusal == c_.refused.end()) {
        out_.outcome = JobOutcome::starts;
        out_.queue = t_.queues[t_.jobs.queue[job]].name;
        return;
    }
    if (refusal == c_.refused.end()) {
        out_.reason = fmt::format("queue {} is none that policy {} takes jobs from",
                                  t_.queues[t_.jobs.queue[job]].name, s_.name);
        return;
    }
    const Answer& answer = c_.answers[refusal->answer];
    out_.outcome = answer.rejected ? JobOutcome::rejected : JobOutcome::waits;
    out_.reason = c_.text_of(answer);
    if (answer.reason.queue < t_.queues.size()) out_.queue = t_.queues[answer.reason.queue].name;
    const auto decide = [&](std::vector<FilterAnswer>& filters) {
        const auto found = std::ranges::find(filters, answer.reason, &FilterAnswer::reason);
        if (found == filters.end()) return false;
        found->decides = true;
        return true;
    };
    if (decide(out_.filters)) return;
    for (QueueAnswers& answers : out_.queues)
        if (answers.queue == out_.queue && decide(answers.filters)) return;
}

// Sets the queue that is drained for the job, if the Origin algorithm drains one.
void Explainer::explain_drain(JobSlot job) {
    const auto made = std::ranges::find(state_.reservations, job, &Reservation::job);
    if (made == state_.reservations.end() || !made->drains) return;
    const QueueView& view = views_[made->view];
    for (QueueAnswers& answers : out_.queues)
        if (answers.queue == view.queue->name && answers.host == t_.strings.text(view.host))
            answers.drained_until = made->start;
}

std::string Explainer::why_preempts_none() const {
    if (!s_.preemption) return {};
    if (!t_.preempts) return "the server carries out no preemptions";
    if (!c_.preempts) return "all jobs have the same preemption level";
    switch (c_.no_room_made.why) {
        case NoRoomMade::Cause::nothing:
            return {};
        case NoRoomMade::Cause::no_lower:
            return "no job of a lower preemption level runs that may be preempted";
        case NoRoomMade::Cause::not_by_room:
            return fmt::format(
                "without all running jobs of lower preemption levels it would wait all the same: {}",
                text(c_.no_room_made.reason, c_.reason_context()));
        case NoRoomMade::Cause::by_levels:
            return "of the running jobs that are over soft limits no more are preempted than are over them, "
                   "and that isn't enough";
        case NoRoomMade::Cause::tried_enough:
            return "so many jobs have been looked at that this is left to another cycle";
    }
    return {};
}

// Lists the jobs that are preempted for this one, or explains why none is.
void Explainer::explain_preemption(JobSlot job) {
    for (const Preempted& preempted : c_.preempted) {
        if (preempted.for_job != job) continue;
        std::string methods;
        for (const PreemptMethod method : preempted.methods)
            if (method != PreemptMethod::none) methods += static_cast<char>(method);
        out_.preempts.push_back({t_.jobs.id[preempted.job], std::move(methods)});
    }
    if (out_.outcome == JobOutcome::waits) out_.preempts_none = why_preempts_none();
}

void Explainer::end(Decisions&) {
    if (in_.tests_start) return explain_outcome(in_.explained);
    out_.expected_start = t_.estimates.start_of(t_.jobs.handle[in_.explained]);
    explain_drain(in_.explained);
    explain_outcome(in_.explained);
    explain_preemption(in_.explained);
}

std::unique_ptr<CycleLog> make_explainer(const CycleParts& parts) {
    return std::make_unique<Explainer>(parts);
}

}  // namespace

std::vector<Explanation::Missed> missed_on(const Vnodes& vnodes, const Request& request,
                                           std::span<const VnodeSlot> of_job) {
    std::vector<Explanation::Missed> missed;
    for (const Preference& preference : request.preferences) {
        std::vector<std::string_view> names;
        for (const VnodeSlot vnode : of_job)
            if (vnodes.missed(vnode, {&preference, 1}) != 0) names.push_back(vnodes[vnode].name);
        sort_unique(names);
        if (!names.empty()) missed.push_back({preference.text, fmt::format("{}", fmt::join(names, ", "))});
    }
    return missed;
}

void explain_job(const CycleInput& input) {
    rehearse_cycle(input, make_explainer);
}

Decisions explain_start(const CycleInput& input, std::span<const Place> places) {
    return test_start(input, input.explained, places, make_explainer);
}

}  // namespace pbs::sched
