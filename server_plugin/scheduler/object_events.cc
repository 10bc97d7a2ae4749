// Functions of Scheduler that take the host's events about all objects other than jobs.

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {

void Scheduler::resource_defined(const ResourceRecord& record) {
    if (impl_->keep(record)) return;
    impl_->tables.resources.define(record);
    impl_->resources_changed();
}

void Scheduler::resource_removed(std::string_view name) {
    if (impl_->keep(ResourceGone{name})) return;
    impl_->tables.resources.remove(name);
    impl_->resources_changed();
}

void Scheduler::Impl::resources_changed() {
    note(&EventsSince::settings_changed);
    tables.requests.recompile(tables.resources);
    tables.vnodes.rebuild(tables.resources);
    tables.recount();
    tables.running_changes.note_all();
}

Result<void> Scheduler::server_changed(const ServerRecord& record) {
    if (impl_->keep(record)) return {};
    impl_->note(&EventsSince::settings_changed);
    impl_->tables.server = {record.max_running,
                            record.max_user_run,
                            record.max_group_run,
                            keep(record.resources_available),
                            record.backfill_depth,
                            record.eligible_since,
                            std::move(impl_->tables.server.limits)};
    impl_->set_limits(impl_->tables.server.limits, EntityUse::kServer, record.limits);
    impl_->tables.server_host = record.host_name.empty() ? record.name : record.host_name;
    impl_->tables.suspend_releases = record.suspend_releases;
    impl_->tables.node_group_enable = record.node_group_enable;
    impl_->tables.node_group_key = record.node_group_key;
    if (impl_->server_formula == record.job_sort_formula) return {};
    std::string before = std::exchange(impl_->server_formula, std::string(record.job_sort_formula));
    const auto done = impl_->sched_configs.renew(impl_->file_context());
    if (done) return {};
    impl_->server_formula = std::move(before);
    return tl::unexpected(
        Error{fmt::format("job_sort_formula of the server is not used: {}", done.error().message)});
}

// Sets limits. The use by running jobs is counted only for limits, so it has to be counted again.
void Scheduler::Impl::set_limits(EntityLimits& limits, std::uint32_t scope,
                                 std::span<const EntityLimitRecord> records) {
    EntityLimits told(records, tables.strings, tables.resources);
    if (told == limits) return;
    limits = std::move(told);
    tables.counts.watch(scope, limits);
    tables.recount();
    tell_projects_apart();
}

// Makes signatures (signature.h) contain the project, shape or array of a job if some limit distinguishes
// jobs by it.
void Scheduler::Impl::tell_projects_apart() {
    const bool by_project = tables.tells_projects_apart();
    const bool by_shape = tables.shapes_in_quotas;
    const bool by_array = tables.arrays_in_policies;
    if (by_project == tables.by_project && by_shape == tables.by_shape && by_array == tables.by_array) return;
    tables.by_project = by_project;
    tables.by_shape = by_shape;
    tables.by_array = by_array;
    tables.jobs.for_each([&](JobSlot slot) {
        Signature signature = tables.signatures[tables.jobs.signature[slot]];
        signature.project = by_project ? tables.jobs.project[slot] : 0;
        signature.shape = by_shape ? tables.jobs.shape(slot) : 0;
        signature.array = by_array ? tables.jobs.array(slot) : 0;
        const auto number = tables.signatures.acquire(signature);
        tables.signatures.release(std::exchange(tables.jobs.signature[slot], number));
    });
}

void Scheduler::sched_changed(const SchedRecord& record) {
    if (impl_->keep(record)) return;
    impl_->note(&EventsSince::settings_changed);
    Sched& sched = impl_->scheds[std::string(record.name)];
    sched.scheduling = record.scheduling;
    const std::uint32_t partition = impl_->tables.strings.id(record.partition);
    if (std::exchange(sched.partition, partition) != partition) impl_->enroll_all();
    impl_->renew_shares();
}

void Scheduler::sched_removed(std::string_view name) {
    if (impl_->keep(SchedGone{name})) return;
    if (const auto found = impl_->scheds.find(name); found != impl_->scheds.end()) {
        found->second.events.schedule.clear(impl_->tables.requests);
        impl_->leave_shares(found->first, found->second, {});
        impl_->scheds.erase(found);
    }
    clear_sched_config(name);
}

void Scheduler::queue_changed(const QueueRecord& record) {
    if (impl_->keep(record)) return;
    impl_->note(&EventsSince::settings_changed);
    Queue& queue = impl_->tables.queues[impl_->tables.queues.slot(record.queue)];
    if (!queue.known || queue.name != record.name) impl_->tables.running_changes.note_all();
    queue.known = true;
    queue.name = record.name;
    queue.execution = record.execution;
    queue.started = record.started;
    queue.enabled = record.enabled;
    queue.user_acl = record.user_acl;
    queue.priority = record.priority;
    queue.max_running = record.max_running;
    queue.max_user_run = record.max_user_run;
    queue.max_group_run = record.max_group_run;
    queue.resources_max = keep(record.resources_max);
    queue.resources_min = keep(record.resources_min);
    queue.resources_available = keep(record.resources_available);
    queue.node_group_key = record.node_group_key;
    queue.acl_users.assign(record.acl_users.begin(), record.acl_users.end());
    const std::uint32_t partition = impl_->tables.strings.id(record.partition);
    if (std::exchange(queue.partition, partition) != partition) {
        impl_->tables.recount();
        impl_->enroll_all();
    }
    queue.backfill_depth = record.backfill_depth;
    queue.execution_type = record.execution_type;
    impl_->set_hours(queue);
    impl_->set_limits(queue.limits, impl_->tables.queues.slot(record.queue), record.limits);
}

void Scheduler::queue_removed(QueueHandle handle) {
    if (impl_->keep(QueueGone{handle})) return;
    impl_->note(&EventsSince::settings_changed);
    QueueTable& queues = impl_->tables.queues;
    if (const QueueSlot slot = queues.find(handle); slot != kNoSlot) queues.remove(slot);
    // Each reservation has a queue, so many queues come and go. A slot may get another queue, because cycles
    // forget all that they know of slots after `settings_changed`, which was noted above.
    if (queues.wants_reuse()) queues.reuse(impl_->tables.queues_in_use());
}

void Scheduler::vnode_changed(const VnodeRecord& record) {
    if (impl_->keep(record)) return;
    Vnodes& vnodes = impl_->tables.vnodes;
    const std::uint64_t loads = vnodes.load_version();
    const std::uint64_t version = vnodes.version();
    if (vnodes.change(record, impl_->tables.resources)) impl_->note(&EventsSince::all);
    if (vnodes.version() != version) impl_->tables.running_changes.note_all();
    // The load of a host without a maximum matters only to policies that name loads.
    if (!impl_->tables.loads_in_policies || vnodes.load_version() == loads) return;
    impl_->note(&EventsSince::amount_told);
    impl_->loads_changed = true;
}

void Scheduler::vnode_removed(VnodeHandle vnode) {
    if (impl_->keep(VnodeGone{vnode})) return;
    impl_->note(&EventsSince::all);
    impl_->tables.vnodes.remove(vnode, impl_->tables.resources);
    impl_->tables.running_changes.note_all();
}

namespace {

void release_requests(Requests& requests, const AdvanceReservation& reservation) {
    requests.release(reservation.request);
    requests.release(reservation.later_request);
}

}  // namespace

// Stores a reservation that the host reports. The next cycle considers all jobs, because a reservation may
// affect the start of any job, and adds a queue in which jobs start.
void Scheduler::reservation_changed(const ReservationRecord& record) {
    if (impl_->keep(record)) return;
    impl_->note(&EventsSince::settings_changed);
    Tables& t = impl_->tables;
    const auto known = t.reservations.find(record.reservation);
    if (known == t.reservations.end() || known->second.queue != record.queue) t.running_changes.note_all();
    const std::uint32_t request = t.requests.acquire(record.requested, t.resources);
    const std::uint32_t later_request = t.requests.acquire(
        record.later_requested.empty() ? record.requested : record.later_requested, t.resources);
    const auto [at, is_new] = t.reservations.try_emplace(record.reservation);
    AdvanceReservation& reservation = at->second;
    if (!is_new) release_requests(t.requests, reservation);
    reservation.id = record.id;
    reservation.queue = record.queue;
    reservation.asked = record.asked;
    reservation.start = record.start;
    reservation.end = record.end;
    reservation.request = request;
    reservation.later_request = later_request;
    reservation.held_start = record.asked ? record.held_start : record.start;
    reservation.held_end = record.asked ? record.held_end : record.end;
    const auto shares = [](std::span<const Place> places) {
        std::vector<AdvanceReservation::Share> held;
        held.reserve(places.size());
        for (const Place& place : places) {
            AdvanceReservation::Share& share = held.emplace_back();
            share.vnode = place.vnode;
            for (const Amount& amount : place.amounts)
                share.amounts.push_back({amount.resource, amount.number});
        }
        return held;
    };
    reservation.shares = shares(record.places);
    reservation.keeps_first = record.asked && record.keeps_first;
    reservation.soonest = record.asked && record.soonest;
    reservation.later.clear();
    for (const ReservationOccurrence& one : record.later)
        reservation.later.push_back({one.start, one.end, record.asked && one.asked, shares(one.places)});
}

void Scheduler::reservation_removed(ReservationHandle handle) {
    if (impl_->keep(ReservationGone{handle})) return;
    Tables& t = impl_->tables;
    const auto found = t.reservations.find(handle);
    if (found == t.reservations.end()) return;
    impl_->note(&EventsSince::settings_changed);
    release_requests(t.requests, found->second);
    t.reservations.erase(found);
    t.running_changes.note_all();
}

}  // namespace pbs::sched
