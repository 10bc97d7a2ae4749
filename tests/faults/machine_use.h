// Measures how much of the machine a server uses.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace pbs::e2e {

struct MachineUse {
    long resident_kb = 0;
    long descriptors = 0;
    long threads = 0;
    long files = 0;  // without logs and accounting files: there is a new one each day, and sites remove them
    long databases_kb = 0;  // without write-ahead logs, whose files are reused
};

// Counts the files of a server's home. A folder that is removed meanwhile ends the walk: then counts again.
inline void count_files(const std::filesystem::path& home, MachineUse& use) {
    using Files = std::filesystem::recursive_directory_iterator;
    std::error_code cut_short;
    do {
        use.files = use.databases_kb = 0;
        for (Files file(home); file != Files(); file.increment(cut_short)) {
            std::error_code gone;  // the file may be removed meanwhile
            if (!file->is_regular_file(gone)) continue;
            const std::string name = file->path().filename().string();
            if (name.size() == 8 && name.starts_with("20")) continue;  // a log of a day
            const auto size = file->file_size(gone);
            if (gone) continue;
            ++use.files;
            if (name.ends_with(".db")) use.databases_kb += static_cast<long>(size / 1024);
        }
    } while (cut_short);
}

// Returns the use by a process, which is given as its folder of /proc, and by the home of its server.
inline MachineUse machine_use(const std::filesystem::path& process, const std::filesystem::path& home) {
    MachineUse now;
    std::ifstream status(process / "status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) now.resident_kb = std::strtol(line.c_str() + 6, nullptr, 10);
        if (line.starts_with("Threads:")) now.threads = std::strtol(line.c_str() + 8, nullptr, 10);
    }
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(process / "fd"))
        ++now.descriptors;
    count_files(home, now);
    return now;
}

inline std::string text_of(const MachineUse& use) {
    return fmt::format("{} kB resident, {} descriptors, {} threads, {} files, {} kB of databases",
                       use.resident_kb, use.descriptors, use.threads, use.files, use.databases_kb);
}

}  // namespace pbs::e2e
