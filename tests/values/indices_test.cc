#include "values/indices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::values {
namespace {

using testing::Optional;

TEST(Indices, AListIsReadAndWrittenAsPbsDoes) {
    const struct {
        const char* text;
        std::vector<IndexRange> ranges;
    } taken[] = {
        {"0", {{0, 0, 1}}},
        {"7", {{7, 7, 1}}},
        {"1-5", {{1, 5, 1}}},
        {"1-9:2,12", {{1, 9, 2}, {12, 12, 1}}},
        {"1-2:5", {{1, 2, 5}}},
        {"5,3", {{5, 5, 1}, {3, 3, 1}}},
        {"2147483646-2147483647", {{2147483646, 2147483647, 1}}},
    };
    for (const auto& [text, ranges] : taken) {
        EXPECT_THAT(parse_index_list(text), Optional(ranges)) << text;
        EXPECT_EQ(index_list_text(ranges), text);
    }
    for (const char* text : {"",       "-",       ",",          "1,",           ",1",
                             "1,,2",   "x",       "-1",         "+1",           " 1",
                             "1 ",     "1-",      "1--5",       "1-5:",         "1-5:0",
                             "1-5:-1", "1-5:2:2", "5-5",        "7-5",          "3:2",
                             "1-2-3",  "1%2",     "2147483648", "1-2147483648", "99999999999999999999"})
        EXPECT_EQ(parse_index_list(text), std::nullopt) << text;
}

TEST(Indices, RangesOfRangesAreJudgedByTheirMembers) {
    const IndexRange all{1, 10, 3};  // the indices 1, 4, 7 and 10
    EXPECT_EQ(all.count(), 4);
    EXPECT_TRUE(all.contains(IndexRange{4, 10, 6}));
    EXPECT_TRUE(all.contains(IndexRange{7, 9, 3})) << "9 isn't one of them";
    EXPECT_TRUE(all.contains(IndexRange{7, 7, 1}));
    EXPECT_FALSE(all.contains(IndexRange{4, 7, 1}));
    EXPECT_FALSE(all.contains(IndexRange{4, 13, 3}));
}

TEST(Indices, AreInTheIdsOfSubjobs) {
    EXPECT_EQ(index_in("12[34].box"), 34);
    EXPECT_EQ(index_in("12[].box"), -1);
    EXPECT_EQ(index_in("12[7"), 7) << "a server may cut it off";
    EXPECT_EQ(index_in("12[7x].box"), -1);
    EXPECT_EQ(index_in("12.box"), -1);
    EXPECT_TRUE(is_of_array("12[34].box"));
    EXPECT_TRUE(is_of_array("12[].box"));
    EXPECT_FALSE(is_of_array("12.box"));
}

}  // namespace
}  // namespace pbs::values
