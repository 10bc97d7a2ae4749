// Files that the plugin reads and writes for a scheduler. A new version shows that a file has changed.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "values/text.h"

namespace pbs::plugin {

// The version of a file: device, inode, size, and the times of content and attributes in nanoseconds. All 0:
// the file doesn't exist.
using FileVersion = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;

FileVersion version_of(const struct stat& info);
// Returns the version of the file with this name. A symbolic link is not followed: the version is the link's.
FileVersion version_of(const std::string& path);

// Replaces the file by one with this text and mode, or makes it, in one step: after a failure it is as it
// was. Its text is on the disk before it gets its name. Returns an empty string, or the file and the reason.
std::string replace_file(const std::string& path, std::string_view text, mode_t mode);

using values::system_text;

}  // namespace pbs::plugin
