// Tests the choice of the jobs to preempt, compared on small random sites with a simple search.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "tests/cases.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

// A random site with three queues of different levels, some running jobs, and a waiting job.
struct SmallSite {
    std::mt19937 random;
    World world;
    struct Running {
        int job;
        std::string queue;
        std::string vnode;
        std::int64_t cpus;
        Instant since;
    };
    std::vector<Running> running;
    JobOptions waits;

    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    static const std::vector<std::pair<std::string, int>>& queues() {
        static const std::vector<std::pair<std::string, int>> all = {
            {"work", 0}, {"fast", 150}, {"first", 200}};
        return all;
    }
    static void make_queues(World& world, int max_running) {
        world.policy().help_starving_jobs = false;
        for (const auto& [name, priority] : queues())
            world.queue(
                {.name = name, .priority = priority, .max_running = name == "first" ? max_running : -1});
    }
    static int level(const std::string& queue) {
        return static_cast<int>(std::ranges::find(queues(), queue, [](const auto& q) { return q.first; }) -
                                queues().begin());
    }
    int nodes = 0;
    int server_limit = -1;
    static std::string vnode(int i) { return "n" + std::to_string(i); }

    explicit SmallSite(int seed) : random(static_cast<unsigned>(seed)) {
        world.paste_on_failure();
        nodes = pick(1, 3);
        server_limit = pick(1, 4) == 1 ? pick(1, 5) : -1;
        make(world);
        std::vector<int> left(static_cast<std::size_t>(nodes), 8);
        const int jobs = pick(1, 7);
        for (int i = 0; i < jobs; ++i) {
            const int node = pick(0, nodes - 1);
            const int cpus = pick(1, 6);
            if (left[static_cast<std::size_t>(node)] < cpus) continue;
            if (server_limit > 0 && static_cast<int>(running.size()) >= server_limit) break;
            left[static_cast<std::size_t>(node)] -= cpus;
            const std::string queue = queues()[static_cast<std::size_t>(pick(0, 2))].first;
            const Instant since = at(0, pick(0, 50));
            const int job = world.job({.queue = queue, .ncpus = cpus, .walltime = 10 * kHour});
            world.run(job, queue, vnode(node), since);
            running.push_back({job, queue, vnode(node), cpus, since});
        }
        waits.queue = queues()[static_cast<std::size_t>(pick(0, 2))].first;
        waits.select = std::to_string(pick(1, 3)) + ":ncpus=" + std::to_string(pick(1, 8));
        if (pick(1, 3) == 1) waits.place = "scatter";
        waits.walltime = kHour;
    }
    void make(World& w) const {
        make_queues(w, -1);
        for (int i = 0; i < nodes; ++i) w.vnode({.name = vnode(i), .ncpus = 8});
        if (server_limit > 0) w.server({.max_running = server_limit});
        w.configure();
    }
    // Returns whether the waiting job starts, without preemption, if the jobs `gone` don't run.
    bool starts_without(const std::set<int>& gone) const {
        World other;
        make(other);
        other.policy().preemption = false;
        other.configure();
        for (const Running& r : running) {
            if (gone.contains(r.job)) continue;
            const int job = other.job({.queue = r.queue, .ncpus = r.cpus, .walltime = 10 * kHour});
            other.run(job, r.queue, r.vnode, r.since);
        }
        other.job(waits);
        return !other.cycle(at(1)).started.empty();
    }
    // Tries sets of jobs, and returns the set to preempt by the rules of the manual; empty if there is none.
    std::set<int> expected() const {
        if (starts_without({})) return {};
        std::vector<Running> list;
        for (const Running& r : running)
            if (level(r.queue) < level(waits.queue)) list.push_back(r);
        std::ranges::sort(list, [](const Running& a, const Running& b) {
            return std::tuple(level(a.queue), b.since, a.job) < std::tuple(level(b.queue), a.since, b.job);
        });
        std::set<int> gone;
        std::vector<int> order;
        for (const Running& r : list) {
            gone.insert(r.job);
            order.push_back(r.job);
            if (starts_without(gone)) break;
        }
        if (!starts_without(gone)) return {};
        for (auto job = order.rbegin(); job != order.rend(); ++job) {
            gone.erase(*job);
            if (!starts_without(gone)) gone.insert(*job);
        }
        return gone;
    }
};

TEST(PreemptionProperty, TheFewestAndYoungestOfLowerLevelsMakeRoom) {
    int preempted = 0;
    for (int seed = 1; seed <= pbs::test::cases(150); ++seed) {
        SCOPED_TRACE(seed);
        SmallSite site(seed);
        const bool could_start = site.starts_without({});
        const int job = site.world.job(site.waits);
        const auto outcome = site.world.cycle(at(1));
        std::set<int> gone;
        for (const auto& [victim, by] : outcome.preempted) {
            gone.insert(victim);
            const auto r = std::ranges::find(site.running, victim, &SmallSite::Running::job);
            ASSERT_LT(SmallSite::level(r->queue), SmallSite::level(site.waits.queue))
                << "never of an equal level";
        }
        ASSERT_EQ(gone, site.expected()) << "the preempted jobs, and those that the manual names";
        std::set<int> lower;
        for (const auto& r : site.running)
            if (SmallSite::level(r.queue) < SmallSite::level(site.waits.queue)) lower.insert(r.job);
        ASSERT_EQ(site.world.running(job), could_start || site.starts_without(lower))
            << "whether job " << job << " starts, and whether it has room without jobs of lower levels";
        for (const int victim : gone) {  // the job can't start unless this victim goes
            auto fewer = gone;
            fewer.erase(victim);
            ASSERT_FALSE(site.starts_without(fewer)) << "job " << victim << " needn't have been preempted";
        }
        if (!gone.empty()) ++preempted;
    }
    if (pbs::test::cases(150) >= 150) EXPECT_GT(preempted, 15);
}

// While no job arrives or ends, cycles soon do nothing more: no two jobs preempt each other in turn.
TEST(PreemptionProperty, CyclesComeToRest) {
    for (int seed = 1; seed <= pbs::test::cases(60); ++seed) {
        SCOPED_TRACE(seed);
        SmallSite site(seed);
        const char* orders[] = {"S", "R", "SR", "D"};
        site.world.policy().preempt_order.steps = {{100, orders[site.pick(0, 3)]}};
        site.world.configure();
        Instant now = at(1);
        std::vector<int> jobs;
        for (int step = 0; step < 12; ++step) {
            for (int i = site.pick(1, 3); i > 0; --i) {
                JobOptions o;
                o.queue = SmallSite::queues()[static_cast<std::size_t>(site.pick(0, 2))].first;
                o.ncpus = site.pick(1, 8);
                o.queued = now;
                jobs.push_back(site.world.job(o, now));
            }
            int rounds = 0;
            while (true) {
                const auto outcome = site.world.cycle(now);
                if (outcome.started.empty() && outcome.preempted.empty()) break;
                ASSERT_LT(++rounds, 12) << "they preempt each other in turn";
            }
            now += Seconds(site.pick(1, 600));
            const auto which = static_cast<std::size_t>(site.pick(0, static_cast<int>(jobs.size()) - 1));
            if (site.world.running(jobs[which])) {
                site.world.finish(jobs[which], now);
                jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(which));
            }
        }
    }
}

}  // namespace
}  // namespace pbs::sched::test
