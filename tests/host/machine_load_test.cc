#include "server_plugin/host/machine_load.h"

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
    // 1,000 ticks later: 200 in the system, 30 in interrupts, 20 in soft interrupts.
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
    meter.read();
    EXPECT_GE(meter.read().average, 0);
}

}  // namespace
}  // namespace pbs::host
