// Defines the start that PBS clients and servers write for a reservation that has no start yet.
#pragma once

#include <cstdint>

namespace pbs::ifl {

// The value of reserve_start that means "as soon as possible" to OpenPBS: a second of January 2030.
inline constexpr std::int64_t kAsSoonAsPossible = 1893488460;

}  // namespace pbs::ifl
