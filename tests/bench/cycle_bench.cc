// Measures scheduling cycles with up to a million jobs. docs/benchmarks.md has the results.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <random>

#include "objects/snapshot.h"
#include "tests/bench/cluster.h"
#include "tests/scheduler/permutation.h"

namespace pbs::sched::bench {
namespace {

// Returns the number of vnodes for this number of jobs: ten thousand for a million jobs, otherwise a
// thousand.
std::int64_t vnodes_for(std::int64_t jobs) {
    return jobs >= 1'000'000 ? 10'000 : 1000;
}

// The processor times of the cycles after events. Their distribution becomes the counters p50, p99 and worst,
// in seconds.
class CycleTimes {
  public:
    template <class Cycle>
    Decisions measure(const Cycle& cycle) {
        const double begin = now();
        Decisions out = cycle();
        times_.push_back(now() - begin);
        considered_ += out.jobs_considered;
        most_ = std::max(most_, out.jobs_considered);
        return out;
    }
    void report(benchmark::State& state) {
        if (times_.empty()) return;
        std::ranges::sort(times_);
        const auto at = [&](double part) {
            return times_[static_cast<std::size_t>(part * static_cast<double>(times_.size() - 1))];
        };
        state.counters["p50"] = at(0.5);
        state.counters["p99"] = at(0.99);
        state.counters["worst"] = times_.back();
        state.counters["considered"] = static_cast<double>(considered_) / static_cast<double>(times_.size());
        state.counters["most_considered"] = static_cast<double>(most_);
        state.SetComplexityN(state.range(0));
    }

