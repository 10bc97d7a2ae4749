// Reading of files whose path a manager chose.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace pbs::objects {

// Opens a file for reading. Whoever chose its path may have no right to read it, while the server's error
// messages quote from it. So it has to be a regular file, not a symbolic link. In `home` (PBS_HOME) or
// below, it must have one name only (a hard link could lead to another file); anywhere else, or with an
// empty `home`, it and the directories above it must be readable by everybody. Symbolic links to
// directories are resolved before these checks and not followed afterwards.
//
// Returns the descriptor, which the caller closes. The error says what is wrong, without the path.
tl::expected<int, std::string> open_plain_file(const std::string& path, const std::string& home);

}  // namespace pbs::objects
