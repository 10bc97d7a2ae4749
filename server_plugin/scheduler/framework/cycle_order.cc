// A cycle, second part: which jobs there are, and in which order.

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/framework/cycle_parts.h"

namespace pbs::sched {

void Cycle::add_job(JobSlot job, JobClass job_class) {
    classes_[static_cast<std::size_t>(job_class)].push_back(ordered(job, job_class));
}

// Jobs that ask for the same have as many nodes, while they don't run.
OrderedJob Cycle::ordered(JobSlot job, JobClass job_class) {
    if (!p_.counts_nodes || in_.policy->formula) {
        OrderedJob ordered{job, job_class, p_.counts_nodes ? nodes_of_ordered(job) : 1,
                           t_.jobs.signature[job], 0};
        if (in_.policy->formula) {
            const OrderContext context{in_.now, s_, t_.jobs, t_.queues, t_.requests, {}};
            ordered.score = in_.policy->formula->value(context, t_.resources, job);
        }
        return ordered;
    }
    if (job_class == JobClass::running || by_events_)
        return {job, job_class, nodes_of_ordered(job), t_.jobs.signature[job], 0};
    if (nodes_of_request_.empty()) nodes_of_request_.resize(t_.requests.size());
    std::uint32_t& nodes = nodes_of_request_[t_.jobs.request[job]];
    if (nodes == 0) nodes = nodes_of_ordered(job);
    return {job, job_class, nodes, t_.jobs.signature[job], 0};
}

std::uint32_t Cycle::nodes_of_ordered(JobSlot job) const {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(nodes_of(job), UINT32_MAX));
}

// The first instant at which a job is overdue, or starving; the last of all: never.
Instant Cycle::overdue_from(JobSlot job) const {
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

bool Cycle::is_overdue(JobSlot job) const {
    return overdue_from(job) <= in_.now;
}

// Are they those of an earlier cycle?
bool Cycle::queues_are_set_up() const {
    return setup_.policy == in_.policy && in_.events != nullptr && !fake_vnodes_ &&
           setup_.times_all == in_.events->since.times_all && setup_.pools == t_.vnodes.version();
}

// What an earlier cycle set up, maybe by another policy.
void Cycle::forget_queues() {
    setup_.policy = nullptr;
    views_.clear();
    batch_ = {};
    in_place_.clear();
    sources_.clear();
    submit_ = special_ = no_slot;
}

void Cycle::renew_targets(Targets& targets) {
    for (QueueView* view : targets) renew_view(*view);
    if (targets.user_reads.value_or(0) != 0) targets.standings = {};
    targets.released = {};
    if (!in_.by_events) targets.user_reads.reset();
}

// The queues that jobs are taken from, and those that they start in.
void Cycle::set_up_queues() {
    if (queues_are_set_up()) {
        renew_targets(batch_);
        for (auto& [slot, targets] : in_place_) renew_targets(targets);
        return;
    }
    forget_queues();
    if (p_.intake == Intake::named_queues)
        add_named_queues();
    else
        add_every_queue();
    if (p_.make_chains != nullptr) p_.make_chains(*in_.policy, t_.resources);
    setup_.policy = in_.events != nullptr && !fake_vnodes_ ? in_.policy : nullptr;
    if (setup_.policy == nullptr) return;
    setup_.times_all = in_.events->since.times_all;
    setup_.pools = t_.vnodes.version();
}

void Cycle::add_in_place(QueueSlot queue, const QueueSpec& spec, std::optional<JobClass> job_class) {
    if (queue == no_slot || in_place_.contains(queue)) return;
    Targets views = views_of({spec}, job_class == JobClass::dedicated);
    if (views.empty()) return;
    in_place_.emplace(queue, std::move(views));
    sources_.push_back({queue, job_class});
}

void Cycle::add_named_queues() {
    batch_ = views_of(s_.batch_queues, false);
    for (const QueueSpec& spec : dedicated_queues())
        add_in_place(t_.queues.find(spec.queue), spec, JobClass::dedicated);
    const auto source = [&](const std::vector<QueueSpec>& spec) {
        const QueueSlot slot = spec.empty() ? no_slot : t_.queues.find(spec[0].queue);
        return slot == no_slot || t_.queues[slot].partition != in_.partition || in_place_.contains(slot)
                   ? no_slot
                   : slot;
    };
    special_ = source(s_.special_queue);
    submit_ = source(s_.submit_queue);
    for (const QueueSpec& spec : s_.external_queues)
        add_in_place(t_.queues.find(spec.queue), spec, JobClass::rest);
    if (special_ != no_slot) sources_.push_back({special_, JobClass::special});
    if (submit_ != no_slot && submit_ != special_) sources_.push_back({submit_});
}

void Cycle::add_every_queue() {
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        const Queue& queue = t_.queues[q];
        if (!queue.known || !queue.execution || queue.partition != in_.partition) continue;
        const bool dedicated = std::ranges::any_of(
            s_.dedicated_queues, [&](const QueueSpec& spec) { return spec.queue == queue.name; });
        Targets own{{make_view(q, 0, dedicated)}, {}};
        fill_view(*own[0]);
        in_place_.emplace(q, std::move(own));
        sources_.push_back({q});
    }
}

