// Tests several schedulers, each with policies and a partition of its own (PP-748, interfaces 1 and 5).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Partitions : testing::Test {
    World world;
    void SetUp() override {
        world.policy("p1").help_starving_jobs = false;
        Settings& big_first = world.policy("p2");
        big_first.help_starving_jobs = false;
        big_first.job_sort_key = {{"ncpus", true}};
        world.configuration.scheds["second"] = {"p2"};
        world.scheduler.sched_changed({"second", true, "two", "/sched_priv_second"});
        world.queue({.name = "work"});
        world.queue({.name = "work2", .partition = "two"});
        world.vnode({.name = "n", .ncpus = 4});
        world.vnode({.name = "m", .ncpus = 4, .partition = "two"});
        world.configure();
    }
};

TEST_F(Partitions, EachSchedulerHasTheQueuesAndVnodesOfItsPartitionAndItsPolicy) {
    const int small = world.job({.queue = "work", .ncpus = 1});
    const int big = world.job({.queue = "work", .ncpus = 2});
    const int small2 = world.job({.queue = "work2", .ncpus = 1});
    const int big2 = world.job({.queue = "work2", .ncpus = 2});
    auto outcome = world.cycle(at(1), true, "second");
    EXPECT_THAT(outcome.started, ElementsAre(big2, small2));
    EXPECT_THAT(outcome.vnodes.at(big2), ElementsAre("m"));
    outcome = world.cycle(at(1), true, "default");
    EXPECT_THAT(outcome.started, ElementsAre(small, big));
    EXPECT_THAT(outcome.vnodes.at(big), ElementsAre("n"));
}

TEST_F(Partitions, ASchedulerWhoseSchedulingIsOffDecidesNothing) {
    world.job({.queue = "work2", .ncpus = 1});
    world.scheduler.sched_changed({"second", false, "two", "/sched_priv_second"});
    EXPECT_THAT(world.cycle(at(1), true, "second").comment, IsEmpty());
    EXPECT_THAT(world.cycle(at(1), true, "default").comment, IsEmpty());
}

TEST_F(Partitions, AJobInAPartitionOfNoSchedulerIsToldSo) {
    world.queue({.name = "work3", .partition = "three"});
    const int job = world.job({.queue = "work3", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1), true, "second").comment, IsEmpty());
    const auto outcome = world.cycle(at(1), true, "default");
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_EQ(outcome.comment.at(job), "No scheduler serves queue work3: none has partition three");
    world.scheduler.sched_changed({"third", true, "three", "/sched_priv_third"});
    world.configuration.scheds["third"] = {"p1"};
    world.vnode({.name = "o", .ncpus = 4, .partition = "three"});
    world.configure();
    EXPECT_THAT(world.cycle(at(2), true, "third").started, ElementsAre(job));
}

TEST_F(Partitions, ASchedulerWithoutPartitionServesNothingUnlessItIsTheDefault) {
    world.scheduler.sched_changed({"second", true, "", "/sched_priv_second"});
    const int job = world.job({.queue = "work", .ncpus = 1});
    const int lost = world.job({.queue = "work2", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1), true, "second").started, IsEmpty());
    const auto outcome = world.cycle(at(1), true, "default");
    EXPECT_THAT(outcome.started, ElementsAre(job));
    EXPECT_EQ(outcome.comment.at(lost), "No scheduler serves queue work2: none has partition two");
}

// OpenPBS does the same, because each of its schedulers knows its own jobs only.
TEST_F(Partitions, ALimitOfTheServerCountsTheJobsOfEachSchedulerAlone) {
    const auto one_job = records_of({{.entity = EntityKind::user, .most = 1}});
    const auto one_cpu = records_of({{.resource = ncpus, .most = 1}});
    std::vector<ServerRecord> records(5);
    records[0].max_running = 1;
    records[1].max_user_run = 1;
    records[2].max_group_run = 1;
    records[3].limits = one_job;
    records[4].limits = one_cpu;
    int minutes = 0;
    for (const ServerRecord& record : records) {
        SCOPED_TRACE(&record - records.data());
        world.server(record);
        std::vector<int> jobs;
        for (const char* queue : {"work", "work", "work2", "work2"})
            jobs.push_back(world.job({.queue = queue, .ncpus = 1, .walltime = 60}));
        EXPECT_THAT(world.cycle(at(1, ++minutes)).started, ElementsAre(jobs[0]));
        EXPECT_THAT(world.cycle(at(1, minutes), true, "second").started, ElementsAre(jobs[2]));
        EXPECT_THAT(world.cycle(at(1, minutes)).started, IsEmpty());
        world.finish(jobs[2], at(1, minutes));
        EXPECT_THAT(world.cycle(at(1, minutes)).started, IsEmpty()) << "it was the other scheduler's job";
        EXPECT_THAT(world.cycle(at(1, minutes), true, "second").started, ElementsAre(jobs[3]));
        world.finish(jobs[0], at(1, minutes));
        EXPECT_THAT(world.cycle(at(1, minutes)).started, ElementsAre(jobs[1]));
        world.finish(jobs[1], at(1, minutes));
        world.finish(jobs[3], at(1, minutes));
    }
}

