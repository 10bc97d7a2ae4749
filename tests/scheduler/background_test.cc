// Tests that a cycle in a thread decides as if the events that come while it runs came after it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>

#include "objects/snapshot.h"
#include "server_plugin/scheduler/record.h"
#include "tests/cases.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct BackgroundCycle : testing::Test {
    World world;
    Instant now = at(9);
    Decisions decided;
    int finished = 0;

    void SetUp() override {
        world.queue({.name = "batch"});
        world.origin({"batch"}).sort_by_past_usage = {true};
        world.vnode({.name = "n1", .ncpus = 4});
        world.configure();
        world.scheduler.set_long_cycle(0);
    }
    bool start(CycleTrigger trigger = CycleTrigger::timer) {
        return world.scheduler.start_cycle(
            now, "default", trigger, [this](Decisions d) { decided = std::move(d); }, [this] { ++finished; });
    }
    Outcome finish() {
        EXPECT_THAT(world.scheduler.finish_work(), IsEmpty());
        return world.take(decided, now, true);
    }
    int job(int ncpus) {
        return world.job({.queue = "submit", .ncpus = ncpus, .walltime = kHour, .queued = now}, now);
    }
};

TEST_F(BackgroundCycle, SeesNothingOfWhatComesWhileItRuns) {
    const int first = job(2);
    ASSERT_TRUE(start());
    const int second = job(2);
    world.vnode({.name = "n2", .ncpus = 4});
    EXPECT_TRUE(world.scheduler.at_work());
    EXPECT_THAT(finish().started, ElementsAre(first));
    EXPECT_FALSE(world.scheduler.at_work());
    EXPECT_EQ(finished, 1);
    EXPECT_THAT(world.cycle(now).started, ElementsAre(second)) << "kept, and delivered in the end";
}

// Jobs that all arrive before the first cycle are sorted into the lists of pending jobs by several threads.
// They start in the same order as jobs that arrive in small batches.
TEST(ThreadsOfACycle, ManyJobsAreInTheOrderOfThoseThatArriveOneByOne) {
    constexpr int kBatch = 400;
    constexpr int kBatches = 110;
    std::vector<int> started[2];
    for (const bool at_once : {true, false}) {
        World world;
        world.queue({.name = "batch"});
        world.origin({"batch"}).sort_by_past_usage = {true};
        world.configure();
        const Instant now = at(9);
        std::mt19937 random(5);
        for (int i = 0; i < kBatch * kBatches; ++i) {
            const auto pick = [&](int most) {
                return static_cast<int>(random() % static_cast<unsigned>(most));
            };
            world.job({.queue = "submit",
                       .owner = "user" + std::to_string(pick(30)),
                       .ncpus = 1 + pick(4),
                       .walltime = kHour * (1 + pick(9)),
                       .queued = now - Seconds(pick(7200))},
                      now);
            if (!at_once && i % kBatch == kBatch - 1) world.cycle(now);
        }
        world.vnode({.name = "n1", .ncpus = 300});
        started[at_once ? 0 : 1] = world.cycle(now).started;
    }
    EXPECT_GT(started[0].size(), 50U);
    EXPECT_EQ(started[0], started[1]);
}

TEST_F(BackgroundCycle, AShortOneIsOverAtOnce) {
    world.scheduler.set_long_cycle(2);
    const int first = job(2);
    EXPECT_FALSE(start());
    EXPECT_EQ(finished, 0);
    EXPECT_FALSE(world.scheduler.at_work());
    EXPECT_THAT(finish().started, ElementsAre(first));
    job(4);
    job(4);
    EXPECT_TRUE(start());
    EXPECT_THAT(finish().started, IsEmpty());
}

TEST(ThreadsOfACycle, ManyRunningJobsAreWeighedInAThread) {
    World world;
    Settings& s = world.policy();
    s.algorithm = Algorithm::standard;
    world.queue({.name = "batch"});
    world.vnode({.name = "n1", .ncpus = 4});
    world.configure();
    world.scheduler.set_weigh(true);
    world.scheduler.set_long_cycle(2);
    for (int i = 0; i < 2; ++i) world.run(world.job({.queue = "batch", .ncpus = 1}), "batch", "n1", at(9));
    const auto start = [&] {
        const bool in_thread = world.scheduler.start_cycle(
            at(10), "default", CycleTrigger::timer, [](const Decisions&) {}, [] {});
        world.scheduler.finish_work();
        return in_thread;
    };
    EXPECT_FALSE(start());
    s.reprioritize = true;
    world.configure();
    EXPECT_TRUE(start());
}

