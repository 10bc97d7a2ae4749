// Tests jobs with select_range, a range of chunks.

#include "server_plugin/scheduler/model/chunk_range.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/cases.h"
#include "tests/scheduler/quotas.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(ChunkRanges, AreRead) {
    const auto numbers = [](const char* text) { return ChunkRange::parse(text).value().numbers(20); };
    EXPECT_THAT(numbers("4-8"), ElementsAre(4, 5, 6, 7, 8));
    EXPECT_THAT(numbers("4-16:4"), ElementsAre(4, 8, 12, 16));
    EXPECT_THAT(numbers("18-"), ElementsAre(18, 19, 20));
    EXPECT_THAT(numbers("8-9,2,4,8"), ElementsAre(2, 4, 8, 9));
    for (const char* text : {"4-8", "4-16:4", "18-", "2,4,8-9", "30-40", "7", "1-3,19-30:5"}) {
        const ChunkRange range = ChunkRange::parse(text).value();
        const std::vector<std::int64_t> listed = range.numbers(20);
        EXPECT_EQ(range.greatest(20), listed.back()) << text;
        EXPECT_DOUBLE_EQ(range.average(20), std::accumulate(listed.begin(), listed.end(), 0.0) /
                                                static_cast<double>(listed.size()))
            << text;
    }
    EXPECT_THAT(numbers("30-40"), ElementsAre(30)) << "the least one in any case";
    EXPECT_FALSE(ChunkRange::parse(std::string(400, '1') + ","));
    std::string many = "1";
    for (int i = 0; i < 99; ++i) many += ",1-";
    EXPECT_TRUE(ChunkRange::parse(many));
    EXPECT_FALSE(ChunkRange::parse(many + ",1"));
    for (const char* bad : {"", "-", "0-4", "4-2", "a", "4-b", "4:2", "4-8:0", "4-8:x", "4,", ",4", "-4",
                            "4--8", " 4-8", "99999999999999999999", "10000001"})
        EXPECT_FALSE(ChunkRange::parse(bad)) << bad;
}

struct ChunkRangeCycles : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.help_starving_jobs = false;
        world.queue({.name = "work"});
        world.vnodes(4, {.name = "n", .ncpus = 4});
        world.configure();
        world.scheduler.set_tell_estimates(true);
    }
    int job(const std::string& select, const std::string& range) {
        return world.job({.queue = "work", .walltime = kHour, .select = select, .select_range = range});
    }
    int running(int cpus, const std::string& vnode, std::int64_t walltime) {
        const int started = world.job({.queue = "work", .ncpus = cpus, .walltime = walltime});
        world.run(started, "work", vnode, at(9));
        return started;
    }
};

TEST_F(ChunkRangeCycles, AJobGetsTheMostThatFits) {
    const int first = job("2:ncpus=2:mem=1gb+1:ncpus=4", "2-16");
    const Outcome outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.started, ElementsAre(first));
    EXPECT_EQ(outcome.select.at(first), "6:ncpus=2:mem=1gb+1:ncpus=4");
    EXPECT_EQ(outcome.vnodes.at(first).size(), 7U);
    const int next = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(9, 1)).started, IsEmpty()) << "the first one has all CPUs";
    world.finish(first, at(9, 2));
    EXPECT_THAT(world.cycle(at(9, 2)).started, ElementsAre(next));
}

TEST_F(ChunkRangeCycles, AJobThatAnOperatorStartsGetsTheLeastNumber) {
    const int first = job("6:ncpus=2", "2-16");
    const auto found = world.scheduler.place(at(9), JobHandle(static_cast<std::uint64_t>(first)), false);
    const Outcome outcome = world.take(found, at(9), true);
    EXPECT_EQ(outcome.select.at(first), "2:ncpus=2");
    EXPECT_EQ(outcome.vnodes.at(first).size(), 2U);
}

TEST_F(ChunkRangeCycles, ARangeWithoutResourcesInTheFirstChunks) {
    const int first = job("2+1:ncpus=4", "2-3");
    EXPECT_EQ(world.cycle(at(9)).select.at(first), "3+1:ncpus=4");
}

TEST_F(ChunkRangeCycles, JobsOfOtherServersHaveTheirNumber) {
    const int elsewhere =
        world.job({.queue = "work", .select = "2:ncpus=1", .elsewhere = true, .select_range = "1-8"});
    const Outcome outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.started, ElementsAre(elsewhere));
    EXPECT_EQ(outcome.vnodes.at(elsewhere).size(), 2U);
    EXPECT_THAT(outcome.select, IsEmpty());
}