TEST_F(Partitions, ALimitOfTheServerCountsTheJobsOfAQueueThatHasComeToTheScheduler) {
    ServerRecord record;
    record.max_user_run = 2;
    world.server(record);
    world.queue({.name = "moves", .partition = "two"});
    world.job({.queue = "moves", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1), true, "second").started, testing::SizeIs(1));
    world.queue({.name = "moves"});
    const int job = world.job({.queue = "work", .ncpus = 1});
    const int waits = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(job));
    const int other = world.job({.queue = "work2", .ncpus = 1});
    const int another = world.job({.queue = "work2", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1), true, "second").started, ElementsAre(other, another));
    world.finish(job, at(2));
    EXPECT_THAT(world.cycle(at(2)).started, ElementsAre(waits));
}

// Room under a limit is expected when a job of the same scheduler ends, not when another's does.
TEST_F(Partitions, TheStartOfATopJobFollowsFromTheLimitsOfItsScheduler) {
    ServerRecord record;
    record.max_running = 1;
    world.server(record);
    world.policy("p1").strict_ordering = true;
    world.configure();
    world.scheduler.set_tell_estimates(true);
    world.job({.queue = "work", .ncpus = 1, .walltime = 7200});
    world.job({.queue = "work2", .ncpus = 1, .walltime = 3600});
    world.cycle(at(1));
    world.cycle(at(1), true, "second");
    const int top = world.job({.queue = "work", .ncpus = 1});
    EXPECT_EQ(world.cycle(at(1)).expected.at(top), at(3));
}

TEST_F(Partitions, APolicySwitchWakesItsSchedulerOnly) {
    world.policy("p3");
    world.configuration.scheds["second"] = {"p2", "p3", ""};
    world.prime_time(8, 17);
    world.configure();
    (void)world.scheduler.tick(at(7));
    const auto ticked = world.scheduler.tick(at(8));
    EXPECT_TRUE(ticked.policy_switched);
    for (const DueSched& due : ticked.due) EXPECT_EQ(due.policy_switched, due.name == "second") << due.name;
    EXPECT_THAT(ticked.switched, ElementsAre("sched second: policy p3 is in force after p2"));
}

TEST_F(Partitions, AWindowOfAQueueWakesTheSchedulerOfItsPartitionOnly) {
    world.hours("work2", world.window("FREQ=DAILY", 8, 9));
    world.configure();
    (void)world.scheduler.tick(at(7));
    EXPECT_EQ(world.scheduler.next_deadline(at(7)), at(8));
    const auto ticked = world.scheduler.tick(at(8));
    ASSERT_EQ(ticked.due.size(), 1U);
    EXPECT_EQ(ticked.due[0].name, "second");
    EXPECT_FALSE(ticked.policy_switched);
}

TEST_F(Partitions, EachSchedulerHasAStatusOfItsOwn) {
    world.policy("p3");
    world.configuration.scheds["second"] = {"p2", "p3", ""};
    world.prime_time(8, 17);
    world.configure();
    EXPECT_EQ(world.scheduler.status(at(7), "default").next_policy, "p1");
    EXPECT_EQ(world.scheduler.status(at(7), "second").policy, "p2");
    EXPECT_EQ(world.scheduler.status(at(7), "second").next_policy, "p3");
    EXPECT_EQ(world.scheduler.status(at(7), "second").next_change, at(8));
}

}  // namespace
}  // namespace pbs::sched::test
