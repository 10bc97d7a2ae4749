// Tests the choice of jobs to preempt when levels depend on soft limits, compared with trying all sets of
// running jobs.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/cases.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

PreemptPriorities levels_of(const std::vector<unsigned>& traits) {
    PreemptPriorities all;
    for (const unsigned one : traits) all.add(one);
    return all;
}

constexpr unsigned kOverQueue = preempt_queue_softlimits;
constexpr unsigned kOverServer = preempt_server_softlimits;

// ---- Preemption of jobs whose owners are over soft limits.

struct BySoftLimits : testing::Test {
    World world;
    int since = 0;  // start of the youngest running job, in minutes after midnight
    void SetUp() override {
        world.policy().help_starving_jobs = false;
        set_levels({preempt_express, preempt_normal, kOverQueue, kOverServer});
        world.queue({.name = "work"});
        world.queue({.name = "express", .priority = 200});
    }
    void set_levels(const std::vector<unsigned>& traits) {
        world.policy().preempt_prio = levels_of(traits);
        world.configure();
    }
    void limit_server(const std::vector<LimitOptions>& limits) {
        const auto records = records_of(limits);
        ServerRecord server;
        server.limits = records;
        world.server(server);
    }
    // Makes a running job that was started a minute after the last one.
    int run(const std::string& vnode, int cpus, JobOptions o) {
        if (o.queue == "submit") o.queue = "work";
        o.ncpus = cpus;
        o.walltime = 10 * kHour;
        const int job = world.job(o);
        world.run(job, o.queue, vnode, at(0, ++since));
        return job;
    }
    static JobOptions of(const std::string& owner) {
        JobOptions o;
        o.owner = owner;
        return o;
    }
};

const LimitOptions kOneJobEach{.entity = EntityKind::user, .most = 1, .soft = true};

TEST_F(BySoftLimits, TheJobThatHelpsUsesTheExcessUp) {
    world.vnode({.name = "n0", .ncpus = 4});
    world.vnode({.name = "n1", .ncpus = 1});
    limit_server({kOneJobEach});
    const int helps = run("n0", 4, of("ann"));
    run("n1", 1, of("ann"));
    const int job = world.job({.queue = "work", .owner = "bob", .ncpus = 4});
    EXPECT_THAT(world.cycle(at(1)).preempted, ElementsAre(Pair(helps, Pair(job, "SR"))));
}

TEST_F(BySoftLimits, ANormalJobIsSparedForOneThatHelpsAsWell) {
    world.policy().preempt_order.steps = {{100, "D"}};
    world.configure();
    for (const char* name : {"n0", "n2"}) world.vnode({.name = name, .ncpus = 6});
    world.vnode({.name = "n1", .ncpus = 1});
    limit_server({kOneJobEach});
    const int large = run("n0", 6, of("ann"));
    run("n1", 1, of("ann"));
    run("n2", 6, of("bob"));
    const int job = world.job({.queue = "express", .owner = "cid", .ncpus = 6});
    EXPECT_THAT(world.cycle(at(1)).preempted, ElementsAre(Pair(large, Pair(job, "D"))));
}

TEST_F(BySoftLimits, EachUserLosesWhatIsOverHisLimitBeforeOneLosesMore) {
    for (const char* name : {"n0", "n1", "n2", "n3"}) world.vnode({.name = name});
    limit_server({kOneJobEach});
    run("n0", 4, of("ann"));
    const int anns = run("n1", 4, of("ann"));
    run("n2", 4, of("bob"));
    const int bobs = run("n3", 4, of("bob"));
    world.job({.queue = "express", .owner = "cid", .select = "2:ncpus=4"});
    EXPECT_THAT(world.cycle(at(1)).preempted,
                UnorderedElementsAre(Pair(anns, testing::_), Pair(bobs, testing::_)));
}

