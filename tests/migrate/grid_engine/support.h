// Helpers for tests that convert a folder of Grid Engine's files.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "migrate/convert.h"
#include "migrate/legacy.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {

using GridFiles = std::map<std::string, std::string>;  // text of each file by its path in the folder

// Returns the files as one text, in the form that LegacyTexts has for a folder
// (migrate/grid_engine/folder.h).
inline LegacyTexts grid_texts(const GridFiles& files) {
    std::string text;
    for (const auto& [path, content] : files) text += fmt::format("{} {}\n{}", path, content.size(), content);
    return {.grid_engine = LegacyText{"ge", text}};
}

inline Result<Conversion> grid_conversion(const GridFiles& files) {
    const auto legacy = parse(grid_texts(files));
    if (!legacy) return tl::unexpected(legacy.error());
    return convert(*legacy, {}, nullptr);
}

// Returns the qmgr commands that the files are converted to.
inline std::string grid_commands(const GridFiles& files) {
    const auto done = grid_conversion(files);
    EXPECT_TRUE(done) << testing::PrintToString(texts(done.error()));
    return done ? to_qmgr(*done) : "";
}

inline std::vector<std::string> grid_notes(const GridFiles& files) {
    const auto done = grid_conversion(files);
    EXPECT_TRUE(done) << testing::PrintToString(texts(done.error()));
    return done ? done->report.notes : std::vector<std::string>{};
}

inline std::vector<std::string> grid_problems(const GridFiles& files) {
    const auto done = grid_conversion(files);
    return done ? std::vector<std::string>{} : texts(done.error());
}

}  // namespace pbs::migrate::test