TEST_F(ChunkRangeCycles, OnlyTheNumbersOfTheRange) {
    const int first = job("3:ncpus=1", "3,6-16:4");
    EXPECT_EQ(world.cycle(at(9)).select, (std::map<int, std::string>{{first, "14:ncpus=1"}}));
}

TEST_F(ChunkRangeCycles, AtMostMaxRangeChunks) {
    s.max_range_chunks = 5;
    world.configure();
    const int first = job("1:ncpus=1", "1-");
    EXPECT_EQ(world.cycle(at(9)).select, (std::map<int, std::string>{{first, "5:ncpus=1"}}));
}

TEST_F(ChunkRangeCycles, TheLeastNumberDecidesWhetherItWaits) {
    (void)running(4, "n", kHour);
    (void)running(4, "n1", kHour);
    const int large = job("2:ncpus=4", "3-4");
    const int small = job("1:ncpus=1", "2-3");
    const Outcome outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.started, ElementsAre(small))
        << "of the others two chunks are free, and it needs three";
    EXPECT_EQ(outcome.select.at(small), "3:ncpus=1");
    EXPECT_TRUE(outcome.comment.contains(large));
}

TEST_F(ChunkRangeCycles, LimitsAndQuotasCountForTheNumber) {
    world.queue({.name = "work", .limits = {{.entity = EntityKind::user, .resource = ncpus, .most = 7}}});
    const int limited = job("1:ncpus=2", "1-8");
    EXPECT_EQ(world.cycle(at(9)).select.at(limited), "3:ncpus=2");
    world.finish(limited, at(10));
    world.queue({.name = "work"});
    s.quotas.push_back(quota({.rules = {{"each", "users={*} to ncpus=5"}}}));
    world.configure();
    const int other = job("1:ncpus=2", "1-8");
    EXPECT_EQ(world.cycle(at(10)).select.at(other), "2:ncpus=2");
    (void)world.job({.queue = "work", .ncpus = 2});
    EXPECT_THAT(world.cycle(at(10, 1)).started, IsEmpty()) << "four of five are in use";
}

// The quota leaves enough for each request that there is when the cycle begins, but not for more chunks.
TEST_F(ChunkRangeCycles, AQuotaOnVnodesCountsForTheNumber) {
    s.quotas.push_back(quota({.rules = {{"each", "users={*} vnodes={*} to ncpus=2"}}}));
    world.configure();
    const int limited = job("1:ncpus=1", "1-16");
    EXPECT_EQ(world.cycle(at(9)).select.at(limited), "8:ncpus=1") << "two on each of four vnodes";
}

// If a job can't start, its expected start is the earliest time at which its least number of chunks fits. The
// place that is kept for it has as many chunks as fit at that time.
TEST_F(ChunkRangeCycles, AReservationIsForTheMostThatFitsThen) {
    s.strict_ordering = true;
    s.backfill_depth = 1;
    world.configure();
    (void)running(4, "n", kHour);
    (void)running(4, "n1", kHour);
    (void)running(4, "n2", 2 * kHour);
    const int top = job("2:ncpus=4", "2-4");
    const Outcome outcome = world.cycle(at(9));
    EXPECT_EQ(outcome.expected.at(top), at(10));
    EXPECT_EQ(outcome.vnodes.at(top).size(), 3U);
    const int next = world.job({.queue = "work", .ncpus = 4, .walltime = 2 * kHour});
    EXPECT_THAT(world.cycle(at(9, 1)).started, IsEmpty()) << "the fourth vnode is kept, too";
    for (const int done : {1, 2}) world.finish(done, at(10));
    const Outcome then = world.cycle(at(10));
    EXPECT_THAT(then.started, ElementsAre(top));
    EXPECT_EQ(then.select.at(top), "3:ncpus=4");
    EXPECT_TRUE(then.comment.contains(next));
}