TEST_F(BySoftLimits, NoMoreThanWhatIsOverThemIsTakenForANormalJob) {
    world.vnode({.name = "n0", .ncpus = 4});
    limit_server({kOneJobEach});
    run("n0", 2, of("ann"));
    run("n0", 2, of("ann"));
    const int job = world.job({.queue = "work", .owner = "bob", .ncpus = 4});
    EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty());
    const auto told = world.scheduler.explain(at(1), std::to_string(job) + ".server");
    ASSERT_TRUE(told);
    EXPECT_THAT(told->preempts_none, HasSubstr("no more are preempted than are over them"));
}

// bob is over his limit, so his jobs have a lower level than normal ones. If one of ann's jobs is preempted,
// she isn't over her limit any more, and the preempted job is a normal one. As in OpenPBS, it is spared.
TEST_F(BySoftLimits, AJobIsSparedThatWouldRiseAboveTheOther) {
    set_levels({preempt_express, preempt_normal, kOverServer, kOverQueue});
    world.vnode({.name = "n0", .ncpus = 8});
    world.queue({.name = "work",
                 .limits = {{.entity = EntityKind::user, .resource = ncpus, .most = 4, .soft = true}}});
    world.queue({.name = "other"});
    limit_server({{.entity = EntityKind::user, .name = "bob", .resource = ncpus, .most = 2, .soft = true}});
    for (int i = 0; i < 5; ++i) run("n0", 1, of("ann"));
    JobOptions bobs = of("bob");
    bobs.queue = "other";
    const int his = run("n0", 3, bobs);
    const auto job = [&](const std::string& owner) {
        return world.job({.queue = "other", .owner = owner, .ncpus = 1});
    };
    job("bob");
    EXPECT_THAT(world.cycle(at(1)).preempted, IsEmpty());
    world.finish(his, at(1));
    run("n0", 1, of("ann"));
    run("n0", 2, bobs);
    const int next = job("bob");
    EXPECT_THAT(world.cycle(at(2), false).preempted, testing::SizeIs(1))
        << "ann is over by two jobs: " << next;
}

// The small job has to be preempted before the large one. Otherwise ann, without the large job's CPUs, would
// no longer be over the limit, and the small job would have the same level as the waiting job.
TEST_F(BySoftLimits, max_run_res_soft_TheSmallJobGoesBeforeTheLargeOne) {
    world.vnode({.name = "n0", .ncpus = 7});
    world.queue({.name = "work",
                 .limits = {{.entity = EntityKind::user, .resource = ncpus, .most = 4, .soft = true}}});
    const int small = run("n0", 1, of("ann"));
    const int first = run("n0", 3, of("ann"));
    const int last = run("n0", 3, of("ann"));
    world.job({.queue = "work", .owner = "bob", .ncpus = 4});
    EXPECT_THAT(world.cycle(at(1)).preempted,
                UnorderedElementsAre(Pair(small, testing::_), Pair(last, testing::_)))
        << "not " << first;
}

// ann's express job has the highest level while ann has more than one job, the soft limit. Once her normal
// job has been preempted, the express job's level is lower, and it can be preempted, too.
TEST_F(BySoftLimits, AJobThatIsOverLessMayBeOfALowerLevel) {
    set_levels({preempt_express | kOverServer, preempt_express, preempt_normal});
    limit_server({kOneJobEach, {.entity = EntityKind::user, .name = "bob", .most = 0, .soft = true}});
    world.vnode({.name = "n0", .ncpus = 4});
    world.vnode({.name = "n1", .ncpus = 1});
    JobOptions stays = of("bob");
    stays.not_preemptable = true;
    run("n1", 1, stays);
    const int normal = run("n0", 2, of("ann"));
    JobOptions high = of("ann");
    high.queue = "express";
    const int express = run("n0", 2, high);
    const int job = world.job({.queue = "express", .owner = "bob", .ncpus = 4});
    EXPECT_THAT(world.cycle(at(1), false).preempted,
                UnorderedElementsAre(Pair(normal, Pair(job, "SR")), Pair(express, Pair(job, "SR"))));
    world.finish(normal, at(1));
    const int other = run("n0", 1, of("ann"));
    world.vnode({.name = "n2", .ncpus = 1});
    world.finish(other, at(1));
    run("n2", 1, of("ann"));
    EXPECT_THAT(world.cycle(at(1), false).preempted, IsEmpty()) << "the other one would help nothing";
}

