#include "server_plugin/host/base/deadline_timer.h"

#include <gtest/gtest.h>
#include <sys/timex.h>
#include <uv.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace pbs::host {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

std::chrono::sys_seconds second_of(system_clock::time_point t) {
    return std::chrono::floor<std::chrono::seconds>(t);
}

class DeadlineTimerTest : public testing::Test {
  protected:
    void SetUp() override {
        uv_loop_init(&loop);
        auto opened = DeadlineTimer::open(&loop, [this] {
            looked_at.push_back(system_clock::now());
            if (looked_at.size() < again.size() + 1) timer->set(again[looked_at.size() - 1]);
            if (looked_at.size() > again.size()) timer->close();
        });
        ASSERT_TRUE(opened);
        timer = std::move(*opened);
    }
    void TearDown() override {
        timer->close();
        uv_run(&loop, UV_RUN_DEFAULT);
        EXPECT_EQ(uv_loop_close(&loop), 0);
    }

    uv_loop_t loop{};
    std::unique_ptr<DeadlineTimer> timer;
    std::vector<system_clock::time_point> looked_at;
    std::vector<std::chrono::sys_seconds> again;  // the instants to which the calls of `look` set the timer
};

TEST_F(DeadlineTimerTest, CallsAtTheInstantAndNotBefore) {
    const auto instant = second_of(system_clock::now()) + 2s;
    timer->set(instant + 3600s);
    timer->set(instant);
    uv_run(&loop, UV_RUN_DEFAULT);
    ASSERT_EQ(looked_at.size(), 1U);
    EXPECT_GE(looked_at[0], instant);
}

TEST_F(DeadlineTimerTest, AnInstantThatHasPassedIsNow) {
    timer->set(second_of(system_clock::now()) - 86400s);
    uv_run(&loop, UV_RUN_DEFAULT);
    EXPECT_EQ(looked_at.size(), 1U);
    again.clear();
}

TEST_F(DeadlineTimerTest, TheCallSetsTheNextInstant) {
    const auto first = second_of(system_clock::now()) - 1s;
    again = {first + 1s, first};
    timer->set(first);
    uv_run(&loop, UV_RUN_DEFAULT);
    EXPECT_EQ(looked_at.size(), 3U);
}

TEST_F(DeadlineTimerTest, WithoutAnInstantNothingIsCalled) {
    timer->set(std::nullopt);
    timer->set(std::chrono::sys_seconds::max());
    for (int i = 0; i < 3; ++i) uv_run(&loop, UV_RUN_NOWAIT);
    EXPECT_TRUE(looked_at.empty());
}

// Sets the clock forward and back by a millisecond, because the kernel doesn't report that it was set to the
// same time. It is the machine's clock, so NTP may notice.
TEST_F(DeadlineTimerTest, SettingTheClockIsTold) {
    if (std::getenv("PBSPOLICY_TEST_SET_CLOCK") == nullptr)
        GTEST_SKIP()
            << "sets the machine's clock (by 1 ms), as root with PBSPOLICY_TEST_SET_CLOCK in the environment";
    const auto far = second_of(system_clock::now()) + 86400s;
    again = {far};
    timer->set(std::nullopt);
    for (const timeval offset : {timeval{0, 1000}, timeval{-1, 999000}}) {
        timex setting{};
        setting.modes = ADJ_SETOFFSET;
        setting.time = offset;
        ASSERT_GE(adjtimex(&setting), 0) << std::strerror(errno);
        uv_run(&loop, UV_RUN_ONCE);
    }
    EXPECT_EQ(looked_at.size(), 2U) << "without an instant, and long before one";
}

}  // namespace
}  // namespace pbs::host
