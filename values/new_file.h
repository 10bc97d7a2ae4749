// New files, which are complete or don't exist.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace pbs::values {

// Writes a new file with these permissions, less those of the umask, and brings it to the disk. An existing
// file may be in use and is never overwritten. Returns 0 or an errno; then nothing of the file is left.
int write_new_file(const std::string& path, std::string_view text, mode_t permissions);

}  // namespace pbs::values