// Which jobs there are, by class. The first instant at which one becomes overdue is noted: filters may
// let it pass then.
void Cycle::collect_jobs() {
    set_up_queues();
    Instant due = Instant::max();
    const auto by_time = [&](JobSlot job) {
        const Instant from = overdue_from(job);
        if (from <= in_.now) return JobClass::overdue;
        due = std::min(due, from);
        return JobClass::normal;
    };
    for (const Source& source : sources_) {
        const auto& queued = t_.queues[source.queue].queued;
        if (!source.job_class) classes_[static_cast<std::size_t>(JobClass::normal)].reserve(queued.size());
        for (const JobSlot job : queued) add_job(job, source.job_class ? *source.job_class : by_time(job));
    }
    if (due != Instant::max()) state_.instants->insert(due);
    add_requeued();
}

JobClass Cycle::class_by_time(JobSlot job) const {
    return is_overdue(job) ? JobClass::overdue : JobClass::normal;
}

// The class of a queued job, as collect_jobs() has it; nothing: it is of no queue that jobs are taken from.
std::optional<JobClass> Cycle::class_of(JobSlot job) const {
    const QueueSlot queue = t_.jobs.queue[job];
    if (p_.intake == Intake::every_queue)
        return in_place_.contains(queue) ? std::optional(class_by_time(job)) : std::nullopt;
    const auto source = std::ranges::find(sources_, queue, &Source::queue);
    if (source != sources_.end()) return source->job_class ? *source->job_class : class_by_time(job);
    if (std::ranges::none_of(batch_, [&](const QueueView* view) { return view->slot == queue; }))
        return std::nullopt;
    const auto origin = t_.strings.text(t_.jobs.origin_queue[job]);
    if (special_ != no_slot && origin == t_.queues[special_].name) return JobClass::special;
    if (submit_ != no_slot && origin == t_.queues[submit_].name) return class_by_time(job);
    return std::nullopt;
}

// Those of the policy, and those of execution_type execution_dedicated.
std::vector<QueueSpec> Cycle::dedicated_queues() const {
    std::vector<QueueSpec> specs = s_.dedicated_queues;
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        const Queue& queue = t_.queues[q];
        if (queue.known && queue.execution_type == ExecutionType::dedicated) specs.push_back({queue.name});
    }
    return specs;
}

// Jobs of queues with a partition that no scheduler has would wait without a word.
void Cycle::refuse_unserved() {
    if (!in_.served) return;
    for (QueueSlot q = 0; q < t_.queues.size(); ++q)
        if (is_unserved(t_.queues[q]))
            for (const JobSlot job : t_.queues[q].queued) refuse_if_unserved(job);
}

bool Cycle::is_unserved(const Queue& queue) const {
    return in_.served && queue.known && queue.execution &&
           std::ranges::find(*in_.served, queue.partition) == in_.served->end();
}

void Cycle::refuse_if_unserved(JobSlot job) {
    const QueueSlot queue = t_.jobs.queue[job];
    if (is_unserved(t_.queues[queue]))
        refuse(job, {ReasonCode::no_scheduler, queue, t_.queues[queue].partition});
}

