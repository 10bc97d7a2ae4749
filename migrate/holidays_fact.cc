#include "migrate/holidays_fact.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "objects/plain_file.h"
#include "values/fd.h"
#include "values/fnv.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

// Returns a text that identifies a version of a file: "size mtime", with the time in nanoseconds.
std::string version_of(const struct stat& file) {
    return fmt::format("{} {}", file.st_size,
                       static_cast<std::int64_t>(file.st_mtim.tv_sec) * 1'000'000'000 + file.st_mtim.tv_nsec);
}

// Returns a hash of the text (FNV-1a, 16 hexadecimal digits), which tells apart texts of the same size.
std::string digest(std::string_view text) {
    return fmt::format("{:016x}", values::fnv1a(text));
}

// Reads an open file of the expected number of bytes; nullopt: it has more or fewer, or can't be read.
std::optional<std::string> content_of(int file, std::size_t expected) {
    std::string content(expected + 1, '\0');
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0 && size < content.size(); size += static_cast<std::size_t>(got))
        if ((got = ::read(file, content.data() + size, content.size() - size)) < 0) return std::nullopt;
    if (size != expected) return std::nullopt;
    content.resize(size);
    return content;
}

// Returns whether a file has the size in `version` ("size mtime") and the digest `content`, so that only its
// time differs from that of the version.
bool has_content(const std::string& path, const struct stat& file, std::string_view version,
                 std::string_view content) {
    const std::string size = fmt::format("{} ", file.st_size);
    if (!version.starts_with(size)) return false;
    const values::Fd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (opened.get() < 0) return false;
    const auto text = content_of(opened.get(), static_cast<std::size_t>(file.st_size));
    return text && digest(*text) == content;
}

// Returns the file's version if the file holds exactly this text; empty: another text, or it can't be read.
std::string version_with(const std::string& path, const std::string& home, std::string_view text) {
    const auto opened = objects::open_plain_file(path, home);
    if (!opened) return {};
    const values::Fd file(*opened);
    struct stat info {};
    if (::fstat(file.get(), &info) != 0 || static_cast<std::size_t>(info.st_size) != text.size()) return {};
    return content_of(file.get(), text.size()) == text ? version_of(info) : std::string();
}

std::string absolute(const std::string& path) {
    std::error_code error;
    const auto whole = std::filesystem::absolute(path, error);
    return error ? path : whole.string();
}

// Quotes the path as one word for a shell.
std::string shell_word(std::string_view path) {
    const auto is_plain = [](char c) {
        return values::is_alnum(c) || std::string_view("_./+-").find(c) != std::string_view::npos;
    };
    if (std::ranges::all_of(path, is_plain)) return std::string(path);
    std::string word = "'";
    for (const char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

}  // namespace

std::string holidays_fact(const LegacyTexts& texts, const std::string& home) {
    if (!texts.holidays) return {};
    const std::string path = absolute(texts.holidays->file);
    const std::string version = version_with(path, home, texts.holidays->text);
    if (path.find_first_of("\t\n") != std::string::npos || version.empty()) return {};
    return fmt::format("{}\t{}\t{}\t{}", path, texts.sched_config ? absolute(texts.sched_config->file) : "",
                       version, digest(texts.holidays->text));
}

std::string holidays_change(std::string_view fact) {
    const auto fields = values::split_trimmed(fact, '\t');
    // Earlier releases stored no digest.
    if (fields.size() != 3 && fields.size() != 4) return {};
    const std::string path(fields[0]);
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode) || version_of(file) == fields[2])
        return {};
    if (fields.size() == 4 && has_content(path, file, fields[2], fields[3])) return {};
    const std::string of_pbs = fields[1].empty() ? "" : "--sched-config " + shell_word(fields[1]) + " ";
    return fmt::format(
        "{}: was changed after its migration and isn't read, as non_work_days and the time_windows count: "
        "pbs_migrate {}--holidays {} --server takes it over",
        path, of_pbs, shell_word(path));
}

}  // namespace pbs::migrate
