// How busy this machine is: what the records of its vnodes tell the plugin.
#pragma once

#include <cstdint>
#include <istream>

namespace pbs::host {

// In thousandths; -1: unknown.
struct MachineLoad {
    int64_t average = -1;      // one-minute load average
    int64_t system_time = -1;  // share of the time of all CPUs that was spent in the system
};

// Measures between its readings: the system time is that since the reading before, or an earlier one while
// that is less than a second of CPU time ago.
class LoadMeter {
  public:
    // Reads /proc/loadavg and /proc/stat.
    MachineLoad read();
    // The same from streams with their content (proc(5)).
    MachineLoad read(std::istream& loadavg, std::istream& stat);

  private:
    int64_t system_ = 0;  // in clock ticks, since the start of the machine
    int64_t total_ = 0;
    int64_t system_time_ = -1;
    bool measured_ = false;
};

}  // namespace pbs::host
