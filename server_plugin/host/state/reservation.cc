#include "server_plugin/host/state/reservation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ifl/pbs_error.h"
#include "server_plugin/host/state/select_spec.h"

namespace pbs::host {
namespace {

// Returns whether the vnode is missing: down, offline or removed.
bool is_lacking(uint64_t handle, const State& state) {
    const Node* node = state.node(handle);
    return node == nullptr || node->state != node_free;
}

}  // namespace

int substate_of(const Reservation& reservation) {
    return static_cast<int>(reservation.attributes.integer("reserve_substate", 0));
}

void set_duration(Reservation& reservation, int64_t seconds) {
    set_attribute(reservation, "reserve_duration", std::to_string(seconds));
    reservation.attributes.set(*reservation_table().find("Resource_List"), "walltime",
                               amount_text(Type::duration, seconds));
}

std::vector<const Job*> jobs_of(const State& state, const Reservation& reservation) {
    std::vector<const Job*> jobs;
    const Queue* queue = state.queue(reservation.queue_name());
    if (queue == nullptr) return jobs;
    for (const uint64_t handle : state.queue_jobs(queue->handle))
        if (const Job* job = state.job(handle); job != nullptr && !job->history()) jobs.push_back(job);
    return jobs;
}

std::vector<const Job*> running_jobs_of(const State& state, const Reservation& reservation) {
    std::vector<const Job*> jobs = jobs_of(state, reservation);
    std::erase_if(jobs, [](const Job* job) { return job->is_array() || !job->running(); });
    return jobs;
}

bool lacks_vnodes(const Reservation& reservation, const std::vector<Place>& places, const State& state) {
    if (is_maintenance(reservation)) return false;
    const auto chunks = std::ranges::count_if(places, [](const Place& place) { return !place.joined; });
    const std::string_view asked = reservation.attributes.text("Resource_List", "nodect");
    if (!asked.empty() && chunks < amount_of(Type::integer, asked)) return true;
    return std::ranges::any_of(places, [&](const Place& place) { return is_lacking(place.node, state); });
}

bool later_lacks_vnodes(const Reservation& reservation, const State& state) {
    return std::ranges::any_of(reservation.later_nodes,
                               [&](uint64_t node) { return is_lacking(node, state); }) ||
           (substate_of(reservation) == reservation_state::kInConflict &&
            std::ranges::any_of(reservation.later, [&](const Reservation::Occurrence& one) {
                return lacks_vnodes(reservation, one.places, state);
            }));
}

bool is_any_asked(const Reservation& reservation) {
    return !reservation.keeps_first ||
           std::ranges::any_of(reservation.later, &Reservation::Occurrence::asked);
}

bool is_degraded(const Reservation& reservation) {
    const int substate = substate_of(reservation);
    return !reservation.is_asked() &&
           (substate == reservation_state::kDegraded || substate == reservation_state::kInConflict);
}

bool holds_vnodes(const Reservation& reservation, int64_t now) {
    switch (reservation.state()) {
        case reservation_state::kRunning:
        case reservation_state::kDeletingJobs:
            return true;
        case reservation_state::kBeingAltered:
            return substate_of(reservation) == reservation_state::kRunning;
        case reservation_state::kBeingDeleted:
            return reservation.start() <= now;
        default:
            return false;
    }
}

bool awaits_answer(const Reservation& reservation) {
    // The scheduler never decides about a reservation of whole hosts.
    if (is_maintenance(reservation) && reservation.state() == reservation_state::kUnconfirmed) return false;
    return reservation.is_asked() ||
           (is_degraded(reservation) && !reservation.attributes.has("reserve_retry") &&
            is_any_asked(reservation));
}

void choose_asked(Reservation& reservation, const State& state) {
    const bool is_new = reservation.state() == reservation_state::kUnconfirmed;
    const bool is_altered = reservation.state() == reservation_state::kBeingAltered;
    // A reservation with running jobs keeps its vnodes, because the jobs stay.
    const bool may_move = reservation.state() == reservation_state::kRunning &&
                          lacks_vnodes(reservation, reservation.places, state) &&
                          running_jobs_of(state, reservation).empty();
    reservation.keeps_first =
        !is_new && !is_altered && !may_move && reservation.state() != reservation_state::kDegraded;
    for (Reservation::Occurrence& one : reservation.later)
        one.asked = is_new || (!is_altered && lacks_vnodes(reservation, one.places, state));
}

Result<void> settle_times(Reservation& reservation, int64_t now, bool may_be_past) {
    const Attributes& a = reservation.attributes;
    const auto seconds = [](std::string_view text) { return amount_of(Type::duration, text); };
    const bool has_start = a.has("reserve_start");
    const bool has_end = a.has("reserve_end");
    const bool has_duration = a.has("reserve_duration") || a.has("Resource_List", "walltime");
    const int64_t duration = a.integer("reserve_duration", seconds(a.text("Resource_List", "walltime")));
    int64_t start = a.integer("reserve_start", 0);
    int64_t end = a.integer("reserve_end", 0);
    if (int{has_start} + int{has_end} + int{has_duration} < 2)
        return fail(PBSE_BADTSPEC, "Bad time specification(s): expected two of start, end and duration");
    if (has_duration && duration <= 0)
        return fail(PBSE_BADTSPEC, "Bad time specification(s): the duration isn't above 0");
    if (!has_start) start = end - duration;
    if (!has_end) end = start + duration;
    if (has_start && has_end && has_duration && a.has("reserve_duration") && end - start != duration)
        return fail(PBSE_BADTSPEC, "Bad time specification(s): start, end and duration differ");
    if (end <= start) return fail(PBSE_BADTSPEC, "Bad time specification(s): it ends before it begins");
    if (end <= now || (start < now && !may_be_past))
        return fail(PBSE_BADTSPEC, "Bad time specification(s): the start is in the past");
    set_attribute(reservation, "reserve_start", std::to_string(start));
    set_attribute(reservation, "reserve_end", std::to_string(end));
    set_duration(reservation, end - start);
    return {};
}

Result<Job> as_job(const Reservation& reservation, const State& state) {
    Job job;
    const AttributeDef& job_list = *job_table().find("Resource_List");
    for (const AttributeValue& value : reservation.attributes.all_of("Resource_List"))
        job.attributes.set(job_list, value.resource(), value.value());
    for (const char* name : {"User_List", "group_list"})
        if (reservation.attributes.has(name))
            job.attributes.set(*job_table().find(name), {}, reservation.attributes.text(name));
    set_attribute(job, "Job_Owner", std::string(reservation.attributes.text("Reserve_Owner")));
    if (auto ok = complete_resources(job, Queue{}, state); !ok) return tl::unexpected(ok.error());
    return job;
}

void take_list(Reservation& reservation, const Job& job) {
    const AttributeDef& list = *reservation_table().find("Resource_List");
    reservation.attributes.unset(list, {});
    for (const AttributeValue& value : job.attributes.all_of("Resource_List"))
        reservation.attributes.set(list, value.resource(), value.value());
    set_attribute(reservation, "schedselect", std::string(job.attributes.text("schedselect")));
}

Result<void> complete_list(Reservation& reservation, const State& state) {
    const auto job = as_job(reservation, state);
    if (!job) return tl::unexpected(job.error());
    take_list(reservation, *job);
    return {};
}

Result<void> settle_access(Reservation& reservation, Queue& queue) {
    std::vector<std::string> users = reservation.attributes.list("Authorized_Users");
    const std::string owner(reservation.attributes.text("Reserve_Owner"));
    if (std::ranges::find(users, owner) == users.end() &&
        std::ranges::find(users, "+" + owner) == users.end())
        users.push_back(owner);
    if (std::set<std::string>(users.begin(), users.end()).size() != users.size())
        return fail(PBSE_DUPLIST, "Duplicate entry in list: Authorized_Users");
    set_attribute(reservation, "Authorized_Users", fmt::format("{}", fmt::join(users, ",")));
    const auto follow = [&](std::string_view own, std::string_view list, std::string_view enable) {
        const bool set = reservation.attributes.has(own);
        queue.attributes.set(*queue_table().find(enable), {}, set ? "True" : "False");
        if (set)
            queue.attributes.set(*queue_table().find(list), {},
                                 std::string(reservation.attributes.text(own)));
        else
            queue.attributes.unset(*queue_table().find(list), {});
    };
    follow("Authorized_Users", "acl_users", "acl_user_enable");
    follow("Authorized_Groups", "acl_groups", "acl_group_enable");
    follow("Authorized_Hosts", "acl_hosts", "acl_host_enable");
    return {};
}

void limit_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources) {
    const auto set = [&](std::string_view name, std::string_view resource, std::string_view value) {
        queue.attributes.set(*queue_table().find(name), resource, value);
    };
    for (const AttributeValue& value : reservation.attributes.all_of("Resource_List")) {
        const Resource* resource = resources.find(value.resource());
        const bool is_time = value.resource() == "walltime" || value.resource() == "nodect";
        if (resource == nullptr || is_time || !resource->consumable()) continue;
        set("resources_max", value.resource(), value.value());
        set("resources_available", value.resource(), value.value());
    }
}

void settle_queue(const Reservation& reservation, Queue& queue, const ResourceTable& resources) {
    const auto set = [&](std::string_view name, std::string_view value) {
        queue.attributes.set(*queue_table().find(name), {}, value);
    };
    set("queue_type", "Execution");
    set("enabled", "False");
    set("started", "False");
    limit_queue(reservation, queue, resources);
}

}  // namespace pbs::host
