#include "ifl/dis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace pbs::ifl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string written_unsigned(std::uint64_t value) {
    std::string out;
    DisWriter(out).put_unsigned(value);
    return out;
}

std::string written_signed(std::int64_t value) {
    std::string out;
    DisWriter(out).put_signed(value);
    return out;
}

struct UnsignedRow {
    std::uint64_t value;
    const char* text;
};

class UnsignedTable : public ::testing::TestWithParam<UnsignedRow> {};

TEST_P(UnsignedTable, IsWrittenAndReadBack) {
    const auto& row = GetParam();
    EXPECT_EQ(written_unsigned(row.value), row.text);
    DisReader in(row.text);
    EXPECT_EQ(in.get_unsigned("value"), row.value);
    EXPECT_FALSE(in.failed()) << in.error();
    EXPECT_TRUE(in.at_end());
}

INSTANTIATE_TEST_SUITE_P(Boundaries, UnsignedTable,
                         ::testing::Values(UnsignedRow{0, "+0"}, UnsignedRow{1, "+1"}, UnsignedRow{9, "+9"},
                                           UnsignedRow{10, "2+10"}, UnsignedRow{99, "2+99"},
                                           UnsignedRow{100, "3+100"}, UnsignedRow{65536, "5+65536"},
                                           UnsignedRow{999999999, "9+999999999"},
                                           UnsignedRow{1000000000, "210+1000000000"},
                                           UnsignedRow{UINT32_MAX, "210+4294967295"},
                                           UnsignedRow{UINT64_MAX, "220+18446744073709551615"}));

struct SignedRow {
    std::int64_t value;
    const char* text;
};

class SignedTable : public ::testing::TestWithParam<SignedRow> {};

TEST_P(SignedTable, IsWrittenAndReadBack) {
    const auto& row = GetParam();
    EXPECT_EQ(written_signed(row.value), row.text);
    DisReader in(row.text);
    EXPECT_EQ(in.get_signed("value"), row.value);
    EXPECT_FALSE(in.failed()) << in.error();
}

INSTANTIATE_TEST_SUITE_P(Boundaries, SignedTable,
                         ::testing::Values(SignedRow{0, "+0"}, SignedRow{-1, "-1"}, SignedRow{-9, "-9"},
                                           SignedRow{-10, "2-10"}, SignedRow{15001, "5+15001"},
                                           SignedRow{INT32_MIN, "210-2147483648"},
                                           SignedRow{INT64_MAX, "219+9223372036854775807"},
                                           SignedRow{INT64_MIN, "219-9223372036854775808"}));

struct MalformedRow {
    const char* text;
    const char* reason;
};

class MalformedNumber : public ::testing::TestWithParam<MalformedRow> {};

TEST_P(MalformedNumber, IsRefusedWithItsReason) {
    DisReader in(GetParam().text);
    EXPECT_EQ(in.get_unsigned("amount"), 0U);
    ASSERT_TRUE(in.failed()) << GetParam().text;
    EXPECT_THAT(in.error(), StartsWith("amount, at byte "));
    EXPECT_THAT(in.error(), HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    Table, MalformedNumber,
    ::testing::Values(
        MalformedRow{"", "the data ends"}, MalformedRow{"+", "digits expected, the data ends"},
        MalformedRow{"2+1", "2 digits expected, the data ends after 1"}, MalformedRow{"2", "the data ends"},
        MalformedRow{"x", "a digit expected"}, MalformedRow{"+x", "a digit expected, found byte 0x78"},
        MalformedRow{"2+1x", "a digit expected"}, MalformedRow{"0+1", "a count of digits expected, found 0"},
        MalformedRow{"2+07", "without leading zeros"}, MalformedRow{"1+5", "a count of 2 to 20 digits"},
        MalformedRow{"201+1", "a count of digits expected, found 0"},
        MalformedRow{"221+100000000000000000000", "a count of 3 to 20 digits"},
        MalformedRow{"220+18446744073709551616", "at most 64 bits"},
        MalformedRow{"999999999", "the data ends"}, MalformedRow{"29+1", "a digit expected, found byte 0x2b"},
        MalformedRow{"299", "a count of 3 to 20 digits expected, found 99"},
        MalformedRow{"-0", "without a minus sign"}, MalformedRow{"-5", "found -5"},
        MalformedRow{"2-10", "found -10"}));

TEST(DisReader, RefusesNumbersBeyondTheLimitAsked) {
    DisReader in("210+4294967296");
    in.get_u32("field");
    EXPECT_THAT(in.error(), HasSubstr("a number from 0 to 4294967295 expected, found 4294967296"));

    DisReader small("2+12");
    EXPECT_EQ(small.get_unsigned("field", 11), 0U);
    EXPECT_TRUE(small.failed());

    DisReader below("210-2147483649");
    below.get_i32("field");
    EXPECT_THAT(below.error(), HasSubstr("found -2147483649"));

    DisReader above("219+9223372036854775808");
    above.get_signed("field");
    EXPECT_TRUE(above.failed());
}

TEST(DisReader, ReadsStringsOfAnyBytes) {
    std::string out;
    DisWriter writer(out);
    const std::string binary("a\0\xff+", 4);
    writer.put_string("");
    writer.put_string("abc");
    writer.put_string(binary);
    EXPECT_EQ(out.substr(0, 7), "+0+3abc");

    DisReader in(out);
    EXPECT_EQ(in.get_string("s", 10), "");
    EXPECT_EQ(in.get_string("s", 10), "abc");
    EXPECT_EQ(in.get_bytes("s", 10), binary);
    EXPECT_TRUE(in.at_end());
    EXPECT_FALSE(in.failed());
}

TEST(DisReader, RefusesMalformedStrings) {
    const struct {
        std::string text;
        const char* reason;
    } rows[] = {
        {"+4abc", "a string of 4 bytes expected, the data ends after 3"},
        {"+6abcdef", "a string of at most 5 bytes expected, found 6"},
        {"220+18446744073709551615abc", "at most 5 bytes"},
        {std::string("+2a\0", 4), "without NUL bytes"},
        {"-1a", "found -1"},
        {"abc", "a digit expected"},
    };
    for (const auto& row : rows) {
        DisReader in(row.text);
        EXPECT_EQ(in.get_string("name", 5), "") << row.text;
        EXPECT_THAT(in.error(), HasSubstr(row.reason)) << row.text;
    }
}

TEST(DisReader, KeepsItsFirstErrorAndReadsNothingAfterIt) {
    DisReader in("+1x+2ab");
    EXPECT_EQ(in.get_u32("first"), 1U);
    EXPECT_EQ(in.get_u32("second"), 0U);
    const std::string error = in.error();
    const std::size_t position = in.position();
    EXPECT_THAT(error, StartsWith("second, at byte 2"));
    EXPECT_EQ(in.get_string("third", 10), "");
    in.fail("fourth", "anything");
    EXPECT_EQ(in.error(), error);
    EXPECT_EQ(in.position(), position);
}

TEST(DisReader, RefusesCountsThatTheDataCannotHold) {
    DisReader in("210+4000000000+1");
    EXPECT_EQ(in.get_count("number of jobs", SIZE_MAX, 2), 0U);
    EXPECT_THAT(in.error(), HasSubstr("4000000000 elements announced, the data has 2 bytes left"));

    DisReader good("+2+0+0");
    EXPECT_EQ(good.get_count("number of jobs", 2, 2), 2U);
    EXPECT_FALSE(good.failed());
}

}  // namespace
}  // namespace pbs::ifl
