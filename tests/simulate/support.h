// Makes small traces and machines for tests, and simulates them.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tools/simulate/engine.h"
#include "tools/simulate/report.h"
#include "tools/simulate/variant.h"

namespace pbs::simulate::test {

// The traces of these tests begin on Monday, 2026-11-23, 00:00:00 UTC.
inline constexpr Instant kMonday{Seconds(1795392000)};

struct Job {
    std::int64_t submit;  // seconds after kMonday
    std::int64_t cpus;
    std::int64_t run;
    std::int64_t walltime = -1;
    std::string user = "ann";
    std::string queue{};  // empty: the default queue
    std::string group = "staff";
};

inline Trace trace_of(const std::vector<Job>& jobs) {
    Trace trace;
    trace.name = "jobs.swf";
    for (const Job& job : jobs) {
        TraceJob one;
        one.number = trace.jobs.size() + 1;
        one.submit = kMonday + Seconds(job.submit);
        one.run_time = Seconds(job.run);
        one.walltime = Seconds(job.walltime);
        one.cpus = job.cpus;
        one.user = trace.users.number(job.user);
        one.group = trace.groups.number(job.group);
        one.queue = trace.queues.number(job.queue);
        trace.jobs.push_back(one);
    }
    return trace;
}

inline Site site_of(std::int64_t nodes, std::int64_t cpus) {
    Site site;
    add_nodes(site.machine, nodes, nodes * cpus, 0);
    add_queue(site.machine, "workq");
    return site;
}

// Simulates a trace. `changes` are qmgr directives that make the policy; if empty, the site's default_policy
// is used.
inline Schedule run_of(const Trace& trace, const Site& site, const std::string& changes = {},
                       const EngineOptions& options = {}) {
    auto variant =
        changes.empty() ? variant_of_policies(site, {}) : variant_of_changes(site, {"changes.qmgr", changes});
    if (!variant) {
        ADD_FAILURE() << variant.error();
        return {};
    }
    const auto cluster = Cluster::make(variant->machine);
    if (!cluster) {
        ADD_FAILURE() << cluster.error();
        return {};
    }
    auto run = simulate(trace, *cluster, variant->snapshot, site.zone, options);
    if (!run) {
        ADD_FAILURE() << run.error();
        return {};
    }
    return *std::move(run);
}

// Returns the starts of the jobs in seconds after kMonday; -1 for a job that never started.
inline std::vector<std::int64_t> starts(const Schedule& run) {
    std::vector<std::int64_t> list;
    for (const Outcome& outcome : run.outcomes)
        list.push_back(outcome.start == Instant{} ? -1 : (outcome.start - kMonday).count());
    return list;
}

struct Random {
    std::mt19937 engine;
    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(engine); }
    bool chance(int percent) { return pick(1, 100) <= percent; }
};

}  // namespace pbs::simulate::test