// A job that was started and put back (rerun by an operator, or lost with its machine) stays in the batch
// queue that it was moved to; where it was submitted tells it from those that belong there. It is a job of
// its first queue still.
void Cycle::add_requeued() {
    std::erase_if(in_.memory->found_at_start, [&](const auto& found) {
        const JobSlot job = t_.jobs.find(found.first);
        return job == no_slot || t_.jobs.queue[job] != found.second || is_running(t_.jobs.state[job]);
    });
    std::vector<QueueSlot> seen = {no_slot, submit_, special_};
    for (const QueueSpec& spec : s_.batch_queues) {
        const QueueSlot slot = t_.queues.find(spec.queue);
        if (std::ranges::find(seen, slot) != seen.end() || in_place_.contains(slot)) continue;
        seen.push_back(slot);
        if (t_.queues[slot].partition != in_.partition) continue;
        for (const JobSlot job : t_.queues[slot].queued) {
            if (found_at_start(job, slot)) continue;
            const auto job_class = class_of(job);
            if (!job_class) continue;
            if (*job_class == JobClass::normal && overdue_from(job) != Instant::max())
                state_.instants->insert(overdue_from(job));
            add_job(job, *job_class);
        }
    }
    if (p_.intake == Intake::named_queues) in_.memory->first_cycle = false;
}

// SCHED_RESTART_ACTION: jobs that the first cycle finds in a batch queue, other than where they were
// submitted, were running when the machine or the server went down. Does the action take care of this one?
bool Cycle::found_at_start(JobSlot job, QueueSlot queue) {
    const JobHandle handle = t_.jobs.handle[job];
    const auto origin = t_.strings.text(t_.jobs.origin_queue[job]);
    if (in_.memory->first_cycle && !origin.empty() && origin != t_.queues[queue].name)
        in_.memory->found_at_start.emplace(handle, queue);
    if (!in_.memory->found_at_start.contains(handle)) return false;
    switch (s_.sched_restart_action) {
        case RestartAction::none:
            refuse(job, {ReasonCode::found_at_start, queue});
            return true;
        case RestartAction::restart:
            if (in_.memory->first_cycle) to_restart_.push_back(job);
            return in_.memory->first_cycle;
        case RestartAction::resubmit:
            // It is considered there in this cycle already.
            if (const QueueSlot home = t_.queues.find(origin); home != no_slot && t_.queues[home].known)
                moves_.emplace_back(job, home);
            return false;
    }
    return false;
}

// The vnodes for jobs that are run again: those of SCHED_HOST, if the queue has any there and names no host
// itself.
PoolId Cycle::restart_pool(const QueueView& view) const {
    if (s_.sched_host.empty() || view.host != 0) return view.pool;
    const PoolId pool = state_.vnodes->pool(view.queue->handle, t_.strings.id(s_.sched_host), in_.partition);
    return state_.vnodes->pool_vnodes(pool).empty() ? view.pool : pool;
}

extern const Filter hosts_filter;

// They ran before: nothing but want of room keeps them from running again.
void Cycle::restart_found() {
    std::ranges::sort(to_restart_, {}, [&](JobSlot job) { return t_.jobs.sequence[job]; });
    for (const JobSlot slot : to_restart_) {
        Candidate job = candidate(ordered(slot, JobClass::running));
        Reason reason;
        for (QueueView* view : batch_) {
            if (view->slot != t_.jobs.queue[slot]) continue;
            set_walltime(job, *view);
            const PoolId own = std::exchange(view->pool, restart_pool(*view));
            reason = check(hosts_filter, job, *view).reason;
            view->pool = own;
            if (reason) continue;
            start(job, *view);
            break;
        }
        if (reason) refuse(slot, reason);
    }
}

std::vector<std::uint32_t> Cycle::queue_ranks() const {
    std::vector<QueueSlot> order(t_.queues.size());
    for (QueueSlot q = 0; q < order.size(); ++q) order[q] = q;
    std::ranges::sort(order, [&](QueueSlot a, QueueSlot b) {
        const Queue& x = t_.queues[a];
        const Queue& y = t_.queues[b];
        return x.priority != y.priority ? x.priority > y.priority : x.handle < y.handle;
    });
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    return rank;
}

}  // namespace pbs::sched
