#include "server_plugin/host/life/routing.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/select_spec.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr int64_t kDefaultRetry = 30;
constexpr size_t kLooksBetweenClocks = 32;
// The most jobs that one pass changes. Writing the changes, after the pass, takes most of the time.
constexpr size_t kMostChanges = 128;

constexpr std::array kForNow = {PBSE_QUNOENB, PBSE_MAXQUED,  PBSE_ENTLIMCT, PBSE_ENTLIMRESC, PBSE_JOBEXIST,
                                PBSE_SYSTEM,  PBSE_INTERNAL, PBSE_EXPIRED,  PBSE_NOCONNECTS};

// Puts a job into a destination. The job's user was looked up at the submission, and isn't looked up again:
// if the directory service didn't answer, the job would be deleted.
Result<void> enter_destination(Change& change, Job& job, const Queue& queue) {
    if (auto ok = complete_resources(job, queue, change.server().state); !ok) return ok;
    return enter_fitted(change, job, queue, Entry::routed);
}

bool may_route(const Job& job, const Queue& queue) {
    if (!queue.started()) return false;
    if (job.state == job_state::kHeld) return queue.attributes.boolean("route_held_jobs", false);
    if (job.state == job_state::kWaiting) return queue.attributes.boolean("route_waiting_jobs", false);
    return job.state == job_state::kQueued;
}

Routing route_from(Change& change, Job& job, const Queue& from, int hop) {
    if (hop > kMostHops) return {Routing::Outcome::rejected, {PBSE_HOPCOUNT, {}}};
    if (!may_route(job, from)) return {};
    Routing routing{Routing::Outcome::rejected, {PBSE_ROUTEREJ, {}}};
    for (const std::string& name : from.attributes.list("route_destinations")) {
        const Queue* queue = change.server().state.queue(name);
        if (queue == nullptr) continue;
        Job tried = job;
        if (const auto entered = enter_destination(change, tried, *queue); !entered) {
            if (is_refused_for_now(entered.error().code)) routing.outcome = Routing::Outcome::later;
            continue;
        }
        if (queue->route() &&
            route_from(change, tried, *queue, hop + 1).outcome == Routing::Outcome::rejected) {
            change.counted().stage(job);
            continue;
        }
        job = std::move(tried);
        return {Routing::Outcome::moved, {}};
    }
    if (routing.outcome == Routing::Outcome::later)
        change.server().route_pass.offered[job.handle] = change.now();
    return routing;
}

// One part of the pass over the jobs of the route queues. It begins where the last part ended.
class Pass {
  public:
    Pass(Server& server, int64_t now, std::chrono::nanoseconds at_most)
        : server_(server),
          pass_(server.route_pass),
          change_(server, now),
          until_(std::chrono::steady_clock::now() + at_most) {}

    void go_on();
    void commit();

  private:
    bool route_queue(const Queue& queue);
    void route(const Job& known, const Queue& queue);
    void reject(const Job& current, const std::string& why);
    bool is_due(uint64_t job, const Queue& queue) const;
    bool time_is_over();
    void forget_gone();

    Server& server_;
    RoutePass& pass_;
    Change change_;
    std::chrono::steady_clock::time_point until_;
    size_t looks_ = 0;
    size_t changes_ = 0;
};

bool Pass::time_is_over() {
    return ++looks_ % kLooksBetweenClocks == 0 && std::chrono::steady_clock::now() >= until_;
}

// Returns whether the job may be offered to the destinations again. If the clock was set back, the last offer
// is in the future: then it may, too.
bool Pass::is_due(uint64_t job, const Queue& queue) const {
    const auto at = pass_.offered.find(job);
    if (at == pass_.offered.end()) return true;
    const int64_t since = change_.now() - at->second;
    return since < 0 || since >= queue.attributes.integer("route_retry_time", kDefaultRetry);
}

void Pass::reject(const Job& current, const std::string& why) {
    const uint64_t handle = current.handle;  // a copy, because abort_job() may remove the job
    Job& job = change_.job(current);
    set_comment(job, why);
    abort_job(change_, job, why);
    pass_.offered.erase(handle);
    ++changes_;
}

// Routes a job. `known`: the job before this change. The change may have a newer copy, if a job that was
// routed earlier depends on it.
void Pass::route(const Job& known, const Queue& queue) {
    const Job* const now = known.history() ? nullptr : change_.current(known.sequence);
    if (now == nullptr || now->history() || now->queue != queue.handle) return;
    const Job& current = *now;
    const int64_t lifetime = queue.attributes.integer("route_lifetime", 0);
    if (lifetime > 0 && change_.now() - current.qtime > lifetime)
        return reject(current, "Route queue lifetime exceeded");
    if (!may_route(current, queue) || !is_due(current.handle, queue)) return;
    // Work on a copy, because a job that stays isn't changed.
    Job job = current;
    const Routing routing = route_job(change_, job, queue);
    if (routing.outcome == Routing::Outcome::later) return;
    if (routing.outcome == Routing::Outcome::rejected)
        return reject(current, "Job rejected by all possible destinations");
    pass_.offered.erase(current.handle);
    ++changes_;
    if (!take_up_dependencies(change_, change_.put(std::move(job))))
        reject(current, "Invalid Job Dependency");
}

// Routes the jobs of a queue. Returns false if the time or the number of changes was used up before the last
// job.
bool Pass::route_queue(const Queue& queue) {
    const Handles& jobs = server_.state.queue_jobs(queue.handle);
    for (auto at = jobs.upper_bound(pass_.job); at != jobs.end(); ++at) {
        if (changes_ >= kMostChanges || time_is_over()) return false;
        route(*server_.state.job(*at), queue);
        pass_.job = *at;
    }
    return true;
}

// Removes from `offered` the jobs that have left the route queues in another way, such as by qmove. This
// takes time in proportion to the size of `offered`, so it is done only when that size has doubled.
void Pass::forget_gone() {
    if (pass_.offered.size() < pass_.next_look) return;
    std::erase_if(pass_.offered, [&](const auto& one) {
        const Job* job = server_.state.job(one.first);
        const Queue* queue = job == nullptr || job->history() ? nullptr : server_.state.queue(job->queue);
        return queue == nullptr || !queue->route();
    });
    pass_.next_look = std::max(RoutePass().next_look, 2 * pass_.offered.size());
}

void Pass::go_on() {
    const auto& queues = server_.state.queues();
    for (auto at = queues.lower_bound(pass_.queue); at != queues.end(); ++at) {
        const Queue& queue = at->second;
        if (std::exchange(pass_.queue, queue.name) != queue.name) pass_.job = 0;
        if (queue.route() && queue.started() && !route_queue(queue)) return;
    }
    pass_.queue.clear();
    pass_.job = 0;
    forget_gone();
}

void Pass::commit() {
    if (changes_ == 0) return;
    change_.want_cycle(PBS_SCH_SCHEDULE_NEW);
    if (auto done = change_.commit(); !done) server_.parts.log.error("routing", done.error().message);
}

}  // namespace

bool is_refused_for_now(int code) {
    return std::ranges::find(kForNow, code) != kForNow.end();
}

Routing route_job(Change& change, Job& job, const Queue& from) {
    return route_from(change, job, from, 1);
}

void route_jobs(Server& server, int64_t now, std::chrono::nanoseconds at_most) {
    Pass pass(server, now, at_most);
    pass.go_on();
    pass.commit();
}

}  // namespace pbs::host
