// Tests max_run, max_run_res and their soft forms: the comments of jobs at a limit; and random events, after
// which a count of the running jobs shows that no limit is exceeded.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "server_plugin/scheduler/state/entity_use.h"
#include "tests/cases.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum EntityKind;

struct Limits : testing::Test {
    World world;
    int cycles = 0;  // number of cycles so far; the first is at 1:00, and each next one an hour later
    void SetUp() override {
        Settings& s = world.policy();
        s.by_queue = false;
        world.configuration.scheds["default"] = {.all_time = "p1"};
        world.queue({.name = "q"});
        world.vnodes(1, {.name = "n", .ncpus = 64, .mem = 64 * kGb});
        world.scheduler.set_comment_interval(Seconds(0));
        world.configure();
    }
    void queue_limits(std::vector<LimitOptions> limits) {
        world.queue({.name = "q", .limits = std::move(limits)});
    }
    void server_limits(const std::vector<LimitOptions>& limits) {
        const auto records = records_of(limits);
        ServerRecord server;
        server.name = server.host_name = "svr";
        server.limits = records;
        world.server(server);
    }
    int job(std::string owner, std::int64_t cpus = 1, std::string group = "g", std::string project = "p") {
        return world.job({.queue = "q",
                          .owner = std::move(owner),
                          .group = std::move(group),
                          .project = std::move(project),
                          .ncpus = cpus});
    }
    // Runs a cycle, in which the job `waits` must not start. Returns the job's comment; "" if it isn't set.
    std::string refusal(int waits) {
        const Outcome outcome = world.cycle(at(++cycles));
        EXPECT_THAT(outcome.started, testing::Not(testing::Contains(waits)));
        const auto found = outcome.comment.find(waits);
        return found == outcome.comment.end() ? "" : found->second;
    }
};

// The sum of the requests is more than a number of 64 bits holds.
TEST_F(Limits, HoldForSumsOfAnySize) {
    constexpr std::uint32_t kLic = 40;
    constexpr int kJobs = 25;
    world.scheduler.resource_defined({kLic, ResourceKind::integer, "lic", true});
    const auto submit = [&] {
        return world.job({.queue = "q", .owner = "ann", .select = "1:ncpus=1:lic=1000000000000000000"});
    };
    std::vector<int> all;
    for (int i = 0; i < kJobs; ++i) all.push_back(submit());
    server_limits({{user, "", kLic, 9'200'000'000'000'000'000}});
    EXPECT_EQ(world.cycle(at(++cycles)).started.size(), 9U);
    server_limits({});
    std::vector<Amount> available{{kLic, 9'200'000'000'000'000'000, {}}};
    ServerRecord server;
    server.resources_available = available;
    world.server(server);
    EXPECT_THAT(world.cycle(at(++cycles)).started, IsEmpty()) << "by the server's resources_available";
    world.server({});
    EXPECT_EQ(world.cycle(at(++cycles)).started.size(), 16U) << "nothing limits it";
    server_limits({{user, "", kLic, 2'000'000'000'000'000'000}});
    const int next = submit();
    EXPECT_THAT(refusal(next), testing::HasSubstr("lic"));
    for (int i = 1; i < kJobs; ++i) world.finish(all[static_cast<std::size_t>(i)], at(cycles));
    EXPECT_THAT(world.cycle(at(++cycles)).started, ElementsAre(next)) << "the sum is exact again";
}

