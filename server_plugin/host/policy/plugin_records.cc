#include "server_plugin/host/policy/plugin_records.h"

#include "ifl/attributes/execution_type.h"
#include "ifl/attributes/reservation_start.h"
#include "server_plugin/host/state/accrual.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/preemption.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/host/state/reservation_select.h"

namespace pbs::host {
namespace {

static_assert(ifl::execution_type_of("execution_prime") == PBS_EXECUTION_PRIME &&
              ifl::execution_type_of("execution_non_prime") == PBS_EXECUTION_NON_PRIME &&
              ifl::execution_type_of("execution_dedicated") == PBS_EXECUTION_DEDICATED);

std::optional<cluster::ResourceRef> ref_of(const Resource* resource) {
    if (resource == nullptr) return std::nullopt;
    return cluster::ResourceRef{resource->id, static_cast<int>(resource->type), resource->name,
                                resource->consumable()};
}

void read_views(const Attributes& attributes, std::vector<ifl::AttributeView>& views) {
    views.clear();
    for (const AttributeValue& value : attributes.values())
        views.push_back({value.def()->name, value.resource(), value.value()});
}

std::vector<ifl::AttributeView> views_of(const Attributes& attributes) {
    std::vector<ifl::AttributeView> views;
    read_views(attributes, views);
    return views;
}

// Returns the resources that a reservation requests. The returned select includes the defaults of its chunks.
cluster::ResourceList requested_by(const Reservation& reservation) {
    cluster::ResourceList list;
    for (const AttributeValue& value : reservation.attributes.all_of("Resource_List"))
        list.emplace(value.resource(), value.value());
    if (const std::string_view chunks = reservation.attributes.text("schedselect"); !chunks.empty())
        list.insert_or_assign("select", std::string(chunks));
    return list;
}

}  // namespace

std::optional<cluster::ResourceRef> StateNames::resource(std::string_view name) const {
    return ref_of(state_.resources.find(name));
}
std::optional<cluster::ResourceRef> StateNames::resource(uint32_t id) const {
    return ref_of(state_.resources.by_id(id));
}
uint64_t StateNames::queue(std::string_view name) const {
    const Queue* queue = state_.queue(name);
    return queue == nullptr ? 0 : queue->handle;
}
uint64_t StateNames::vnode(std::string_view name) const {
    const Node* node = state_.node(name);
    return node == nullptr ? 0 : node->handle;
}
std::string_view StateNames::vnode_name(uint64_t vnode) const {
    const Node* node = state_.node(vnode);
    return node == nullptr ? std::string_view() : std::string_view(node->name);
}

pbs_resource_record resource_record(const Resource& resource) {
    pbs_resource_record record{};
    record.size = sizeof record;
    record.id = resource.id;
    record.kind = static_cast<int32_t>(resource.type);
    record.name = cluster::c_str(resource.name);
    record.consumable = resource.consumable() || (resource.flags & resource_queue_sum) != 0 ? 1 : 0;
    record.host_level = (resource.flags & resource_host) != 0 ? 1 : 0;
    // Policies name the built-in resource by its own spelling.
    const auto built_in = resource_for_policies(resource.name);
    record.stays = built_in && built_in->name == resource.name ? 1 : 0;
    return record;
}

const pbs_server_record& RecordBuilder::server() {
    server_ = cluster::server_of(state_.server_name, views_of(state_.server));
    server_.host = state_.host_name;
    server_.counts_eligible_time = counts_eligible_time(state_.server);
    server_.eligible_since = eligible_since(state_);
    return builder_.server(server_);
}

const pbs_sched_record& RecordBuilder::sched(const Sched& sched) {
    sched_ = {};
    cluster::read_sched(sched_, views_of(sched.attributes));
    return builder_.sched(sched.name, sched_);
}

const pbs_queue_record& RecordBuilder::queue(const Queue& queue) {
    queue_ = cluster::queue_of(views_of(queue.attributes));
    queue_.execution_type = ifl::execution_type_of(queue.attributes.text("execution_type"));
    return builder_.queue(queue.handle, queue.name, queue_);
}

const pbs_vnode_record& RecordBuilder::node(const Node& node, const MachineLoad& load) {
    vnode_ = cluster::vnode_of(views_of(node.attributes));
    vnode_.state = node.state;
    if (load.busy) vnode_.state |= PBS_VNODE_BUSY;
    vnode_.load = {load.average, load.system_time, load.at, load.max};
    return builder_.vnode(node.handle, node.name, vnode_);
}

const pbs_job_record& RecordBuilder::job(const Job& job) {
    const Attributes& attributes = job.attributes;
    read_views(attributes, views_);
    job_ = cluster::view_of_job(job.id, views_, attributes.integer("accrues_since", 0));
    job_.state = job.state;
    job_.substate = job.substate;
    job_.array = job.is_array();
    if (job_.array) {
        job_.queued = attributes.text("array_indices_remaining");
        if (attributes.has("max_run_subjobs")) job_.most_running = attributes.integer("max_run_subjobs", 0);
    }
    job_.queue = job.queue_name.text();
    job_.checkpointable = state_.checkpoints && job_.checkpointable;
    job_.preempted_at = attributes.integer("sched_preempted", 0);
    job_.accrue_type = static_cast<int32_t>(attributes.integer("accrues_as", PBS_ACCRUE_INITIAL));
    job_.eligible_time = attributes.integer("eligible_before", 0);
    job_.ctime = job.ctime;
    job_.qtime = job.qtime;
    job_.etime = job.etime;
    job_.stime = job.stime == 0 ? 0 : job.stime + suspended_seconds(job);
    job_.mtime = job.mtime;
    cluster::JobStanding standing;
    standing.handle = job.told_as();
    standing.queue = job.queue;
    standing.state = state_for_plugin(job);
    standing.elapsed = elapsed_seconds(job);
    if (job.elsewhere) standing.flags |= PBS_JOB_ELSEWHERE | PBS_JOB_NOT_PREEMPTABLE;
    if (attributes.text("not_preemptable") == "True" || is_preempting(job))
        standing.flags |= PBS_JOB_NOT_PREEMPTABLE;
    standing.has_run = job.begun();
    if (!is_preempted(job)) {
        standing.places = &job.places;
        return builder_.job(job_, standing);
    }
    const std::vector<Place> released = released_places(job, state_.resources);
    const std::vector<Place> held = held_places(job, state_.resources);
    standing.places = &released;
    standing.kept = &held;
    return builder_.job(job_, standing);
}

const pbs_reservation_record& RecordBuilder::reservation(const Reservation& reservation) {
    const Attributes& attributes = reservation.attributes;
    cluster::ReservationStanding& standing = reservation_;
    standing = {};
    standing.handle = reservation.handle;
    standing.id = reservation.id;
    standing.queue = names_.queue(reservation.queue_name());
    standing.asked = awaits_answer(reservation);
    standing.start = attributes.integer("asked_start", reservation.start());
    standing.end = attributes.integer("asked_end", reservation.end());
    standing.held_start = reservation.start();
    standing.held_end = reservation.end();
    Reservation altered = reservation;
    if (attributes.has("asked_select")) (void)set_select(altered, attributes.text("asked_select"), state_);
    standing.requested = requested_by(altered);
    standing.places = reservation.places;
    for (const Reservation::Occurrence& one : reservation.later)
        standing.later.push_back({one.start, one.end, one.places, one.asked});
    standing.keeps_first = reservation.keeps_first;
    standing.soonest = reservation.start() == ifl::kAsSoonAsPossible && attributes.has("qmove");
    return builder_.reservation(standing);
}

}  // namespace pbs::host