  private:
    static double now() {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }
    std::vector<double> times_;
    std::int64_t considered_ = 0;
    std::int64_t most_ = 0;
};

void run_full_cycles(benchmark::State& state, BigCluster& cluster) {
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

void up_to_a_million(benchmark::internal::Benchmark* bench) {
    for (const std::int64_t jobs : {1'000, 10'000, 100'000, 1'000'000}) bench->Arg(jobs);
    bench->Unit(benchmark::kMillisecond);
}
void full_cycles(benchmark::internal::Benchmark* bench) {
    up_to_a_million(bench);
    bench->Complexity(benchmark::oNLogN);
}
void cycles_after_events(benchmark::internal::Benchmark* bench) {
    up_to_a_million(bench);
    bench->Iterations(300)->Complexity();
}

// A full cycle. Before it no job runs and all jobs are new; it gives each job a start, a comment or a
// rejection.
void FullCycle(benchmark::State& state) {
    BigCluster cluster(vnodes_for(state.range(0)), state.range(0));
    run_full_cycles(state, cluster);
}
BENCHMARK(FullCycle)->Apply(full_cycles);

// A full cycle with limits on each user's jobs: in each queue, in the server, and by max_user_run_jobs. The
// users reach these limits one after the other in the course of the cycle.
void FullCycleUserLimits(benchmark::State& state) {
    const std::int64_t vnodes = vnodes_for(state.range(0));
    BigCluster cluster(vnodes, state.range(0), {vnodes / 150, vnodes / 42, vnodes / 45});
    run_full_cycles(state, cluster);
}
BENCHMARK(FullCycleUserLimits)->Apply(full_cycles);

// Returns a quota of 50 rules. The last rule counts nearly all jobs, with a counter for each user and, with
// `on_vnodes`, for each user on each vnode. No user reaches a limit.
std::shared_ptr<const Quota> fifty_rules(bool on_vnodes) {
    using objects::ObjectType;
    objects::Object object(ObjectType::quota, "q1");
    objects::StringList rules;
    for (int i = 1; i < 50; ++i)
        rules.push_back(fmt::format("r{0}: users={{nobody{0}*}} queues=none{0} to ncpus=10", i));
    rules.push_back(
        fmt::format("all: users={{*}} {}to ncpus=100000,jobs=100000", on_vnodes ? "vnodes={*} " : ""));
    object.assign(*objects::find_attribute(ObjectType::quota, "rule"), std::move(rules));
    object.assign(*objects::find_attribute(ObjectType::quota, "enabled"), true);
    return std::make_shared<const Quota>(object, rrule::WindowSet{});
}
void FullCycleQuota(benchmark::State& state) {
    BigCluster cluster(vnodes_for(state.range(0)), state.range(0), {}, Drained::no,
                       [](Settings& s) { s.quotas = {fifty_rules(false)}; });
    run_full_cycles(state, cluster);
}
void FullCycleQuotaOnVnodes(benchmark::State& state) {
    BigCluster cluster(vnodes_for(state.range(0)), state.range(0), {}, Drained::no,
                       [](Settings& s) { s.quotas = {fifty_rules(true)}; });
    run_full_cycles(state, cluster);
}
BENCHMARK(FullCycleQuota)->Apply(full_cycles);
BENCHMARK(FullCycleQuotaOnVnodes)->Apply(full_cycles);

// A full cycle in which a queue is drained for a waiting job. Another job starts only if it leaves the place
// free that is kept for the waiting job.
void FullCycleDrained(benchmark::State& state) {
    BigCluster cluster(vnodes_for(state.range(0)), state.range(0), {}, Drained::yes);
    run_full_cycles(state, cluster);
}
BENCHMARK(FullCycleDrained)->Apply(full_cycles);

// A full cycle with algorithm standard and the node_sort_key that `tune` sets. With some keys the order of
// vnodes is constant, with others it changes with each start.
void full_cycles_in_order(benchmark::State& state, void (*tune)(Settings& policy)) {
    BigCluster cluster(vnodes_for(state.range(0)), state.range(0), {}, Drained::no, tune, Shared::yes);
    run_full_cycles(state, cluster);
}
void FullCycleOrderOfTotals(benchmark::State& state) {
    full_cycles_in_order(state, [](Settings& s) { s.node_sort_key = {{"ncpus", true}, {"mem", true}}; });
}
void most_unused_first(Settings& s) {
    s.node_sort_key = {{"ncpus", true, SortAmount::unused}};
}
void FullCycleMostUnusedFirst(benchmark::State& state) {
    full_cycles_in_order(state, most_unused_first);
}
void FullCycleLeastUnusedFirst(benchmark::State& state) {
    full_cycles_in_order(state, [](Settings& s) {
        s.node_sort_key = {{"ncpus", false, SortAmount::unused}, {"mem", true}};
    });
}
BENCHMARK(FullCycleOrderOfTotals)->Apply(full_cycles);
BENCHMARK(FullCycleMostUnusedFirst)->Apply(full_cycles);
BENCHMARK(FullCycleLeastUnusedFirst)->Apply(full_cycles);

// Full cycles with estimate_depth. They estimate the starts of the first waiting jobs that have no kept
// place.
void run_estimates(benchmark::State& state, void (*tune)(Settings& policy)) {
    BigCluster cluster(vnodes_for(state.range(0)), state.range(0), {}, Drained::no, tune, Shared::yes);
    cluster.scheduler.set_tell_estimates(true);
    for (auto _ : state) {
        cluster.scheduler.set_by_events(true);  // nothing is kept from the last cycle
        benchmark::DoNotOptimize(cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::timer));
    }
    state.SetComplexityN(state.range(0));
}
void estimate_1000(Settings& s) {
    s.estimate_depth = 1000;
}
void FullCycleEstimates(benchmark::State& state) {
    run_estimates(state, estimate_1000);
}
BENCHMARK(FullCycleEstimates)->Apply(full_cycles);
// The same for all waiting jobs.
void FullCycleEstimatesOfAll(benchmark::State& state) {
    run_estimates(state, [](Settings& s) { s.estimate_depth = 10'000; });
}
BENCHMARK(FullCycleEstimatesOfAll)->Arg(10'000)->Unit(benchmark::kMillisecond);

// Cycles that renew the estimates of 1,000 jobs on a full cluster of so many vnodes, each after the end of
// one job, and the cycle that starts others in its place. At first 1,800 jobs wait with 1,000 vnodes,
// and 6,000 with 10,000.
void EstimatesAfterEnd(benchmark::State& state) {
    const std::int64_t vnodes = state.range(0);
    BigCluster cluster(vnodes, vnodes * 5 / 2 + 1500, {}, Drained::no, estimate_1000, Shared::yes);
    cluster.scheduler.set_tell_estimates(true);
    cluster.settle();
    auto running = cluster.started();
    (void)cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::timer);
    std::mt19937_64 random(7);
    std::int64_t moved = 0;
    CycleTimes times;
    for (auto _ : state) {
        state.PauseTiming();
        std::swap(running[std::uniform_int_distribution<std::size_t>(0, running.size() - 1)(random)],
                  running.back());
        cluster.remove_job(running.back());
        running.pop_back();
        cluster.add_job();
        cluster.apply(cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::job_ended));
        running.insert(running.end(), cluster.started().begin(), cluster.started().end());
        state.ResumeTiming();
        const Decisions out = times.measure(
            [&] { return cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::timer); });
        moved += std::ranges::count(out.list, DecisionKind::estimate, &Decision::kind);
    }
    times.report(state);
    state.counters["moved"] = static_cast<double>(moved) / static_cast<double>(state.iterations());
}
BENCHMARK(EstimatesAfterEnd)->Arg(1'000)->Arg(10'000)->Iterations(100)->Unit(benchmark::kMillisecond);

// Cycles of a busy cluster, each after the arrival of one job. Nearly all waiting jobs are refused again.
void run_after_arrivals(benchmark::State& state, Drained drained, Shared shared = Shared::no) {
    BigCluster cluster(vnodes_for(state.range(0)), state.range(0), {}, drained, nullptr, shared);
    cluster.settle();
    cluster.reserve(static_cast<std::int64_t>(state.max_iterations));
    CycleTimes times;
    for (auto _ : state) {
        const Decisions out = times.measure([&] {
            cluster.add_job();
            return cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::job_new);
        });
        state.PauseTiming();
        cluster.apply(out);
        state.ResumeTiming();
    }
    times.report(state);
}
void CycleAfterArrival(benchmark::State& state) {
    run_after_arrivals(state, Drained::no);
}
void CycleAfterArrivalDrained(benchmark::State& state) {
    run_after_arrivals(state, Drained::yes);
}
// Cycles after the arrival of one job, with fair share among 1,000 users.
void CycleAfterArrivalShares(benchmark::State& state) {
    run_after_arrivals(state, Drained::no, Shared::yes);
}
BENCHMARK(CycleAfterArrivalShares)->Apply(cycles_after_events);
BENCHMARK(CycleAfterArrival)->Apply(cycles_after_events);
BENCHMARK(CycleAfterArrivalDrained)->Apply(cycles_after_events);

// Jobs go by their urgency, with waiting times. The order lasts while the least and the greatest urgency
// stay.
void by_urgency(Settings& s) {
    s.fairshare = false;
    s.weighted_priority = true;
    s.urgency_of_resources = {{"ncpus", 1000}};
    s.weight_urgency = 0.1;
    s.weight_waiting_time = 0.278;
}
void FullCycleUrgencies(benchmark::State& state) {
    full_cycles_in_order(state, by_urgency);
}
BENCHMARK(FullCycleUrgencies)->Apply(full_cycles);

void run_after_ends(benchmark::State& state, Drained drained, const UserLimits& limits = {},
                    void (*tune)(Settings& policy) = nullptr, Shared shared = Shared::no,
                    bool last_first = false, void (*prepare)(BigCluster& cluster) = nullptr) {
    BigCluster cluster(vnodes_for(state.range(0)), state.range(0), limits, drained, tune, shared);
    if (prepare != nullptr) prepare(cluster);
    cluster.settle();
    cluster.reserve(1000);
    auto running = cluster.started();
    if (last_first) std::ranges::reverse(running);
    std::size_t next = 0;
    CycleTimes times;
    for (auto _ : state) {
        const Decisions out = times.measure([&] {
            cluster.remove_job(running[next++]);
            return cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::job_ended);
        });
        state.PauseTiming();
        cluster.apply(out);
        running.insert(running.end(), cluster.started().begin(), cluster.started().end());
        while (next == running.size()) {  // all jobs that could run have ended, so others have to start
            cluster.add_job();
            cluster.apply(cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::job_new));
            running.insert(running.end(), cluster.started().begin(), cluster.started().end());
        }
        state.ResumeTiming();
    }
    times.report(state);
}
void CycleAfterEnd(benchmark::State& state) {
    run_after_ends(state, Drained::no);
}
void CycleAfterEndDrained(benchmark::State& state) {
    run_after_ends(state, Drained::yes);
}
void CycleAfterEndQuota(benchmark::State& state) {
    run_after_ends(state, Drained::no, {}, [](Settings& s) { s.quotas = {fifty_rules(false)}; });
}
BENCHMARK(CycleAfterEndQuota)->Apply(cycles_after_events);
void CycleAfterEndDrainedQuota(benchmark::State& state) {
    run_after_ends(state, Drained::yes, {}, [](Settings& s) { s.quotas = {fifty_rules(false)}; });
}
BENCHMARK(CycleAfterEndDrainedQuota)->Apply(cycles_after_events);
void CycleAfterEndShares(benchmark::State& state) {
    run_after_ends(state, Drained::no, {}, nullptr, Shared::yes);
}
void CycleAfterEndMostUnusedFirst(benchmark::State& state) {
    run_after_ends(state, Drained::no, {}, most_unused_first, Shared::yes);
}
// The job that started last ends first: the greatest urgency stays. In the other benchmark it goes with each
// end.
void CycleAfterEndUrgencies(benchmark::State& state) {
    run_after_ends(state, Drained::no, {}, by_urgency, Shared::yes, true);
}
void CycleAfterEndOfMostUrgent(benchmark::State& state) {
    run_after_ends(state, Drained::no, {}, by_urgency, Shared::yes);
}
BENCHMARK(CycleAfterEndUrgencies)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndOfMostUrgent)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndShares)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndMostUnusedFirst)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEnd)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndDrained)->Apply(cycles_after_events);