// ---- Small random sites with soft limits of all kinds. Each preempted job changes the levels of others.

struct SoftSite {
    struct Limit {
        std::string queue;  // queue that has the limit; empty: the server
        LimitOptions limit;
    };
    struct Job {
        int job = 0;
        JobOptions options;
        std::string vnode{};
        Instant since{};
    };
    std::mt19937 random;
    World world;
    int nodes = 0;
    std::vector<Limit> limits;
    std::vector<Job> running;
    Job waits;

    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    static std::string name(const char* of, int i) { return of + std::to_string(i); }
    static int priority(const std::string& queue) {
        return queue == "first" ? 200 : queue == "fast" ? 150 : 0;
    }
    std::string any_queue() { return std::vector<std::string>{"work", "work", "fast", "first"}[pick(0, 3)]; }

    explicit SoftSite(int seed) : random(static_cast<unsigned>(seed)) {
        nodes = pick(1, 3);
        using L = std::vector<unsigned>;
        const std::vector<L> all = {
            {preempt_express, preempt_normal, kOverQueue, kOverServer},
            {preempt_express, preempt_normal, kOverServer},
            {preempt_express, preempt_normal, kOverServer | kOverQueue, kOverQueue},
            {preempt_express | kOverQueue, preempt_express, preempt_normal},
            {preempt_express, preempt_normal, preempt_express | kOverServer, kOverServer},
            {preempt_express | kOverServer, preempt_express, preempt_normal, kOverServer | kOverQueue},
            {preempt_express, kOverQueue, preempt_normal, kOverServer}};
        world.policy().preempt_prio = levels_of(all[static_cast<std::size_t>(pick(0, 6))]);
        for (int i = pick(1, 4); i > 0; --i) {
            LimitOptions limit{.soft = true};
            limit.entity = kEntities[pick(0, 3)];
            if (pick(1, 2) == 1) limit.resource = ncpus;
            limit.most = limit.resource == ncpus ? pick(0, 6) : pick(0, 2);
            if (limit.entity != EntityKind::all && pick(1, 3) == 1)
                limit.name = name(limit.entity == EntityKind::user    ? "u"
                                  : limit.entity == EntityKind::group ? "g"
                                                                      : "p",
                                  pick(1, 2));
            const std::string queue = pick(1, 2) == 1 ? "" : any_queue();
            const auto same = [&](const Limit& known) {
                return known.queue == queue && known.limit.entity == limit.entity &&
                       known.limit.resource == limit.resource && known.limit.name == limit.name;
            };
            if (std::ranges::none_of(limits, same)) limits.push_back({queue, limit});
        }
        make(world);
        std::vector<int> left(static_cast<std::size_t>(nodes), 8);
        for (int i = pick(2, 7); i > 0; --i) {
            const int node = pick(0, nodes - 1);
            Job job{.options = any_job(), .vnode = name("n", node), .since = at(0, pick(0, 50))};
            const auto cpus = static_cast<int>(job.options.ncpus);
            if (left[static_cast<std::size_t>(node)] < cpus) continue;
            left[static_cast<std::size_t>(node)] -= cpus;
            job.job = world.job(job.options);
            world.run(job.job, job.options.queue, job.vnode, job.since);
            running.push_back(job);
        }
        waits.options = any_job();
        waits.options.ncpus = -1;
        chunks = pick(1, 3);
        cpus_each = pick(1, 8);
        waits.options.select = fmt::format("{}:ncpus={}", chunks, cpus_each);
        if (pick(1, 3) == 1) waits.options.place = "scatter";
        waits.options.walltime = kHour;
    }
    static constexpr EntityKind kEntities[] = {EntityKind::all, EntityKind::user, EntityKind::group,
                                               EntityKind::project};
    int chunks = 1;
    int cpus_each = 1;

