#include "server_plugin/host/store/manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"
#include "values/fnv.h"
#include "values/number.h"

namespace pbs::host {
namespace {

constexpr std::string_view kFirstLine = "pbspolicy-backup 1";
constexpr size_t kPiece = size_t{64} << 10;

template <typename T>
bool read_number(std::string_view text, T& number, int base = 10) {
    const auto read = values::number<T>(text, base);
    if (read) number = *read;
    return read.has_value();
}

bool read_database(const std::string& value, Manifest& manifest) {
    std::istringstream words(value);
    std::string version;
    std::string size;
    std::string sum;
    Manifest::Database database;
    words >> database.name >> version >> size >> sum;
    const bool known = std::find(std::begin(kDatabaseNames), std::end(kDatabaseNames), database.name) !=
                       std::end(kDatabaseNames);
    if (!known || manifest.find(database.name) != nullptr || !words.eof() ||
        !read_number(version, database.version) || !read_number(size, database.size) ||
        !read_number(sum, database.sum, 16))
        return false;
    manifest.databases.push_back(std::move(database));
    return true;
}

bool read_line(std::string_view name, const std::string& value, Manifest& manifest) {
    if (value.empty()) return false;
    if (name == "program") {
        manifest.program = value;
    } else if (name == "date") {
        manifest.date = value;
    } else if (name == "home") {
        manifest.home = value;
    } else if (name == "revision") {
        return read_number(value, manifest.revision);
    } else if (name == "integrity") {
        return value == "ok";
    } else if (name == "database") {
        return read_database(value, manifest);
    } else {
        return false;
    }
    return true;
}

}  // namespace

std::string Manifest::text() const {
    std::string out = fmt::format("{}\nprogram {}\ndate {}\nhome {}\nrevision {}\nintegrity ok\n", kFirstLine,
                                  program, date, home, revision);
    for (const Database& one : databases)
        out += fmt::format("database {} {} {} {:016x}\n", one.name, one.version, one.size, one.sum);
    return out;
}

Result<Manifest> Manifest::parse(std::string_view text) {
    Manifest manifest;
    std::istringstream lines{std::string(text)};
    std::string line;
    if (!std::getline(lines, line) || line != kFirstLine)
        return fail(PBSE_SYSTEM, fmt::format("line 1: expected \"{}\"", kFirstLine));
    for (int number = 2; std::getline(lines, line); ++number) {
        const auto space = line.find(' ');
        if (space == std::string::npos || !read_line(line.substr(0, space), line.substr(space + 1), manifest))
            return fail(PBSE_SYSTEM, fmt::format("line {}: \"{}\" is not understood", number, line));
    }
    if (manifest.program.empty() || manifest.date.empty() || manifest.home.empty())
        return fail(PBSE_SYSTEM, "it doesn't name program, date and home");
    for (std::string_view name : kDatabaseNames)
        if (manifest.find(name) == nullptr) return fail(PBSE_SYSTEM, fmt::format("{} is not in it", name));
    return manifest;
}

const Manifest::Database* Manifest::find(std::string_view name) const {
    for (const Database& one : databases)
        if (one.name == name) return &one;
    return nullptr;
}

Result<Manifest::Database> measure(const std::string& directory, std::string_view name) {
    const std::string path = fmt::format("{}/{}", directory, name);
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return fail(PBSE_SYSTEM, fmt::format("can not open {}: {}", path, system_text(errno)));
    Manifest::Database database{std::string(name), 0, 0, values::kFnvBasis};
    std::string bytes(kPiece, '\0');
    ssize_t size = 0;
    while ((size = ::read(fd.get(), bytes.data(), bytes.size())) > 0) {
        database.size += static_cast<uint64_t>(size);
        database.sum =
            values::fnv1a(std::string_view(bytes).substr(0, static_cast<size_t>(size)), database.sum);
    }
    if (size < 0) return fail(PBSE_SYSTEM, fmt::format("can not read {}: {}", path, system_text(errno)));
    return database;
}

}  // namespace pbs::host
