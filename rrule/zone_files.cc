#include "rrule/zone_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace pbs::rrule {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Mixes the bits of a number: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), the
// finalizer of SplitMix.
std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

// Spells the path differently for each version of the file. Abseil keeps what it loads under a name as long
// as the process lives, and the name may be a path. So each version gets a path of its own: it has "./" or
// "/" for each bit of the version, which doesn't change the place that the path leads to.
std::string spelling(const std::string& path, std::uint64_t version) {
    std::string out = "file:/";
    for (int bit = 0; bit < 64; ++bit) out += (version >> bit & 1) != 0 ? "./" : "/";
    return out + path.substr(1);
}

// The name of a zone from the path of its file; empty if the file isn't in the folder.
std::string name_of(const fs::path& path, const std::string& zoneinfo) {
    const std::string text = path.lexically_normal().string();
    const std::string folder = fs::path(zoneinfo).lexically_normal().string() + "/";
    return text.starts_with(folder) ? text.substr(folder.size()) : std::string();
}

// Returns the name of the zone at a path: the place of the file in the folder. If the path is a symbolic
// link, the first of its targets in the folder counts. Empty: none is in the folder.
std::string name_behind(fs::path path, const std::string& zoneinfo) {
    std::error_code error;
    const fs::path real_folder = fs::canonical(zoneinfo, error);
    constexpr int kMostLinks = 40;  // the kernel follows as many
    for (int links = 0; links < kMostLinks; ++links) {
        for (const fs::path& folder : {fs::path(zoneinfo), real_folder}) {
            if (folder.empty()) continue;
            if (std::string name = name_of(path, folder.string()); !name.empty()) return name;
        }
        const fs::path target = fs::read_symlink(path, error);
        if (error) return {};
        path = path.parent_path() / target;  // an absolute target replaces the path
    }
    return {};
}

bool is_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}

std::string zone_of_file(const SystemZoneFiles& files, const std::string& path) {
    if (std::string name = name_behind(path, files.zoneinfo); !name.empty()) return name;
    std::string name = read_file(files.timezone);
    name = name.substr(0, name.find_first_of(" \t\r\n"));
    const std::string named = files.zoneinfo + "/" + name;
    if (!name.empty() && is_file(named) && read_file(named) == read_file(path)) return name;
    return path;
}

}  // namespace

std::string zoneinfo_folder() {
    const char* given = std::getenv("TZDIR");
    std::string folder = given != nullptr && *given != '\0' ? given : "/usr/share/zoneinfo";
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    return folder.front() == '/' ? folder : fs::absolute(folder).string();
}

std::optional<std::uint64_t> version_of(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
    std::uint64_t version = 0;
    for (const auto part :
         {static_cast<std::int64_t>(found.st_dev), static_cast<std::int64_t>(found.st_ino),
          static_cast<std::int64_t>(found.st_size), static_cast<std::int64_t>(found.st_mtim.tv_sec),
          static_cast<std::int64_t>(found.st_mtim.tv_nsec), static_cast<std::int64_t>(found.st_ctim.tv_sec),
          static_cast<std::int64_t>(found.st_ctim.tv_nsec)})
        version = mixed(version + 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(part));
    return version;
}

std::optional<absl::TimeZone> load_zone_file(const std::string& path, std::uint64_t version) {
    absl::TimeZone zone;
    if (!absl::LoadTimeZone(spelling(path, version), &zone)) return std::nullopt;
    return zone;
}

Result<std::string> system_zone(const SystemZoneFiles& files) {
    if (files.tz == nullptr)
        return is_file(files.localtime) ? zone_of_file(files, files.localtime) : std::string("UTC");
    const std::string tz = *files.tz == ':' ? files.tz + 1 : files.tz;
    if (tz.empty() || tz == "UTC") return std::string("UTC");
    if (tz.front() == '/' && is_file(tz)) return zone_of_file(files, tz);
    if (tz.front() != '/' && is_file(files.zoneinfo + "/" + tz)) return tz;
    return tl::unexpected(
        Error{fmt::format("TZ is '{}', which is not a time zone of this system, expected a name such as "
                          "Europe/Berlin or UTC, or the path of a file",
                          tz.substr(0, 64)),
              std::nullopt});
}

}  // namespace pbs::rrule