    JobOptions any_job() {
        JobOptions o;
        o.queue = any_queue();
        o.owner = name("u", pick(1, 3));
        o.group = name("g", pick(1, 2));
        o.project = name("p", pick(1, 2));
        o.ncpus = pick(1, 6);
        o.walltime = 10 * kHour;
        return o;
    }
    void make(World& w) const {
        w.policy().help_starving_jobs = false;
        for (const char* queue : {"work", "fast", "first"}) {
            std::vector<LimitOptions> own;
            for (const Limit& limit : limits)
                if (limit.queue == queue) own.push_back(limit.limit);
            w.queue({.name = queue, .priority = priority(queue), .limits = own});
        }
        std::vector<LimitOptions> own;
        for (const Limit& limit : limits)
            if (limit.queue.empty()) own.push_back(limit.limit);
        const auto records = records_of(own);
        ServerRecord server;
        server.limits = records;
        w.server(server);
        for (int i = 0; i < nodes; ++i) w.vnode({.name = name("n", i), .ncpus = 8});
        w.configure();
    }
    std::int64_t cpus_of(const JobOptions& o) const { return o.ncpus > 0 ? o.ncpus : chunks * cpus_each; }

    // Returns the preemption level that a job has while the jobs in `run` run.
    std::int64_t level(const JobOptions& job, const std::vector<JobOptions>& run) const {
        unsigned traits = priority(job.queue) >= 150 ? preempt_express : 0U;
        for (const Limit& on : limits) {
            const LimitOptions& limit = on.limit;
            if (!on.queue.empty() && on.queue != job.queue) continue;
            const auto entity = [&](const JobOptions& o) -> std::string {
                return limit.entity == EntityKind::user      ? o.owner
                       : limit.entity == EntityKind::group   ? o.group
                       : limit.entity == EntityKind::project ? o.project
                                                             : "";
            };
            if (!limit.name.empty() && limit.name != entity(job)) continue;
            const bool other_named = limit.name.empty() && std::ranges::any_of(limits, [&](const Limit& l) {
                                         return l.queue == on.queue && l.limit.entity == limit.entity &&
                                                l.limit.resource == limit.resource && !l.limit.name.empty() &&
                                                l.limit.name == entity(job);
                                     });
            if (other_named) continue;
            std::int64_t use = 0;
            for (const JobOptions& o : run)
                if ((on.queue.empty() || o.queue == on.queue) && entity(o) == entity(job))
                    use += limit.resource == ncpus ? cpus_of(o) : 1;
            if (use > limit.most) traits |= on.queue.empty() ? kOverServer : kOverQueue;
        }
        return world_levels().level(traits, priority(job.queue));
    }
    const PreemptPriorities& world_levels() const {
        return world.configuration.policies.at("p1").preempt_prio;
    }

