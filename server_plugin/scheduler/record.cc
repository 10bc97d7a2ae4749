#include "server_plugin/scheduler/record.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "objects/snapshot.h"
#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {
namespace {

std::vector<Amount> views(std::span<const KeptAmount> kept) {
    std::vector<Amount> amounts;
    amounts.reserve(kept.size());
    for (const KeptAmount& a : kept) amounts.push_back({a.resource, a.number, a.text});
    return amounts;
}

// ---- Describing, one kind of record after the other.

bool describe_resource(const Tables& t, std::uint32_t id, const StateSink& sink) {
    const Resources::Info* info = t.resources.find(id);
    if (info == nullptr) return false;
    sink(ResourceRecord{id, info->kind, info->name, info->consumable, info->host_level});
    return true;
}

void describe_server(const Tables& t, std::string_view formula, const StateSink& sink) {
    const auto available = views(t.server.resources_available);
    ServerRecord record;
    record.name = record.host_name = t.server_host;
    record.max_running = t.server.max_running;
    record.max_user_run = t.server.max_user_run;
    record.max_group_run = t.server.max_group_run;
    record.resources_available = available;
    record.backfill_depth = t.server.backfill_depth;
    record.job_sort_formula = formula;
    record.suspend_releases = t.suspend_releases;
    record.node_group_enable = t.node_group_enable;
    record.node_group_key = t.node_group_key;
    const auto limits = t.server.limits.records(t.strings, t.resources);
    record.limits = limits;
    record.eligible_since = t.server.eligible_since;
    sink(record);
}

void describe_queue(const Tables& t, QueueSlot slot, const StateSink& sink) {
    const Queue& queue = t.queues[slot];
    const auto maximum = views(queue.resources_max);
    const auto minimum = views(queue.resources_min);
    const auto available = views(queue.resources_available);
    const std::vector<std::string_view> users(queue.acl_users.begin(), queue.acl_users.end());
    QueueRecord r;
    r.queue = queue.handle;
    r.name = queue.name;
    r.execution = queue.execution;
    r.started = queue.started;
    r.enabled = queue.enabled;
    r.user_acl = queue.user_acl;
    r.priority = queue.priority;
    r.max_running = queue.max_running;
    r.max_user_run = queue.max_user_run;
    r.max_group_run = queue.max_group_run;
    r.resources_max = maximum;
    r.resources_min = minimum;
    r.resources_available = available;
    r.acl_users = users;
    r.partition = t.strings.text(queue.partition);
    r.backfill_depth = queue.backfill_depth;
    r.node_group_key = queue.node_group_key;
    r.execution_type = queue.execution_type;
    const auto limits = queue.limits.records(t.strings, t.resources);
    r.limits = limits;
    sink(QueueState{r, queue.known, queue.idle_since});
}

template <class Act>
void each_rule(const Act& act) {
    for (const Profile* profile : all_profiles())
        for (const AfterRefusalRule* rule : profile->after_refusal) act(*rule);
}

void describe_sched(const Tables& t, std::string_view name, const Sched& sched, const StateSink& sink) {
    KeptByRules kept;
    each_rule([&](const AfterRefusalRule& rule) {
        if (rule.describe != nullptr) rule.describe(sched.memory.own, t, kept);
    });
    sink(SchedState{{name, sched.scheduling, t.strings.text(sched.partition), {}},
                    sched.policy,
                    kept.first_cycle,
                    kept.early,
                    kept.found_at_start});
}

void describe_vnode(const Tables& t, VnodeSlot slot, const StateSink& sink) {
    const Vnode& vnode = t.vnodes[slot];
    const auto available = views(vnode.available);
    VnodeRecord r;
    r.vnode = vnode.handle;
    r.name = vnode.name;
    r.host = t.strings.text(vnode.host);
    r.free = vnode.free;
    r.priority = vnode.priority;
    r.queue = vnode.queue;
    r.partition = t.strings.text(vnode.partition);
    r.resources_available = available;
    r.load_thousandths = vnode.load_thousandths;
    r.system_time_thousandths = vnode.system_time_thousandths;
    r.load_at = t.vnodes.load_at(slot);
    r.max_load_thousandths = vnode.max_load_thousandths;
    r.busy = vnode.busy;
    r.sharing = vnode.sharing;
    sink(VnodeState{r, vnode.known});
}

void describe_job(const Tables& t, JobSlot slot, const StateSink& sink) {
    const JobTable& jobs = t.jobs;
    const auto requested = views(t.requests[jobs.request[slot]].amounts);
    std::vector<Amount> used;
    if (const auto known = t.used.find(slot); known != t.used.end()) used = views(known->second);
    std::deque<std::vector<Amount>> amounts;
    std::vector<Place> places;
    const auto add = [&](VnodeHandle vnode, std::span<const Need> needs, std::vector<Place>& to) {
        auto& held = amounts.emplace_back();
        for (const Need& need : needs) held.push_back({need.resource, need.amount, {}});
        to.push_back({vnode, held});
    };
    const bool suspended = jobs.is_suspended(slot);
    std::vector<Place> kept;
    t.vnodes.for_each_held(slot, [&](VnodeHandle vnode, std::span<const Need> needs) {
        add(vnode, needs, suspended ? kept : places);
    });
    if (const auto found = t.suspended.find(slot); found != t.suspended.end())
        for (const Tables::GivenBack& place : found->second) add(place.vnode, place.amounts, places);
    JobRecord r;
    r.job = jobs.handle[slot];
    r.id = jobs.id[slot];
    r.queue = t.queues[jobs.queue[slot]].handle;
    r.state = suspended ? 'S' : jobs.state[slot];
    jobs.give_fields(slot, r, t.strings);
    r.etime = jobs.eligible[slot];
    if (const auto told = jobs.accruals.find(slot); told != jobs.accruals.end()) r.accrual = told->second;
    r.walltime = jobs.walltime[slot];
    if (const Seconds hard = jobs.hard_walltime(slot); hard != Seconds(0)) {
        r.soft_walltime = r.walltime;
        r.walltime = hard;
        r.extended = jobs.is_extended(slot);
    }
    r.requested = requested;
    r.places = places;
    if (const auto known = t.accounts.find(slot); known != t.accounts.end())
        r.account = t.strings.text(known->second);
    r.used = used;
    r.kept = kept;
    sink(JobState{r, (jobs.flags[slot] & job_fresh) != 0, jobs.comment[slot]});
}

// Describes jobs in the order of the queues' lists, which decides among equal jobs; then those in no list.
void describe_jobs(const Tables& t, const StateSink& sink, const std::atomic<bool>& give_up) {
    for (QueueSlot q = 0; q < t.queues.size(); ++q)
        for (const auto* list : {&t.queues[q].queued, &t.queues[q].running})
            for (const JobSlot job : *list) {
                if (give_up) return;
                describe_job(t, job, sink);
            }
    std::vector<std::pair<std::uint64_t, JobSlot>> rest;
    t.jobs.for_each([&](JobSlot slot) {
        if (t.jobs.state[slot] != 'Q' && !is_running(t.jobs.state[slot]))
            rest.emplace_back(static_cast<std::uint64_t>(t.jobs.handle[slot]), slot);
    });
    std::ranges::sort(rest);
    for (const auto& [handle, slot] : rest) describe_job(t, slot, sink);
}

void describe_reservation(ReservationHandle handle, const AdvanceReservation& reservation, const Tables& t,
                          const StateSink& sink) {
    const auto requested = views(t.requests[reservation.request].amounts);
    const auto later_requested = reservation.later_request == reservation.request
                                     ? std::vector<Amount>()
                                     : views(t.requests[reservation.later_request].amounts);
    std::deque<std::vector<Amount>> amounts;
    std::deque<std::vector<Place>> lists;
    const auto places = [&](const std::vector<AdvanceReservation::Share>& shares) {
        auto& list = lists.emplace_back();
        for (const AdvanceReservation::Share& share : shares) {
            auto& held = amounts.emplace_back();
            for (const Need& need : share.amounts) held.push_back({need.resource, need.amount, {}});
            list.push_back({share.vnode, held});
        }
        return std::span<const Place>(list);
    };
    std::vector<ReservationOccurrence> later;
    for (const AdvanceReservation::Occurrence& one : reservation.later)
        later.push_back({one.start, one.end, places(one.shares), one.asked});
    sink(ReservationState{{handle, reservation.id, reservation.queue, reservation.asked, reservation.start,
                           reservation.end, requested, places(reservation.shares), reservation.held_start,
                           reservation.held_end, later, reservation.keeps_first, reservation.soonest,
                           later_requested}});
}

// ---- Taking records.

using Scheds = std::map<std::string, Sched, std::less<>>;

void restore_queue(Scheduler& scheduler, Tables& t, const QueueState& state) {
    scheduler.queue_changed(state.record);
    // Don't call queue_removed(): it might free the slot for another queue, since the queue's jobs are
    // restored later.
    if (!state.known) t.queues.remove(t.queues.find(state.record.queue));
    t.queues[t.queues.slot(state.record.queue)].idle_since = state.idle_since;
}

void restore_sched(Scheduler& scheduler, Tables& t, Scheds& scheds, const SchedState& state) {
    scheduler.sched_changed(state.record);
    Sched& sched = scheds[std::string(state.record.name)];
    sched.policy = state.policy;
    const KeptByRules kept{state.first_cycle,
                           {state.early.begin(), state.early.end()},
                           {state.found_at_start.begin(), state.found_at_start.end()}};
    each_rule([&](const AfterRefusalRule& rule) {
        if (rule.restore != nullptr) rule.restore(sched.memory.own, t, kept);
    });
}

// Restores a job. job_changed() charges nothing, because the configuration comes in a later record. The job's
// charges also come in later records.
void restore_job(Scheduler& scheduler, Tables& t, const JobState& state) {
    scheduler.job_changed(Instant{}, state.record);
    const JobSlot slot = t.jobs.find(state.record.job);
    if (!state.fresh) t.jobs.flags[slot] &= static_cast<std::uint16_t>(~job_fresh);
    t.jobs.comment[slot] = state.comment;
}

void restore_usage(Tables& t, const PastUsageState& state) {
    std::vector<ChargeRow> charges;
    for (const std::string& id : state.charged) charges.push_back({id, {}, {}, 0});
    t.usage.load(state.rows, charges, state.last_decay);
}

// The sorted ids of the jobs whose charge is in the usage.
std::vector<std::string> charged_jobs(const Tables& t) {
    std::vector<std::string> ids(t.usage.loaded().begin(), t.usage.loaded().end());
    t.jobs.for_each([&](JobSlot slot) {
        if (t.usage.is_charged(slot)) ids.push_back(t.jobs.id[slot]);
    });
    std::ranges::sort(ids);
    return ids;
}

}  // namespace

