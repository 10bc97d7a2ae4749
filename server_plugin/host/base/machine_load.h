// Measures this machine's load. The plugin gets it in the records of this machine's vnodes.
#pragma once

#include <cstdint>
#include <istream>

namespace pbs::host {

// The load of this machine at one time. Loads are in thousandths; -1: unknown, for `max` not set.
struct MachineLoad {
    int64_t average = -1;      // one-minute load average
    int64_t system_time = -1;  // share of system time in the time of all CPUs
    int64_t max = -1;          // limit of the average: $max_load of mom_priv/config
    int64_t at = 0;            // the time of the measurement, in seconds since the Epoch
    bool busy = false;         // the average has reached `max`, and hasn't fallen below the ideal load since
};

// $max_load and $ideal_load of mom_priv/config, in thousandths; -1: not set. If only one of the two is set,
// its value counts for both.
struct LoadLimits {
    int64_t max = -1;
    int64_t ideal = -1;
};

// Measures the load. The share of system time is measured between two readings, during which the CPUs have
// counted at least one second together.
class LoadMeter {
  public:
    // Reads /proc/loadavg and /proc/stat.
    MachineLoad read(const LoadLimits& limits, int64_t now);
    // Does the same with streams that have the content of these two files (proc(5)).
    MachineLoad read(std::istream& loadavg, std::istream& stat, const LoadLimits& limits = {},
                     int64_t now = 0);

  private:
    int64_t system_ = 0;  // clock ticks, since the start of the machine
    int64_t total_ = 0;
    int64_t system_time_ = -1;
    bool measured_ = false;
    bool busy_ = false;
};

}  // namespace pbs::host