// A user may submit few jobs that take long: each top job's start is searched over all vnodes.
TEST(ThreadsOfACycle, TopJobsOnManyVnodesAreForeseenInAThread) {
    World world;
    Settings& s = world.policy();
    s.algorithm = Algorithm::standard;
    s.strict_ordering = {true};
    s.backfill_depth = 30;
    world.queue({.name = "batch"});
    for (int i = 0; i < 200; ++i) world.vnode({.name = "n" + std::to_string(i), .ncpus = 4});
    world.configure();
    const auto start = [&](int more_jobs) {
        for (int i = 0; i < more_jobs; ++i) world.job({.queue = "batch", .ncpus = 8});
        const bool in_thread = world.scheduler.start_cycle(
            at(10), "default", CycleTrigger::timer, [](const Decisions&) {}, [] {});
        world.scheduler.finish_work();
        return in_thread;
    };
    EXPECT_FALSE(start(20));
    EXPECT_TRUE(start(10));
}

// One array may take as long as many jobs.
TEST(ThreadsOfACycle, SubjobsThatStartTogetherArePlacedInAThread) {
    World world;
    world.policy().algorithm = Algorithm::standard;
    world.queue({.name = "batch"});
    world.vnode({.name = "n1", .ncpus = 4});
    world.configure();
    const auto start = [&](int subjobs) {
        const JobOptions array{.queue = "batch",
                               .ncpus = 1,
                               .subjob = 1,
                               .queued = at(10),
                               .start_within = kHour,
                               .together = subjobs};
        (void)world.job(array, at(10));
        const bool in_thread = world.scheduler.start_cycle(
            at(10), "default", CycleTrigger::timer, [](const Decisions&) {}, [] {});
        world.scheduler.finish_work();
        return in_thread;
    };
    EXPECT_FALSE(start(100));
    EXPECT_TRUE(start(100));
}

TEST_F(BackgroundCycle, StatusIsThatOfItsBegin) {
    job(2);
    ASSERT_TRUE(start());
    world.configuration.policies["p2"] = world.policy();
    world.configuration.policies["p2"].name = "p2";
    world.configuration.scheds["default"].all_time = "p2";
    world.configure();
    EXPECT_EQ(world.scheduler.status(now, "default").policy, "p1");
    EXPECT_EQ(world.scheduler.status(now, "other").policy, "");
    finish();
    EXPECT_EQ(world.scheduler.status(now, "default").policy, "p2");
}

TEST_F(BackgroundCycle, OtherQuestionsWaitForACycleInTheBackground) {
    const int first = job(2);
    ASSERT_TRUE(start());
    const int second = job(2);
    const auto explained = world.scheduler.explain(now, std::to_string(second) + ".server");
    ASSERT_TRUE(explained) << "what was kept has been delivered";
    EXPECT_FALSE(world.scheduler.at_work());
    EXPECT_EQ(finished, 1);
    EXPECT_THAT(finish().started, ElementsAre(first));
}

TEST_F(BackgroundCycle, AFaultyConfigurationIsRefusedAtOnce) {
    job(2);
    ASSERT_TRUE(start());
    Configuration faulty = world.configuration;
    faulty.policies["p1"].job_sort_formula = "ncpus*";
    EXPECT_FALSE(world.scheduler.set_configuration(faulty));
    finish();
    EXPECT_EQ(world.scheduler.status(now, "default").policy, "p1");
}

TEST_F(BackgroundCycle, WhatIsRefusedOfWhatWasKeptIsToldAtItsEnd) {
    world.configuration.scheds.erase("default");
    world.configure();
    objects::Object file(objects::ObjectType::policy, "sched_config");
    ASSERT_TRUE(world.scheduler.set_sched_config("default", std::make_shared<objects::Object>(file)));
    ASSERT_TRUE(start());
    ServerRecord server;
    server.job_sort_formula = "ncpus*";
    EXPECT_TRUE(world.scheduler.server_changed(server));
    const auto refused = world.scheduler.finish_work();
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_THAT(refused[0], testing::StartsWith("job_sort_formula of the server is not used: "));
}

