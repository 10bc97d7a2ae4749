// Opens files whose path a manager has chosen.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace pbs::objects {

// Opens a file for reading. Whoever chose its path may have no right to read it, and the server's error
// messages quote from it. So it must be a regular file, not a symbolic link. In `home` (PBS_HOME) or below,
// it must have only one name, since a hard link could lead to another file. Anywhere else, or if `home` is
// empty, everybody must be allowed to read it, and to pass through the directories above it. Symbolic links
// to directories are resolved before these checks and not followed afterwards.
//
// Returns the descriptor, which the caller closes. The error says what is wrong, without the path.
tl::expected<int, std::string> open_plain_file(const std::string& path, const std::string& home);

}  // namespace pbs::objects
