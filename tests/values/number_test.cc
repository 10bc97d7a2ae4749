#include "values/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pbs::values {
namespace {

TEST(Number, IsTheWholeText) {
    EXPECT_EQ(number<int>("12"), 12);
    EXPECT_EQ(number<int>("-12"), -12);
    EXPECT_EQ(number<int>("007"), 7);
    EXPECT_EQ(number<unsigned>("ff", 16), 255U);
    EXPECT_EQ(number<std::uint8_t>("255"), 255);
    for (const char* text : {"", " 1", "1 ", "+1", "--1", "1.0", "0x1", "2147483648"})
        EXPECT_EQ(number<int>(text), std::nullopt) << text;
    EXPECT_EQ(number<std::uint8_t>("256"), std::nullopt);
    EXPECT_EQ(number<unsigned>("-1"), std::nullopt);
}

TEST(Number, ANumberOfDigitsAloneHasNoSign) {
    EXPECT_EQ(digits<int>("012"), 12);
    for (const char* text : {"", "-1", "+1", "1a"}) EXPECT_EQ(digits<int>(text), std::nullopt) << text;
}

TEST(Number, IsTakenOffTheFrontOfAText) {
    std::string_view text = "12-15";
    EXPECT_EQ(take_number<int>(text), 12);
    EXPECT_EQ(text, "-15");
    text = "x1";
    EXPECT_EQ(take_number<int>(text), std::nullopt);
    EXPECT_EQ(text, "x1");
    text = "99999999999999999999";
    EXPECT_EQ(take_number<std::int64_t>(text), std::nullopt);
    EXPECT_EQ(text.size(), 20U);
}

TEST(Number, DecimalIsFinite) {
    EXPECT_EQ(decimal("1.5"), 1.5);
    EXPECT_EQ(decimal("+1.5"), 1.5);
    EXPECT_EQ(decimal("-.5"), -.5);
    EXPECT_EQ(decimal("1e3"), 1000);
    EXPECT_EQ(decimal("1e3", std::chars_format::fixed), std::nullopt);
    for (const char* text : {"", "+", "+-1", "inf", "nan", "1e999", "1.5x", " 1", "0x10"})
        EXPECT_EQ(decimal(text), std::nullopt) << text;
}

}  // namespace
}  // namespace pbs::values
