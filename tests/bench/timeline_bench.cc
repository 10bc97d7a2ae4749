// Measures questions about the future use of vnodes: those to a timeline alone, and those in cycles that
// reserve places for jobs.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "server_plugin/scheduler/future/timeline.h"
#include "server_plugin/scheduler/model/configuration.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::sched::bench {
namespace {

constexpr Instant kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 23} + std::chrono::hours(10)};

// Returns the use of running jobs with 1 to 64 CPUs each. They end at random seconds of the next day.
std::vector<Use> running_jobs(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Use> uses;
    for (std::int64_t i = 0; i < count; ++i)
        uses.push_back({{kNow, kNow + Seconds(std::uniform_int_distribution(1, 24 * 3600)(random))},
                        std::uniform_int_distribution(1, 64)(random)});
    return uses;
}

Timeline profile_of(const std::vector<Use>& uses) {
    Timeline profile;
    profile.debit(uses);
    return profile;
}

// Builds the timeline of all jobs at once.
void MakeProfile(benchmark::State& state) {
    const auto uses = running_jobs(state.range(0), 1);
    for (auto _ : state) benchmark::DoNotOptimize(profile_of(uses));
    state.SetComplexityN(state.range(0));
}
BENCHMARK(MakeProfile)->RangeMultiplier(10)->Range(100, 100'000)->Complexity(benchmark::oNLogN);

// Adds the use of one job, and removes it.
void DebitAndCredit(benchmark::State& state) {
    Timeline profile = profile_of(running_jobs(state.range(0), 1));
    const auto others = running_jobs(1000, 2);
    std::size_t i = 0;
    for (auto _ : state) {
        const Use& use = others[i++ % others.size()];
        benchmark::DoNotOptimize(profile.debit(use.when, use.amount));
        benchmark::DoNotOptimize(profile.credit(use.when, use.amount));
    }
}
BENCHMARK(DebitAndCredit)->RangeMultiplier(10)->Range(100, 100'000);

// Searches for the earliest time at which so much is free that `percent` of the jobs' use must have ended.
void Earliest(benchmark::State& state) {
    const Timeline profile = profile_of(running_jobs(state.range(0), 1));
    const std::int64_t all = profile.at(kNow);
    const std::int64_t amount = all * state.range(1) / 100;
    for (auto _ : state) benchmark::DoNotOptimize(profile.earliest(kNow, Seconds(3600), amount, all));
}
BENCHMARK(Earliest)->ArgsProduct({{100, 1000, 10'000, 100'000}, {1, 50}});

void MaxInAnHour(benchmark::State& state) {
    const Timeline profile = profile_of(running_jobs(state.range(0), 1));
    for (auto _ : state)
        benchmark::DoNotOptimize(
            profile.max_in({kNow + std::chrono::hours(12), kNow + std::chrono::hours(13)}));
}
BENCHMARK(MaxInAnHour)->RangeMultiplier(10)->Range(100, 100'000);

// A full cluster. Each running job has a vnode of 8 CPUs, and ends at a random second of the next day. 128
// different jobs wait for `nodes` vnodes each, with strict_ordering.
class FullCluster {
  public:
    FullCluster(std::int64_t running, std::int64_t nodes, std::int64_t depth)
        : scheduler(rrule::Zone::utc()) {
        scheduler.resource_defined({0, ResourceKind::integer, "ncpus", true});
        scheduler.resource_defined({1, ResourceKind::duration, "walltime", false});
        scheduler.resource_defined({2, ResourceKind::string, "select", false});
        scheduler.sched_changed({"default", true, "", ""});
        QueueRecord queue;
        queue.queue = QueueHandle(1);
        queue.name = "work";
        queue.max_running = 2 * running;
        scheduler.queue_changed(queue);
        const Amount cpus[] = {{0, 8, {}}};
        for (std::int64_t i = 0; i < running; ++i) {
            const std::string name = "n" + std::to_string(i);
            VnodeRecord vnode;
            vnode.vnode = VnodeHandle(static_cast<std::uint64_t>(i + 1));
            vnode.name = vnode.host = name;
            vnode.resources_available = cpus;
            scheduler.vnode_changed(vnode);
        }
        std::mt19937 random(3);
        for (std::int64_t i = 0; i < running; ++i) {
            const Place place{VnodeHandle(static_cast<std::uint64_t>(i + 1)), cpus};
            JobRecord job;
            job.state = 'R';
            job.stime = kNow - Seconds(60);
            job.walltime = Seconds(60 + std::uniform_int_distribution(1, 24 * 3600)(random));
            job.requested = cpus;
            job.places = {&place, 1};
            send(job);
        }
        const std::string select = std::to_string(nodes) + ":ncpus=8";
        const Amount asked[] = {{2, 0, select}};
        for (int i = 0; i < 128; ++i) {
            JobRecord job;
            job.walltime = Seconds(3600 + i);
            job.requested = asked;
            send(job);
        }
        Configuration configuration;
        Settings s;
        s.name = "p";
        s.strict_ordering = true;
        s.backfill_depth = depth;
        configuration.policies["p"] = s;
        configuration.scheds["default"] = {"p"};
        if (!scheduler.set_configuration(configuration)) std::abort();
    }

    Scheduler scheduler;

  private:
    void send(JobRecord& job) {
        ++last_;
        const std::string id = std::to_string(last_) + ".server";
        job.job = JobHandle(last_);
        job.sequence = last_;
        job.id = id;
        job.owner = "user" + std::to_string(last_ % 100);
        job.group = "staff";
        job.origin_queue = "work";
        job.queue = QueueHandle(1);
        job.ctime = job.qtime = job.etime = job.mtime = kNow - Seconds(3600);
        scheduler.job_changed(kNow, job);
    }
    std::uint64_t last_ = 0;
};

// A cycle that makes range(0) reservations. The difference between the times of two sizes shows the cost of
// one reservation.
void Reservations(benchmark::State& state) {
    FullCluster cluster(state.range(0), state.range(1), state.range(2));
    for (auto _ : state)
        benchmark::DoNotOptimize(cluster.scheduler.cycle(kNow, "default", CycleTrigger::timer));
}
BENCHMARK(Reservations)
    ->ArgNames({"running", "nodes", "depth"})
    ->ArgsProduct({{100}, {1, 30}, {0, 1, 2}})
    ->ArgsProduct({{10'000}, {1, 30, 3000}, {0, 1, 2, 3}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pbs::sched::bench

BENCHMARK_MAIN();
