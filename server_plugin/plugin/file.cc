#include "server_plugin/plugin/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "values/fd.h"

namespace pbs::plugin {
namespace {

std::int64_t nanoseconds(const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileVersion version_of(const struct stat& info) {
    return {info.st_dev, info.st_ino, info.st_size, nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
}

FileVersion version_of(const std::string& path) {
    struct stat info {};
    return lstat(path.c_str(), &info) == 0 ? version_of(info) : FileVersion{};
}

std::string replace_file(const std::string& path, std::string_view text, mode_t mode) {
    const std::string temporary = path + ".pbs_policy";
    ::unlink(temporary.c_str());
    const values::Fd file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file && values::write_all(file.get(), text) && ::fchmod(file.get(), mode) == 0 &&
        ::fsync(file.get()) == 0 && std::rename(temporary.c_str(), path.c_str()) == 0)
        return {};
    const int error = errno;
    ::unlink(temporary.c_str());
    return fmt::format("{}: {}", path, system_text(error));
}

}  // namespace pbs::plugin