void Inspector::describe(const StateSink& sink, const std::atomic<bool>* give_up) const {
    const std::atomic<bool> never = false;
    if (give_up == nullptr) give_up = &never;
    const Tables& t = impl_->tables;
    describe_resources(sink);
    describe_server(t, impl_->server_formula, sink);
    // Describe queues in the order of their slots, because cycles read jobs queue by queue.
    for (QueueSlot slot = 0; slot < t.queues.size(); ++slot)
        if (t.queues[slot].handle != QueueHandle{}) describe_queue(t, slot, sink);
    for (const auto& [name, sched] : impl_->scheds) describe_sched(t, name, sched, sink);
    for (VnodeSlot slot = 0; slot < t.vnodes.size(); ++slot) describe_vnode(t, slot, sink);
    for (const auto& [handle, reservation] : t.reservations)
        describe_reservation(handle, reservation, t, sink);
    describe_jobs(t, sink, *give_up);
    if (*give_up) return;
    const auto rows = t.usage.rows();
    const auto charged = charged_jobs(t);
    sink(PastUsageState{rows, charged, t.usage.last_decay()});
    for (const auto& [dir, allocations] : t.allocations) sink(AllocationsState{dir, allocations.state()});
    for (const auto& [key, known] : t.outages.all()) sink(OutagesState{key.first, key.second, known});
    for (const auto& [element, known] : t.told.all()) sink(ToldState{element, known});
    if (impl_->snapshot) sink(ConfigurationState{impl_->snapshot});
    for (const auto& [sched, file] : impl_->sched_configs.all())
        sink(SchedConfigState{sched, file.all_time, file.prime, file.non_prime});
    impl_->each_scope([&](const std::string& scope, const SchedShares& shares) {
        const auto used = shares.tree.rows();
        const auto charges = shares.tree.charges();
        sink(FairShareState{scope, used, charges, shares.tree.last_decay()});
    });
    sink(TickState{impl_->last_tick, impl_->look_again});
}

