// Formats the reports of pbs_diag from a server's answers.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "tools/diag/ask.h"

namespace pbs::diag {

/// Formats an instant in local time: "2026-11-23 16:59:10".
std::string time_text(std::chrono::sys_seconds at);
/// Formats a duration in a fitting unit: "12 us", "3.4 ms", "1.25 s".
std::string duration_text(std::chrono::microseconds duration);
/// Formats bytes in a fitting unit: "512 B", "3.4 MB" (powers of 1000).
std::string size_text(double bytes);

/// Lists the servers from which jobs are pulled, one a line.
std::string peers_text(const batch_status* peers, std::size_t most);

/// Lists the last `most` cycles, one a line, with sums over all known cycles and the slowest parts.
std::string cycles_text(const batch_status* cycles, std::size_t most);
std::string reasons_text(const std::vector<Reason>& reasons, std::size_t most);
std::string requests_text(const batch_status* requests, std::size_t most);
std::string users_text(const batch_status* users, std::size_t most);

/// The report on a server's health. `problems` is the number of its lines that tell of a problem.
struct Health {
    std::string text;
    int problems = 0;
};
/// Checks a server's health. `counters` is the part of that name, with the server's clock; `now` is this
/// machine's. `zone_version` is the version of this machine's zone data; empty: unknown.
Health health_text(const batch_status* health, const batch_status* counters, const batch_status* server,
                   std::chrono::sys_seconds now, std::string_view zone_version);

}  // namespace pbs::diag
