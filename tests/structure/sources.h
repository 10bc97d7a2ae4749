// Finds and reads the source files of a tree, for the checks in this folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

// Returns the paths of all files in the top folders for which `table` has rules.
std::vector<std::filesystem::path> governed_files(const std::filesystem::path& root,
                                                  std::span<const Rule> table);

// Returns whether a file's name is that of a C or C++ file.
bool is_source(const std::filesystem::path& file);

// Returns whether `path` is below `folder`.
bool inside(std::string_view path, std::string_view folder);

std::string read_text(const std::filesystem::path& file);

// Returns the number of the line, counted from 1, that contains `offset`.
int line_at(std::string_view text, std::size_t offset);

// Returns the path that an #include in `file` names, relative to `root`. It names a file beside `file`, or
// one below `root`.
std::string included_path(const std::filesystem::path& root, const std::filesystem::path& file,
                          std::string_view written);

}  // namespace pbs::structure