    // Returns, for each set of jobs, the highest level at which one of its jobs is preempted. The jobs are
    // preempted in the order that makes this level lowest. Set n contains the jobs whose bits in n are 1.
    static std::vector<std::int64_t> levels_at_turns(
        std::size_t jobs, const std::function<std::int64_t(std::size_t, unsigned)>& level_without) {
        std::vector<std::int64_t> highest(std::size_t{1} << jobs, std::numeric_limits<std::int64_t>::max());
        highest[0] = std::numeric_limits<std::int64_t>::min();
        for (unsigned set = 1; set < highest.size(); ++set)
            for (std::size_t last = 0; last < jobs; ++last) {
                if ((set >> last & 1) == 0) continue;
                const unsigned before = set & ~(1U << last);
                highest[set] = std::min(highest[set], std::max(highest[before], level_without(last, before)));
            }
        return highest;
    }
    std::vector<JobOptions> without(unsigned gone) const {
        std::vector<JobOptions> run;
        for (std::size_t i = 0; i < running.size(); ++i)
            if ((gone >> i & 1) == 0) run.push_back(running[i].options);
        return run;
    }
    // Returns the lowest level that the waiting job has in three states: without the jobs `gone`, before and
    // after its start, and beside all running jobs.
    std::int64_t level_of_waiting(unsigned gone) const {
        auto run = without(gone);
        const std::int64_t now = level(waits.options, run);
        run.push_back(waits.options);
        return std::min({now, level(waits.options, run), level(waits.options, without(0))});
    }
    // Returns whether one of the jobs `gone` has a higher level than the waiting job once all are gone.
    bool lets_rise(unsigned gone) const {
        const auto run = without(gone);
        const std::int64_t now = level(waits.options, without(0));
        for (std::size_t i = 0; i < running.size(); ++i)
            if ((gone >> i & 1) != 0 && level(running[i].options, run) > now) return true;
        return false;
    }
    bool starts_without(unsigned gone) const {
        World other;
        make(other);
        other.policy().preemption = false;
        other.configure();
        for (std::size_t i = 0; i < running.size(); ++i) {
            if ((gone >> i & 1) != 0) continue;
            const int job = other.job(running[i].options);
            other.run(job, running[i].options.queue, running[i].vnode, running[i].since);
        }
        other.job(waits.options);
        return !other.cycle(at(1)).started.empty();
    }
    // Returns the best set of jobs to preempt, in which each job is needed for the start; nullopt if the
    // waiting job can't start.
    std::optional<std::set<int>> best() const {
        const std::size_t jobs = running.size();
        const auto highest = levels_at_turns(
            jobs, [&](std::size_t job, unsigned gone) { return level(running[job].options, without(gone)); });
        std::vector<bool> starts(highest.size());
        for (unsigned set = 0; set < highest.size(); ++set) {
            for (std::size_t i = 0; i < jobs && !starts[set]; ++i)
                starts[set] = (set >> i & 1) != 0 && starts[set & ~(1U << i)];
            starts[set] = starts[set] || starts_without(set);
        }
        std::vector<std::size_t> order(jobs);  // indices of jobs; the last one is spared first
        for (std::size_t i = 0; i < jobs; ++i) order[i] = i;
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            const auto key = [&](std::size_t i, std::size_t other) {
                return std::tuple(level(running[i].options, without(0)), running[other].since,
                                  running[i].job);
            };
            return key(a, b) < key(b, a);
        });
        std::optional<std::pair<std::int64_t, unsigned>> found;  // highest level of the set, and its weight
        for (unsigned set = 0; set < highest.size(); ++set) {
            if (!starts[set] || (set != 0 && highest[set] >= level_of_waiting(set)) || lets_rise(set))
                continue;
            bool needed = true;
            for (std::size_t i = 0; i < jobs; ++i)
                needed = needed && ((set >> i & 1) == 0 || !starts[set & ~(1U << i)]);
            if (!needed) continue;
            unsigned weight = 0;
            for (std::size_t place = 0; place < jobs; ++place)
                if ((set >> order[place] & 1) != 0) weight |= 1U << place;
            if (!found || std::pair(highest[set], weight) < *found) found = {highest[set], weight};
        }
        if (!found) return std::nullopt;
        std::set<int> out;
        for (std::size_t place = 0; place < jobs; ++place)
            if ((found->second >> place & 1) != 0) out.insert(running[order[place]].job);
        return out;
    }
    std::string text() const {
        std::string out = fmt::format("{} of {}, {}", waits.options.owner, waits.options.queue,
                                      waits.options.select + " " + waits.options.place);
        for (const Job& job : running)
            out += fmt::format("\n{}: {} {} {} of {} on {}, {}, {}, level {}", job.job, job.options.owner,
                               job.options.group, job.options.project, job.options.queue, job.vnode,
                               job.options.ncpus, job.since.time_since_epoch().count() % 86400,
                               level(job.options, without(0)));
        for (const Limit& limit : limits)
            out += fmt::format("\nlimit of {}: {} {} {} {}", limit.queue,
                               static_cast<int>(limit.limit.entity), limit.limit.name,
                               limit.limit.resource == ncpus ? "ncpus" : "jobs", limit.limit.most);
        return out;
    }
};

