// Tests the timeline of a resource's use: alone, and compared with an array that has an element for each
// second.
#include "server_plugin/scheduler/future/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "tests/cases.h"

namespace pbs::sched {
namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

constexpr Instant at(std::int64_t second) {
    return Instant(Seconds(second));
}
constexpr rrule::Interval from_to(std::int64_t start, std::int64_t end) {
    return {at(start), at(end)};
}
constexpr Instant kForEver = Instant::max();

TEST(Timeline, AnEmptyOneIsFreeAtAllTimes) {
    const Timeline p;
    EXPECT_EQ(p.at(at(5)), 0);
    EXPECT_EQ(p.at_end(), 0);
    EXPECT_EQ(p.max_in(from_to(0, 100)), 0);
    EXPECT_EQ(p.earliest(at(7), Seconds(50), 3, 3), at(7));
    EXPECT_EQ(p.earliest(at(7), Seconds(50), 4, 3), std::nullopt) << "more than there is";
    EXPECT_EQ(p.earliest(at(7), Seconds(50), 0, -1), std::nullopt);
    EXPECT_EQ(p.free_until(at(7), 3, 3), kForEver);
    EXPECT_EQ(p.free_until(at(7), 4, 3), at(7));
}

TEST(Timeline, AmountsAddUpWhereTheyOverlap) {
    Timeline p;
    ASSERT_TRUE(p.debit(from_to(10, 20), 4));
    ASSERT_TRUE(p.debit(from_to(15, 30), 3));
    EXPECT_EQ(p.at(at(9)), 0);
    EXPECT_EQ(p.at(at(10)), 4);
    EXPECT_EQ(p.at(at(15)), 7);
    EXPECT_EQ(p.at(at(20)), 3) << "an end is outside";
    EXPECT_EQ(p.at(at(30)), 0);
    EXPECT_EQ(p.max_in(from_to(0, 15)), 4);
    EXPECT_EQ(p.max_in(from_to(0, 16)), 7);
    EXPECT_EQ(p.max_in(from_to(20, 99)), 3);
    EXPECT_EQ(p.earliest(at(0), Seconds(10), 5, 8), at(0)) << "it ends when the first use starts";
    EXPECT_EQ(p.earliest(at(0), Seconds(11), 5, 8), at(20));
    EXPECT_EQ(p.earliest(at(12), Seconds(3), 4, 8), at(12));
    EXPECT_EQ(p.free_until(at(12), 4, 8), at(15));
}

TEST(Timeline, WhatTakesNoTimeNeedsAnInstantOnly) {
    Timeline p;
    ASSERT_TRUE(p.debit(from_to(10, 20), 4));
    EXPECT_EQ(p.earliest(at(9), Seconds(0), 1, 4), at(9));
    EXPECT_EQ(p.earliest(at(10), Seconds(0), 1, 4), at(20));
    ASSERT_TRUE(p.debit(from_to(30, 30), 4));
    EXPECT_EQ(p.steps(), 2U) << "an empty interval is none";
    EXPECT_EQ(p.max_in(from_to(15, 15)), 0);
}

TEST(Timeline, UsesThatNeverEnd) {
    Timeline p;
    ASSERT_TRUE(p.debit({at(10), kForEver}, 4));
    EXPECT_EQ(p.at_end(), 4);
    EXPECT_EQ(p.steps(), 1U);
    EXPECT_EQ(p.earliest(at(0), Seconds(11), 5, 8), std::nullopt);
    EXPECT_EQ(p.earliest(at(0), Seconds(11), 4, 8), at(0));
    EXPECT_EQ(p.earliest(at(0), Seconds::max(), 4, 8), at(0));
    ASSERT_TRUE(p.credit({at(10), kForEver}, 4));
    EXPECT_EQ(p, Timeline());
    ASSERT_TRUE(p.debit({Instant::min(), kForEver}, 2));
    EXPECT_EQ(p.at(Instant::min()), 2);
    EXPECT_EQ(p.earliest(Instant::min(), Seconds::max(), 1, 3), Instant::min());
}

TEST(Timeline, EqualNeighboursAreOneStep) {
    Timeline p;
    ASSERT_TRUE(p.debit(from_to(10, 20), 4));
    ASSERT_TRUE(p.debit(from_to(20, 30), 4));
    EXPECT_EQ(p.steps(), 2U);
    ASSERT_TRUE(p.credit(from_to(15, 25), 4));
    EXPECT_EQ(p.steps(), 4U);
    ASSERT_TRUE(p.debit(from_to(15, 25), 4));
    EXPECT_EQ(p.steps(), 2U);
    Timeline all;
    const Use uses[] = {{from_to(20, 30), 4}, {from_to(10, 20), 4}, {from_to(5, 5), 9}};
    all.debit(uses);
    EXPECT_EQ(all, p);
}

TEST(Timeline, ThereIsAlwaysEnoughOfWhatHasNoLimit) {
    Timeline p;
    ASSERT_TRUE(p.debit(from_to(10, 20), kMost));
    EXPECT_EQ(p.earliest(at(0), Seconds(99), kMost, Timeline::kUnlimited), at(0));
    EXPECT_EQ(p.free_until(at(0), 5, Timeline::kUnlimited), kForEver);
}

TEST(Timeline, SumsThatDoNotFitAreRefusedAndChangeNothing) {
    Timeline p;
    ASSERT_TRUE(p.debit(from_to(10, 20), kMost - 5));
    ASSERT_TRUE(p.debit(from_to(0, 5), 1));
    const Timeline before = p;
    EXPECT_FALSE(p.debit(from_to(5, 15), 6));
    EXPECT_EQ(p, before);
    EXPECT_FALSE(p.credit(from_to(5, 15), kLeast));
    EXPECT_EQ(p, before);
    EXPECT_TRUE(p.debit(from_to(5, 15), 5));
    EXPECT_EQ(p.max_in(from_to(0, 99)), kMost);
    p = before;
    const Use uses[] = {{from_to(0, 99), 3}, {from_to(12, 13), 7}, {from_to(2, 3), 1}};
    p.debit(uses);
    EXPECT_EQ(p.at(at(2)), 5) << "those that fit are there";
    EXPECT_EQ(p.at(at(12)), kMost - 2);
    EXPECT_EQ(p.earliest(at(0), Seconds(1), kMost, 0), std::nullopt);
    EXPECT_EQ(p.earliest(at(0), Seconds(1), kMost, -5), std::nullopt) << "no overflow the other way either";
}

TEST(Timeline, EnoughOfEverythingAtOnce) {
    Timeline a;
    Timeline b;
    ASSERT_TRUE(a.debit(from_to(0, 10), 1));
    ASSERT_TRUE(a.debit(from_to(20, 30), 1));
    ASSERT_TRUE(b.debit(from_to(8, 15), 1));
    Demand both[] = {{&a, 1, 1}, {&b, 1, 1}};
    EXPECT_EQ(earliest_of_all(both, at(0), Seconds(5)), at(15));
    EXPECT_EQ(earliest_of_all(both, at(0), Seconds(6)), at(30));
    EXPECT_EQ(earliest_of_all({}, at(3), Seconds(6)), at(3));
    Demand too_much[] = {{&a, 1, 1}, {&b, 2, 1}};
    EXPECT_EQ(earliest_of_all(too_much, at(0), Seconds(6)), std::nullopt);
}

// The timeline as an array with an element for each second. The last element stands for all later seconds.
constexpr int kSeconds = 60;
struct PerSecond {
    std::array<std::int64_t, kSeconds> in_use{};