TEST_F(Limits, RefusalsByLimitsOfJobsHaveTheWordsOfOpenpbs) {
    struct Case {
        std::vector<LimitOptions> limits;
        std::string in_queue, in_server;
    };
    for (const Case& c :
         {Case{{{.most = 1}}, "Queue q job limit has been reached.", "Server job limit has been reached."},
          Case{{{.entity = user, .most = 1}},
               "User has reached queue q running job limit.",
               "User has reached server running job limit."},
          Case{{{.entity = user, .name = "ann", .most = 1}},
               "Queue q job limit reached for user ann",
               "Server job limit reached for user ann"},
          Case{{{.entity = group, .most = 1}},
               "Group has reached queue q running limit.",
               "Group has reached server running limit."},
          Case{{{.entity = group, .name = "g", .most = 1}},
               "Queue q job limit reached for group g",
               "Server job limit reached for group g"},
          Case{{{.entity = project, .most = 1}},
               "Project has reached queue q's running limit.",
               "Project has reached server running limit."},
          Case{{{.entity = project, .name = "p", .most = 1}},
               "Queue q job limit reached for project p",
               "Server job limit reached for project p"}}) {
        job("ann");
        int waits = job("ann");
        queue_limits(c.limits);
        EXPECT_EQ(refusal(waits), "Not Running: " + c.in_queue);
        queue_limits({});
        server_limits(c.limits);
        EXPECT_EQ(refusal(waits), "Not Running: " + c.in_server);
        server_limits({});
        for (int number = 1; number <= waits; ++number)
            if (world.exists(number)) world.finish(number, at(cycles));
    }
}

TEST_F(Limits, RefusalsByLimitsOfResourcesHaveTheWordsOfOpenpbs) {
    struct Case {
        std::vector<LimitOptions> limits;
        std::string in_queue, in_server;
    };
    for (const Case& c : {Case{{{.resource = ncpus, .most = 5}},
                               "would exceed overall limit on resource ncpus in queue q",
                               "would exceed overall limit on resource ncpus in complex"},
                          Case{{{.entity = user, .resource = ncpus, .most = 5}},
                               "Queue q per-user limit reached on resource ncpus",
                               "Server per-user limit reached on resource ncpus"},
                          Case{{{.entity = user, .name = "ann", .resource = ncpus, .most = 5}},
                               "would exceed user ann's limit on resource ncpus in queue q",
                               "would exceed user ann's limit on resource ncpus in complex"},
                          Case{{{.entity = group, .resource = ncpus, .most = 5}},
                               "Queue q per-group limit reached on resource ncpus",
                               "Server per-group limit reached on resource ncpus"},
                          Case{{{.entity = project, .name = "p", .resource = ncpus, .most = 5}},
                               "would exceed project p's limit on resource ncpus in queue q",
                               "would exceed project p's limit on resource ncpus in complex"}}) {
        job("ann", 3);
        int waits = job("ann", 3);
        queue_limits(c.limits);
        EXPECT_EQ(refusal(waits), "Not Running: " + c.in_queue);
        queue_limits({});
        server_limits(c.limits);
        EXPECT_EQ(refusal(waits), "Not Running: " + c.in_server);
        server_limits({});
        for (int number = 1; number <= waits; ++number)
            if (world.exists(number)) world.finish(number, at(cycles));
    }
}

TEST_F(Limits, ThatNameAnEntityComeBeforeTheOneForEach) {
    server_limits({{.entity = user, .most = 1}, {.entity = user, .name = "ann", .most = 3}});
    std::vector<int> ann(4);
    std::ranges::generate(ann, [&] { return job("ann"); });
    const int first = job("bob");
    const int second = job("bob");
    const Outcome outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(ann[0], ann[1], ann[2], first));
    EXPECT_EQ(outcome.comment.at(ann[3]), "Not Running: Server job limit reached for user ann");
    EXPECT_EQ(outcome.comment.at(second), "Not Running: User has reached server running job limit.");
}

TEST_F(Limits, LimitsOfWalltimeConcernJobsThatRequestOne) {
    queue_limits({{.entity = user, .resource = walltime, .most = 900}});
    const int first = world.job({.queue = "q", .owner = "ann", .ncpus = 1, .walltime = 600});
    const int second = world.job({.queue = "q", .owner = "ann", .ncpus = 1, .walltime = 600});
    const int none = world.job({.queue = "q", .owner = "ann", .ncpus = 1, .walltime = -1});
    const Outcome outcome = world.cycle(at(1));
    EXPECT_THAT(outcome.started, ElementsAre(first, none));
    EXPECT_EQ(outcome.comment.at(second), "Not Running: Queue q per-user limit reached on resource walltime");
}

