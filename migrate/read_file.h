// Reads files whole. Internal to migrate/.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace pbs::migrate {

inline constexpr std::uintmax_t kLargestFile = 16U << 20U;

// Returns the text of a regular file, or of one that a link leads to. Anything else, such as a named pipe or
// a link to nowhere, isn't opened. The error says what is wrong, without the path.
tl::expected<std::string, std::string> read_file(const std::string& path,
                                                 std::uintmax_t longest = kLargestFile);

}  // namespace pbs::migrate
