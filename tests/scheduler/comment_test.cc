// Tests when a cycle sets a job's comment (origin-overview, "Lazy Commenting"), and the texts of comments.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/state/reason.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::IsEmpty;

struct Comments : testing::Test {
    World world;
    Settings& s = world.origin();
    void SetUp() override {
        world.vnode({.name = "n", .ncpus = 8});
        world.queue({.name = "batch", .nodes = 2});
        const int running = world.job({.nodes = 2, .walltime = 100 * kHour});
        world.run(running, "batch", "n", at(0));
        world.configure();
    }
};

TEST_F(Comments, AJobThatArrivedAfterTheLastCycleGetsOne) {
    world.cycle(at(1));
    // The job has a comment of another writer. The scheduler sets one anyway, as it sees the job for the
    // first time.
    const int job = world.job({.nodes = 1, .has_comment = true, .modified = at(1, 1)});
    EXPECT_TRUE(world.cycle(at(1, 2)).comment.contains(job));
}

TEST_F(Comments, AJobWithoutOneGetsOneInEachCycleUntilItHasIt) {
    const int job = world.job({.nodes = 1});
    EXPECT_TRUE(world.cycle(at(1), false).comment.contains(job));
    EXPECT_TRUE(world.cycle(at(1), false).comment.contains(job)) << "the host didn't set it";
}

TEST_F(Comments, AnotherReasonIsToldOnly300SecondsAfterTheLastModification) {
    const int job = world.job({.nodes = 2});
    world.cycle(at(1));
    world.queue({.name = "batch", .max_running = 1, .nodes = 2});
    EXPECT_THAT(world.cycle(at(1, 4, 59)).comment, IsEmpty());
    EXPECT_EQ(world.cycle(at(1, 5)).comment.at(job), "Not Running: Queue batch job limit has been reached.");
}

TEST_F(Comments, TheSameTextIsNotSetAgain) {
    world.job({.nodes = 1});
    EXPECT_EQ(world.cycle(at(1)).comment.size(), 1U);
    EXPECT_THAT(world.cycle(at(2)).comment, IsEmpty());
}

TEST_F(Comments, AHostThatShowsNoneGetsThemOnceItAsks) {
    world.scheduler.set_comments(false);
    const int job = world.job({.nodes = 1});
    EXPECT_THAT(world.cycle(at(1)).comment, IsEmpty());
    EXPECT_THAT(world.cycle(at(2)).comment, IsEmpty());
    world.scheduler.set_comments(true);
    EXPECT_TRUE(world.cycle(at(3)).comment.contains(job));
}

TEST_F(Comments, ARejectionIsNeverLazy) {
    const int job = world.job({.nodes = 3, .has_comment = true});
    EXPECT_EQ(world.cycle(at(1), false).rejected.count(job), 1U);
    EXPECT_EQ(world.cycle(at(1), false).rejected.count(job), 1U);
}

// Jobs that lack resources: they get the same comments as with OpenPBS.
struct Shortages : testing::Test {
    World world;
    void SetUp() override {
        world.policy().help_starving_jobs = false;
        world.queue({.name = "work"});
        world.vnode({.name = "n1", .ncpus = 4, .mem = 4 * kGb});
        world.vnode({.name = "n2", .ncpus = 4, .mem = 4 * kGb, .arch = "linux"});
    }
    void use(std::string select) {
        const int job = world.job({.queue = "work", .select = std::move(select)});
        world.configure();
        ASSERT_TRUE(world.cycle(at(1)).comment.contains(job));
        ASSERT_TRUE(world.running(job));
    }
    std::string comment(JobOptions options) {
        options.queue = "work";
        const int job = world.job(options);
        world.configure();
        return world.cycle(at(2)).comment.at(job);
    }
};

TEST_F(Shortages, AmountsOfAllVnodesTogetherAreNamed) {
    use("2:ncpus=3");
    EXPECT_EQ(comment({.ncpus = 4}), "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 2 T: 8)");
    EXPECT_EQ(comment({.select = "2:ncpus=2"}),
              "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 2 T: 8)");
}

TEST_F(Shortages, OfTheVnodeWithMostOfIt) {
    use("2:ncpus=2:mem=3gb");
    EXPECT_EQ(comment({.ncpus = 3}), "Not Running: Insufficient amount of resource: ncpus (R: 3 A: 2 T: 4)");
    EXPECT_EQ(comment({.ncpus = 1, .mem = 2 * kGb}),
              "Not Running: Insufficient amount of resource: mem (R: 2gb A: 1gb T: 4gb)");
}

TEST_F(Shortages, WhatCanNeverBeHad) {
    use("2:ncpus=3");
    EXPECT_EQ(comment({.ncpus = 40}),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 40 A: 8 T: 8)");
    EXPECT_EQ(comment({.ncpus = 6}),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 6 A: 4 T: 4)");
    EXPECT_EQ(comment({.select = "1:ncpus=1:mem=9gb"}),
              "Can Never Run: Insufficient amount of resource: mem (R: 9gb A: 8gb T: 8gb)");
    EXPECT_EQ(comment({.select = "1:ncpus=1:arch=abc"}),
              "Can Never Run: Insufficient amount of resource: arch (abc != linux)");
}

