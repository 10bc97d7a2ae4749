// Tests that cycles observe the dedicated times that DEDICATED_TIME_COMMAND prints.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/model/outages.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kSchedule = "/usr/local/bin/schedule";

struct DedicatedTimeCommand : testing::Test {
    World world;
    Settings& s = world.origin({"batch@n", "other@m"});
    void SetUp() override {
        world.vnode({.name = "n", .ncpus = 64});
        world.vnode({.name = "m", .ncpus = 64});
        world.queue({.name = "n_ded"});
        world.queue({.name = "m_ded"});
        s.dedicated_queues = {{"n_ded", "n"}, {"m_ded", "m"}};
        s.enforce_dedicated_time = {true};
        s.dedicated_time_command = kSchedule;
        s.system_name = "cluster";
        ServerRecord server;
        server.host_name = "front.bar.com";
        world.server(server);
    }
    void tell(const std::string& name, std::vector<Outage> outages) {
        world.scheduler.set_outages(kSchedule, name, std::move(outages));
    }
    Outcome cycle(Instant now) {
        world.configure();
        return world.cycle(now);
    }
    std::vector<std::string> names(Instant now = at(1)) {
        world.configure();
        std::vector<std::string> list;
        for (const auto& question : world.scheduler.questions(now, "default", "dedicated_time"))
            list.push_back(question.argument);
        return list;
    }
};

TEST_F(DedicatedTimeCommand, DEDICATED_TIME_COMMAND_IsAskedForEachHostOfTheQueuesAndForTheSystem) {
    world.queue({.name = "compile"});
    s.external_queues = {{"compile"}};
    EXPECT_THAT(names(), UnorderedElementsAre("n", "m", "front.bar.com", "cluster"));
    s.system_name.clear();
    s.external_queues.clear();
    EXPECT_THAT(names(), UnorderedElementsAre("n", "m"));
}

TEST_F(DedicatedTimeCommand, DEDICATED_TIME_COMMAND_IsNotAskedWhileDedicatedTimeIsNotEnforced) {
    s.enforce_dedicated_time = {false, at(5)};
    EXPECT_THAT(names(at(4)), IsEmpty());
    EXPECT_EQ(names(at(5)).size(), 3U);
}

TEST_F(DedicatedTimeCommand, DEDICATED_TIME_CACHE_SECS_IsHowLongAnAnswerHolds) {
    s.dedicated_time_cache_secs = 300;
    world.configure();
    EXPECT_EQ(world.scheduler.questions(at(1), "default", "dedicated_time").at(0).holds_for, Seconds(300));
}

TEST_F(DedicatedTimeCommand, DEDICATED_TIME_COMMAND_NoJobIsStartedIntoTheDedicatedTimeOfItsHost) {
    tell("n", {{at(4), at(6)}});
    const int crosses = world.job({.nodes = 1, .walltime = 3 * kHour + 1});
    const int fits = world.job({.nodes = 1, .walltime = 3 * kHour});
    const auto outcome = cycle(at(1));
    EXPECT_EQ(outcome.queue.at(fits), "batch");
    EXPECT_EQ(outcome.queue.at(crosses), "other") << "the other host has none";
}

TEST_F(DedicatedTimeCommand, SYSTEM_NAME_ItsDedicatedTimesAreThoseOfEachHost) {
    tell("cluster", {{at(4), at(6)}});
    const int crosses = world.job({.nodes = 1, .walltime = 3 * kHour + 1});
    EXPECT_EQ(cycle(at(1)).comment.at(crosses), "Would run into dedicated time at Mon Nov 23 04:00:00 2026");
    const int late = world.job({.nodes = 1, .walltime = 60});
    EXPECT_EQ(cycle(at(5)).comment.at(late), "Dedicated time until Mon Nov 23 06:00:00 2026");
}

TEST_F(DedicatedTimeCommand, DEDICATED_QUEUES_RunInOrderInTheDedicatedTimeOfTheirHostOnly) {
    tell("n", {{at(4), at(6)}});
    const int second = world.job({.queue = "n_ded", .nodes = 8, .walltime = 60, .queued = at(0, 2)});
    const int first = world.job({.queue = "n_ded", .nodes = 1, .walltime = 600, .queued = at(0, 1)});
    const int other = world.job({.queue = "m_ded", .nodes = 1, .walltime = 600});
    EXPECT_EQ(cycle(at(3)).comment.at(first), "Waiting for dedicated time at Mon Nov 23 04:00:00 2026");
    const auto outcome = cycle(at(4));
    EXPECT_THAT(outcome.started, ElementsAre(first, second));
    EXPECT_EQ(outcome.queue.at(first), "n_ded");
    EXPECT_FALSE(world.running(other));
}

TEST_F(DedicatedTimeCommand, DEDICATED_QUEUES_EachHostIdlesWhereItsQueueIsEmpty) {
    tell("n", {{at(4), at(6)}});
    const int job = world.job({.nodes = 1, .walltime = 60});
    EXPECT_EQ(cycle(at(4)).queue.at(job), "other");
}

TEST_F(DedicatedTimeCommand, ENFORCE_DEDICATED_TIME_SwitchedOffUntilADateEndsItEarly) {
    tell("cluster", {{at(4), at(6)}});
    s.enforce_dedicated_time = {false, at(6, 0, 1)};
    const int job = world.job({.nodes = 1, .walltime = 60});
    EXPECT_THAT(cycle(at(5)).started, ElementsAre(job));
}

