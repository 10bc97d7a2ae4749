#include "server_plugin/plugin/file.h"

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

}  // namespace pbs::plugin