// Cycles after ends of jobs. With these policies a cycle has to consider more jobs: limits on users,
// draining, avoid_fragmentation, max_jobs.
void CycleAfterEndUserLimits(benchmark::State& state) {
    const std::int64_t vnodes = vnodes_for(state.range(0));
    run_after_ends(state, Drained::no, {vnodes / 150, vnodes / 42, vnodes / 45});
}
void CycleAfterEndNonprimeDrainSys(benchmark::State& state) {
    run_after_ends(state, Drained::no, {}, [](Settings& s) { s.nonprime_drain_sys = {true}; });
}
void CycleAfterEndFragments(benchmark::State& state) {
    run_after_ends(state, Drained::no, {}, [](Settings& s) { s.avoid_fragmentation = {true}; });
}
void CycleAfterEndMaxJobs(benchmark::State& state) {
    run_after_ends(state, Drained::no, {}, [](Settings& s) { s.max_jobs = 20; });
}
BENCHMARK(CycleAfterEndUserLimits)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndNonprimeDrainSys)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndFragments)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndMaxJobs)->Apply(cycles_after_events);

// Cycles after ends of jobs with algorithm standard and fair share, and one further feature.
void run_after_ends_with(benchmark::State& state, void (*prepare)(BigCluster& cluster),
                         void (*tune)(Settings& policy) = nullptr) {
    run_after_ends(state, Drained::no, {}, tune, Shared::yes, false, prepare);
}
void CycleAfterEndEstimates(benchmark::State& state) {
    run_after_ends_with(
        state, [](BigCluster& c) { c.scheduler.set_tell_estimates(true); },
        [](Settings& s) { s.strict_ordering = true; });
}
void CycleAfterEndEntityLimits(benchmark::State& state) {
    run_after_ends_with(state, [](BigCluster& c) { c.limit_users(); });
}
void CycleAfterEndSets(benchmark::State& state) {
    run_after_ends_with(state, [](BigCluster& c) { c.divide_by_rack(); });
}
void CycleAfterEndPreemption(benchmark::State& state) {
    run_after_ends_with(
        state, [](BigCluster& c) { c.let_preempt(); }, [](Settings& s) { s.preemption = true; });
}
void CycleAfterEndReservations(benchmark::State& state) {
    run_after_ends_with(state, [](BigCluster& c) { c.reserve_vnodes(50); });
}
void CycleAfterEndEligibleTime(benchmark::State& state) {
    run_after_ends_with(
        state, [](BigCluster& c) { c.count_eligible_time(); },
        [](Settings& s) {
            s.fairshare = false;
            s.job_sort_formula = "eligible_time + 100*ncpus";
        });
}
BENCHMARK(CycleAfterEndEstimates)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndEntityLimits)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndSets)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndPreemption)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndReservations)->Apply(cycles_after_events);
BENCHMARK(CycleAfterEndEligibleTime)->Apply(cycles_after_events);

