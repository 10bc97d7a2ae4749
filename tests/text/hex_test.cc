#include "text/hex.h"

#include <gtest/gtest.h>

namespace pbs::text {
namespace {

TEST(Hex, EveryByteThereAndBack) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    const std::string text = to_hex(bytes);
    EXPECT_EQ(text.size(), 512U);
    EXPECT_TRUE(text.starts_with("000102"));
    EXPECT_TRUE(text.ends_with("fdfeff"));
    EXPECT_EQ(from_hex(text), bytes);
    EXPECT_EQ(from_hex("4A6b"), "Jk");
    EXPECT_EQ(from_hex(""), "");
}

TEST(Hex, AnythingElseIsNone) {
    for (const char* text : {"0", "0g", "g0", "4 ", "\n\n", "0x4a"})
        EXPECT_EQ(from_hex(text), std::nullopt) << text;
}

}  // namespace
}  // namespace pbs::text
