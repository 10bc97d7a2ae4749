// Versions of the files that the plugin reads for a scheduler, by which it notices changes.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "values/text.h"

namespace pbs::plugin {

// The version of a file: device, inode, size, and the times of content and attributes in nanoseconds. All 0:
// the file doesn't exist.
using FileVersion = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;

FileVersion version_of(const struct stat& info);
// The version of the file that has this name now; symbolic links are followed.
FileVersion version_of(const std::string& path);

using values::system_text;

}  // namespace pbs::plugin
