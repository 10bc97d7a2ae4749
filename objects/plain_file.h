// Files that the server is told to read.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace pbs::objects {

// Opens a file for reading. Whoever chose its path may not be allowed to read it, and the server tells others
// what is wrong in it. It has to be a regular file, no symbolic link. In `home` (PBS_HOME) or
// below, it has one name only (no hard link leads to another file); anywhere else, or with an empty `home`,
// it and the directories above it are open to everybody. Symbolic links to directories are followed before
// that is looked at, and not any more afterwards.
//
// Returns the descriptor, which the caller closes. The error says what is wrong, without the path.
tl::expected<int, std::string> open_plain_file(const std::string& path, const std::string& home);

}  // namespace pbs::objects
