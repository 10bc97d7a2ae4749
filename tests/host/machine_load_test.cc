#include "server_plugin/host/base/machine_load.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace pbs::host {
namespace {

struct LoadMeterTest : testing::Test {
    LoadMeter meter;
    MachineLoad read(const std::string& loadavg, const std::string& stat) {
        std::istringstream average(loadavg);
        std::istringstream ticks(stat);
        return meter.read(average, ticks);
    }
};

TEST_F(LoadMeterTest, SystemTimeIsThatBetweenTwoReadings) {
    EXPECT_EQ(
        read("0.50 0.40 0.30 1/200 999\n", "cpu  1000 0 500 8000 0 0 0 0 0 0\ncpu0 1 1 1 1\n").system_time,
        -1);
    // 1,000 ticks have passed since the first reading: 200 in the system, 30 in interrupts, 20 in soft
    // interrupts.
    const MachineLoad load = read("2.25 0 0 1/1 1\n", "cpu  1500 0 700 8250 0 30 20 0 0 0\n");
    EXPECT_EQ(load.system_time, 250);
    EXPECT_EQ(load.average, 2250);
}

TEST_F(LoadMeterTest, TooShortATimeKeepsTheValueBefore) {
    read("0 0 0", "cpu 0 0 0 0 0 0 0 0\n");
    EXPECT_EQ(read("0 0 0", "cpu 0 0 100 900 0 0 0 0\n").system_time, 100);
    EXPECT_EQ(read("0 0 0", "cpu 0 0 150 900 0 0 0 0\n").system_time, 100);
    EXPECT_EQ(read("0 0 0", "cpu 0 0 200 1000 0 0 0 0\n").system_time, 500)
        << "since the reading that counted";
}

TEST_F(LoadMeterTest, WhatIsMissingIsUnknown) {
    const MachineLoad load = read("", "intr 1 2 3\n");
    EXPECT_EQ(load.average, -1);
    EXPECT_EQ(load.system_time, -1);
}

TEST_F(LoadMeterTest, ThisMachineHasBoth) {
    meter.read({}, 1);
    EXPECT_GE(meter.read({}, 2).average, 0);
}

TEST_F(LoadMeterTest, IsBusyFromTheMaximumUntilItHasFallenBelowTheIdealLoad) {
    const auto busy = [&](const char* average, const LoadLimits& limits) {
        std::istringstream loadavg(average);
        std::istringstream none;
        return meter.read(loadavg, none, limits).busy;
    };
    const LoadLimits limits{.max = 4000, .ideal = 2500};
    EXPECT_FALSE(busy("3.99", limits));
    EXPECT_TRUE(busy("4.00", limits));
    EXPECT_TRUE(busy("2.50", limits));
    EXPECT_FALSE(busy("2.49", limits));
    EXPECT_FALSE(busy("3.99", limits));
    EXPECT_TRUE(busy("4.00", {.max = 4000})) << "each stands for the other";
    EXPECT_FALSE(busy("3.99", {.max = 4000}));
    EXPECT_TRUE(busy("4.00", {.ideal = 4000}));
    EXPECT_FALSE(busy("99", {}));
    EXPECT_TRUE(busy("5", limits));
    EXPECT_FALSE(busy("", limits)) << "nothing is known";
}

TEST_F(LoadMeterTest, SaysWhenItMeasuredAndWhatTheMaximumIs) {
    std::istringstream loadavg("0.5");
    std::istringstream none;
    const MachineLoad load = meter.read(loadavg, none, {.max = -1, .ideal = 1500}, 77);
    EXPECT_EQ(load.at, 77);
    EXPECT_EQ(load.max, 1500);
}

}  // namespace
}  // namespace pbs::host
