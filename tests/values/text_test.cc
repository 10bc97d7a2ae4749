#include "values/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::values {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Text, WhiteSpaceGoesFromBothEnds) {
    EXPECT_EQ(trim(" \t\r\n\v\fa b\n "), "a b");
    EXPECT_EQ(trim(" \n"), "");
    EXPECT_EQ(trim("a"), "a");
}

TEST(Text, PartsAreOneMoreThanSeparators) {
    EXPECT_THAT(split("a, b,,c ", ','), ElementsAre("a", " b", "", "c "));
    EXPECT_THAT(split("", ','), ElementsAre(""));
    EXPECT_THAT(split_trimmed(" a , b,, c ", ','), ElementsAre("a", "b", "", "c"));
    EXPECT_THAT(words("  one\ttwo \n three"), ElementsAre("one", "two", "three"));
    EXPECT_THAT(words(" "), IsEmpty());
}

TEST(Text, ANounIsPluralUnlessThereIsOne) {
    EXPECT_EQ(counted(1, "job"), "1 job");
    EXPECT_EQ(counted(0U, "job"), "0 jobs");
    EXPECT_EQ(counted(2L, "job"), "2 jobs");
}

TEST(Text, CaseIsThatOfAsciiLetters) {
    EXPECT_TRUE(same_word("TrUe", "tRuE"));
    EXPECT_FALSE(same_word("true", "tru"));
    EXPECT_FALSE(LessWord()("True", "tRuE"));
    EXPECT_TRUE(LessWord()("TRU", "true"));
    EXPECT_TRUE(LessWord()("a", "B"));
    EXPECT_FALSE(LessWord()("B", "a"));
    EXPECT_FALSE(same_word("[", "{"));  // '[' and '{' follow Z and z in ASCII
    EXPECT_EQ(lowered("AZ[\xC4"), "az[\xC4");
    EXPECT_EQ(uppered("az{\xE4"), "AZ{\xE4");
}

TEST(Text, Wildcards) {
    struct Case {
        const char* pattern;
        const char* text;
        bool matches;
    };
    for (const auto& [pattern, text, matches] : {Case{"a100", "a100", true},
                                                 {"a100", "a10", false},
                                                 {"a*", "a100", true},
                                                 {"*", "", true},
                                                 {"", "", true},
                                                 {"", "a", false},
                                                 {"a?00", "a100", true},
                                                 {"a?00", "a00", false},
                                                 {"*-blue", "dark-blue", true},
                                                 {"d*-b*e", "dark-blue", true},
                                                 {"*a*b", "aab-b", true},
                                                 {"*a*b", "aab-c", false},
                                                 {"**", "x", true}})
        EXPECT_EQ(matches_wildcards(pattern, text), matches) << pattern << " " << text;
    // With this pattern, a matcher that backtracks would take practically for ever.
    std::string hostile;
    for (int i = 0; i < 200; ++i) hostile += "a*";
    EXPECT_FALSE(matches_wildcards(hostile + "b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace pbs::values
