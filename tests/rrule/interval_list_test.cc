#include "rrule/interval_list.h"

#include <algorithm>
#include <random>

#include "tests/rrule/cases.h"
#include "tests/rrule/support.h"

namespace pbs::rrule::test {
namespace {

using Random64 = std::mt19937_64;

std::int64_t pick64(Random64& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

Instant at(std::int64_t seconds) {
    return Instant{Seconds{seconds}};
}

// Returns intervals in ascending order. Their gaps and lengths are up to `most` seconds; some follow the last
// one without a gap.
std::vector<Interval> random_intervals(Random64& random, std::size_t count, Instant from, std::int64_t most) {
    std::vector<Interval> out;
    for (std::size_t i = 0; i < count; ++i) {
        const Instant start = from + Seconds{pick64(random, 0, 4) == 0 ? 0 : pick64(random, 1, most)};
        from = start + Seconds{pick64(random, 1, most)};
        out.push_back({start, from});
    }
    return out;
}

std::vector<Interval> all(const IntervalList& list) {
    std::vector<Interval> out;
    for (std::size_t i = 0; i < list.size(); ++i) out.push_back(list[i]);
    return out;
}

// Asks the list every question about the instant t, and compares the answers with those that the vector
// `parts` of the same intervals gives.
void ask(const IntervalList& list, const std::vector<Interval>& parts, Instant t) {
    SCOPED_TRACE(t.time_since_epoch().count());
    const auto next = std::find_if(parts.begin(), parts.end(), [t](const Interval& p) { return p.end > t; });
    ASSERT_EQ(list.index(t), static_cast<std::size_t>(next - parts.begin()));
    if (parts.empty() || t < parts.front().start) return;
    const IntervalList::Place place = list.around(t);
    const bool inside = next != parts.end() && next->start <= t;
    ASSERT_EQ(place.inside, inside);
    ASSERT_EQ(place.from, inside ? next->start : std::prev(next)->end);
    ASSERT_EQ(place.to, next == parts.end() ? Instant::max() : inside ? next->end : next->start);
}

void ask_all(Random64& random, const IntervalList& list, const std::vector<Interval>& parts) {
    ASSERT_EQ(all(list), parts);
    ASSERT_EQ(list.empty(), parts.empty());
    ASSERT_EQ(list.begin(), parts.empty() ? Instant::max() : parts.front().start);
    if (parts.empty()) return ask(list, parts, at(0));
    for (const Interval& part : parts)
        for (const Instant t : {part.start - Seconds{1}, part.start, part.end - Seconds{1}, part.end})
            ask(list, parts, t);
    const std::int64_t begin = parts.front().start.time_since_epoch().count();
    const std::int64_t end = parts.back().end.time_since_epoch().count();
    for (int i = 0; i < 50; ++i) ask(list, parts, at(pick64(random, begin - 1000, end + 1000)));
    for (const std::int64_t t : {begin - (std::int64_t{1} << 40), end + (std::int64_t{1} << 31),
                                 end + (std::int64_t{1} << 32), end + (std::int64_t{1} << 40)})
        ask(list, parts, at(t));
}

TEST(IntervalList, AnswersAsAPlainVectorDoes) {
    Random64 random(1);
    for (int i = 0; i < cases(300); ++i) {
        // some lists extend over centuries
        const std::int64_t most = std::int64_t{1} << pick64(random, 1, 34);
        const auto count = static_cast<std::size_t>(pick64(random, 0, 60));
        const Instant from = at(pick64(random, -(std::int64_t{1} << 33), std::int64_t{1} << 33));
        const auto parts = random_intervals(random, count, from, most);
        IntervalList list;
        list.append(parts);
        ask_all(random, list, joined(parts));
        if (testing::Test::HasFatalFailure()) return;
    }
}

// The search for an instant starts at a block of the list that it estimates. If the intervals are unevenly
// spread, the estimate is wrong, and the search still finds the right block.
TEST(IntervalList, OpeningsThatAreSpreadUnevenly) {
    Random64 random(2);
    for (int i = 0; i < cases(40); ++i) {
        std::vector<Interval> parts;
        Instant from = at(pick64(random, 0, 1 << 30));
        for (int burst = 0; burst < 8; ++burst) {
            const auto some = random_intervals(random, static_cast<std::size_t>(pick64(random, 1, 40)), from,
                                               std::int64_t{1} << pick64(random, 1, 24));
            parts.insert(parts.end(), some.begin(), some.end());
            from = parts.back().end + Seconds{pick64(random, 1, 1 << 28)};
        }
        IntervalList list;
        list.append(parts);
        ask_all(random, list, joined(parts));
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(IntervalList, GrowsAtBothEnds) {
    Random64 random(3);
    for (int i = 0; i < cases(50); ++i) {
        const std::int64_t most = std::int64_t{1} << pick64(random, 1, 30);
        const auto parts = random_intervals(random, 60, at(0), most);
        IntervalList list;
        std::size_t first = static_cast<std::size_t>(pick64(random, 0, 60));
        std::size_t last = first;
        const auto slice = [&](std::size_t a, std::size_t b) {
            return std::vector<Interval>(parts.begin() + static_cast<std::ptrdiff_t>(a),
                                         parts.begin() + static_cast<std::ptrdiff_t>(b));
        };
        while (first > 0 || last < parts.size()) {
            const auto some = static_cast<std::size_t>(pick64(random, 0, 10));
            if (pick64(random, 0, 1) == 0) {
                const std::size_t from = first - std::min(first, some);
                list.prepend(slice(from, first));
                first = from;
            } else {
                const std::size_t to = std::min(parts.size(), last + some);
                list.append(slice(last, to));
                last = to;
            }
            ask_all(random, list, joined(slice(first, last)));
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(IntervalList, TheLastEndMoves) {
    Random64 random(4);
    for (const std::size_t count : {1U, 6U, 7U, 8U, 14U}) {
        for (const std::int64_t by : {std::int64_t{1}, std::int64_t{1} << 31, std::int64_t{1} << 36}) {
            auto parts = joined(random_intervals(random, count, at(-5000), 5000));
            IntervalList list;
            list.append(parts);
            parts.back().end += Seconds{by};
            list.end_at(parts.back().end);
            ask_all(random, list, parts);
            list.clear();
            EXPECT_EQ(list.size(), 0U);
            list.append(parts);
            ask_all(random, list, parts);
        }
    }
}

// A list keeps its times in 32 bits, unless it extends over 2^32 seconds or more.
TEST(IntervalList, AroundTheWidestSpanOf32Bits) {
    Random64 random(5);
    constexpr std::int64_t kSpan = std::int64_t{1} << 32;
    for (std::int64_t end = kSpan - 5; end < kSpan + 5; ++end) {
        std::vector<Interval> parts{{at(100), at(200)}, {at(100 + end - 1), at(100 + end)}};
        IntervalList list;
        list.append(parts);
        ask_all(random, list, parts);
        parts.push_back({at(100 + end + 10), at(100 + end + 20)});
        list.append({parts.back()});
        ask_all(random, list, parts);
    }
}

TEST(IntervalList, IsSmall) {
    std::vector<Interval> parts;
    parts.reserve(366 + 1);
    for (int day = 0; day < 366; ++day) parts.push_back({at(day * 86400), at(day * 86400 + 3600)});
    IntervalList list;
    list.append(parts);
    EXPECT_EQ(list.memory(), (366U + 6U) / 7U * 64U);
    parts.push_back({at(200LL * 366 * 86400), at(200LL * 366 * 86400 + 1)});
    list.append({parts.back()});
    EXPECT_EQ(list.memory(), (367U + 6U) / 7U * 128U);
}

}  // namespace
}  // namespace pbs::rrule::test
