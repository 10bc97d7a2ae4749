// Tests durations, sizes and numbers as OpenPBS's server (its master branch) reads them from `qmgr -c "set
// server resources_available.R = INPUT"`, with a resource R of each type, and from `qsub -l walltime=INPUT`.
// Where this project reads an input differently, a comment says so.
#include "values/amount.h"

#include <gtest/gtest.h>

#include <limits>

namespace pbs::values {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Amount, Durations) {
    const struct {
        const char* text;
        std::int64_t seconds;
    } taken[] = {
        {"0", 0},
        {"90", 90},
        {"01:30", 90},
        {"1:30:00", 5400},
        {"1:90", 150},
        {"90:90:90", 329490},
        {"1000:00:01", 3600001},
        {"001:1", 61},
        {"10.4", 10},
        {"10.5", 11},
        {"0:0:59.999", 60},
        {"5.", 5},
        {"00000000000000001", 1},
    };
    for (const auto& [text, seconds] : taken) EXPECT_EQ(parse_duration(text), seconds) << text;
    for (const char* text : {"", "soon", "-5", "+5", ":30", "1::30", "1:2:3:4", "1:30x", "1 h", ".5", "1:.5",
                             "1.5.5", "1e3", "0x10", " 5", "99999999999999999999", "99999999999999999:0:0"})
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    // OpenPBS takes "1:" and "1:2:" for minutes without seconds. This project refuses them.
    for (const char* text : {"1:", "1:2:"}) EXPECT_EQ(parse_duration(text), std::nullopt) << text;

    // A duration that was read can be read again from its text, also one of the largest.
    for (const char* text : {"1280000000000000", "21000000000000:0", "355000000000:0:0"}) {
        const auto seconds = parse_duration(text);
        ASSERT_TRUE(seconds) << text;
        EXPECT_EQ(parse_duration(duration_text(*seconds)), seconds) << text;
    }
    for (const char* text : {"1282000000000000", "355000000000:0:1200000000000000",
                             "11888488888888:844444444441942", "356000000000:0:1200000000000000"})
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;

    EXPECT_EQ(duration_text(0), "00:00:00");
    EXPECT_EQ(duration_text(3600001), "1000:00:01");
    EXPECT_EQ(duration_text(-61), "-00:01:01");
    EXPECT_EQ(duration_text(std::numeric_limits<std::int64_t>::min()), "-2562047788015215:30:08");
}

TEST(Amount, Sizes) {
    const struct {
        const char* text;
        std::int64_t bytes;
        const char* written;
    } taken[] = {
        {"0", 0, "0b"},
        {"100", 100, "100b"},
        {"1b", 1, "1b"},
        {"2w", 16, "2w"},
        {"4KB", 4096, "4kb"},
        {"4k", 4096, "4kb"},
        {"4g", std::int64_t{4} << 30, "4gb"},
        {"2kw", 16384, "2kw"},
        {"2mW", std::int64_t{2} << 23, "2mw"},
        {"1tb", std::int64_t{1} << 40, "1tb"},
        {"1pb", std::int64_t{1} << 50, "1pb"},
        {"0012mb", std::int64_t{12} << 20, "12mb"},
    };
    for (const auto& [text, bytes, written] : taken) {
        const auto size = parse_size(text);
        ASSERT_TRUE(size) << text;
        EXPECT_EQ(size->bytes(), bytes) << text;
        EXPECT_EQ(size->text(), written) << text;
        EXPECT_FALSE(size->too_large()) << text;
        EXPECT_EQ(parse_size(size->text())->text(), written) << text;
    }
    for (const char* text : {"", "gb", "4kkb", "4bk", "4bb", "4kbb", "4wb", "4x", "4 gb", "-1gb", "1.5gb",
                             "1e3", "99999999999999999999"})
        EXPECT_EQ(parse_size(text), std::nullopt) << text;
    // OpenPBS allows white space or a '+' before a size. This project refuses both.
    for (const char* text : {" 4", "+4"}) EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST(Amount, LargestSizes) {
    EXPECT_FALSE(parse_size("8191pb")->too_large());
    for (const char* text : {"8192pb", "9999999pb", "1024pw", "18446744073709551615"}) {
        EXPECT_TRUE(parse_size(text)->too_large()) << text;
        EXPECT_EQ(parse_bytes(text), kMost) << text;
    }
    EXPECT_EQ(parse_bytes("9223372036854775807"), kMost);
    EXPECT_FALSE(parse_size("9223372036854775807")->too_large());
}

TEST(Amount, SizesAreWrittenInTheLargestUnitOrInKilobytes) {
    EXPECT_EQ(size_text(0), "0b");
    EXPECT_EQ(size_text(1023), "1023b");
    EXPECT_EQ(size_text(1536 << 10), "1536kb");
    EXPECT_EQ(size_text(std::int64_t{1024} << 20), "1gb");
    EXPECT_EQ(size_text(std::int64_t{2048} << 50), "2048pb");
    EXPECT_EQ(kilobytes_text(0), "0kb");
    EXPECT_EQ(kilobytes_text(4096), "4kb");
    EXPECT_EQ(kilobytes_text(4097), "5kb");
}

TEST(Amount, Integers) {
    EXPECT_EQ(parse_integer("12"), 12);
    EXPECT_EQ(parse_integer("+12"), 12);
    EXPECT_EQ(parse_integer("-12"), -12);
    EXPECT_EQ(parse_integer("010"), 10);
    EXPECT_EQ(parse_integer("9223372036854775807"), kMost);
    for (const char* text : {"1.5", "1e3", "0x10", "12abc", "--1", "+-1", " 1", "1 "})
        EXPECT_EQ(parse_integer(text), std::nullopt) << text;
    // OpenPBS takes a text without digits for 0, and a number that is too large for the largest one. Both are
    // refused here.
    for (const char* text : {"", "+", "-", "9223372036854775808"})
        EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST(Amount, Reals) {
    EXPECT_EQ(parse_real("1.5"), 1.5);
    EXPECT_EQ(parse_real("-1.5e3"), -1500);
    EXPECT_EQ(parse_real("+2"), 2);
    EXPECT_EQ(parse_millionths("0.0000015"), 2);
    EXPECT_EQ(parse_millionths("-1.5"), -1500000);
    EXPECT_EQ(parse_millionths("1e13"), std::nullopt);
    for (const char* text : {"", "abc", "1.5x", "1.5.5", "1e999"})
        EXPECT_EQ(parse_real(text), std::nullopt) << text;
    // OpenPBS also takes hexadecimal numbers, inf and nan, as strtod() does. These are refused here.
    for (const char* text : {"0x10", "inf", "nan", " 1"}) EXPECT_EQ(parse_real(text), std::nullopt) << text;
}

TEST(Amount, Booleans) {
    for (const char* text : {"True", "TRUE", "true", "t", "T", "y", "Y", "1"})
        EXPECT_EQ(parse_boolean(text), true) << text;
    for (const char* text : {"False", "FALSE", "false", "f", "F", "n", "N", "0"})
        EXPECT_EQ(parse_boolean(text), false) << text;
    for (const char* text : {"", "yes", "no", "tRue", "2", "on", " true"})
        EXPECT_EQ(parse_boolean(text), std::nullopt) << text;
}

}  // namespace
}  // namespace pbs::values