TEST(PreemptionProperty, WithSoftLimitsTheBestOfAllSetsOfJobsMakesRoom) {
    int preempted = 0;
    int several = 0;
    for (int seed = 1; seed <= pbs::test::cases(400); ++seed) {
        SoftSite site(seed);
        SCOPED_TRACE(fmt::format("{}: {}", seed, site.text()));
        const auto best = site.best();
        const int job = site.world.job(site.waits.options);
        const auto outcome = site.world.cycle(at(1));
        std::set<int> gone;
        for (const auto& [victim, by] : outcome.preempted) gone.insert(victim);
        ASSERT_EQ(gone, best.value_or(std::set<int>{}));
        ASSERT_EQ(site.world.running(job), best.has_value());
        preempted += gone.empty() ? 0 : 1;
        several += gone.size() > 1 ? 1 : 0;
    }
    if (pbs::test::cases(400) < 400) return;
    EXPECT_GT(preempted, 40);
    EXPECT_GT(several, 10);
}

// Each job that is preempted has, at that moment, a lower level than the job that starts. While no job
// arrives or ends, cycles soon do nothing more.
TEST(PreemptionProperty, WithSoftLimitsNoneOfAnEqualLevelIsTakenInAnyCycle) {
    int preempted = 0;
    for (int seed = 1; seed <= pbs::test::cases(60); ++seed) {
        SoftSite site(seed);
        SCOPED_TRACE(fmt::format("{}: {}", seed, site.text()));
        const char* orders[] = {"S", "R", "SR", "D"};
        site.world.policy().preempt_order.steps = {{100, orders[site.pick(0, 3)]}};
        site.world.configure();
        std::map<int, JobOptions> jobs;
        for (const auto& job : site.running) jobs[job.job] = job.options;
        Instant now = at(1);
        for (int step = 0; step < 8; ++step) {
            for (int i = site.pick(1, 3); i > 0; --i) {
                JobOptions o = site.any_job();
                o.queued = now;
                jobs[site.world.job(o, now)] = o;
            }
            for (int rounds = 0;; ++rounds) {
                ASSERT_LT(rounds, 20) << "they preempt each other in turn";
                std::map<int, JobOptions> run;
                for (const auto& [job, o] : jobs)
                    if (site.world.running(job)) run[job] = o;
                const auto outcome = site.world.cycle(now);
                if (outcome.started.empty() && outcome.preempted.empty()) break;
                for (const int starter : outcome.started) {
                    std::vector<int> out;
                    for (const auto& [victim, by] : outcome.preempted)
                        if (by.first == starter) out.push_back(victim);
                    const auto options = [&](unsigned gone) {
                        std::vector<JobOptions> all;
                        for (const auto& [job, o] : run) {
                            const auto place = std::ranges::find(out, job) - out.begin();
                            if (place == std::ssize(out) || (gone >> place & 1) == 0) all.push_back(o);
                        }
                        return all;
                    };
                    const auto highest =
                        SoftSite::levels_at_turns(out.size(), [&](std::size_t job, unsigned gone) {
                            return site.level(jobs.at(out[job]), options(gone));
                        });
                    auto with = options(static_cast<unsigned>(highest.size() - 1));
                    with.push_back(jobs.at(starter));
                    const std::int64_t level = std::min(site.level(jobs.at(starter), options(0)),
                                                        site.level(jobs.at(starter), with));
                    ASSERT_TRUE(out.empty() || highest.back() < level) << starter << " in step " << step;
                    preempted += static_cast<int>(out.size());
                    for (const int victim : out) run.erase(victim);
                    run[starter] = jobs.at(starter);
                }
                std::erase_if(jobs, [&](const auto& job) { return !site.world.exists(job.first); });
            }
            now += Seconds(site.pick(1, 600));
            const auto which = std::next(jobs.begin(), site.pick(0, static_cast<int>(jobs.size()) - 1));
            if (site.world.running(which->first)) {
                site.world.finish(which->first, now);
                jobs.erase(which);
            }
        }
    }
    EXPECT_GT(preempted, pbs::test::cases(60) >= 60 ? 30 : 0);
}

}  // namespace
}  // namespace pbs::sched::test
