// Tests load_thresholds and job_load_adjustments: a vnode takes no jobs while its load reaches a threshold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/scheduler/placement/host_loads.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using values::Comparison;

TEST(LoadCorrection, IsThatOfGridEngine) {
    EXPECT_EQ(load_correction(4, Seconds(150), Seconds(450)), 266) << "whole hundredths, rounded down";
    EXPECT_EQ(load_correction(1, Seconds(150), Seconds(450)), 66);
    EXPECT_EQ(load_correction(4, Seconds(0), Seconds(450)), 400);
    EXPECT_EQ(load_correction(4, Seconds(449), Seconds(450)), 0);
    EXPECT_EQ(load_correction(4, Seconds(450), Seconds(450)), 0);
    EXPECT_EQ(load_correction(4, Seconds(-5), Seconds(450)), 400) << "the clock was set back";
    EXPECT_EQ(load_correction(4, Seconds(0), Seconds(0)), 0);
    EXPECT_EQ(load_correction(INT64_MAX, Seconds(0), Seconds(9'999'999'999)), 100'000'000);
}

struct LoadThresholds : testing::Test {
    World world;
    VnodeOptions n{.name = "n", .ncpus = 16, .load = 9600, .load_at = at(1)};
    void SetUp() override {
        world.policy().help_starving_jobs = false;
        world.policy().job_load_adjustments = {{"np_load_avg", 0.5}};
        world.queue({.name = "work"});
        world.queue({.name = "long"});
        world.vnode(n);
    }
    void close_at(double number, Comparison how = Comparison::at_least, const std::string& queue = {},
                  const std::string& name = "np_load_avg") {
        world.policy().load_thresholds = {{queue, name, how, number}};
        world.configure();
    }
    int job(std::int64_t ncpus = 1, const std::string& queue = "work") {
        return world.job({.queue = queue, .ncpus = ncpus, .walltime = 10 * kHour});
    }
    int chunks(int count, const std::string& of = "ncpus=1", const std::string& place = {}) {
        return world.job({.queue = "work", .select = std::to_string(count) + ":" + of, .place = place});
    }
};

// The correction that a started job adds to the load decays within 450 s. For a job with 4 of 16 CPUs the
// correction is 2.66 * 0.5 / 16 after 150 s, which makes the load 0.60 + 0.083125 = 0.683125.
TEST_F(LoadThresholds, JobsThatHaveStartedCountLessAndLess) {
    close_at(0.6832);
    const int first = job(4);
    world.run(first, "work", "n", at(9));
    const int second = job();
    close_at(0.6831);
    auto outcome = world.cycle(at(9, 2, 30));
    EXPECT_EQ(outcome.comment.at(second), "Not Running: Load of n: np_load_avg 0.68 >= 0.6831");
    close_at(0.6832);
    EXPECT_THAT(world.cycle(at(9, 2, 30)).started, ElementsAre(second));
}

TEST_F(LoadThresholds, TheSchedulerIsWokenWhenACorrectionHasDecayed) {
    close_at(0.65);
    const int first = job(4);
    world.run(first, "work", "n", at(9));
    const int second = job();
    world.scheduler.tick(at(9, 0, 1));
    EXPECT_THAT(world.cycle(at(9, 0, 1)).started, IsEmpty());
    // The correction for the started job is 400 hundredths, and decays within 450 s. It has to decay to 159,
    // which takes 450 - 159 * 450 / 400 = 271.1 s.
    const Instant due = world.scheduler.next_deadline(at(9, 0, 1));
    EXPECT_EQ(due, at(9, 4, 31));
    world.scheduler.tick(due);
    EXPECT_THAT(world.cycle(due).started, ElementsAre(second));
}

TEST_F(LoadThresholds, AJobThatEndsCountsNoMore) {
    close_at(0.65);
    const int first = job(4);
    world.run(first, "work", "n", at(9));
    const int second = job();
    EXPECT_THAT(world.cycle(at(9, 0, 1)).started, IsEmpty());
    world.finish(first, at(9, 0, 2));
    EXPECT_THAT(world.cycle(at(9, 0, 2)).started, ElementsAre(second));
}

// On 64 CPUs, an adjustment of 2 per chunk is 0.03125 per CPU. The load may rise by 1.75 - 0.6, which is 36.8
// adjustments. The chunk that reaches the threshold is still allowed, which makes 37 chunks.
TEST_F(LoadThresholds, LeaveAsManyChunksAsGridEngineDoes) {
    n = {.name = "n", .ncpus = 64, .load = 38400, .load_at = at(1)};
    world.vnode(n);
    world.policy().job_load_adjustments = {{"np_load_avg", 2}};
    close_at(1.75);
    for (const char* place : {"", "pack"}) {
        const int too_many = chunks(38, "ncpus=1", place);
        EXPECT_EQ(world.cycle(at(9)).comment.at(too_many),
                  "Not Running: Load of n: np_load_avg 0.6 allows fewer chunks before it is >= 1.75");
        world.finish(too_many, at(9));
        const int most = chunks(37, "ncpus=1", place);
        EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(most));
        const int one = job();
        EXPECT_EQ(world.cycle(at(9)).comment.at(one), "Not Running: Load of n: np_load_avg 1.76 >= 1.75");
        world.finish(one, at(9));
        world.finish(most, at(9));
    }
    std::vector<int> jobs;
    for (int i = 0; i < 38; ++i) jobs.push_back(job());
    EXPECT_THAT(world.cycle(at(9)).started, SizeIs(37)) << "job by job the same";
}

TEST_F(LoadThresholds, DoNotLetAStartReachWhatIsConsumable) {
    n.mem = 10 * kGb;
    world.vnode(n);
    world.policy().job_load_adjustments = {{"mem", 1024 * 1024}};  // 1 GB, in kilobytes
    close_at(6.5 * 1024 * 1024, Comparison::less, {}, "mem");
    const int four = chunks(4);
    const int three = chunks(3);
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(three)) << "10 - 3 = 7 GB, 10 - 4 = 6 GB";
    EXPECT_TRUE(world.exists(four));
}

TEST_F(LoadThresholds, AreReachedAsTheOperatorSays) {
    struct Case {
        Comparison how;
        double number;
        bool closed;
    };
    for (const Case& c : {Case{Comparison::at_least, 9.6, true}, Case{Comparison::more, 9.6, false},
                          Case{Comparison::more, 9.5, true}, Case{Comparison::at_most, 9.6, true},
                          Case{Comparison::less, 9.6, false}, Case{Comparison::less, 9.7, true},
                          Case{Comparison::at_least, 9.7, false}}) {
        close_at(c.number, c.how, {}, "load_avg");
        const int one = job();
        EXPECT_THAT(world.cycle(at(9)).started, SizeIs(c.closed ? 0 : 1)) << c.number;
        world.finish(one, at(9));
    }
}

TEST_F(LoadThresholds, AThresholdOfAQueueClosesVnodesToTheJobsOfThatQueue) {
    close_at(0.5, Comparison::at_least, "long");
    const int kept = job(1, "long");
    const int other = job(1, "work");
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(other));
    EXPECT_FALSE(world.running(kept));
    close_at(0.5, Comparison::at_least, "nowhere");
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(kept)) << "there is no such queue";
}

