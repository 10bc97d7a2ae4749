#include "migrate/holidays_fact.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "objects/text.h"

namespace pbs::migrate {
namespace {

// "size mtime"; empty: there is no such file.
std::string version_of(const std::string& path) {
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return {};
    return fmt::format("{} {}", file.st_size,
                       static_cast<std::int64_t>(file.st_mtim.tv_sec) * 1'000'000'000 + file.st_mtim.tv_nsec);
}

std::string absolute(const std::string& path) {
    std::error_code error;
    const auto whole = std::filesystem::absolute(path, error);
    return error ? path : whole.string();
}

// Blanks in a path are quoted for the shell.
std::string shell_word(std::string_view path) {
    return path.find_first_of(" '\"\\$") == std::string_view::npos ? std::string(path)
                                                                   : fmt::format("'{}'", path);
}

}  // namespace

std::string holidays_fact(const LegacyTexts& texts) {
    if (!texts.holidays) return {};
    const std::string path = absolute(texts.holidays->file);
    const std::string version = version_of(path);
    std::ostringstream now;
    now << std::ifstream(path, std::ios::binary).rdbuf();
    if (path.find('\t') != std::string::npos || version.empty() || now.str() != texts.holidays->text)
        return {};
    return fmt::format("{}\t{}\t{}", path, texts.sched_config ? absolute(texts.sched_config->file) : "",
                       version);
}

std::string holidays_change(std::string_view fact) {
    const auto fields = objects::split_at(fact, '\t');
    if (fields.size() != 3) return {};
    const std::string path(fields[0]);
    const std::string version = version_of(path);
    if (version.empty() || version == fields[2]) return {};
    const std::string of_pbs = fields[1].empty() ? "" : "--sched-config " + shell_word(fields[1]) + " ";
    return fmt::format(
        "{}: was changed after its migration and isn't read, as non_work_days and the time_windows count: "
        "pbs_migrate {}--holidays {} --server takes it over",
        path, of_pbs, shell_word(path));
}

}  // namespace pbs::migrate
