// The scheduling cycle at scale. Results: RESULTS.md.

#include <benchmark/benchmark.h>

#include <random>

#include "server_plugin/scheduler/order/past_usage.h"
#include "tests/bench/cluster.h"

namespace pbs::sched::bench {
namespace {

constexpr std::int64_t vnode_count = 1000;

// A full cycle: an empty cluster, all jobs new (each gets a start, a comment or a rejection).
void FullCycle(benchmark::State& state) {
    BigCluster cluster(vnode_count, state.range(0));
    std::size_t started = 0;
    std::size_t decisions = 0;
    for (auto _ : state) {
        const Decisions out = cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::timer);
        decisions = out.list.size();
        started = 0;
        for (const Decision& d : out.list) started += d.kind == DecisionKind::run ? 1 : 0;
    }
    state.SetComplexityN(state.range(0));
    state.counters["started"] = static_cast<double>(started);
    state.counters["decisions"] = static_cast<double>(decisions);
}
BENCHMARK(FullCycle)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oNLogN);

// The cycle of a busy cluster after one event: a job arrives, or one ends. Nearly all others are refused
// again.
void CycleAfterArrival(benchmark::State& state) {
    BigCluster cluster(vnode_count, state.range(0));
    cluster.apply(cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::first));
    for (auto _ : state) {
        cluster.add_job();
        const Decisions out = cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::job_new);
        state.PauseTiming();
        cluster.apply(out);
        state.ResumeTiming();
    }
    state.SetComplexityN(state.range(0));
}
BENCHMARK(CycleAfterArrival)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

void CycleAfterEnd(benchmark::State& state) {
    BigCluster cluster(vnode_count, state.range(0));
    cluster.apply(cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::first));
    auto running = cluster.started();
    std::size_t next = 0;
    std::int64_t considered = 0;
    std::int64_t most = 0;
    for (auto _ : state) {
        cluster.remove_job(running[next++]);
        const Decisions out = cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::job_ended);
        state.PauseTiming();
        considered += out.jobs_considered;
        most = std::max(most, out.jobs_considered);
        cluster.apply(out);
        running.insert(running.end(), cluster.started().begin(), cluster.started().end());
        while (next == running.size()) {  // all that could run has ended
            cluster.add_job();
            cluster.apply(cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::job_new));
            running.insert(running.end(), cluster.started().begin(), cluster.started().end());
        }
        state.ResumeTiming();
    }
    state.counters["considered"] =
        benchmark::Counter(static_cast<double>(considered), benchmark::Counter::kAvgIterations);
    state.counters["most_considered"] = static_cast<double>(most);
    state.SetComplexityN(state.range(0));
}
BENCHMARK(CycleAfterEnd)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond)->Complexity();

// One job_changed event.
void JobEvent(benchmark::State& state) {
    BigCluster cluster(vnode_count, state.range(0));
    for (auto _ : state) {
        cluster.add_job();
        cluster.remove_job(cluster.last_job());
    }
}
BENCHMARK(JobEvent)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

// The permutation by past usage alone, for 100 users.
void PermuteByPastUsage(benchmark::State& state) {
    std::mt19937_64 random(7);
    std::vector<std::int64_t> usage(100);
    for (std::int64_t& u : usage) u = std::uniform_int_distribution(0, 3'600'000)(random);
    std::vector<UsageJob> jobs(static_cast<std::size_t>(state.range(0)));
    for (UsageJob& job : jobs)
        job = {std::uniform_int_distribution<std::uint32_t>(0, 99)(random),
               std::uniform_int_distribution(360, 360'000)(random)};
    for (auto _ : state) benchmark::DoNotOptimize(permute_by_past_usage(jobs, usage));
    state.SetComplexityN(state.range(0));
}
BENCHMARK(PermuteByPastUsage)
    ->RangeMultiplier(10)
    ->Range(1'000, 1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

}  // namespace
}  // namespace pbs::sched::bench

BENCHMARK_MAIN();
