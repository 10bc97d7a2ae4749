#include "server_plugin/host/state/preemption.h"

#include <fmt/format.h>

#include <algorithm>

namespace pbs::host {
namespace {

// Returns whether a suspended job gives back the resource. The job's attribute `released` lists the resources
// that it gives back. If `released` is empty, it gives back all.
bool is_released(const Job& job, const Resource* resource) {
    const std::string_view list = job.attributes.text(preemption::kReleased);
    if (list.empty() || resource == nullptr) return true;
    return fmt::format(",{},", list).find(fmt::format(",{},", resource->name)) != std::string::npos;
}

std::vector<Place> part_of(const Job& job, const ResourceTable& resources, bool released) {
    std::vector<Place> places = job.places;
    for (Place& place : places)
        std::erase_if(place.amounts, [&](const auto& amount) {
            return is_released(job, resources.by_id(amount.first)) != released;
        });
    return places;
}

}  // namespace

Preempting preempting_of(const Job& job) {
    const std::string_view text = job.attributes.text(preemption::kPreempting);
    const auto blank = text.find(' ');
    if (blank == std::string_view::npos || blank + 1 >= text.size()) return {std::string(text), 0, {}};
    return {std::string(text.substr(0, blank)), text[blank + 1], std::string(text.substr(blank + 2))};
}

bool is_preempted(const Job& job) {
    return job.state == job_state::kSuspended && job.substate == substate::kSchedSuspended;
}

bool is_preempting(const Job& job) {
    return job.attributes.has(preemption::kPreempting);
}

std::string preempted_by(const Job& job) {
    return preempting_of(job).for_job;
}

bool is_awaiting(const Job& job) {
    return job.attributes.has(preemption::kAwaits);
}

void forget_preemption(Job& job) {
    for (const char* name : {preemption::kPreempting, preemption::kAwaits, preemption::kNotPreemptable,
                             preemption::kSuspendedFor, preemption::kSuspendedAt, preemption::kReleased})
        unset_attribute(job, name);
}

void add_suspended(Job& job, int64_t since, int64_t now) {
    const int64_t before = job.attributes.integer(preemption::kSuspendedFor, 0);
    set_attribute(job, preemption::kSuspendedFor,
                  fmt::format("{}", before + std::max<int64_t>(0, now - since)));
}

void note_suspension(Job& job, bool suspended, int64_t now) {
    if (suspended) return set_attribute(job, preemption::kSuspendedAt, fmt::format("{}", now));
    add_suspended(job, job.attributes.integer(preemption::kSuspendedAt, now), now);
    unset_attribute(job, preemption::kSuspendedAt);
}

int64_t suspended_seconds(const Job& job) {
    return job.attributes.integer(preemption::kSuspendedFor, 0);
}

int64_t elapsed_seconds(const Job& job) {
    return std::max<int64_t>(0, job.attributes.integer(preemption::kSchedPreempted, job.stime) - job.stime -
                                    suspended_seconds(job));
}

std::vector<Place> held_places(const Job& job, const ResourceTable& resources) {
    if (!is_preempted(job)) return job.places;
    if (!job.attributes.has(preemption::kReleased)) return {};
    return part_of(job, resources, false);
}

std::vector<Place> released_places(const Job& job, const ResourceTable& resources) {
    return part_of(job, resources, true);
}

}  // namespace pbs::host
