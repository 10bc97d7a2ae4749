// Measures how many jobs per second a simulation starts. The jobs belong to 100 users, and most are small.
// Together they need 92 percent of the vnodes' CPUs, or 150 percent. Few jobs arrive or end in the same
// second. The jobs of the loaded site (Loaded...) are larger, and need three times the CPUs that it has.
// Archive... have traces like those of the Parallel Workloads Archive.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include "tests/bench/archive_traces.h"
#include "tools/simulate/engine.h"
#include "tools/simulate/variant.h"

namespace {

using namespace pbs::simulate;  // NOLINT(google-build-using-namespace): this is a program

constexpr std::int64_t kCpus = 8;  // CPUs of each vnode
constexpr double kLoad = 0.92;
// With this load, a third of all jobs are waiting when the last one arrives.
constexpr double kOverload = 1.5;

// A site with an Origin policy: three batch queues with limits on jobs, nodes, CPUs and walltime; prime time
// with a limit on walltime, which is higher for small jobs; jobs ordered by past usage; and precedence for
// jobs that have waited for a day.
constexpr const char* kOrigin =
    "create queue submit queue_type=execution, enabled=True, started=True\n"
    "create queue special queue_type=execution, enabled=True, started=True\n"
    "create queue q1 queue_type=execution, enabled=True, started=True\n"
    "create queue q2 queue_type=execution, enabled=True, started=True\n"
    "create queue q3 queue_type=execution, enabled=True, started=True\n"
    "set server default_queue=submit\n"
    "set queue q1 resources_max.ncpus=8\n"
    "set queue q1 resources_max.walltime=06:00:00\n"
    "set queue q1 resources_available.ssinodes=3000\n"
    "set queue q2 resources_max.ncpus=16\n"
    "set queue q2 resources_max.walltime=24:00:00\n"
    "set queue q2 resources_available.ssinodes=3000\n"
    "set queue q3 max_running=5000\n"
    "set queue q3 resources_available.ssinodes=6000\n"
    "create time_window office\n"
    "set time_window office rrule='FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', start_time=0800, end_time=1700\n"
    "set time_window office type=prime, applies_on_holidays=False\n"
    "set server non_work_days = '12/25'\n"
    "set policy default_policy algorithm=origin, submit_queue=submit, special_queue=special\n"
    "set policy default_policy batch_queues='q1,q2,q3'\n"
    "set policy default_policy enforce_prime_time=True, prime_time_wallt_limit=04:00:00\n"
    "set policy default_policy prime_time_small_node_limit=2, prime_time_small_wallt_limit=06:00:00\n"
    "set policy default_policy sort_by_past_usage=True, avoid_fragmentation=False\n"
    "set policy default_policy max_queued_time=24:00:00\n";

// Adds a job of the user and the group. Returns its work, in CPU seconds.
double add_job(Trace& trace, TraceJob job, std::int64_t user, std::int64_t group) {
    job.number = trace.jobs.size() + 1;
    job.user = trace.users.number("user" + std::to_string(user));
    job.group = trace.groups.number("group" + std::to_string(group));
    job.queue = trace.queues.number("");
    trace.jobs.push_back(job);
    return static_cast<double>(job.run_time.count() * job.cpus);
}

Trace make_trace(std::int64_t jobs, std::int64_t vnodes, double load) {
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> run_time(5.5, 1.4);
    std::discrete_distribution<int> size({8, 4, 4, 2, 1, 1});
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    constexpr double kOverAsked[] = {1, 1.5, 3, 10};
    Trace trace;
    trace.jobs.reserve(static_cast<std::size_t>(jobs));
    double work = 0;
    for (std::int64_t i = 0; i < jobs; ++i) {
        TraceJob job;
        job.cpus = std::int64_t{1} << size(random);
        job.run_time = Seconds(static_cast<std::int64_t>(std::min(run_time(random), 14'400.0)) + 1);
        const double asked = static_cast<double>(job.run_time.count()) * kOverAsked[pick(0, 3)];
        job.walltime = Seconds(300 * (static_cast<std::int64_t>(asked) / 300 + 1));
        const int user = pick(1, 100);
        work += add_job(trace, job, user, user % 5);
    }
    const double length = work / static_cast<double>(vnodes * kCpus) / load;
    std::exponential_distribution<double> gap(static_cast<double>(jobs) / length);
    double at = 1795392000;  // seconds since the Epoch: Monday, 23 November 2026
    for (TraceJob& job : trace.jobs)
        job.submit = Instant(Seconds(static_cast<std::int64_t>(at += gap(random))));
    return trace;
}

// A loaded site: 256 vnodes of 16 CPUs, on which jobs of 1 to 256 CPUs run for a log-normal time with a
// median of half an hour, and request one to five times as long. They arrive at random, three times as fast
// as the site can run them, so that two thirds of them are waiting when the last one arrives. They belong to
// 200 users, of whom a few have most jobs.
constexpr std::int64_t kLoadedVnodes = 256;
constexpr std::int64_t kLoadedCpus = 16;
constexpr double kOffered = 3;

Trace make_loaded_trace(std::int64_t jobs) {
    std::mt19937_64 random(11);
    std::discrete_distribution<int> size({30, 12, 14, 14, 12, 8, 5, 3, 2});
    std::lognormal_distribution<double> run_time(std::log(1800.0), 1.4);
    std::uniform_real_distribution<double> over_asked(1, 5);
    std::uniform_real_distribution<double> share(0, 1);
    constexpr double kMostRunTime = 86'400;
    constexpr double kMostWalltime = 172'800;
    constexpr double kTail = 1.1;  // of the Pareto distribution of the users' numbers
    Trace trace;
    trace.jobs.reserve(static_cast<std::size_t>(jobs));
    double work = 0;
    for (std::int64_t i = 0; i < jobs; ++i) {
        TraceJob job;
        job.cpus = std::int64_t{1} << size(random);
        const double seconds = std::clamp(run_time(random), 10.0, kMostRunTime);
        job.run_time = Seconds(static_cast<std::int64_t>(seconds));
        const double asked = std::min(seconds * over_asked(random), kMostWalltime);
        job.walltime = Seconds(60 * (static_cast<std::int64_t>(asked) / 60 + 1));
        const double number = std::pow(1 - share(random), -1 / kTail);
        const auto user = static_cast<std::int64_t>(std::min(number, 1e9)) % 200 + 1;
        work += add_job(trace, job, user, user % 10 + 1);
    }
    const double length = work / static_cast<double>(kLoadedVnodes * kLoadedCpus) / kOffered;
    std::vector<double> arrivals;
    for (std::int64_t i = 0; i < jobs; ++i) arrivals.push_back(share(random) * length);
    std::ranges::sort(arrivals);
    for (std::size_t i = 0; i < arrivals.size(); ++i)
        trace.jobs[i].submit = Instant(Seconds(1'795'392'000 + static_cast<std::int64_t>(arrivals[i])));
    return trace;
}

void run(benchmark::State& state, const Trace& trace, std::int64_t vnodes, std::int64_t cpus,
         const char* changes) {
    Site site;
    add_nodes(site.machine, vnodes, vnodes * cpus, 0);
    auto variant = variant_of_changes(site, {"changes", changes});
    if (!variant) std::abort();
    add_named_queues(*variant->snapshot, {}, variant->machine);
    const auto cluster = Cluster::make(variant->machine);
    if (!cluster) std::abort();
    std::int64_t cycles = 0;
    for (auto _ : state) {
        const auto schedule = simulate(trace, *cluster, variant->snapshot, site.zone);
        if (!schedule || schedule->started != state.range(0)) std::abort();
        cycles = schedule->cycles;
    }
    state.counters["starts"] =
        benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(state.range(0)),
                           benchmark::Counter::kIsRate);
    state.counters["cycles"] = static_cast<double>(cycles);
}

void run(benchmark::State& state, const char* changes, double load = kLoad) {
    run(state, make_trace(state.range(0), state.range(1), load), state.range(1), kCpus, changes);
}

constexpr const char* kByQueue = "set policy default_policy by_queue=True\n";

void Origin(benchmark::State& state) {
    run(state, kOrigin);
}
void Standard(benchmark::State& state) {
    run(state, kByQueue);
}
void StandardOverloaded(benchmark::State& state) {
    run(state, kByQueue, kOverload);
}

void Loaded(benchmark::State& state, const std::string& changes) {
    run(state, make_loaded_trace(state.range(0)), kLoadedVnodes, kLoadedCpus, changes.c_str());
}

void Archive(benchmark::State& state, const pbs::bench::ArchiveLog& log) {
    run(state, pbs::bench::make_archive_trace(log, state.range(0)), log.vnodes, log.cpus_of_vnode, kByQueue);
}

constexpr const char* kStrict1 = "set policy default_policy strict_ordering=True, backfill_depth=1\n";
constexpr const char* kStrict100 = "set policy default_policy strict_ordering=True, backfill_depth=100\n";
constexpr const char* kPastUsage =
    "create queue submit queue_type=execution, enabled=True, started=True\n"
    "create queue batch queue_type=execution, enabled=True, started=True\n"
    "set server default_queue=submit\n"
    "set policy default_policy algorithm=origin, submit_queue=submit, batch_queues=batch\n"
    "set policy default_policy sort_by_past_usage=True, avoid_fragmentation=False\n";

// The shares of ten groups and of 100 users in them; the other users aren't in the tree.
std::string fair_share() {
    std::string tree;
    for (int group = 1; group <= 10; ++group) tree += fmt::format("g{}:root={},", group, 5 + group);
    for (int user = 1; user <= 100; ++user)
        tree += fmt::format("user{}:g{}={}{}", user, user % 10 + 1, 1 + user % 4, user < 100 ? "," : "");
    return fmt::format(
        "create fs_group shares\n"
        "set fs_group shares tree_element='{}'\n"
        "set fs_group shares usage_formula='ncpus*walltime'\n"
        "set policy default_policy fairshare_group=shares, fairshare=True\n",
        tree);
}

void loaded_sizes(benchmark::internal::Benchmark* bench) {
    bench->ArgName("jobs")->Unit(benchmark::kMillisecond);
    for (const std::int64_t jobs : {1000, 20'000, 200'000}) bench->Arg(jobs);
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"jobs", "vnodes"})->Unit(benchmark::kMillisecond);
    for (const std::int64_t vnodes : {64, 1000})
        for (const std::int64_t jobs : {1000, 100'000, 1'000'000}) bench->Args({jobs, vnodes});
}

BENCHMARK_CAPTURE(Loaded, by_queue, kByQueue)->Apply(loaded_sizes);
BENCHMARK_CAPTURE(Loaded, strict_1, kStrict1)->Apply(loaded_sizes);
// Not with 200,000 jobs, which take several minutes.
BENCHMARK_CAPTURE(Loaded, strict_100, kStrict100)
    ->ArgName("jobs")
    ->Unit(benchmark::kMillisecond)
    ->Arg(1000)
    ->Arg(20'000);
BENCHMARK_CAPTURE(Loaded, fair_share, fair_share())->Apply(loaded_sizes);
BENCHMARK_CAPTURE(Loaded, past_usage, kPastUsage)->Apply(loaded_sizes);
BENCHMARK(Origin)->Apply(sizes);
BENCHMARK(Standard)->Apply(sizes);
// With the overload, the number of waiting jobs grows to a third of all jobs.
BENCHMARK(StandardOverloaded)
    ->ArgNames({"jobs", "vnodes"})
    ->Unit(benchmark::kMillisecond)
    ->Args({1000, 64})
    ->Args({60'000, 64});

}  // namespace

int main(int argc, char** argv) {
    for (const pbs::bench::ArchiveLog& log : pbs::bench::kArchiveLogs)
        benchmark::RegisterBenchmark(fmt::format("Archive/{}", log.name).c_str(), Archive, log)
            ->ArgName("jobs")
            ->Unit(benchmark::kMillisecond)
            ->Arg(1000)
            ->Arg(log.jobs);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
