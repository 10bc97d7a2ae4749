#include "values/abridged.h"

#include <gtest/gtest.h>

namespace pbs::values {
namespace {

TEST(Abridged, LongTextsLoseTheirMiddle) {
    EXPECT_EQ(abridged("", 10), "");
    EXPECT_EQ(abridged("0123456789", 10), "0123456789");
    EXPECT_EQ(abridged("0123456789abc", 10), "01234 ... 89abc");
    EXPECT_EQ(abridged(std::string(1000, 'x'), 4), "xx ... xx");
}

TEST(Abridged, KeepsCharactersWhole) {
    const std::string text = "a\u00e9\u20acb\u20ac\u00e9c";
    for (std::size_t most = 0; most < text.size(); ++most) {
        const std::string shown = abridged(text, most);
        const std::size_t gap = shown.find(" ... ");
        ASSERT_NE(gap, std::string::npos) << most;
        EXPECT_TRUE(text.starts_with(shown.substr(0, gap)) && text.ends_with(shown.substr(gap + 5))) << shown;
        const auto begins_character = [](unsigned char c) { return (c & 0xc0) != 0x80; };
        EXPECT_TRUE(gap + 5 == shown.size() || begins_character(shown[gap + 5])) << shown;
        EXPECT_TRUE(gap == text.size() || begins_character(text[gap])) << shown;
    }
    // Bytes that aren't UTF-8 are shown as they are.
    EXPECT_NE(abridged(std::string(8, '\x80'), 4).find(" ... "), std::string::npos);
}

}  // namespace
}  // namespace pbs::values