void Inspector::describe_resources(const StateSink& sink) const {
    const Tables& t = impl_->tables;
    for (std::uint32_t id = 0; id < t.resources.size(); ++id) describe_resource(t, id, sink);
}

bool Inspector::describe_one(const ObjectRef& object, const StateSink& sink) const {
    const Tables& t = impl_->tables;
    switch (object.kind) {
        case ObjectRef::Kind::resource:
            return describe_resource(t, static_cast<std::uint32_t>(object.id), sink);
        case ObjectRef::Kind::server:
            describe_server(t, impl_->server_formula, sink);
            return true;
        case ObjectRef::Kind::sched: {
            const auto found = impl_->scheds.find(object.name);
            if (found == impl_->scheds.end()) return false;
            describe_sched(t, found->first, found->second, sink);
            return true;
        }
        case ObjectRef::Kind::queue: {
            const QueueSlot slot = t.queues.find(QueueHandle{object.id});
            if (slot == kNoSlot || !t.queues[slot].known) return false;
            describe_queue(t, slot, sink);
            return true;
        }
        case ObjectRef::Kind::vnode: {
            const VnodeSlot slot = t.vnodes.find(VnodeHandle{object.id});
            if (slot == kNoSlot || !t.vnodes[slot].known) return false;
            describe_vnode(t, slot, sink);
            return true;
        }
        case ObjectRef::Kind::reservation: {
            const auto found = t.reservations.find(ReservationHandle{object.id});
            if (found == t.reservations.end()) return false;
            describe_reservation(found->first, found->second, t, sink);
            return true;
        }
        case ObjectRef::Kind::job: {
            const JobSlot slot = t.jobs.find(JobHandle{object.id});
            if (slot == kNoSlot) return false;
            describe_job(t, slot, sink);
            return true;
        }
        case ObjectRef::Kind::configured:
            break;
    }
    return false;
}

