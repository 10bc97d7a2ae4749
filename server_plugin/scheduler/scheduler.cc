#include "server_plugin/scheduler/scheduler.h"

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {

Scheduler::Scheduler(rrule::Zone zone) : impl_(std::make_unique<Impl>(std::move(zone))) {}
Scheduler::~Scheduler() {
    if (impl_->background.runs) impl_->background.thread.join();
}

Decisions Scheduler::Impl::run(Instant now, std::string_view sched, CycleTrigger trigger, bool rehearsal) {
    const auto found = scheds.find(sched);
    Policy* policy = nullptr;
    if (found != scheds.end() && found->second.scheduling &&
        serves(sched, found->second, found->second.partition))
        policy = active_policy(sched, found->second, now);
    if (policy == nullptr) {
        Decisions none;
        none.memory = std::make_unique<std::pmr::monotonic_buffer_resource>();
        return none;
    }
    for (QueueSlot q = 0; q < tables.queues.size(); ++q) {
        Queue& queue = tables.queues[q];
        if (queue.running.empty() && queue.idle_since == Instant{}) queue.idle_since = now;
    }
    EventMemory& events = found->second.events;
    // The clock was set back, so jobs that were overdue may not be overdue any more: fill the lanes (sorted
    // lists of pending jobs) again.
    if (!rehearsal && events.last && now < *events.last) events.pending_known = false;
    CycleInput input;
    input.tables = &tables;
    input.configuration = &configuration;
    input.policy = policy;
    input.memory = &found->second.memory;
    input.shares = shares_of(found->second, *policy);
    if (input.shares != nullptr) input.shares->bring_up_to_date(tables, now);
    if (!rehearsal) input.events = &events;
    input.partition = found->second.partition;
    if (sched == kDefaultSched) input.served = served();
    input.now = now;
    input.categories = categories;
    input.comments = comments;
    input.answers_reservations = answers_reservations;
    const bool of_event = trigger == CycleTrigger::job_new || trigger == CycleTrigger::job_ended ||
                          found->second.woken_for_instants;
    if (!rehearsal) found->second.woken_for_instants = false;
    input.keep_pending_jobs = by_events && categories && !rehearsal;
    input.by_events = input.keep_pending_jobs && of_event && only_events_since(found->second, sched, now);
    return run_cycle(input);
}

Decisions Scheduler::cycle(Instant now, std::string_view sched, CycleTrigger trigger) {
    settle();
    return impl_->run(now, sched, trigger, false);
}

void Scheduler::set_by_events(bool on) {
    settle();
    impl_->note(&EventsSince::settings_changed);
    impl_->by_events = on;
}

void Scheduler::set_divide_chunks(bool on) {
    settle();
    if (std::exchange(impl_->tables.divides_chunks, on) != on) impl_->note(&EventsSince::all);
}

bool Scheduler::divides_chunks() const {
    settle();
    return impl_->tables.divides_chunks;
}

void Scheduler::set_preempt(bool on) {
    settle();
    if (std::exchange(impl_->tables.preempts, on) != on) impl_->note(&EventsSince::all);
}

void Scheduler::set_weigh(bool on) {
    settle();
    if (std::exchange(impl_->tables.weighs, on) != on) impl_->note(&EventsSince::all);
}

void Scheduler::set_answer_reservations(bool on) {
    settle();
    if (std::exchange(impl_->answers_reservations, on) != on) impl_->note(&EventsSince::all);
}

bool Scheduler::preempts() const {
    settle();
    return impl_->tables.preempts;
}

void Scheduler::set_tell_estimates(bool on) {
    settle();
    impl_->tables.estimates.on = on;
}

void Scheduler::set_comment_interval(Seconds interval) {
    settle();
    impl_->comment_interval = interval;
}

void Scheduler::set_comments(bool on) {
    settle();
    impl_->comments = on;
}

// Returns whether time alone has changed nothing since the last cycle, so that a cycle by events is enough.
// False at intervals (comment_interval), so that a cycle over all jobs renews the comments of waiting ones.
bool Scheduler::Impl::only_events_since(Sched& sched, std::string_view name, Instant now) {
    const EventMemory& memory = sched.events;
    if (!memory.last || now < *memory.last || now - memory.last_full >= comment_interval) return false;
    const auto boundary = boundary_after(name, sched, *memory.last);
    return !boundary || *boundary > now;
}

Decisions Scheduler::place(Instant now, JobHandle handle, bool preempts) {
    settle();
    Tables& tables = impl_->tables;
    const JobSlot job = tables.jobs.find(handle);
    if (job == kNoSlot) return {};
    Policy standard = *compile({});  // for queues without a policy in force
    Policy* const active = impl_->policy_of_queue(tables.jobs.queue[job], now);
    SchedMemory memory;
    CycleInput input;
    input.tables = &tables;
    input.configuration = &impl_->configuration;
    input.policy = active != nullptr ? active : &standard;
    input.memory = &memory;
    input.partition = tables.queues[tables.jobs.queue[job]].partition;
    input.now = now;
    input.at_request = true;
    return place_job(input, job, preempts);
}

void Scheduler::set_categories(bool on) {
    settle();
    impl_->note(&EventsSince::settings_changed);
    impl_->categories = on;
}

}  // namespace pbs::sched
