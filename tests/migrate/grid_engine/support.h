// Helpers for tests that convert a folder of Grid Engine's files.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "migrate/convert.h"
#include "migrate/legacy.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {

using GridFiles = std::map<std::string, std::string>;  // text of each file by its path in the folder

// Settings that qconf always prints, and that a reader expects. Tests of other settings leave them out.
struct UsualSetting {
    const char* file;
    const char* name;
    const char* line;
};
inline constexpr UsualSetting kUsualSettings[] = {
    {"ssconf", "algorithm", "algorithm default\n"},
    {"ssconf", "default_duration", "default_duration INFINITY\n"}};

// The usual commands and the usual note of a ssconf.
inline const std::string kOrderOfJobs =
    "set policy default_policy by_queue = False\n"
    "set policy default_policy help_starving_jobs = False\n"
    "set policy default_policy weighted_priority = True\n";
inline const std::string kOverAllQueues =
    "ge/ssconf: by_queue is False: as in Grid Engine, the order of jobs is over all queues";

// Adds the usual settings that the files lack. Returns the beginnings of the notes about them.
inline std::vector<std::string> add_usual_settings(GridFiles& files) {
    std::vector<std::string> notes;
    for (const UsualSetting& usual : kUsualSettings) {
        const auto file = files.find(usual.file);
        if (file == files.end() || file->second.find(usual.name) != std::string::npos) continue;
        file->second += usual.line;
        notes.push_back(
            fmt::format("ge/{}:{}: {}: ", usual.file, std::ranges::count(file->second, '\n'), usual.name));
    }
    return notes;
}

// Returns the files as one text, in the form that LegacyTexts has for a folder
// (migrate/grid_engine/folder.h).
inline LegacyTexts grid_texts(GridFiles files) {
    add_usual_settings(files);
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

inline std::vector<std::string> grid_notes(GridFiles files) {
    const std::vector<std::string> usual = add_usual_settings(files);
    const auto done = grid_conversion(files);
    EXPECT_TRUE(done) << testing::PrintToString(texts(done.error()));
    if (!done) return {};
    std::vector<std::string> notes = done->report.notes;
    std::erase(notes, kOverAllQueues);
    std::erase_if(notes, [&](const std::string& note) {
        return std::ranges::any_of(usual, [&](const std::string& begin) { return note.starts_with(begin); });
    });
    return notes;
}

inline std::vector<std::string> grid_problems(const GridFiles& files) {
    const auto done = grid_conversion(files);
    return done ? std::vector<std::string>{} : texts(done.error());
}

}  // namespace pbs::migrate::test
