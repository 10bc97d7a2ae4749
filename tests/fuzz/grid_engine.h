// Helpers of the fuzz targets of Grid Engine's files (grid_*_fuzz.cc).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "migrate/convert.h"

namespace pbs::migrate::fuzz {

using GridFile = std::pair<std::string_view, std::string_view>;  // path in the folder, and text

// Converts a folder with these files. The folder has to be converted, or refused with the place of each
// mistake.
inline void convert_grid_files(std::initializer_list<GridFile> files) {
    std::string folder;
    for (const auto& [path, text] : files)
        folder.append(path).append(" ").append(std::to_string(text.size())).append("\n").append(text);
    const auto read = parse_grid_engine(folder, "/ge");
    if (!read) {
        for (const Problem& problem : read.error())
            if (problem.message.empty() || problem.line < 1 || problem.column < 1 ||
                to_text(problem).size() > 2000)
                std::abort();
        return;
    }
    // only a very long list is refused, as an attribute's value would become too long
    const auto conversion = convert({.grid_engine = *read}, {}, nullptr);
    if (!conversion && folder.size() < 400) std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace pbs::migrate::fuzz