TEST_F(ChunkRangeCycles, AnExplanationHasTheNumbersNowAndLater) {
    (void)running(4, "n", kHour);
    (void)running(4, "n1", 2 * kHour);
    const int range = job("2:ncpus=2", "2-12");
    const auto explained = [&](int number) {
        const auto told = world.scheduler.explain(at(9), world.id(number)).value();
        const QueueAnswers::Chunks chunks = told.queues.at(0).chunks.value();
        return fmt::format("{}: {} now, {} at {}", chunks.range, chunks.now, chunks.most,
                           chunks.most_from ? (*chunks.most_from - at(0)).count() / kHour : -1);
    };
    EXPECT_EQ(explained(range), "2-12: 4 now, 8 at 11") << "four vnodes of four CPUs";
    const int large = job("2:ncpus=4", "3-4");
    EXPECT_EQ(explained(large), "3-4: 0 now, 4 at 11");
    const int never = job("2:ncpus=4", "5-6");
    EXPECT_EQ(explained(never), "5-6: 0 now, 0 at -1");
    const int fixed = world.job({.queue = "work", .select = "1:ncpus=1"});
    EXPECT_FALSE(world.scheduler.explain(at(9), world.id(fixed)).value().queues.at(0).chunks);
}

TEST_F(ChunkRangeCycles, ARequeuedJobHasItsRangeAgain) {
    const int first = job("6:ncpus=2", "2-16");
    (void)running(4, "n", kHour);
    EXPECT_EQ(world.cycle(at(9)).select.at(first), "6:ncpus=2");
    EXPECT_EQ(world.options(first).select, "6:ncpus=2");
    JobOptions again = world.options(first);
    world.finish(first, at(9, 30));
    (void)running(4, "n1", kHour);
    (void)running(4, "n2", kHour);
    const int second = world.job(again, at(9, 30));
    EXPECT_EQ(world.cycle(at(9, 30)).select.at(second), "2:ncpus=2");
}

TEST_F(ChunkRangeCycles, ARangeThatCanNotBeReadNeverRuns) {
    const int bad = job("1:ncpus=1", "4-2");
    const int without = world.job({.queue = "work", .ncpus = 1, .select_range = "1-4"});
    const Outcome outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.started, IsEmpty());
    EXPECT_THAT(outcome.comment.at(bad),
                HasSubstr("Can Never Run: select_range=4-2 can't be scheduled here: expected a range such as "
                          "4-16, 4-16:4 or 4-, or several with commas between"));
    EXPECT_THAT(outcome.comment.at(without),
                HasSubstr("select_range=1-4 can't be scheduled here: expected a select too"));
}

TEST_F(ChunkRangeCycles, SubjobsHaveTheNumberOfTheirArray) {
    const int array = world.job({.queue = "work", .select = "3:ncpus=1", .subjob = 1, .select_range = "1-8"});
    const Outcome outcome = world.cycle(at(9));
    EXPECT_THAT(outcome.started, ElementsAre(array));
    EXPECT_THAT(outcome.select, IsEmpty());
    EXPECT_EQ(outcome.vnodes.at(array).size(), 3U);
}

// A job gets the greatest number of chunks in its range with which it would start if it requested exactly
// this number.
TEST(ChunkRangeProperty, EqualsTryingAllNumbers) {
    for (unsigned seed = 1; seed <= static_cast<unsigned>(pbs::test::cases(300)); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
        const int hosts = pick(1, 5);
        const int low = pick(1, 4);
        const int high = low + pick(0, 12);
        const int step = pick(1, 3);
        const std::string rest = fmt::format("ncpus={}{}", pick(1, 3), pick(0, 2) == 0 ? "+1:ncpus=2" : "");
        const std::string place = pick(0, 3) == 0 ? "scatter" : pick(0, 3) == 0 ? "pack" : "free";
        std::vector<int> cpus;
        for (int i = 0; i < hosts; ++i) cpus.push_back(pick(1, 8));
        const int most = pick(0, 2) == 0 ? pick(2, 20) : -1;
        const auto starts = [&](int number, const std::string& range) -> std::optional<std::string> {
            World world;
            (void)world.policy();
            world.queue({.name = "work", .available_ncpus = most});
            for (int i = 0; i < hosts; ++i)
                world.vnode({.name = fmt::format("n{}", i), .ncpus = cpus[static_cast<std::size_t>(i)]});
            world.configure();
            const std::string select = fmt::format("{}:{}", number, rest);
            const int job =
                world.job({.queue = "work", .select = select, .place = place, .select_range = range});
            const Outcome outcome = world.cycle(at(9));
            if (outcome.started.empty()) return std::nullopt;
            return range.empty() ? select : outcome.select.at(job);
        };
        std::optional<std::string> expected;
        for (int n = low; n <= high; n += step)
            if (auto with = starts(n, "")) expected = with;
        EXPECT_EQ(starts(low, fmt::format("{}-{}:{}", low, high, step)), expected);
    }
}

}  // namespace
}  // namespace pbs::sched::test
