// Writes and reads instants in UTC, as in 2026-11-22T17:01:28Z.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace pbs::values {

// Writes an instant.
std::string utc_text(std::chrono::sys_seconds t);
// Reads what utc_text() writes. nullopt: the text isn't such an instant.
std::optional<std::chrono::sys_seconds> utc_time(const std::string& text);

}  // namespace pbs::values
