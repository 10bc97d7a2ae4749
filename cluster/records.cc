#include "cluster/records.h"

#include <algorithm>
#include <tuple>

#include "cluster/exec_vnode.h"

namespace pbs::cluster {

void RecordBuilder::clear() {
    used_lists_ = 0;
    acl_.clear();
    places_.clear();
    occurrences_.clear();
    limits_.clear();
}

std::vector<pbs_amount>& RecordBuilder::next_list() {
    if (used_lists_ == lists_.size()) lists_.emplace_back();
    std::vector<pbs_amount>& list = lists_[used_lists_++];
    list.clear();
    return list;
}

template <class List>
std::pair<const pbs_amount*, std::size_t> RecordBuilder::amounts(const List& list, std::string_view chunks) {
    constexpr std::string_view kSelect = "select";
    std::vector<pbs_amount>& out = next_list();
    const auto add = [&](std::string_view name, std::string_view value) {
        const auto resource = names_.resource(name);
        if (!resource) return;
        pbs_amount amount{};
        amount.resource = resource->id;
        amount.number = amount_of(resource->kind, value);
        if (is_text(resource->kind)) amount.text = c_str(value);
        out.push_back(amount);
    };
    for (const auto& [name, value] : list)
        if (chunks.empty() || name != kSelect) add(name, value);
    if (!chunks.empty()) add(kSelect, chunks);
    return {out.data(), out.size()};
}

void RecordBuilder::add_places(const std::vector<Place>& places) {
    for (const Place& place : places) {
        std::vector<pbs_amount>& list = next_list();
        for (const auto& [resource, number] : place.amounts) list.push_back({resource, 0, number, {}});
        places_.push_back({place.node, list.data(), list.size()});
    }
}

const std::vector<pbs_place>& RecordBuilder::places(const std::vector<Place>& places) {
    clear();
    add_places(places);
    return places_;
}

// Fills in the limits of a record, which the records of servers and of queues have in common.
template <class Record>
void RecordBuilder::set_limits(Record& record, const Limits& limits) {
    record.max_running = limits.max_running;
    record.max_user_run = limits.max_user_run;
    record.max_group_run = limits.max_group_run;
    std::tie(record.resources_max, record.resources_max_count) = amounts(limits.resources_max);
    std::tie(record.resources_available, record.resources_available_count) =
        amounts(limits.resources_available);
    for (const Limits::Entity& entity : limits.entities) {
        const auto resource = names_.resource(entity.resource);
        // Ignore a limit on a resource that has been deleted.
        if (!entity.resource.empty() && !resource) continue;
        const ifl::EntityLimit& limit = entity.limit;
        const bool each = limit.name == ifl::kGenericEntity || limit.name == ifl::kAllEntity;
        pbs_entity_limit out{};
        out.entity = static_cast<std::int32_t>(std::string_view("ougp").find(limit.kind));
        out.resource = resource ? resource->id : PBS_LIMIT_ON_JOBS;
        out.name = c_str(each ? std::string_view() : std::string_view(limit.name));
        out.most = amount_of(resource ? resource->kind : PBS_RES_LONG, limit.most.value_or(""));
        out.soft = entity.soft ? 1 : 0;
        limits_.push_back(out);
    }
    record.limits = limits_.data();
    record.limit_count = limits_.size();
}

const pbs_server_record& RecordBuilder::server(const Server& server) {
    clear();
    server_ = {};
    server_.size = sizeof server_;
    server_.name = c_str(server.name);
    server_.host_name = c_str(server.host);
    set_limits(server_, server.limits);
    server_.backfill_depth = server.backfill_depth;
    server_.job_sort_formula = c_str(server.job_sort_formula);
    server_.suspend_releases = c_str(server.suspend_releases);
    server_.counts_eligible_time = server.counts_eligible_time ? 1 : 0;
    server_.eligible_since = server.eligible_since;
    server_.node_group_key = c_str(server.node_group_key);
    server_.node_group_enable = server.node_group_enable ? 1 : 0;
    return server_;
}

const pbs_sched_record& RecordBuilder::sched(std::string_view name, const Sched& sched,
                                             std::string_view directives) {
    sched_ = {};
    sched_.size = sizeof sched_;
    sched_.name = c_str(name);
    sched_.scheduling = sched.scheduling ? 1 : 0;
    sched_.partition = c_str(sched.partition);
    sched_.sched_priv = c_str(sched.sched_priv);
    sched_.own = sched.own ? 1 : 0;
    sched_.directives = c_str(directives);
    return sched_;
}

const pbs_queue_record& RecordBuilder::queue(std::uint64_t handle, std::string_view name,
                                             const Queue& queue) {
    clear();
    queue_ = {};
    queue_.size = sizeof queue_;
    queue_.queue = handle;
    queue_.name = c_str(name);
    if (queue.execution) queue_.flags |= PBS_QUEUE_EXECUTION;
    if (queue.started) queue_.flags |= PBS_QUEUE_STARTED;
    if (queue.enabled) queue_.flags |= PBS_QUEUE_ENABLED;
    if (queue.user_acl) queue_.flags |= PBS_QUEUE_USER_ACL;
    queue_.priority = queue.priority;
    set_limits(queue_, queue.limits);
    std::tie(queue_.resources_min, queue_.resources_min_count) = amounts(queue.limits.resources_min);
    for (const std::string& entry : queue.acl_users) acl_.push_back(c_str(entry));
    queue_.acl_users = acl_.data();
    queue_.acl_user_count = acl_.size();
    queue_.partition = c_str(queue.partition);
    queue_.node_group_key = c_str(queue.node_group_key);
    queue_.backfill_depth = queue.backfill_depth;
    queue_.execution_type = queue.execution_type;
    return queue_;
}

const pbs_vnode_record& RecordBuilder::vnode(std::uint64_t handle, std::string_view name,
                                             const Vnode& vnode) {
    clear();
    vnode_ = {};
    vnode_.size = sizeof vnode_;
    vnode_.vnode = handle;
    vnode_.name = c_str(name);
    vnode_.host = c_str(vnode.host);
    vnode_.state = vnode.state;
    vnode_.priority = vnode.priority;
    vnode_.queue = names_.queue(vnode.queue);
    vnode_.partition = c_str(vnode.partition);
    std::tie(vnode_.resources_available, vnode_.resources_available_count) = amounts(vnode.available);
    vnode_.load_thousandths = vnode.load.average;
    vnode_.system_time_thousandths = vnode.load.system_time;
    vnode_.load_at = vnode.load.at;
    vnode_.max_load_thousandths = vnode.load.max;
    vnode_.sharing = vnode.sharing;
    return vnode_;
}

template <class Text>
const pbs_job_record& RecordBuilder::job(const BasicJob<Text>& job, const JobStanding& standing) {
    clear();
    job_ = {};
    job_.size = sizeof job_;
    job_.job = standing.handle;
    // The rank of a subjob says when the subjob was started, and not when its array was queued.
    const bool ranked = job.rank > 0 && array_of(job.id).empty();
    job_.sequence = ranked ? static_cast<std::uint64_t>(job.rank) : number_in(job.id);
    job_.id = c_str(job.id);
    job_.owner = c_str(job.owner);
    job_.group = c_str(job.group);
    job_.account = c_str(job.account);
    job_.project = c_str(job.project);
    job_.origin_queue = job.origin_queue.empty() ? c_str(job.queue) : c_str(job.origin_queue);
    job_.run_host = c_str(value_in(job.requested, "host"));
    job_.queue = standing.queue;
    job_.state = static_cast<unsigned char>(standing.state);
    job_.priority = job.priority;
    job_.flags = standing.flags;
    if (job.interactive) job_.flags |= PBS_JOB_INTERACTIVE;
    if (job.rerunnable) job_.flags |= PBS_JOB_RERUNNABLE;
    if (job.checkpointable) job_.flags |= PBS_JOB_CHECKPOINTABLE;
    if (job.topjob_ineligible) job_.flags |= PBS_JOB_TOPJOB_INELIGIBLE;
    if (!job.comment.empty()) job_.flags |= PBS_JOB_HAS_COMMENT;
    if (job.preempted()) job_.flags |= PBS_JOB_PREEMPTED;
    if (!job.runs() || job.preempted()) job_.preempted_at = job.preempted_at;
    job_.elapsed = standing.elapsed;
    job_.ctime = job.ctime;
    job_.qtime = ranked ? job.rank / 1'000'000 : job.qtime;
    job_.etime = job.etime;
    job_.stime = job.runs() ? job.stime : 0;
    job_.mtime = job.mtime;
    job_.accrue_type = job.accrue_type;
    job_.eligible_time = job.eligible_time;
    job_.accrues_since = job.accrues_since;
    job_.walltime = job.walltime();
    job_.soft_walltime = standing.soft_walltime;
    std::tie(job_.requested, job_.requested_count) = amounts(job.requested, job.chunks);
    if (job.runs()) std::tie(job_.used, job_.used_count) = amounts(job.used);
    if (standing.places != nullptr) add_places(*standing.places);
    if (job.array && !standing.has_run && !value_in(job.requested, "start_within").empty()) {
        const std::int64_t number = number_of_indices(job.queued);
        job_.together = static_cast<std::uint32_t>(std::min(number, job.most_running.value_or(number)));
    }
    job_.place_count = places_.size();
    if (standing.kept != nullptr) add_places(*standing.kept);
    job_.kept_count = places_.size() - job_.place_count;
    job_.places = places_.data();
    job_.kept = places_.data() + job_.place_count;
    return job_;
}

template const pbs_job_record& RecordBuilder::job(const Job& job, const JobStanding& standing);
template const pbs_job_record& RecordBuilder::job(const JobView& job, const JobStanding& standing);

const pbs_reservation_record& RecordBuilder::reservation(const ReservationStanding& reservation) {
    clear();
    reservation_ = {};
    reservation_.size = sizeof reservation_;
    reservation_.reservation = reservation.handle;
    reservation_.id = c_str(reservation.id);
    reservation_.queue = reservation.queue;
    reservation_.state = reservation.asked ? PBS_RESERVATION_ASKED : PBS_RESERVATION_CONFIRMED;
    reservation_.start = reservation.start;
    reservation_.end = reservation.end;
    reservation_.held_start = reservation.held_start;
    reservation_.held_end = reservation.held_end;
    std::tie(reservation_.requested, reservation_.requested_count) = amounts(reservation.requested);
    std::tie(reservation_.later_requested, reservation_.later_requested_count) =
        amounts(reservation.later_requested);
    add_places(reservation.places);
    for (const ReservationStanding::Occurrence& one : reservation.later) {
        pbs_reservation_occurrence out{};
        out.start = one.start;
        out.end = one.end;
        out.place_count = one.places.size();
        out.asked = one.asked ? 1 : 0;
        occurrences_.push_back(out);
        add_places(one.places);
    }
    // Set the pointers last, because the array of places moves while it grows.
    reservation_.places = places_.data();
    reservation_.place_count = reservation.places.size();
    const pbs_place* next = places_.data() + reservation_.place_count;
    for (pbs_reservation_occurrence& one : occurrences_) {
        one.places = next;
        next += one.place_count;
    }
    reservation_.later = occurrences_.data();
    reservation_.later_count = occurrences_.size();
    reservation_.keeps_first = reservation.keeps_first ? 1 : 0;
    reservation_.soonest = reservation.soonest ? 1 : 0;
    return reservation_;
}

std::vector<std::uint8_t> joined_in(const std::vector<Place>& places) {
    std::vector<std::uint8_t> joined;
    joined.reserve(places.size());
    for (const Place& place : places) joined.push_back(place.joined ? 1 : 0);
    return joined;
}

std::vector<Place> places_of(std::string_view exec_vnode, const Names& names) {
    std::vector<Place> places;
    for (const Share& share : shares_of(exec_vnode)) {
        Place place;
        place.node = names.vnode(share.vnode);
        if (place.node == 0) continue;
        place.node_name = share.vnode;
        place.joined = share.joined;
        for (const std::string_view text : share.amounts) {
            const WrittenAmount amount = amount_in(text);
            const auto resource = names.resource(amount.resource);
            if (resource && !is_text(resource->kind))
                place.amounts[resource->id] = amount_of(resource->kind, amount.value);
        }
        places.push_back(std::move(place));
    }
    return places;
}

}  // namespace pbs::cluster
