#include "server_plugin/scheduler/state/cycle_state.h"

#include <algorithm>
#include <cassert>

#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

void RunCounts::count(std::uint32_t queue, std::uint32_t partition, const CountedJob& job, int sign) {
    for (const std::uint32_t scope : {queue, all_of(partition)})
        for (const std::uint64_t each :
             {key(1, scope, job.entities.owner), key(2, scope, job.entities.group)}) {
            counts_[each] += static_cast<std::uint32_t>(sign);
            assert(get(each) >= 0);  // a job is removed only after it was counted
        }
    entities_.count(queue, partition, job, sign);
}

void RunCounts::add(const RunCounts& some, std::uint32_t queue, std::uint32_t partition,
                    const Entities& whose, int sign) {
    for (const std::uint32_t scope : {queue, all_of(partition)})
        for (const std::uint64_t each : {key(1, scope, whose.owner), key(2, scope, whose.group)})
            if (const std::uint32_t count = some.counts_.get(each); count != 0)
                counts_[each] += static_cast<std::uint32_t>(sign) * count;
    entities_.add(some.entities_, queue, partition, whose, sign);
}

void RunCounts::clear() {
    counts_.clear();
    entities_.clear();
}

PlaceRules CycleState::place_rules(const JobNeeds& job) const {
    PlaceRules rules = place_rules(*job.request);
    rules.host = job.run_host;  // the queue's own host is in its pool already
    rules.ends = ends(job);
    rules.hard_ends = job.hard_walltime == Seconds(0) ? rules.ends : now + job.hard_walltime;
    return rules;
}

PlaceRules CycleState::place_rules(const JobNeeds& job, const QueueView& view) const {
    PlaceRules rules = place_rules(job);
    rules.booking = view.booking;
    return rules;
}

PlaceRules CycleState::place_rules(const Request& request) const {
    PlaceRules rules;
    rules.sharing = request.sharing;
    rules.node_size = vnode_share;
    rules.spreads = settings->algorithm == Algorithm::standard;
    rules.order = settings->chunk_order;
    rules.prefers = settings->preferences && !on_trial;
    if (!at_request) {
        rules.max_jobs_on_host = settings->max_jobs;
        rules.max_load_percent = settings->max_load_percent;
        rules.min_jobs_on_host = settings->min_jobs;
        rules.max_systime_percent = settings->high_systime;
        rules.load_balancing = settings->load_balancing;
        rules.reserved = reserved_resources;
        rules.request = &request;
    }
    rules.ends = now;
    rules.hard_ends = now;
    rules.begins = now;
    return rules;
}

QueueHours::Course CycleState::planned_course(JobSlot job) const {
    const JobTable& jobs = tables->jobs;
    return planning.course(jobs, job, now, (*queues)[jobs.queue[job]].hours);
}

const KeysOfPlace* CycleState::keys_of_place(const Request& request) const {
    const KeysOfPlace* found = nullptr;
    for (const KeysOfPlace& place : settings->node_sort_key_of_place) {
        if (!place.arrangement && request.group != kNoResource) return &place;
        if (place.arrangement == request.arrangement) found = &place;
    }
    return found;
}

PoolId CycleState::pool_for(const QueueView& view, const Request& request) const {
    const KeysOfPlace* place = view.pools_of_place.empty() ? nullptr : keys_of_place(request);
    if (place == nullptr) return view.pool;
    return view.pools_of_place[static_cast<std::size_t>(place - settings->node_sort_key_of_place.data())];
}

void CycleState::count_in_server(const Request& request, int sign) {
    for (ServerAmount& amount : server_amounts)
        if (amount.given_back)
            amount.in_use +=
                values::Sum(number_of(request.totals, amount.available.resource).value_or(0)) * sign;
}

bool CycleState::asks_for_told(const Request& request) const {
    return std::ranges::any_of(server_amounts, [&](const ServerAmount& amount) {
        return amount.is_told() && number_of(request.totals, amount.available.resource).value_or(0) != 0;
    });
}

bool CycleState::is_excluded(std::uint32_t resource) const {
    return tables->requests.is_excluded(resource);
}

}  // namespace pbs::sched
