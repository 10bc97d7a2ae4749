#include "ifl/cmds/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(Columns, CutWithAnAsterisk) {
    EXPECT_EQ(left("abc", 5), "abc  ");
    EXPECT_EQ(left("abcdef", 5), "abcd*");
    EXPECT_EQ(left("abcde", 5), "abcde");
    EXPECT_EQ(right("123", 5), "  123");
    EXPECT_EQ(right("123456", 5), "1234*");
}

TEST(Printable, ShowsControlCharacters) {
    EXPECT_EQ(printable("a\x1b[2Jb\x7f\tc"), "a^[[2Jb^?\tc");
    EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

TEST(ParseInteger, TakesWholeNumbersOnly) {
    EXPECT_EQ(parse_integer("-12").value(), -12);
    EXPECT_EQ(parse_integer("+12").value(), 12);
    for (const char* bad : {"", " 1", "1 ", "1x", "+-1", "+", "99999999999999999999"}) {
        EXPECT_FALSE(parse_integer(bad)) << bad;
    }
}

TEST(QuoteValue, IsReadBackByTakeValue) {
    for (const char* value : {"plain", "", "a b", "a,b", "it's", "say \"x\"", "it's \"x\"", "'", "\"",
                              "\"'\"'", "a;b", "#a", "[x]", "a'b\"c'd", "tab\there"}) {
        const std::string quoted = quote_value(value);
        const auto taken = take_value(quoted, 0);
        ASSERT_TRUE(taken) << quoted;
        EXPECT_EQ(taken->text, value) << quoted;
        EXPECT_EQ(taken->end, quoted.size()) << quoted;
    }
}

TEST(QuoteValue, LeavesPlainValuesBareAndMakesNewlinesBlanks) {
    EXPECT_EQ(quote_value("root@host"), "root@host");
    EXPECT_EQ(quote_value("DTSTART:x\nRRULE:y"), "\"DTSTART:x RRULE:y\"");
}

TEST(TakeValue, SaysWhereAQuoteOpened) {
    const auto taken = take_value("x\"abc", 1);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().offset, 1U);
    EXPECT_EQ(taken.error().message, "no closing quote");
}

TEST(ParsePairs, KeepsCommasThatBelongToValues) {
    EXPECT_THAT(parse_pairs("depend=afterok:1:2,umask=022").value(),
                ElementsAre(Pair("depend", "afterok:1:2"), Pair("umask", "022")));
    EXPECT_THAT(parse_pairs("stagein=a@h:b,c@h:d, group_list = g").value(),
                ElementsAre(Pair("stagein", "a@h:b,c@h:d"), Pair("group_list", "g")));
    EXPECT_THAT(parse_pairs("a='x,b=y',c=1").value(), ElementsAre(Pair("a", "x,b=y"), Pair("c", "1")));
}

TEST(ParsePairs, RefusesWhatIsNoPair) {
    for (const char* bad : {"", "umask", "=1", "umask=", "a='x", "a=1,", ",a=1", "a=1,,b=2", "a=1, ,b=2"}) {
        EXPECT_FALSE(parse_pairs(bad)) << bad;
    }
    EXPECT_THAT(parse_pairs("umask").error().message, HasSubstr("'umask'"));
    // in a list of pairs, a word without '=' continues the value before it
    EXPECT_THAT(parse_pairs("a=1,b").value(), ElementsAre(Pair("a", "1,b")));
}

}  // namespace
}  // namespace pbs::cmds