TEST_F(DedicatedTimeCommand, DEDICATED_TIME_COMMAND_NothingStartsBeforeItsFirstAnswer) {
    world.configure();
    world.scheduler.await_outages(kSchedule, "n");
    world.scheduler.await_outages(kSchedule, "cluster");
    const int job = world.job({.nodes = 1, .walltime = 60});
    EXPECT_EQ(cycle(at(1)).comment.at(job), "Waiting for the first answer of dedicated_time_command");
    EXPECT_TRUE(world.scheduler.set_outages(kSchedule, "n", {}));
    EXPECT_THAT(cycle(at(1)).started, IsEmpty()) << "the system's isn't there yet";
    EXPECT_TRUE(world.scheduler.settle_outages(kSchedule, "cluster")) << "the command failed";
    EXPECT_THAT(cycle(at(1)).started, ElementsAre(job));
}

TEST_F(DedicatedTimeCommand, DEDICATED_TIME_CACHE_SECS_WhatWasKnownHoldsWhileItIsAskedAgain) {
    tell("cluster", {{at(4), at(6)}});
    world.scheduler.await_outages(kSchedule, "cluster");
    const int job = world.job({.nodes = 1, .walltime = 60});
    EXPECT_THAT(cycle(at(1)).started, ElementsAre(job));
    EXPECT_FALSE(world.scheduler.settle_outages(kSchedule, "cluster"));
    const int late = world.job({.nodes = 1, .walltime = 60});
    EXPECT_EQ(cycle(at(5)).comment.at(late), "Dedicated time until Mon Nov 23 06:00:00 2026");
}

TEST_F(DedicatedTimeCommand, WindowsOfTypeDedicatedCountToo) {
    world.configuration.dedicated = world.window("FREQ=DAILY", 6, 8);
    tell("cluster", {{at(4), at(6)}});
    const int job = world.job({.nodes = 1, .walltime = 60});
    EXPECT_EQ(cycle(at(5)).comment.at(job), "Dedicated time until Mon Nov 23 08:00:00 2026")
        << "one after the other";
    EXPECT_EQ(cycle(at(7)).started.size(), 0U);
    EXPECT_THAT(cycle(at(8)).started, ElementsAre(job));
}

TEST_F(DedicatedTimeCommand, ACycleIsWantedWhenADedicatedTimeBeginsAndEnds) {
    tell("n", {{at(4), at(6)}});
    world.configure();
    EXPECT_FALSE(world.scheduler.tick(at(1)).cycle_wanted);
    EXPECT_EQ(world.scheduler.next_deadline(at(1)), at(4));
    EXPECT_TRUE(world.scheduler.tick(at(4)).cycle_wanted);
    EXPECT_TRUE(world.scheduler.status(at(4), "default").dedicated_time);
    EXPECT_EQ(world.scheduler.status(at(4), "default").next_change, at(6));
    EXPECT_EQ(world.scheduler.next_deadline(at(4)), at(6));
    EXPECT_TRUE(world.scheduler.tick(at(6)).cycle_wanted);
    EXPECT_FALSE(world.scheduler.status(at(6), "default").dedicated_time);
}

TEST_F(DedicatedTimeCommand, AnAnswerThatIsTheSameIsNoNews) {
    EXPECT_TRUE(world.scheduler.set_outages(kSchedule, "n", {{at(4), at(6)}}));
    EXPECT_FALSE(world.scheduler.set_outages(kSchedule, "n", {{at(4), at(6)}}));
    EXPECT_TRUE(world.scheduler.set_outages(kSchedule, "n", {}));
}

// Where a dedicated time of the host and one of the system overlap, the system's is in force.
TEST(Outages, SYSTEM_NAME_IsFavouredWhereBothHaveATime) {
    const std::vector<Outage> host = {{at(1), at(3), "a"}, {at(5), at(12), "b"}, {at(20), at(21), "c"}};
    const std::vector<Outage> system = {{at(2), at(4)}, {at(6), at(7)}, {at(8), at(9)}, {at(19), at(22)}};
    EXPECT_THAT(
        merge_outages(host, system),
        ElementsAre(Outage{at(1), at(2), "a"}, Outage{at(2), at(4), "", true}, Outage{at(5), at(6), "b"},
                    Outage{at(6), at(7), "", true}, Outage{at(7), at(8), "b"}, Outage{at(8), at(9), "", true},
                    Outage{at(9), at(12), "b"}, Outage{at(19), at(22), "", true}));
}

TEST(Outages, WhatTouchesOrOverlapsIsOneTime) {
    const std::vector<Outage> list = {{at(1), at(3)}, {at(2), at(5)}, {at(5), at(6)}, {at(8), at(9)}};
    const auto ask = [&](Instant t) {
        const auto found = outage_at_or_after(list, t);
        return found ? std::pair(found->start, found->end) : std::pair(Instant{}, Instant{});
    };
    EXPECT_EQ(ask(at(0)), std::pair(at(1), at(6)));
    EXPECT_EQ(ask(at(4)), std::pair(at(1), at(6)));
    EXPECT_EQ(ask(at(6)), std::pair(at(8), at(9)));
    EXPECT_EQ(ask(at(9)), std::pair(Instant{}, Instant{}));
}

}  // namespace
}  // namespace pbs::sched::test
