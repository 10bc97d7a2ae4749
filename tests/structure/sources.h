// The source files of a tree, for the checks that read them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

// Returns every file below the top folders that `table` has rules for, by path.
std::vector<std::filesystem::path> governed_files(const std::filesystem::path& root,
                                                  std::span<const Rule> table);

// Is the file C or C++ by its name's end?
bool is_source(const std::filesystem::path& file);

// Is `path` below `folder`?
bool inside(std::string_view path, std::string_view folder);

std::string read_text(const std::filesystem::path& file);

// Returns the line, counted from 1, in which `offset` is.
int line_at(std::string_view text, std::size_t offset);

// Returns the path below `root` that an #include means: beside the including file, or from the top.
std::string included_path(const std::filesystem::path& root, const std::filesystem::path& file,
                          std::string_view written);

}  // namespace pbs::structure
