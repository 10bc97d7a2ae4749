// The instant at which most tests of servers and of the plugin begin.
#pragma once

#include <cstdint>

namespace pbs::test {

// Monday, 2026-11-23, 10:00 UTC, in seconds since the Epoch.
inline constexpr std::int64_t kMonday10 = 1795428000;

}  // namespace pbs::test
