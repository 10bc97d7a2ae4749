// What pbs_diag prints, made of what a server answered.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "tools/diag/ask.h"

namespace pbs::diag {

/// The instant as local time, "2026-11-23 16:59:10".
std::string time_text(std::chrono::sys_seconds at);
/// A duration in the unit that fits: "12 us", "3.4 ms", "1.25 s".
std::string duration_text(std::chrono::microseconds duration);
/// Bytes in the unit that fits: "512 B", "3.4 MB" (powers of 1000).
std::string size_text(double bytes);

/// The servers that jobs are pulled from, a line each.
std::string peers_text(const batch_status* peers, std::size_t most);

/// The last `most` cycles, a line each, with sums of all that the server knows of, and slowest parts.
std::string cycles_text(const batch_status* cycles, std::size_t most);
std::string reasons_text(const std::vector<Reason>& reasons, std::size_t most);
std::string requests_text(const batch_status* requests, std::size_t most);
std::string users_text(const batch_status* users, std::size_t most);

/// What is found to be wrong, or about to be; `problems` counts it.
struct Health {
    std::string text;
    int problems = 0;
};
/// `now`: this machine's clock. `counters` tells the server's, from the part "counters"; `zone_version` is
/// the version of the machine's zone data, empty if it can't be found out.
Health health_text(const batch_status* health, const batch_status* counters, const batch_status* server,
                   std::chrono::sys_seconds now, std::string_view zone_version);

}  // namespace pbs::diag
