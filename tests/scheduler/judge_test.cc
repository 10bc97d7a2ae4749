// Tests the refusals that queues gave jobs and that the scheduler keeps: each must equal the refusal that the
// queue would give again.

#include "server_plugin/scheduler/framework/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A site with two queues, of which the first takes only small jobs, and with a vnode that is full.
struct Judge : testing::Test {
    World world;
    Settings& s = world.origin({"small", "large"});
    void SetUp() override {
        world.queue({.name = "small", .max_ncpus = 2});
        world.queue({.name = "large", .max_ncpus = 8});
        world.vnode({.name = "n", .ncpus = 8, .mem = 64 * kGb});
        world.configure();
        world.run(world.job({.ncpus = 8}), "large", "n", at(0));
    }
};

TEST_F(Judge, AQueueThatRefusedAJobForGoodIsAskedOnceItsLimitIsAnother) {
    const int job = world.job({.ncpus = 4});
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    EXPECT_THAT(world.cycle(at(2)).started, IsEmpty());
    world.queue({.name = "small", .max_ncpus = 4});
    world.finish(1, at(3));
    const auto outcome = world.cycle(at(3));
    EXPECT_THAT(outcome.started, ElementsAre(job));
    EXPECT_EQ(outcome.queue.at(job), "small");
}

TEST_F(Judge, ASmallerJobIsAskedAboutThoughItHasTheNumberOfALargerOnesSignature) {
    const int large = world.job({.ncpus = 4});
    EXPECT_THAT(world.cycle(at(1)).started, IsEmpty());
    world.finish(large, at(2));
    const int small = world.job({.ncpus = 2});
    world.finish(1, at(2));
    const auto outcome = world.cycle(at(3));
    EXPECT_THAT(outcome.started, ElementsAre(small));
    EXPECT_EQ(outcome.queue.at(small), "small");
}

// A job that fits in no queue gets the comment of the first queue, and keeps it.
TEST_F(Judge, AJobThatNoQueueTakesIsTold) {
    s.batch_queues = {{"small"}, {"large"}, {"missing"}};
    world.configure();
    const int job = world.job({.ncpus = 9});
    const auto first = world.cycle(at(1)).comment.at(job);
    world.change(job, {.ncpus = 9, .modified = at(1)}, at(1));
    EXPECT_EQ(world.cycle(at(2)).comment.at(job), first);
}

// Both queues refuse the job in prime time. The first one already refuses it for its size, so the comment
// names the second.
TEST_F(Judge, WhatIsRefusedForPrimeTimeInOneQueueIsToldOfTheFirstThatItFits) {
    world.prime_time(8, 17);
    s.enforce_prime_time = {true};
    s.prime_time_wallt_limit = Seconds(kHour);
    world.configure();
    const int job = world.job({.ncpus = 4, .walltime = 2 * kHour});
    EXPECT_EQ(world.cycle(at(9)).comment.at(job), "Exceeds primetime walltime limit (01:00:00)");
    world.finish(1, at(17));
    const auto outcome = world.cycle(at(17));
    EXPECT_THAT(outcome.started, ElementsAre(job));
    EXPECT_EQ(outcome.queue.at(job), "large");
}

}  // namespace
}  // namespace pbs::sched::test
