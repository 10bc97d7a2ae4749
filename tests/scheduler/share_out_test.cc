#include "server_plugin/scheduler/model/share_out.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pbs::sched::test {
namespace {

constexpr std::size_t kMany = 1'000'000;

TEST(ShareOut, EachCallIsMadeOnce) {
    for (const std::size_t jobs : {std::size_t{0}, kMany}) {
        std::vector<int> calls(1000, 0);
        share_out(jobs, calls.size(), [&](std::size_t i) { ++calls[i]; });
        EXPECT_EQ(calls, std::vector<int>(1000, 1)) << jobs;
    }
    share_out(kMany, 0, [](std::size_t) { FAIL(); });
}

TEST(ShareOut, LittleWorkIsDoneByTheCaller) {
    const auto self = std::this_thread::get_id();
    share_out(1000, 50, [&](std::size_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

TEST(ShareOut, WhatACallThrowsComesOut) {
    for (const std::size_t bad : {std::size_t{0}, std::size_t{500}, std::size_t{999}}) {
        const auto work = [&] {
            share_out(kMany, 1000, [&](std::size_t i) {
                if (i == bad) throw std::runtime_error("no memory");
            });
        };
        EXPECT_THROW(work(), std::runtime_error) << bad;
    }
}

}  // namespace
}  // namespace pbs::sched::test