TEST_F(LoadThresholds, AreReachedByALoadThatNobodyKnows) {
    n.load = -1;
    world.vnode(n);
    close_at(1.75);
    const int one = job();
    EXPECT_EQ(world.cycle(at(9)).comment.at(one), "Not Running: Load of n: np_load_avg isn't known");
    n.load = 100;
    world.vnode(n);
    EXPECT_THAT(world.cycle(at(9)).started, ElementsAre(one));
}

TEST_F(LoadThresholds, ANewMeasurementLetsJobsStart) {
    close_at(0.5);
    const int one = job();
    world.scheduler.tick(at(9));
    EXPECT_THAT(world.cycle(at(9)).started, IsEmpty());
    EXPECT_GT(world.scheduler.next_deadline(at(9)), at(9));
    n.load = 100;
    world.vnode(n);
    EXPECT_EQ(world.scheduler.next_deadline(at(9, 1)), at(9, 1));
    EXPECT_TRUE(world.scheduler.tick(at(9, 1)).cycle_wanted);
    EXPECT_THAT(world.cycle(at(9, 1)).started, ElementsAre(one));
}

// Vnodes of a host share its load average and the corrections for started jobs. If a vnode has its own value
// of load_avg, that value counts instead of the host's average.
TEST_F(LoadThresholds, KnowTheValuesOfVnodesAndTheCpusOfHosts) {
    world.scheduler.resource_defined({100, ResourceKind::real, "load_avg", false});
    for (const char* name : {"a", "b"}) {
        VnodeOptions o{.name = name, .ncpus = 8, .host = "h", .load = 9600, .load_at = at(1)};
        if (*name == 'b') o.more = {{100, 3'200'000}};
        world.vnode(o);
    }
    n.free = false;
    world.vnode(n);
    close_at(0.5);
    const int one = job(8);
    EXPECT_THAT(world.cycle(at(9)).vnodes.at(one), ElementsAre("b")) << "0.2 on b, 0.6 on a";
    const int two = job(1);
    n.name = "c";
    EXPECT_FALSE(world.running(two));
}

