#include "server_plugin/host/state/values.h"

#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

std::string text(Type type, std::string_view value) {
    return canonical(type, value).value_or("refused");
}

TEST(Values, SizesKeepTheirUnit) {
    EXPECT_EQ(text(Type::size, "4GB"), "4gb");
    EXPECT_EQ(text(Type::size, "100"), "100b");
    EXPECT_EQ(text(Type::size, "2kw"), "2kw");
    EXPECT_EQ(text(Type::size, "4 gb"), "refused");
    EXPECT_EQ(text(Type::size, "-1gb"), "refused");
    EXPECT_EQ(text(Type::size, "9999999pb"), "refused");
    EXPECT_EQ(amount_of(Type::size, "4gb"), int64_t{4} << 30);
    EXPECT_EQ(amount_of(Type::size, "2kw"), 2 * 1024 * 8);
    EXPECT_EQ(amount_text(Type::size, int64_t{4} << 30), "4194304kb");
    EXPECT_EQ(amount_text(Type::size, 1000), "1000b");
}

TEST(Values, DurationsAreShownAsHours) {
    EXPECT_EQ(text(Type::duration, "90"), "00:01:30");
    EXPECT_EQ(text(Type::duration, "1:00:00"), "01:00:00");
    EXPECT_EQ(text(Type::duration, "120:00:00"), "120:00:00");
    EXPECT_EQ(text(Type::duration, "1:30"), "00:01:30");
    EXPECT_EQ(text(Type::duration, "1:2:3:4"), "refused");
    EXPECT_EQ(text(Type::duration, "-5"), "refused");
    EXPECT_EQ(text(Type::duration, "soon"), "refused");
    EXPECT_EQ(amount_of(Type::duration, "01:00:01"), 3601);
}

TEST(Values, BooleansHaveManySpellings) {
    for (const char* yes : {"true", "T", "y", "1", "TRUE"}) EXPECT_EQ(text(Type::boolean, yes), "True");
    for (const char* no : {"False", "f", "N", "0"}) EXPECT_EQ(text(Type::boolean, no), "False");
    for (const char* neither : {"maybe", "yes", "no", "tRUE"})
        EXPECT_EQ(text(Type::boolean, neither), "refused") << neither;
}

TEST(Values, NumbersAreWhole) {
    EXPECT_EQ(text(Type::integer, " 12 "), "12");
    EXPECT_EQ(text(Type::integer, "12x"), "refused");
    EXPECT_EQ(text(Type::integer, "99999999999999999999"), "refused");
    EXPECT_EQ(text(Type::real, "1.5"), "1.5");
    for (const auto& [given, kept] :
         std::vector<std::pair<const char*, const char*>>{{"1.50", "1.5"},
                                                          {"1e5", "100000"},
                                                          {"1234567", "1234567"},
                                                          {"1234567.25", "1234567.25"},
                                                          {"-0", "0"},
                                                          {"005", "5"},
                                                          {"0.0001", "0.0001"},
                                                          {"123456789012", "123456789012"}})
        EXPECT_EQ(text(Type::real, given), kept);
    EXPECT_EQ(amount_text(Type::real, 1'234'567'300'000), "1234567.3");
    EXPECT_EQ(text(Type::real, "nan"), "refused");
    EXPECT_EQ(amount_of(Type::real, "1.5"), 1'500'000);
}

TEST(Values, TheErrorNamesTheValueAndWhatWasExpected) {
    const auto bad = canonical(Type::duration, "soon");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, PBSE_BADATVAL);
    EXPECT_EQ(bad.error().message, "Illegal value \"soon\": expected a duration as HH:MM:SS or in seconds");
}

TEST(Values, HoldsAreASet) {
    EXPECT_EQ(text(Type::hold, "su"), "us");
    EXPECT_EQ(text(Type::hold, "n"), "n");
    EXPECT_EQ(text(Type::hold, "x"), "refused");
}

TEST(Values, ListsSplitAtCommasThatAreNotQuoted) {
    EXPECT_EQ(split_list("a=1\\,2, b ,,c"), (std::vector<std::string>{"a=1\\,2", "b", "c"}));
    EXPECT_EQ(split_list("a\\\\,b,c\\d"), (std::vector<std::string>{"a\\\\,b", "c\\d"}));
    EXPECT_EQ(text(Type::acl, "a@h,b@h,a@h"), "refused");
}

}  // namespace
}  // namespace pbs::host
