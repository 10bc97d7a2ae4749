#include "server_plugin/host/base/machine_load.h"

#include <array>
#include <fstream>
#include <string>

namespace pbs::host {
namespace {

constexpr int64_t kLeastTicks = 100;  // one second of one CPU

}  // namespace

MachineLoad LoadMeter::read(const LoadLimits& limits, int64_t now) {
    std::ifstream loadavg("/proc/loadavg");
    std::ifstream stat("/proc/stat");
    return read(loadavg, stat, limits, now);
}

// Reads the first line of /proc/stat: cpu user nice system idle iowait irq softirq steal, followed by the
// time of guests, which `user` and `nice` already include. Time for interrupts counts as system time, too.
MachineLoad LoadMeter::read(std::istream& loadavg, std::istream& stat, const LoadLimits& limits,
                            int64_t now) {
    MachineLoad load;
    load.at = now;
    if (double average = -1; loadavg >> average) load.average = static_cast<int64_t>(average * 1000);
    load.max = limits.max >= 0 ? limits.max : limits.ideal;
    const bool known = load.max >= 0 && load.average >= 0;
    if (known && load.average >= load.max)
        busy_ = true;
    else if (!known || load.average < (limits.ideal >= 0 ? limits.ideal : limits.max))
        busy_ = false;
    load.busy = busy_;
    std::string name;
    std::array<int64_t, 8> ticks{};
    stat >> name;
    for (int64_t& t : ticks) stat >> t;
    if (stat && name == "cpu") {
        const int64_t system = ticks[2] + ticks[5] + ticks[6];
        int64_t total = 0;
        for (const int64_t t : ticks) total += t;
        const int64_t since = total - total_;
        if (measured_ && since >= kLeastTicks && system >= system_)
            system_time_ = (system - system_) * 1000 / since;
        // The kernel's counters may run backwards a little. If they have, begin a new measurement.
        if (!measured_ || since >= kLeastTicks || since < 0) {
            system_ = system;
            total_ = total;
        }
        measured_ = true;
    }
    load.system_time = system_time_;
    return load;
}

}  // namespace pbs::host
