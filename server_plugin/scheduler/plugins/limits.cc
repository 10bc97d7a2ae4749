// The table of limits on what running jobs use together. Each row (framework/limit.h) defines whose jobs are
// counted, what is counted of them, and the maximum.

#include "server_plugin/scheduler/plugins/limits.h"

#include "server_plugin/scheduler/framework/questions.h"

namespace pbs::sched {
namespace {

using Measure = Limit::Measure;

const EntityLimits& of_queue(const QueueFacts& o) {
    return o.queue->limits;
}
const EntityLimits& of_server(const QueueFacts& o) {
    return o.server->limits;
}

// max_run: the number of running jobs of each entity, or of all together.
consteval Filter max_run(const char* name, UseScope scope, EntityKind entity) {
    return limit_filter(
        name,
        {.scope = scope, .entity = entity, .by_entity = scope == UseScope::queue ? of_queue : of_server});
}

// max_run_res: the amount of a resource that the running jobs use.
consteval Filter max_run_res(const char* name, UseScope scope, EntityKind entity) {
    return limit_filter(name, {.scope = scope,
                               .entity = entity,
                               .measure = Measure::amounts,
                               .by_entity = scope == UseScope::queue ? of_queue : of_server});
}

// Makes the filter of a limit whose maximum is an attribute of the policy; 0 means no limit.
template <auto kMost>
consteval Filter of_policy(const char* attribute, Limit limit) {
    limit.most = [](const QueueFacts& o) { return o.settings->*kMost > 0 ? o.settings->*kMost : -1; };
    return limit_filter(attribute, limit, attribute, [](const Settings& s, Instant) { return s.*kMost > 0; });
}

}  // namespace

using enum UseScope;
using enum EntityKind;

// ---- The queue.

// max_running, max_user_run and max_group_run.
const Filter kMaxRunningFilter = limit_filter(
    "max_running", {.scope = view, .most = [](const QueueFacts& o) { return o.queue->max_running; }});
const Filter kQueueUserLimitFilter = limit_filter(
    "queue_user_limit",
    {.scope = queue, .entity = user, .most = [](const QueueFacts& o) { return o.queue->max_user_run; }});
const Filter kQueueGroupLimitFilter = limit_filter(
    "queue_group_limit",
    {.scope = queue, .entity = group, .most = [](const QueueFacts& o) { return o.queue->max_group_run; }});

// The queue's nodes (Queues::node_limit()): a job starts if the queue's running jobs leave enough.
const Filter kQueueNodesFilter = limit_filter("queue_nodes",
                                              {.scope = view,
                                               .measure = Measure::nodes,
                                               .most = [](const QueueFacts& o) { return o.node_limit; },
                                               .reason = ReasonCode::queue_nodes_busy},
                                              "ssinode_cpus, ssinode_mem");

// resources_available: a job starts if the queue's running jobs leave enough.
const Filter kQueueResourcesFilter =
    limit_filter("queue_resources",
                 {.scope = view, .measure = Measure::available, .reason = ReasonCode::queue_resource_busy},
                 "exclude_resources");

// ---- The server.

// max_running, max_user_run and max_group_run.
const Filter kServerMaxRunningFilter =
    limit_filter("server_max_running", {.most = [](const QueueFacts& o) { return o.server->max_running; }});
const Filter kServerUserLimitFilter =
    limit_filter("server_user_limit",
                 {.entity = user, .most = [](const QueueFacts& o) { return o.server->max_user_run; }});
const Filter kServerGroupLimitFilter =
    limit_filter("server_group_limit",
                 {.entity = group, .most = [](const QueueFacts& o) { return o.server->max_group_run; }});

// resources_available, or instead of that the amounts that programs of server_dyn_res report.
const Filter kServerResourcesFilter = limit_filter(
    "server_resources", {.measure = Measure::available, .reason = ReasonCode::server_resource_busy},
    "server_dyn_res, exclude_resources");

// The elements of server_dyn_res whose resources any job requests.
extern const QuestionRule kServerDynResQuestions{
    "server_dyn_res",
    [](const Tables& tables, const Settings& s, Instant now, std::vector<Question>& questions) {
        if (s.test_only.holds(now)) return;
        for (const std::string& element : s.server_dyn_res)
            if (tables.requests.asks_for(tables.resources.id(DynamicResource::of(element).resource)))
                questions.push_back({.source = element, .time_limit = Seconds{s.server_dyn_res_alarm}});
    }};

// ---- The limits of the queue and of the server that may name entities.

const Filter kMaxRunFilters[kMaxRunCount] = {
    max_run("queue_max_run_group", queue, group),
    max_run("queue_max_run_project", queue, project),
    max_run("queue_max_run", queue, all),
    max_run("queue_max_run_user", queue, user),
    max_run("server_max_run_group", server, group),
    max_run("server_max_run_project", server, project),
    max_run("server_max_run", server, all),
    max_run("server_max_run_user", server, user),
    max_run_res("queue_max_run_res_group", queue, group),
    max_run_res("queue_max_run_res_project", queue, project),
    max_run_res("queue_max_run_res", queue, all),
    max_run_res("queue_max_run_res_user", queue, user),
    max_run_res("server_max_run_res_group", server, group),
    max_run_res("server_max_run_res_project", server, project),
    max_run_res("server_max_run_res", server, all),
    max_run_res("server_max_run_res_user", server, user),
};

// ---- The policy.

// MAX_USER_RUN_JOBS: the maximum of running jobs of one user, over all queues.
const Filter kMaxUserRunJobsFilter = of_policy<&Settings::max_user_run_jobs>(
    "max_user_run_jobs", {.entity = user, .reason = ReasonCode::user_job_limit});

// max_run_subjobs: the maximum of running subjobs of one array.
const Filter kMaxRunSubjobsFilter = of_policy<&Settings::max_run_subjobs>(
    "max_run_subjobs", {.entity = array, .reason = ReasonCode::subjob_limit});

// MAX_DEDICATED_JOBS: the maximum of running jobs of dedicated queues.
const Filter kMaxDedicatedJobsFilter = of_policy<&Settings::max_dedicated_jobs>(
    "max_dedicated_jobs", {.scope = dedicated, .reason = ReasonCode::dedicated_jobs_limit});

}  // namespace pbs::sched
