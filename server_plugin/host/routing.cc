#include "server_plugin/host/routing.h"

#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/depend.h"
#include "server_plugin/host/job_life.h"
#include "server_plugin/host/log.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr int kMostHops = 10;
constexpr int64_t kDefaultRetry = 30;

// These may be otherwise the next time.
bool temporary(int code) {
    return code == PBSE_QUNOENB || code == PBSE_MAXQUED;
}

Routing route_from(Change& change, Job& job, const Queue& from, int hop) {
    Routing routing{Routing::Outcome::rejected, {PBSE_ROUTEREJ, {}}};
    if (hop > kMostHops) return {Routing::Outcome::rejected, {PBSE_HOPCOUNT, {}}};
    for (const std::string& name : from.attributes.list("route_destinations")) {
        const Queue* queue = change.server().state.queue(name);
        if (queue == nullptr) continue;
        Job tried = job;
        const auto entered = enter_queue(change, tried, *queue, Entry::routed);
        if (!entered) {
            if (temporary(entered.error().code)) routing.outcome = Routing::Outcome::later;
            continue;
        }
        if (queue->route()) {
            const Routing further = queue->started() ? route_from(change, tried, *queue, hop + 1)
                                                     : Routing{Routing::Outcome::moved, {}};
            if (further.outcome == Routing::Outcome::rejected) continue;
        }
        job = std::move(tried);
        return {Routing::Outcome::moved, {}};
    }
    return routing;
}

bool may_route(const Job& job, const Queue& queue) {
    if (job.state == job_state::kHeld) return queue.attributes.boolean("route_held_jobs", false);
    if (job.state == job_state::kWaiting) return queue.attributes.boolean("route_waiting_jobs", false);
    return job.state == job_state::kQueued;
}

// True if the job was changed.
bool route_one(Change& change, const Job& current, const Queue& queue) {
    const int64_t retry = queue.attributes.integer("route_retry_time", kDefaultRetry);
    const int64_t lifetime = queue.attributes.integer("route_lifetime", 0);
    const int64_t now = change.now();
    if (lifetime > 0 && now - current.qtime > lifetime) {
        reject_job(change, change.job(current), "Route queue lifetime exceeded");
        return true;
    }
    if (!may_route(current, queue) || (now >= current.mtime && now - current.mtime < retry)) return false;
    Job& job = change.job(current);
    const Routing routing = route_job(change, job, queue);
    if (routing.outcome == Routing::Outcome::rejected) {
        reject_job(change, job, "Job rejected by all possible destinations");
    } else if (routing.outcome == Routing::Outcome::later) {
        job.mtime = now;
    } else if (auto ok = take_up_dependencies(change, job); !ok) {
        reject_job(change, job, "Invalid Job Dependency");
    }
    return true;
}

}  // namespace

Routing route_job(Change& change, Job& job, const Queue& from) {
    return route_from(change, job, from, 1);
}

void route_jobs(Server& server, int64_t now) {
    Change change(server, now);
    bool any = false;
    for (const auto& [name, queue] : server.state.queues()) {
        if (!queue.route() || !queue.started()) continue;
        for (uint64_t handle : server.state.queue_jobs(queue.handle)) {
            const Job& job = *server.state.job(handle);
            if (!job.history()) any = route_one(change, job, queue) || any;
        }
    }
    if (!any) return;
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
    if (auto done = change.commit(); !done) server.parts.log.error("routing", done.error().message);
}

}  // namespace pbs::host