TEST_F(BackgroundCycle, WhatItThrowsIsThrownAtItsEnd) {
    job(2);
    ASSERT_TRUE(world.scheduler.start_cycle(
        now, "default", CycleTrigger::timer, [](Decisions) { throw std::runtime_error("no room"); },
        [this] { ++finished; }));
    EXPECT_THROW((void)world.scheduler.finish_work(), std::runtime_error);
    EXPECT_EQ(finished, 1) << "or its server would wait for ever";
    EXPECT_THAT(world.scheduler.finish_work(), IsEmpty()) << "once";
    ASSERT_TRUE(start());
    EXPECT_EQ(finish().started.size(), 1u);
}

TEST_F(BackgroundCycle, IsWaitedForByTheSchedulersEnd) {
    bool ended = false;
    {
        World gone;
        gone.origin({});
        gone.configure();
        gone.scheduler.set_long_cycle(0);
        gone.scheduler.start_cycle(
            now, "default", CycleTrigger::timer, [](Decisions) {},
            [&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                ended = true;
            });
    }
    EXPECT_TRUE(ended);
}

struct BackgroundLook : BackgroundCycle {
    std::optional<Explanation> found;

    bool look(int job) {
        return world.scheduler.start_look(
            now,
            [this, job](Inspector& scheduler) {
                found = scheduler.explain(now, std::to_string(job) + ".server");
            },
            [this] { ++finished; });
    }
};

TEST_F(BackgroundLook, SeesNothingOfWhatComesWhileItGoesOn) {
    const int first = job(2);
    ASSERT_TRUE(look(first));
    const int second = job(4);
    EXPECT_TRUE(world.scheduler.at_work());
    while (!world.scheduler.work_is_over()) std::this_thread::yield();
    EXPECT_TRUE(world.scheduler.at_work()) << "until it is waited for";
    EXPECT_THAT(world.scheduler.finish_work(), IsEmpty());
    EXPECT_FALSE(world.scheduler.at_work());
    EXPECT_FALSE(world.scheduler.work_is_over());
    EXPECT_EQ(finished, 1);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->outcome, JobOutcome::starts);
    EXPECT_EQ(found->jobs, 1u);
    EXPECT_EQ(world.scheduler.explain(now, std::to_string(second) + ".server")->jobs, 2u);
}

double processor_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// The server waits for finish_work(). So the thread itself must take in the jobs that came while it ran.
TEST_F(BackgroundLook, TakesInWhatCameMeanwhileInItsThread) {
    std::promise<void> end;
    std::promise<void> over;
    const auto wait = [end = end.get_future().share()](Inspector&) { end.wait(); };
    ASSERT_TRUE(world.scheduler.start_look(now, wait, [&over] { over.set_value(); }));
    constexpr int kJobs = 5000;
    for (int i = 0; i < kJobs; ++i) job(2);
    end.set_value();
    over.get_future().wait();
    const double begin = processor_time();
    EXPECT_THAT(world.scheduler.finish_work(), IsEmpty());
    const double finishing = processor_time() - begin;
    for (int i = 0; i < kJobs; ++i) job(2);
    const double telling = processor_time() - begin - finishing;
    EXPECT_LT(finishing, telling / 20);
    EXPECT_EQ(world.scheduler.rehearse(now, "default", CycleTrigger::timer).jobs_considered, 2u * kJobs);
}

TEST_F(BackgroundLook, AShortOneIsOverAtOnce) {
    world.scheduler.set_long_cycle(30);
    const int first = job(2);  // the scheduler then has two objects: a job and a vnode
    EXPECT_FALSE(look(first));
    EXPECT_EQ(finished, 0);
    EXPECT_TRUE(found);
    EXPECT_THAT(world.scheduler.finish_work(), IsEmpty());
    job(2);
    EXPECT_TRUE(look(first)) << "a tenth of what makes a cycle long";
    EXPECT_FALSE(start()) << "which waits for it";
    EXPECT_EQ(finished, 1);
}