TEST_F(Limits, ThatAreLiftedLetJobsStart) {
    server_limits({{.entity = project, .name = "p", .most = 1}});
    const int first = job("ann");
    const int second = job("bob");
    const int other = job("bob", 1, "g", "other");
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first, other));
    world.finish(first, at(1));
    EXPECT_THAT(world.cycle(at(1), true, "default", CycleTrigger::job_ended).started, ElementsAre(second));
}

TEST_F(Limits, SoftOnesHoldNobodyBack) {
    server_limits({{.entity = user, .most = 1, .soft = true}});
    const int first = job("ann");
    const int second = job("ann");
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first, second));
}

TEST_F(Limits, JobsBeyondSoftOnesArePreempted) {
    Settings& s = world.policy();
    s.preemption = true;
    s.preempt_prio = {};
    s.preempt_prio.add(preempt_normal);
    s.preempt_prio.add(preempt_server_softlimits);
    s.preempt_order.steps = {{100, "R"}};
    world.configure();
    server_limits({{.entity = user, .resource = ncpus, .most = 40, .soft = true}});
    const int first = job("ann", 32);
    const int second = job("ann", 32);
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first, second));
    const int other = job("bob", 20);
    const Outcome outcome = world.cycle(at(2));
    EXPECT_THAT(outcome.started, ElementsAre(other));
    EXPECT_EQ(world.scheduler.next_deadline(at(2)), at(2) + Seconds(1))
        << "who is over a limit may be another now";
    EXPECT_TRUE(outcome.preempted.contains(first)) << "of two that started at once, the one submitted first";
}

TEST_F(Limits, WhoIsNotOverASoftOneAnyMoreIsLeftAlone) {
    Settings& s = world.policy();
    s.preemption = true;
    s.preempt_prio = {};
    s.preempt_prio.add(preempt_normal);
    s.preempt_prio.add(preempt_server_softlimits);
    s.preempt_order.steps = {{100, "R"}};
    world.configure();
    server_limits({{.entity = user, .most = 1, .soft = true}});
    job("ann", 32);
    job("ann", 32);
    EXPECT_EQ(world.cycle(at(1)).started.size(), 2U);
    job("bob", 64);  // needs the CPUs of both running jobs
    EXPECT_THAT(world.cycle(at(2)).preempted, IsEmpty()) << "one is within the limit once the other has gone";
    const int little = job("bob", 8);
    EXPECT_THAT(world.cycle(at(3)).started, ElementsAre(little));
    job("bob", 8);  // bob's next job would be over his limit
    EXPECT_THAT(world.cycle(at(4)).preempted, IsEmpty());
}

// The owners' soft limits give the jobs of a queue different preemption levels. In round-robin, the queue
// still gets its turns as one queue.
TEST_F(Limits, SoftOnesLeaveQueuesTheirTurns) {
    Settings& s = world.policy();
    s.preemption = s.round_robin = s.round_robin_all = true;
    s.preempt_prio = {};
    s.preempt_prio.add(preempt_normal);
    s.preempt_prio.add(preempt_server_softlimits);
    world.configure();
    server_limits({{.entity = user, .most = 5, .soft = true}});
    std::vector<int> submitted;
    for (const char* owner : {"ann", "ann", "bob", "cyd", "bob", "ann"}) submitted.push_back(job(owner));
    EXPECT_THAT(world.cycle(at(1)).started, testing::ElementsAreArray(submitted));
}

