// Ends a process that has no memory for something that can't be left undone.
#pragma once

#include <string_view>

namespace pbs::values {

/// Writes to the standard error that there is no memory for `what`, and calls std::terminate(). Takes no
/// memory.
[[noreturn]] void end_without_memory(std::string_view what) noexcept;

}  // namespace pbs::values