TEST_F(Shortages, AnAlteredJobIsToldByItsPresentRequest) {
    use("2:ncpus=3");
    const int job = world.job({.queue = "work", .ncpus = 4});
    EXPECT_EQ(world.cycle(at(2)).comment.at(job),
              "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 2 T: 8)");
    world.alter(job, {.queue = "work", .ncpus = 40}, at(2, 1));
    EXPECT_EQ(world.cycle(at(2, 2)).comment.at(job),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 40 A: 8 T: 8)");
}

// pbs_sched gives this comment even if the vnodes also lack other resources.
TEST_F(Shortages, ChunksThatGoToOneVnodeEachLackVnodes) {
    for (const char* place : {"scatter", "vscatter", "scatter:excl"})
        EXPECT_EQ(comment({.select = "9:ncpus=1", .place = place}),
                  "Can Never Run: Not enough total nodes available")
            << place;
    EXPECT_EQ(comment({.select = "9:ncpus=1"}),
              "Can Never Run: Insufficient amount of resource: ncpus (R: 9 A: 8 T: 8)");
}

TEST_F(Shortages, WhenNoResourceIsShortByItself) {
    use("1:ncpus=1");
    EXPECT_EQ(comment({.select = "2:ncpus=1", .place = "scatter:excl"}),
              "Not Running: No available resources on nodes");
}

// pbs_sched gives these comments with an OpenPBS server that has two vnodes.
TEST_F(Shortages, OfFreeVnodes) {
    use("1:ncpus=4");
    for (const char* place : {"scatter", "vscatter", "scatter:excl"})
        EXPECT_EQ(comment({.select = "2:ncpus=1", .place = place}),
                  "Not Running: Not enough free nodes available")
            << place;
    EXPECT_EQ(comment({.select = "1:ncpus=4:mem=3gb+1:ncpus=1"}),
              "Not Running: Insufficient amount of resource: ncpus (R: 5 A: 4 T: 8)");
}

TEST_F(Shortages, WithoutAFreeCpuFreeVnodesAreLacking) {
    use("2:ncpus=4");
    EXPECT_EQ(comment({.select = "1:ncpus=1"}), "Not Running: Not enough free nodes available");
}

TEST_F(Shortages, OfAHostThatIsBusy) {
    world.vnode({.name = "n2", .ncpus = 4, .mem = 4 * kGb, .free = false});
    EXPECT_EQ(comment({.select = "1:ncpus=1:host=n2"}), "Not Running: Insufficient amount of resource: host");
}

TEST_F(Shortages, AVnodeThatIsDownHasNothingFree) {
    world.vnode({.name = "n2", .ncpus = 4, .mem = 4 * kGb, .free = false});
    EXPECT_EQ(comment({.select = "2:ncpus=3"}),
              "Not Running: Insufficient amount of resource: ncpus (R: 6 A: 4 T: 8)");
}

TEST_F(Shortages, OfAQueueThatNeverHasEnough) {
    world.queue({.name = "work", .available_ncpus = 2});
    EXPECT_EQ(comment({.ncpus = 3}),
              "Can Never Run: Insufficient amount of queue resource: ncpus (R: 3 A: 2 T: 2)");
}

// If the comments of many jobs change only in the amounts that they name, a cycle sets those of at most 500
// jobs. Otherwise each start would change the comments of a long list of jobs.
TEST_F(Shortages, ThatDifferInAmountsAreToldToSomeJobsInACycle) {
    use("1:ncpus=3");
    use("1:ncpus=3");
    constexpr std::size_t kJobs = 1200;
    for (std::size_t i = 0; i < kJobs; ++i) world.job({.queue = "work", .ncpus = 4});
    EXPECT_EQ(world.cycle(at(2)).comment.size(), kJobs);
    use("1:ncpus=1");
    std::size_t told = 0;
    for (int i = 1; i < 4; ++i) {
        const auto outcome = world.cycle(at(3, i));
        EXPECT_LE(outcome.comment.size(), 500U);
        told += outcome.comment.size();
    }
    EXPECT_EQ(told, kJobs) << "in a few cycles all of them";
}

TEST(CommentText, InstantsThatFollowEachOtherAreWrittenAsAloneOnes) {
    for (const char* name : {"America/Los_Angeles", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"}) {
        const rrule::Zone zone = rrule::Zone::find(name).value();
        LastCtime last;
        Instant t{std::chrono::sys_days{std::chrono::year{2026} / 10 /
                                        1}};  // clocks change in October and November
        const Instant end = t + std::chrono::days(45);
        for (int step = 1; t < end; step = (step * 7) % 1009) {
            ASSERT_EQ(ctime_text(t, zone, last), ctime_text(t, zone)) << name;
            t += Seconds(step % 61);
        }
        t -= Seconds(1);
        EXPECT_EQ(ctime_text(t, zone, last), ctime_text(t, zone)) << "back in time";
    }
}

TEST(CommentText, TimesAreThoseOfTheServersZone) {
    World world(rrule::Zone::find("America/Los_Angeles").value());
    world.origin();
    world.vnode({.name = "n", .ncpus = 8});
    world.configure();
    const int job = world.job({.nodes = 1});
    EXPECT_EQ(world.cycle(at(1)).comment.at(job), "Started on Sun Nov 22 17:00:00 2026");
}

}  // namespace
}  // namespace pbs::sched::test