std::vector<LimitOptions> random_limits(std::mt19937& random, bool of_queue) {
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    std::vector<LimitOptions> limits;
    for (const EntityKind kind : {all, user, group, project})
        for (const std::uint32_t resource :
             {UINT32_MAX, std::uint32_t{ncpus}, std::uint32_t{mem}, std::uint32_t{walltime}}) {
            if (pick(1, 100) > 25) continue;
            const auto most = [&]() -> std::int64_t {
                const std::int64_t jobs = pick(0, of_queue ? 4 : 8);
                return resource == UINT32_MAX ? jobs
                       : resource == ncpus    ? jobs * 6
                       : resource == mem      ? jobs * 3 * kGb
                                              : jobs * 3 * kHour;
            };
            if (kind == all || pick(1, 2) == 1) limits.push_back({kind, "", resource, most(), false});
            const char* names[] = {"", "u", "g", "p"};
            if (kind != all && pick(1, 2) == 1)
                limits.push_back({kind, names[static_cast<int>(kind)] + std::to_string(pick(1, 3)), resource,
                                  most(), false});
        }
    return limits;
}

// While no jobs arrive or end, cycles soon do nothing more: no two jobs preempt each other in turn.
TEST(SoftLimits, CyclesComeToRest) {
    int preempted = 0;
    for (int seed = 1; seed <= pbs::test::cases(60); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
        const auto soft_limits = [&] {
            auto limits = random_limits(random, true);
            for (LimitOptions& limit : limits) limit.soft = true;
            return limits;
        };
        World world;
        world.paste_on_failure();
        Settings& s = world.policy();
        s.preemption = true;
        s.help_starving_jobs = false;
        s.preempt_prio = {};
        s.preempt_prio.add(preempt_normal);
        s.preempt_prio.add(pick(1, 2) == 1 ? preempt_server_softlimits : preempt_queue_softlimits);
        s.preempt_prio.add(preempt_server_softlimits | preempt_queue_softlimits);
        const char* orders[] = {"S", "R", "SR", "D"};
        s.preempt_order.steps = {{100, orders[pick(0, 3)]}};
        world.configuration.scheds["default"] = {.all_time = "p1"};
        for (const char* queue : {"a", "b"}) world.queue({.name = queue, .limits = soft_limits()});
        const auto of_server = soft_limits();
        const auto records = records_of(of_server);
        ServerRecord server;
        server.limits = records;
        world.server(server);
        world.vnodes(1, {.name = "n", .ncpus = 8, .mem = 8 * kGb});
        world.configure();
        Instant now = at(1);
        std::vector<int> jobs;
        for (int step = 0; step < 12; ++step) {
            for (int i = pick(1, 4); i > 0; --i)
                jobs.push_back(world.job({.queue = pick(1, 2) == 1 ? "a" : "b",
                                          .owner = "u" + std::to_string(pick(1, 3)),
                                          .group = "g" + std::to_string(pick(1, 2)),
                                          .project = "p" + std::to_string(pick(1, 2)),
                                          .ncpus = pick(1, 5),
                                          .queued = now},
                                         now));
            for (int rounds = 0;; ++rounds) {
                ASSERT_LT(rounds, 20) << "they preempt each other in turn";
                now += Seconds(1);
                const auto outcome = world.cycle(now);
                preempted += static_cast<int>(outcome.preempted.size());
                if (outcome.started.empty() && outcome.preempted.empty()) break;
            }
            now += Seconds(pick(1, 600));
            const auto which = static_cast<std::size_t>(pick(0, static_cast<int>(jobs.size()) - 1));
            if (world.running(jobs[which])) {
                world.finish(jobs[which], now);
                jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(which));
            }
        }
    }
    EXPECT_GT(preempted, 0) << "else the test would be about nothing";
}

// ---- Random events, after which the test counts the running jobs anew.

