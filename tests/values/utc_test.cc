#include "values/utc.h"

#include <gtest/gtest.h>

#include <chrono>

namespace pbs::values {
namespace {

using namespace std::chrono_literals;

TEST(Utc, IsReadAsItIsWritten) {
    const std::chrono::sys_seconds t = std::chrono::sys_days(2026y / 11 / 22) + 17h + 1min + 28s;
    EXPECT_EQ(utc_text(t), "2026-11-22T17:01:28Z");
    EXPECT_EQ(utc_time("2026-11-22T17:01:28Z"), t);
    EXPECT_EQ(utc_text({}), "1970-01-01T00:00:00Z");
    EXPECT_EQ(utc_time("1970-01-01T00:00:00Z"), std::chrono::sys_seconds{});
}

TEST(Utc, IsTheWholeText) {
    for (const char* text : {"", "Z", "2026-11-22", "2026-11-22T17:01:28", "2026-11-22T17:01:28Z ",
                             "2026-13-22T17:01:28Z", "2026-11-22 17:01:28Z", "now"})
        EXPECT_EQ(utc_time(text), std::nullopt) << text;
}

}  // namespace
}  // namespace pbs::values