// Measures how much memory of the scheduler a queued job takes after a cycle, including the order of jobs
// that is kept for later cycles.
void BytesPerQueuedJob(benchmark::State& state) {
    const auto in_use = [] {
        const auto info = mallinfo2();
        return static_cast<double>(info.uordblks + info.hblkhd);
    };
    double bytes = 0;
    for (auto _ : state) {
        BigCluster cluster(1000, 0);
        cluster.reserve(state.range(0));
        const double before = in_use();
        for (std::int64_t i = 0; i < state.range(0); ++i) cluster.add_job();
        benchmark::DoNotOptimize(cluster.scheduler.cycle(cluster.now, "default", CycleTrigger::job_new));
        bytes = in_use() - before;
    }
    state.counters["bytes"] = bytes / static_cast<double>(state.range(0));
}
BENCHMARK(BytesPerQueuedJob)->Arg(100'000)->Arg(1'000'000)->Iterations(1)->Unit(benchmark::kMillisecond);

// Measures the arrival and the removal of a queued job, without a cycle.
void JobEvent(benchmark::State& state) {
    BigCluster cluster(vnodes_for(state.range(0)), state.range(0));
    for (auto _ : state) {
        cluster.add_job();
        cluster.remove_job(cluster.last_job());
    }
}
BENCHMARK(JobEvent)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

// A look at the scheduler's state runs in another thread, and range(0) jobs arrive meanwhile. Measures
// finish_work() after it, for which the caller has to wait.
void EndOfALookAfterJobEvents(benchmark::State& state) {
    BigCluster cluster(1000, 20'000);
    cluster.settle();
    for (auto _ : state) {
        std::promise<void> end;
        std::promise<void> over;
        const auto look = [wait = end.get_future().share()](Inspector&) { wait.wait(); };
        if (!cluster.scheduler.start_look(cluster.now, look, [&over] { over.set_value(); })) std::abort();
        for (std::int64_t i = 0; i < state.range(0); ++i) cluster.add_job();
        end.set_value();
        over.get_future().wait();
        const auto begin = std::chrono::steady_clock::now();
        benchmark::DoNotOptimize(cluster.scheduler.finish_work());
        state.SetIterationTime(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
}
BENCHMARK(EndOfALookAfterJobEvents)
    ->Arg(1'000)
    ->Arg(100'000)
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// Measures how long it takes to order jobs by the past usage of 100 users.
void PermuteByPastUsage(benchmark::State& state) {
    std::mt19937_64 random(7);
    std::vector<std::int64_t> usage(100);
    for (std::int64_t& u : usage) u = std::uniform_int_distribution(0, 3'600'000)(random);
    std::vector<test::UsageJob> jobs(static_cast<std::size_t>(state.range(0)));
    for (test::UsageJob& job : jobs)
        job = {std::uniform_int_distribution<std::uint32_t>(0, 99)(random),
               std::uniform_int_distribution(360, 360'000)(random)};
    for (auto _ : state) benchmark::DoNotOptimize(test::permute_by_past_usage(jobs, usage));
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