struct Counted {
    World& world;
    const std::vector<int>& jobs;
    static std::optional<std::int64_t> asked(const JobOptions& o, std::uint32_t resource) {
        if (resource == UINT32_MAX) return 1;
        const std::int64_t amount = resource == ncpus ? o.ncpus : resource == mem ? o.mem : o.walltime;
        return amount < 0 ? std::nullopt : std::optional(amount);
    }
    static std::string entity_of(const JobOptions& o, EntityKind kind) {
        return kind == user ? o.owner : kind == group ? o.group : kind == project ? o.project : "";
    }
    std::int64_t use(const std::string& queue, EntityKind kind, const std::string& entity,
                     std::uint32_t resource) const {
        std::int64_t sum = 0;
        for (const int job : jobs) {
            if (!world.running(job) || (!queue.empty() && world.queue_of(job) != queue)) continue;
            const JobOptions& o = world.options(job);
            if (entity_of(o, kind) == entity) sum += asked(o, resource).value_or(0);
        }
        return sum;
    }
};

TEST(EntityLimits, NoSequenceOfEventsMakesTheSchedulerGoBeyondOne) {
    int held_back = 0;
    for (int seed = 1; seed <= pbs::test::cases(25); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(static_cast<unsigned>(seed));
        Site site(static_cast<unsigned>(seed), Algorithm::standard);
        Site same(static_cast<unsigned>(seed), Algorithm::standard);
        same.world.scheduler.set_by_events(false);
        std::vector<LimitOptions> of_server;
        std::map<std::string, std::vector<LimitOptions>> of_queues;
        const auto set_limits = [&] {
            of_server = random_limits(random, false);
            for (const std::string& queue : site.submit) of_queues[queue] = random_limits(random, true);
            const auto records = records_of(of_server);
            ServerRecord server;
            server.limits = records;
            for (Site* one : {&site, &same}) {
                one->world.server(server);
                for (const auto& [queue, limits] : of_queues)
                    one->world.queue({.name = queue, .limits = limits});
            }
        };
        set_limits();
        for (Site* one : {&site, &same}) one->world.configure();
        Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}};
        for (int step = 0; step < 100; ++step) {
            SCOPED_TRACE(step);
            if (step % 40 == 39) set_limits();
            const CycleTrigger trigger = events.next(site, same);
            const Outcome outcome = site.world.cycle(events.now, true, "default", trigger);
            const Outcome other = same.world.cycle(events.now, true, "default", trigger);
            expect_same(site, outcome, "by events", other, "over all jobs", part::starts | part::rejections);
            std::erase_if(events.jobs, [&](int job) { return outcome.rejected.contains(job); });
            const Counted counted{site.world, events.jobs};
            for (const int job : outcome.started) {
                const JobOptions& o = site.world.options(job);
                const std::string queue = site.world.queue_of(job);
                const auto check = [&](const std::vector<LimitOptions>& limits, const std::string& in) {
                    for (const LimitOptions& limit : limits) {
                        const std::string entity = Counted::entity_of(o, limit.entity);
                        if (!limit.name.empty() && limit.name != entity) continue;
                        const auto names_it = [&](const LimitOptions& own) {
                            return own.entity == limit.entity && own.resource == limit.resource &&
                                   own.name == entity;
                        };
                        if (limit.entity != all && limit.name.empty() &&
                            std::ranges::any_of(limits, names_it))
                            continue;
                        if (!Counted::asked(o, limit.resource)) continue;
                        EXPECT_LE(counted.use(in, limit.entity, entity, limit.resource), limit.most)
                            << "job " << job << " in " << (in.empty() ? "the server" : in);
                    }
                };
                check(of_server, "");
                check(of_queues[queue], queue);
            }
            for (const auto& [job, comment] : outcome.comment)
                if (comment.find("limit") != std::string::npos) ++held_back;
            if (testing::Test::HasFailure()) return;
            events.pass_time();
        }
    }
    EXPECT_GT(held_back, 100) << "else the test would be about nothing";
}

}  // namespace
}  // namespace pbs::sched::test
