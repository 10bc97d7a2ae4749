// This machine's load, as the records of its vnodes tell it to the plugin.
#pragma once

#include <cstdint>
#include <istream>

namespace pbs::host {

// Loads are in thousandths; -1: unknown.
struct MachineLoad {
    int64_t average = -1;      // one-minute load average
    int64_t system_time = -1;  // share of the time of all CPUs that was spent in the system
    int64_t max = -1;          // limit of the average: $max_load of mom_priv/config
    int64_t at = 0;            // when it was measured, in seconds since the Epoch
    bool busy = false;         // the average reached `max` and hasn't fallen below the ideal load since
};

// $max_load and $ideal_load of mom_priv/config, in thousandths; -1: not set. If one of the two isn't set, the
// other one's value counts for both.
struct LoadLimits {
    int64_t max = -1;
    int64_t ideal = -1;
};

// Measures the load. The share of system time is measured between two readings at least a second of CPU time
// apart.
class LoadMeter {
  public:
    // Reads /proc/loadavg and /proc/stat.
    MachineLoad read(const LoadLimits& limits, int64_t now);
    // Reads the same from streams with the content of these files (proc(5)).
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