    void debit(int start, int end, std::int64_t amount) {
        for (int t = start; t < std::min(end, kSeconds); ++t) in_use[static_cast<std::size_t>(t)] += amount;
    }
    std::int64_t at(int t) const { return in_use[static_cast<std::size_t>(std::min(t, kSeconds - 1))]; }
    std::int64_t max_in(int start, int end) const {
        std::int64_t found = start < end ? at(start) : 0;
        for (int t = start; t < end; ++t) found = std::max(found, at(t));
        return found;
    }
    bool free(int t, std::int64_t amount, std::int64_t capacity) const { return at(t) + amount <= capacity; }
    int free_until(int from, std::int64_t amount, std::int64_t capacity) const {
        int t = from;
        while (t < kSeconds && free(t, amount, capacity)) ++t;
        return t;  // kSeconds means forever
    }
    bool fits(int t, int duration, std::int64_t amount, std::int64_t capacity) const {
        const int until = free_until(t, amount, capacity);
        return until > t && (until == kSeconds || until - t >= duration);
    }
    int earliest(int from, int duration, std::int64_t amount, std::int64_t capacity) const {
        int t = from;
        while (t < kSeconds && !fits(t, duration, amount, capacity)) ++t;
        return t;  // kSeconds means never
    }
};

struct RandomProfile {
    std::mt19937 random;
    PerSecond naive;
    Timeline profile;
    std::vector<Use> uses;

    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    // Adds a random use. An end at the last second means that the use never ends.
    void change() {
        const int start = pick(0, kSeconds - 2);
        const int end = pick(start, kSeconds - 1);
        const bool always = end == kSeconds - 1;
        const Use use{{at(start), always ? kForEver : at(end)}, pick(0, 6)};
        uses.push_back(use);
        naive.debit(start, always ? kSeconds : end, use.amount);
        ASSERT_TRUE(profile.debit(use.when, use.amount));
    }
    void take_back() {
        if (uses.empty()) return;
        const auto which = uses.begin() + pick(0, static_cast<int>(uses.size()) - 1);
        naive.debit(static_cast<int>(which->when.start.time_since_epoch().count()),
                    which->when.end == kForEver
                        ? kSeconds
                        : static_cast<int>(which->when.end.time_since_epoch().count()),
                    -which->amount);
        ASSERT_TRUE(profile.credit(which->when, which->amount));
        uses.erase(which);
    }
    void ask() {
        const int t = pick(0, kSeconds - 1);
        const int end = pick(0, kSeconds - 1);
        const int duration = pick(0, 12);
        const int amount = pick(0, 8);
        const int capacity = pick(0, 24);
        ASSERT_EQ(profile.at(at(t)), naive.at(t));
        ASSERT_EQ(profile.max_in(from_to(t, end)), naive.max_in(t, end));
        const int until = naive.free_until(t, amount, capacity);
        ASSERT_EQ(profile.free_until(at(t), amount, capacity), until == kSeconds ? kForEver : at(until));
        const int start = naive.earliest(t, duration, amount, capacity);
        const auto found = profile.earliest(at(t), Seconds(duration), amount, capacity);
        ASSERT_EQ(found, start == kSeconds ? std::nullopt : std::optional(at(start)));
    }
    void check_steps() const {
        std::size_t changes = 0;
        std::int64_t before = 0;
        for (const auto value : naive.in_use)
            if (std::exchange(before, value) != value) ++changes;
        ASSERT_EQ(profile.steps(), changes);
    }
};

TEST(ProfileProperty, AsAnArrayOfSeconds) {
    for (int seed = 1; seed <= pbs::test::cases(4000); ++seed) {
        SCOPED_TRACE(seed);
        RandomProfile p{
            .random = std::mt19937(static_cast<unsigned>(seed)), .naive = {}, .profile = {}, .uses = {}};
        const int changes = p.pick(0, 25);
        for (int i = 0; i < changes; ++i) {
            if (p.pick(1, 4) == 1)
                p.take_back();
            else
                p.change();
            p.check_steps();
            p.ask();
        }
        for (int i = 0; i < 20; ++i) p.ask();
        Timeline at_once;
        const auto half = static_cast<std::ptrdiff_t>(p.uses.size() / 2);
        at_once.debit(std::span(p.uses.begin(), p.uses.begin() + half));
        at_once.debit(std::span(p.uses.begin() + half, p.uses.end()));
        ASSERT_EQ(at_once, p.profile);
        while (!p.uses.empty()) p.take_back();
        ASSERT_EQ(p.profile, Timeline());
        if (testing::Test::HasFailure()) break;
    }
}

TEST(ProfileProperty, EnoughOfEverythingAsInArraysOfSeconds) {
    for (int seed = 1; seed <= pbs::test::cases(2000); ++seed) {
        SCOPED_TRACE(seed);
        RandomProfile a{
            .random = std::mt19937(static_cast<unsigned>(seed)), .naive = {}, .profile = {}, .uses = {}};
        RandomProfile b{
            .random = std::mt19937(static_cast<unsigned>(-seed)), .naive = {}, .profile = {}, .uses = {}};
        for (int i = 0; i < 8; ++i) {
            a.change();
            b.change();
        }
        for (int i = 0; i < 20; ++i) {
            const int from = a.pick(0, kSeconds - 1);
            const int duration = a.pick(0, 12);
            const int capacity = a.pick(4, 24);
            Demand both[] = {{&a.profile, 4, capacity}, {&b.profile, 2, capacity}};
            int t = from;
            while (t < kSeconds &&
                   !(a.naive.fits(t, duration, 4, capacity) && b.naive.fits(t, duration, 2, capacity)))
                ++t;
            ASSERT_EQ(earliest_of_all(both, at(from), Seconds(duration)),
                      t == kSeconds ? std::nullopt : std::optional(at(t)));
        }
    }
}

}  // namespace
}  // namespace pbs::sched