TEST_F(LoadThresholds, ThePiecesOfAChunkAreOneStart) {
    n.free = false;
    world.vnode(n);
    for (const char* name : {"a", "b", "c"})
        world.vnode({.name = name, .ncpus = 8, .host = "h", .load = 0, .load_at = at(1)});
    world.policy().job_load_adjustments = {{"load_avg", 1}};
    close_at(4, Comparison::at_least, {}, "load_avg");
    const int two = chunks(2, "ncpus=12");
    EXPECT_EQ(world.cycle(at(9)).comment.at(two),
              "Not Running: Load of b: load_avg 0 allows fewer chunks before it is >= 4")
        << "the first of the two reaches the threshold";
    world.finish(two, at(9));
    const int one = chunks(1, "ncpus=12");
    EXPECT_THAT(world.cycle(at(9)).vnodes.at(one), ElementsAre("a", "b"));
}

TEST_F(LoadThresholds, DoNotKeepOperatorsFromStartingJobs) {
    close_at(0.5);
    const int one = job();
    const auto placed =
        world.take(world.scheduler.place(at(9), JobHandle(static_cast<std::uint64_t>(one))), at(9), true);
    EXPECT_THAT(placed.started, ElementsAre(one));
}

TEST_F(LoadThresholds, AreExplained) {
    close_at(0.61);
    world.run(job(4), "work", "n", at(9));
    const int one = job();
    const auto told = world.scheduler.explain(at(9, 2, 30), world.id(one));
    ASSERT_TRUE(told);
    EXPECT_EQ(told->reason, "Not Running: Load of n: np_load_avg 0.68 >= 0.61");
    std::string why;
    for (const FilterAnswer& answer : told->queues.at(0).filters)
        if (answer.filter == "load_thresholds")
            why = answer.why;
        else
            EXPECT_EQ(answer.why, "") << answer.filter;
    EXPECT_THAT(why,
                HasSubstr("(n: np_load_avg 0.6, with jobs that have just started 0.6831, which count until "
                          "09:07:30)"));
    EXPECT_EQ(told->queues.at(0).earliest_start, at(9, 6, 55)) << "less than 32 hundredths are left then";
}

}  // namespace
}  // namespace pbs::sched::test
