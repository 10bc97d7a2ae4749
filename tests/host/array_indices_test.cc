#include "server_plugin/host/state/array_indices.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace pbs::host {
namespace {

IndexRange range_of(std::string_view text) {
    const auto range = parse_index_range(text);
    EXPECT_TRUE(range) << text;
    return range.value_or(IndexRange{});
}

TEST(ArrayIndices, ARangeIsWhatQsubTakes) {
    EXPECT_EQ(range_of("1-5"), (IndexRange{1, 5, 1}));
    EXPECT_EQ(range_of("0-10:3").count(), 4);
    EXPECT_EQ(range_of("2147483646-2147483647").count(), 2);
    for (const char* text : {"", "5", "5-5", "7-5", "1-5:0", "1-5:-1", "-1-5", "1-", "1-5:", "1-5,7", "a-b",
                             "1-5 ", "1-2147483648", "99999999999999999999-3", "1--5"})
        EXPECT_FALSE(parse_index_range(text)) << text;
}

TEST(ArrayIndices, SetsAreWrittenAsPbsWritesThem) {
    IndexSet set(range_of("1-9:2"));
    EXPECT_EQ(set.text(), "1-9:2");
    set.erase(1);
    EXPECT_EQ(set.text(), "3-9:2");
    set.erase(7);
    EXPECT_EQ(set.text(), "3-5:2,9");
    set.insert(7);
    EXPECT_EQ(set.text(), "3-9:2");
    set.insert(8);  // 8 and 11 aren't in the range, so they aren't inserted
    set.insert(11);
    EXPECT_EQ(set.count(), 4);
    set.clear();
    EXPECT_EQ(set.text(), "-");
    EXPECT_FALSE(set.first());
}

TEST(ArrayIndices, OnlyTextsOfTheRangeAreRead) {
    const IndexRange range = range_of("1-9:2");
    for (const char* text : {"-", "3", "1-9:2", "1,5-9:2", "1-3:2,7"}) {
        const auto set = IndexSet::parse(range, text);
        ASSERT_TRUE(set) << text;
        EXPECT_EQ(set->text(), text);
    }
    for (const char* text : {"", "2", "1-9", "1-11:2", "5,3", "1,3-5:2", "1,1", "3-", "1-9:4", "x"})
        EXPECT_FALSE(IndexSet::parse(range, text)) << text;
}

// Compares a set with a std::set after each of many random changes.
TEST(ArrayIndices, SetsAreRightWhateverIsDoneToThem) {
    std::mt19937 random(20261123);
    for (int round = 0; round < 200; ++round) {
        const auto step = static_cast<int64_t>(random() % 4 + 1);
        const auto first = static_cast<int64_t>(random() % 5);
        const IndexRange range{first, first + step + static_cast<int64_t>(random() % 60), step};
        IndexSet set(range);
        std::set<int64_t> plain;
        for (int64_t index = range.first; index <= range.last; index += step) plain.insert(index);
        for (int i = 0; i < 60; ++i) {
            const auto index = static_cast<int64_t>(random() % 80);
            switch (random() % 4) {
                case 0:
                    set.erase(index);
                    plain.erase(index);
                    break;
                case 1: {
                    const IndexRange some{index, index + static_cast<int64_t>(random() % 30),
                                          static_cast<int64_t>(random() % 5 + 1)};
                    set.erase(some);
                    std::erase_if(plain, [&](int64_t one) { return some.contains(one); });
                    break;
                }
                default:
                    set.insert(index);
                    if (range.contains(index)) plain.insert(index);
            }
            ASSERT_EQ(set.count(), static_cast<int64_t>(plain.size()));
            ASSERT_EQ(set.contains(index), plain.contains(index));
            ASSERT_EQ(set.first().value_or(-1), plain.empty() ? -1 : *plain.begin());
            const auto again = IndexSet::parse(range, set.text());
            ASSERT_TRUE(again) << set.text();
            ASSERT_EQ(again->text(), set.text());
            for (const int64_t one : plain) ASSERT_TRUE(again->contains(one)) << one << " of " << set.text();
        }
    }
}

}  // namespace
}  // namespace pbs::host