TEST_F(BackgroundLook, BeforeACycleSeesWhatThatDecidesBy) {
    const int first = job(2);
    const auto before = [&](Inspector& scheduler) {
        found = scheduler.explain(now, std::to_string(first) + ".server");
        EXPECT_EQ(scheduler.rehearse(now, "default", CycleTrigger::timer).list.size(), 1u);
    };
    world.scheduler.set_long_cycle(20);
    ASSERT_TRUE(world.scheduler.start_cycle(
        now, "default", CycleTrigger::timer, [this](Decisions d) { decided = std::move(d); },
        [this] { ++finished; }, before))
        << "the look is a long one";
    EXPECT_THAT(finish().started, ElementsAre(first));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->outcome, JobOutcome::starts);
}

TEST_F(BackgroundLook, DescribesUntilItIsGivenUp) {
    job(2);
    job(2);
    std::atomic<bool> give_up = false;
    int records = 0;
    ASSERT_TRUE(world.scheduler.start_look(
        now,
        [&](Inspector& scheduler) {
            scheduler.describe(
                [&](const StateRecord& record) {
                    if (std::holds_alternative<JobState>(record)) give_up = true;
                    records += give_up ? 1 : 0;
                },
                &give_up);
        },
        [] {}));
    EXPECT_THAT(world.scheduler.finish_work(), IsEmpty());
    EXPECT_EQ(records, 1) << "the first job is the last record";
}

TEST(BackgroundCycles, DecideWhatOthersDoBeforeTheEventsThatCameMeanwhile) {
    std::size_t started = 0;
    std::size_t skipped = 0;
    for (int seed = 1; seed <= pbs::test::cases(60); ++seed) {
        SCOPED_TRACE(seed);
        Site in_thread(static_cast<unsigned>(seed));
        Site at_once(static_cast<unsigned>(seed));
        in_thread.world.scheduler.set_long_cycle(0);
        Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}};
        for (int step = 0; step < 80; ++step) {
            SCOPED_TRACE(step);
            const CycleTrigger trigger = events.next(in_thread, at_once);
            Decisions a;
            ASSERT_TRUE(in_thread.world.scheduler.start_cycle(
                events.now, "default", trigger, [&a](Decisions d) { a = std::move(d); }, [] {}));
            const Decisions b = at_once.world.scheduler.cycle(events.now, "default", trigger);
            events.touched.clear();
            if (events.chance(70)) (void)events.next(in_thread, at_once);
            if (events.chance(10)) {
                const bool enforced = events.chance(50);
                for (Site* site : {&in_thread, &at_once}) {
                    site->world.policy().enforce_prime_time = {enforced};
                    site->world.configure();
                }
            }
            ASSERT_THAT(in_thread.world.scheduler.finish_work(), IsEmpty());
            ASSERT_EQ(a.jobs_considered, b.jobs_considered);
            ASSERT_EQ(a.list.size(), b.list.size());
            const auto x = in_thread.world.take(a, events.now, true, events.touched);
            const auto y = at_once.world.take(b, events.now, true, events.touched);
            expect_same(in_thread, x, "in a thread", y, "at once",
                        part::starts | part::queues | part::vnodes | part::rejections);
            ASSERT_EQ(x.comment, y.comment);
            if (testing::Test::HasFailure()) return;
            std::erase_if(events.jobs, [&](int job) { return x.rejected.contains(job); });
            started += x.started.size();
            skipped += a.list.size() - x.comment.size() - x.rejected.size() - x.moved.size();
            events.pass_time();
        }
    }
    // With few jobs started or skipped, the test would have shown nothing.
    EXPECT_GT(started, 5U * pbs::test::cases(60));
    EXPECT_GT(skipped, 2U * pbs::test::cases(60));
}

TEST(ThreadsOfACycle, ALongFormulaIsComputedInAThread) {
    World world;
    Settings& s = world.policy();
    world.queue({.name = "batch"});
    world.vnode({.name = "n1", .ncpus = 4});
    world.scheduler.set_long_cycle(10);
    for (int i = 0; i < 8; ++i) world.job({.queue = "batch", .ncpus = 1});
    const auto start = [&](int terms) {
        s.job_sort_formula = "ncpus";
        for (int i = 1; i < terms; ++i) s.job_sort_formula += "+ncpus";
        world.configure();
        const bool in_thread = world.scheduler.start_cycle(
            at(10), "default", CycleTrigger::timer, [](const Decisions&) {}, [] {});
        world.scheduler.finish_work();
        return in_thread;
    };
    EXPECT_FALSE(start(10)) << "19 operations for each of 8 jobs";
    EXPECT_TRUE(start(100));
}

}  // namespace
}  // namespace pbs::sched::test