std::shared_ptr<const objects::Snapshot> Inspector::configuration() const {
    return impl_->snapshot;
}

Result<void> Scheduler::restore(const StateRecord& record) {
    settle();
    Tables& t = impl_->tables;
    if (const auto* resource = std::get_if<ResourceRecord>(&record)) {
        resource_defined(*resource);
    } else if (const auto* server = std::get_if<ServerRecord>(&record)) {
        return server_changed(*server);
    } else if (const auto* queue = std::get_if<QueueState>(&record)) {
        restore_queue(*this, t, *queue);
    } else if (const auto* sched = std::get_if<SchedState>(&record)) {
        restore_sched(*this, t, impl_->scheds, *sched);
    } else if (const auto* vnode = std::get_if<VnodeState>(&record)) {
        vnode_changed(vnode->record);
        if (!vnode->known) vnode_removed(vnode->record.vnode);
    } else if (const auto* reservation = std::get_if<ReservationState>(&record)) {
        reservation_changed(reservation->record);
    } else if (const auto* job = std::get_if<JobState>(&record)) {
        restore_job(*this, t, *job);
    } else if (const auto* usage = std::get_if<PastUsageState>(&record)) {
        restore_usage(t, *usage);
    } else if (const auto* allocations = std::get_if<AllocationsState>(&record)) {
        t.allocations[std::string(allocations->dir)].restore(allocations->state);
    } else if (const auto* outages = std::get_if<OutagesState>(&record)) {
        t.outages.restore(outages->command, outages->name, outages->known);
    } else if (const auto* told = std::get_if<ToldState>(&record)) {
        t.told.restore(told->element, told->known);
    } else if (const auto* configuration = std::get_if<ConfigurationState>(&record)) {
        if (configuration->snapshot) return set_configuration(configuration->snapshot);
    } else if (const auto* file = std::get_if<SchedConfigState>(&record)) {
        return set_sched_config(file->sched, file->all_time, file->prime, file->non_prime);
    } else if (const auto* shares = std::get_if<FairShareState>(&record)) {
        load_shares(shares->scope, shares->rows, shares->charges, shares->last_decay);
    } else if (const auto* tick = std::get_if<TickState>(&record)) {
        impl_->last_tick = tick->last;
        impl_->look_again = tick->look_again;
    }
    return {};
}

Decisions Inspector::rehearse(Instant now, std::string_view sched, CycleTrigger trigger) {
    Tables& t = impl_->tables;
    const auto found = impl_->scheds.find(sched);
    std::optional<SchedMemory> memory;
    if (found != impl_->scheds.end()) memory = found->second.memory;
    auto flags = t.jobs.flags;
    auto comments = t.jobs.comment;
    const bool estimates = std::exchange(t.estimates.on, false);
    std::vector<Instant> idle_since;
    for (QueueSlot q = 0; q < t.queues.size(); ++q) idle_since.push_back(t.queues[q].idle_since);

    Decisions decisions = impl_->run(now, sched, trigger, true);

    if (memory) found->second.memory = *std::move(memory);
    t.jobs.flags = std::move(flags);
    t.jobs.comment = std::move(comments);
    t.estimates.on = estimates;
    for (QueueSlot q = 0; q < idle_since.size(); ++q) t.queues[q].idle_since = idle_since[q];
    return decisions;
}

}  // namespace pbs::sched
