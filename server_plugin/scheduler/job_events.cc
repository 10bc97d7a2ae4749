// Functions of Scheduler that take the host's events about jobs: new, changed, started and ended ones.

#include <algorithm>

#include "server_plugin/scheduler/log/schedule_log.h"
#include "server_plugin/scheduler/scheduler_impl.h"
#include "values/indices.h"

namespace pbs::sched {
namespace {

// Returns the state for the tables. A job that a decision has suspended waits like a queued one; any other
// job in state S holds its places.
char table_state(const JobRecord& record) {
    return record.suspended && record.state == 'S' ? 'Q' : record.state;
}

}  // namespace

void Scheduler::Impl::fill_job(JobSlot slot, const JobRecord& record) {
    JobTable& jobs = tables.jobs;
    // A waiting job with a select_range is planned with its least number of chunks; but not a subjob, which
    // has its array's number, and not a job on another server, which sets no number.
    const bool is_of_array = values::is_of_array(record.id);
    const bool waits = !is_running(record.state) && !record.suspended && !record.elsewhere && !is_of_array;
    const auto planned = planned_amounts(record.requested, waits, tables.resources);
    const auto request = tables.requests.acquire(
        planned ? std::span<const Amount>(planned->amounts) : record.requested, tables.resources);
    const bool is_new = jobs.state[slot] == ' ';
    if (!is_new) tables.requests.release(jobs.request[slot]);
    jobs.request[slot] = request;
    jobs.id[slot] = record.id;
    const auto user = std::pair(jobs.group[slot], jobs.owner[slot]);
    jobs.take_fields(slot, record, tables.strings);
    if (is_new || user != std::pair(jobs.group[slot], jobs.owner[slot]))
        jobs.user[slot] = tables.user(jobs.group[slot], jobs.owner[slot]);
    const QueueSlot queue = tables.queues.slot(record.queue);
    const bool arrived = is_new || jobs.queue[slot] != queue;
    jobs.queue[slot] = queue;
    // If the job's state has changed since its last comment was decided, the job doesn't have that comment.
    if (!is_new && jobs.state[slot] != table_state(record)) jobs.comment[slot] = 0;
    jobs.state[slot] = table_state(record);
    if (arrived) jobs.flags[slot] |= job_fresh;
    jobs.eligible[slot] = record.etime == Instant{} ? record.ctime : record.etime;
    if (record.accrual == Accrual{})
        jobs.accruals.erase(slot);
    else
        jobs.accruals[slot] = record.accrual;
    // Limit the walltime to about 3,000 years, so that adding it to an instant can't overflow.
    const Seconds hard = std::min(record.walltime, Seconds(100'000'000'000));
    jobs.walltime[slot] = hard;
    jobs.hard_walltimes.erase(slot);
    if (record.soft_walltime > Seconds(0) && (hard < Seconds(0) || record.soft_walltime < hard)) {
        jobs.walltime[slot] = std::min(record.soft_walltime, kUnlimitedWalltime);
        const Seconds ended = hard < Seconds(0) ? kUnlimitedWalltime : hard;
        jobs.hard_walltimes.emplace(slot, JobTable::HardWalltime{ended, record.extended});
    }
    auto within = number_of(tables.requests[request].amounts, tables.resources.known().start_within);
    // An array that has run, and a subjob, wait for as long as it takes; so does an array on another server.
    const bool is_first = record.together > 0 && !record.elsewhere && !is_running(record.state);
    if (is_of_array && !is_first) within.reset();
    const std::int64_t together = is_first && within.value_or(-1) >= 0 ? record.together : 0;
    // Acquire the new signature before releasing the old one: equal numbers then mean equal signatures.
    const auto signature = tables.signatures.acquire(
        {jobs.walltime[slot], request, jobs.run_host[slot], queue, jobs.is_suspended(slot) ? slot + 1 : 0,
         tables.by_project ? jobs.project[slot] : 0, tables.by_shape ? jobs.shape(slot) : std::uint8_t{0},
         tables.by_array ? jobs.array(slot) : 0, static_cast<std::uint32_t>(together),
         jobs.hard_walltime(slot)});
    if (!is_new) tables.signatures.release(jobs.signature[slot]);
    jobs.signature[slot] = signature;
    tables.await_start(slot, within, is_running(record.state), together);
    if (!record.account.empty())
        tables.accounts[slot] = tables.strings.id(record.account);
    else if (!tables.accounts.empty())
        tables.accounts.erase(slot);
    if (!record.used.empty()) tables.used[slot] = sched::keep(record.used);
    tables.suspended.erase(slot);
    if (!jobs.is_suspended(slot)) return;
    auto& places = tables.suspended[slot];
    for (const Place& place : record.places) {
        auto& amounts = places.emplace_back(Tables::GivenBack{place.vnode, {}}).amounts;
        for (const Amount& amount : place.amounts) amounts.push_back({amount.resource, amount.number});
    }
}

// Charges a started job, once, to past usage and to its group's allocation.
void Scheduler::Impl::started_running(Instant now, JobSlot slot) {
    const Policy* policy = policy_of_queue(tables.jobs.queue[slot], now);
    if (policy == nullptr) return;
    if (const auto charge = start_charge(tables, policy->settings, now, slot))
        tables.usage.charge({slot, tables.jobs.id[slot]}, tables.user_of(slot), *charge);
    const auto charge = allocation_charge(tables, policy->settings, now, slot);
    if (!charge) return;
    Allocations& allocations = tables.allocations[policy->settings.sched_acct_dir];
    const std::string_view group = tables.strings.text(tables.jobs.group[slot]);
    const bool was_over = allocations.of(group).over();
    allocations.charge(tables.jobs.id[slot], group, *charge);
    // Have the next cycle consider all jobs: from now on the group's jobs are rejected, also those that wait
    // for something else.
    if (!was_over && allocations.of(group).over()) note(&EventsSince::all);
}

void Scheduler::Impl::ended_running(Instant now, JobSlot slot) {
    tables.usage.forget_job({slot, tables.jobs.id[slot]});
    unshare_job(slot, now, tables.jobs.is_suspended(slot));
    tables.used.erase(slot);
    for (auto& [dir, allocations] : tables.allocations) allocations.job_ended(tables.jobs.id[slot]);
}

namespace {

// The facts about a queued job that decide its place in the order and whether it may start.
struct QueuedJob {
    std::uint32_t signature;
    std::uint32_t user;
    std::uint32_t origin_queue;
    std::uint64_t sequence;
    std::int32_t priority;
    Instant qtime;
    Instant eligible;
    bool interactive;
    std::uint32_t account;
    Instant preempted_at;
    friend bool operator==(const QueuedJob&, const QueuedJob&) = default;
};

QueuedJob queued_job(const Tables& t, JobSlot slot) {
    const JobTable& jobs = t.jobs;
    const auto account = t.accounts.find(slot);
    return {jobs.signature[slot],
            jobs.user[slot],
            jobs.origin_queue[slot],
            jobs.sequence[slot],
            jobs.priority[slot],
            jobs.qtime[slot],
            jobs.eligible[slot],
            (jobs.flags[slot] & job_interactive) != 0,
            account == t.accounts.end() ? 0 : account->second,
            jobs.rare_fields(slot).preempted_at};
}

// The facts that permit preempting a job, as bits; 0: the job doesn't run, or can't be preempted.
unsigned preemptable(const JobTable& jobs, JobSlot slot) {
    constexpr unsigned kFor = job_rerunnable | job_checkpointable;
    constexpr unsigned kRuns = 1U << 8;
    if (jobs.state[slot] != 'R' || (jobs.flags[slot] & job_not_preemptable) != 0) return 0;
    return kRuns | (jobs.flags[slot] & kFor);
}

}  // namespace

// Adds a job to the lists and sums of its queue.
void Scheduler::Impl::list(JobSlot slot) {
    enlist(tables.jobs, tables.queues, slot);
    if (is_running(tables.jobs.state[slot])) tables.count_running(slot, 1);
}

void Scheduler::Impl::take_off(JobSlot slot) {
    if (is_running(tables.jobs.state[slot])) tables.count_running(slot, -1);
    delist(tables.jobs, tables.queues, slot);
}

void Scheduler::Impl::forget_pending(JobSlot slot) {
    for (auto& [name, sched] : scheds) sched.events.pending.remove(slot);
}

// Logs the end of a job. Call before its vnodes are released.
void Scheduler::Impl::log_end(Instant now, JobSlot slot) {
    for (const auto& [name, sched] : scheds) {
        if (!serves(name, sched, tables.queues[tables.jobs.queue[slot]].partition)) continue;
        const Policy* policy = active_policy(name, sched, now);
        if (policy == nullptr || policy->settings.schedule_log.empty()) return;
        const std::string& path = policy->settings.schedule_log;
        if (schedule.empty() || schedule.back().sched != name || schedule.back().file.path != path)
            schedule.push_back({name, {path, {}}});
        add_schedule_records(schedule.back().file.text, tables, now,
                             held_entry(tables, ScheduleState::ending, slot, now));
        return;
    }
}

std::vector<ScheduleRecords> Scheduler::take_schedule() {
    if (impl_->background.runs) return {};
    return std::exchange(impl_->schedule, {});
}

void Scheduler::job_changed(Instant now, const JobRecord& record) {
    if (impl_->keep(JobChanged{now, record})) return;
    Tables& t = impl_->tables;
    JobSlot slot = t.jobs.find(record.job);
    const bool is_new = slot == kNoSlot;
    if (is_new) slot = t.jobs.add(record.job);
    const bool ran = !is_new && is_running(t.jobs.state[slot]);
    const bool waited = !is_new && t.jobs.state[slot] == 'Q';
    const bool was_suspended = !is_new && t.jobs.is_suspended(slot);
    const unsigned was_preemptable = is_new ? 0 : preemptable(t.jobs, slot);
    const QueueSlot old_queue = is_new ? kNoSlot : t.jobs.queue[slot];
    const QueuedJob before = queued_job(t, slot);
    const auto old_accrual = t.accrual(slot);
    const Seconds old_walltime = t.jobs.walltime[slot];
    const Instant old_stime = t.jobs.stime[slot];
    const Entities old_entities = t.jobs.entities(slot);
    const char state = table_state(record);
    if (ran && !is_running(state)) {
        impl_->log_end(now, slot);
        impl_->note_end(slot, now);
    }
    if (!is_new) impl_->take_off(slot);
    impl_->fill_job(slot, record);
    impl_->list(slot);

    const bool runs = is_running(state);
    const bool waits = state == 'Q';
    if (!waits) t.estimates.left_queue(record.job);
    // If the job's request has changed, its comment is outdated: have the next cycle set it at once.
    if (waited && waits && t.jobs.signature[slot] != before.signature) t.jobs.flags[slot] |= job_fresh;
    // The order of kept jobs may go by their eligible time.
    const bool grows_alike =
        t.accrual(slot) == old_accrual ||
        std::ranges::none_of(impl_->scheds, [](const auto& one) { return one.second.events.by_growth; });
    if (!(waited && waits && queued_job(t, slot) == before && grows_alike)) {
        if (waited) impl_->forget_pending(slot);
        if (waits) impl_->note(&EventsSince::job_changed, slot);
        if (waited || waits) t.waiting_changes.note(slot);
    }
    const Request& request = t.requests[t.jobs.request[slot]];
    const bool goes_on = runs && ran && t.vnodes.holds(slot, record.places, request);
    if (goes_on) {
        // The job goes on as before, apart from its use so far.
        const QueuedJob after = queued_job(t, slot);
        const bool is_other = t.jobs.queue[slot] != old_queue || t.jobs.walltime[slot] != old_walltime ||
                              after.signature != before.signature || after.user != before.user;
        // The job may now request less of a limit than before, or may be preempted now.
        if (is_other || (preemptable(t.jobs, slot) & ~was_preemptable) != 0)
            impl_->note(&EventsSince::all);
        else if (t.jobs.stime[slot] != old_stime)
            impl_->forget_kept();
        if (is_other || t.jobs.stime[slot] != old_stime || t.jobs.entities(slot) != old_entities ||
            preemptable(t.jobs, slot) != was_preemptable)
            t.running_changes.note(slot);
        // The CPUs of a job count as load if it started after the load was measured.
        if (t.jobs.stime[slot] != old_stime) t.vnodes.set_started(slot, t.jobs.stime[slot]);
    } else if (runs) {
        if (ran) impl_->note(&EventsSince::all);
        t.vnodes.allocate(slot, record.places, request, t.jobs.stime[slot]);
    } else if (ran) {
        impl_->note(&EventsSince::job_ended, old_queue, old_entities, t.vnodes.held_by(slot));
        t.vnodes.release(slot);
    }
    if ((ran || runs) && !goes_on) t.running_changes.note(slot);
    // A suspended job still holds some amounts of its vnodes.
    if (!runs && (t.jobs.is_suspended(slot) || was_suspended)) {
        t.vnodes.release(slot);
        t.vnodes.allocate(slot, record.kept, Request{});
        impl_->note(&EventsSince::all);
        if (!t.jobs.is_suspended(slot)) impl_->unshare_job(slot, now);
    }
    if (runs && !ran) {
        impl_->note(&EventsSince::job_started,
                    std::ranges::any_of(t.vnodes.held_by(slot), [&](VnodeSlot vnode) {
                        return t.vnodes.sole(vnode, request.sharing) != Sole::nothing;
                    }));
        impl_->note_start(slot);
        impl_->started_running(now, slot);
    }
    if (ran && !runs) impl_->ended_running(now, slot);
    impl_->share_job(slot, now);
    if (runs) t.queues[t.jobs.queue[slot]].idle_since = {};
    if (ran && t.queues[old_queue].running.empty()) t.queues[old_queue].idle_since = now;
}

void Scheduler::job_removed(Instant now, JobHandle job) {
    if (impl_->keep(JobGone{now, job})) return;
    Tables& t = impl_->tables;
    const JobSlot slot = t.jobs.find(job);
    if (slot == kNoSlot) return;
    const bool ran = is_running(t.jobs.state[slot]);
    if (ran) {
        impl_->log_end(now, slot);
        impl_->note_end(slot, now);
    }
    if (t.jobs.state[slot] == 'Q') t.waiting_changes.note(slot);
    impl_->take_off(slot);
    impl_->forget_pending(slot);
    t.estimates.forget(job);
    if (ran) {
        impl_->note(&EventsSince::job_ended, t.jobs.queue[slot], t.jobs.entities(slot),
                    t.vnodes.held_by(slot));
        t.vnodes.release(slot);
        t.running_changes.note(slot);
        impl_->ended_running(now, slot);
        Queue& queue = t.queues[t.jobs.queue[slot]];
        if (queue.running.empty()) queue.idle_since = now;
    }
    t.requests.release(t.jobs.request[slot]);
    t.signatures.release(t.jobs.signature[slot]);
    if (!ran && t.jobs.is_suspended(slot)) {
        t.vnodes.release(slot);
        impl_->unshare_job(slot, now);
        impl_->note(&EventsSince::all);
    }
    t.accounts.erase(slot);
    t.await_start(slot, std::nullopt, false, 0);
    t.used.erase(slot);
    t.suspended.erase(slot);
    t.jobs.remove(slot);
}

}  // namespace pbs::sched
