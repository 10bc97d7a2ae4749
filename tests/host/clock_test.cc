#include "server_plugin/host/base/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

namespace pbs::host {
namespace {

using namespace std::chrono_literals;

std::chrono::sys_seconds real_time() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

class ClockFile : public testing::Test {
  protected:
    void SetUp() override { path_ = testing::TempDir() + "clock." + std::to_string(::getpid()); }
    void TearDown() override { ::unlink(path_.c_str()); }
    void write(const std::string& text) const { std::ofstream(path_) << text; }
    // Waits until the clock has looked at its file again, which it does every 20 ms.
    static void look() { std::this_thread::sleep_for(25ms); }

    std::string path_;
    std::vector<std::string> complaints_;
    Clock::Complain complain_ = [this](const std::string& text) { complaints_.push_back(text); };
};

TEST(ClockTest, ShowsRealTimePlusItsOffset) {
    Clock clock(1h);
    EXPECT_EQ(clock.offset(), 3600s);
    const auto ahead = clock.now() - real_time();
    EXPECT_GE(ahead, 3599s);
    EXPECT_LE(ahead, 3601s);
    EXPECT_EQ(clock.from_real(std::chrono::sys_seconds(100s)), std::chrono::sys_seconds(3700s));
    Clock unshifted;
    EXPECT_LE(unshifted.now() - real_time(), 1s);
}

TEST_F(ClockFile, AddsTheOffsetInItsFile) {
    write("-86400\n");
    Clock clock(10s);
    ASSERT_TRUE(clock.follow(path_));
    EXPECT_EQ(clock.offset(), -86390s);
    EXPECT_EQ(clock.file(), path_);
}

TEST_F(ClockFile, SeesChangesOfTheFile) {
    write("0");
    Clock clock;
    ASSERT_TRUE(clock.follow(path_));
    // The clock also notices quick changes that keep the file's length, although the file's times alone
    // wouldn't show them.
    for (int i = 1; i < 10; ++i) {
        write(std::to_string(i));
        look();
        EXPECT_EQ(clock.offset(), std::chrono::seconds(i));
    }
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(clock.offset(), 9s);
    write("+1000000");
    look();
    EXPECT_EQ(clock.offset(), 1000000s);
    const auto temporary = path_ + ".new";
    std::ofstream(temporary) << "77";
    ASSERT_EQ(::rename(temporary.c_str(), path_.c_str()), 0);
    look();
    EXPECT_EQ(clock.offset(), 77s);
}

TEST_F(ClockFile, KeepsTheLastGoodOffsetAndComplainsOnce) {
    write("50");
    Clock clock;
    ASSERT_TRUE(clock.follow(path_, complain_));
    write("soon");
    for (int i = 0; i < 8; ++i) {
        look();
        EXPECT_EQ(clock.offset(), 50s);
    }
    EXPECT_THAT(complaints_,
                testing::ElementsAre("clock file " + path_ +
                                     ": \"soon\" is not a whole number of seconds within 100 years; the "
                                     "offset stays as it was"));
    ::unlink(path_.c_str());
    look();
    EXPECT_EQ(clock.offset(), 50s);
    look();
    EXPECT_EQ(clock.offset(), 50s);
    EXPECT_EQ(complaints_.size(), 2U);
    write("60");
    look();
    EXPECT_EQ(clock.offset(), 60s);
    EXPECT_EQ(complaints_.size(), 2U);
}

TEST_F(ClockFile, RefusesABadFileAtTheStart) {
    Clock clock;
    EXPECT_FALSE(clock.follow(path_));
    for (const auto* bad :
         {"", "  \n", "1.5", "12 13", "+-5", "99999999999999999999", "4000000000", "0x10"}) {
        write(bad);
        const auto followed = clock.follow(path_);
        ASSERT_FALSE(followed) << bad;
        EXPECT_THAT(followed.error().message, testing::HasSubstr(path_));
    }
    EXPECT_EQ(clock.offset(), 0s);
}

TEST(LocalTimeTest, IsWrittenAsPbsDoes) {
    const auto local = local_time(std::chrono::sys_seconds(1700000000s));
    EXPECT_THAT(local.stamp, testing::MatchesRegex("[0-9]{2}/[0-9]{2}/2023 [0-9]{2}:[0-9]{2}:20"));
    EXPECT_THAT(local.day, testing::AnyOf(20231114, 20231115));
}

}  // namespace
}  // namespace pbs::host
