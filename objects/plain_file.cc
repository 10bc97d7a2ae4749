#include "objects/plain_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace pbs::objects {
namespace {

tl::unexpected<std::string> failed() {
    return tl::unexpected(errno == ELOOP ? std::string("is a symbolic link, expected a file")
                                         : fmt::format("can't be read: {}", std::strerror(errno)));
}

std::string real_path(const std::string& path) {
    char real[PATH_MAX];
    return realpath(path.c_str(), real) == nullptr ? std::string() : std::string(real);
}

// Opens a directory whose path has no links, step by step from the root. Sets `open_to_all` to false unless
// everybody may pass through all directories of the path.
int open_directory(std::string_view path, bool& open_to_all) {
    int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && !path.empty()) {
        path.remove_prefix(1);  // the slash
        const std::string name(path.substr(0, path.find('/')));
        path.remove_prefix(name.size());
        if (name.empty()) continue;
        const int next = openat(at, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int why = errno;
        close(at);
        errno = why;
        at = next;
        struct stat info {};
        open_to_all = at >= 0 && fstat(at, &info) == 0 && (info.st_mode & S_IXOTH) != 0 && open_to_all;
    }
    return at;
}

}  // namespace

tl::expected<int, std::string> open_plain_file(const std::string& path, const std::string& home) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return tl::unexpected(std::string("is not an absolute path"));
    const std::string folder = real_path(path.substr(0, slash + 1));
    if (folder.empty()) return failed();
    bool open_to_all = true;
    const int directory = open_directory(folder, open_to_all);
    if (directory < 0) return failed();
    const int file =
        openat(directory, path.c_str() + slash + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int why = errno;
    close(directory);
    errno = why;
    if (file < 0) return failed();

    struct stat info {};
    const std::string base = home.empty() ? home : real_path(home);
    const bool below = !base.empty() && (folder + "/").starts_with(base + "/");
    std::string objection;
    if (fstat(file, &info) != 0) {
        objection = fmt::format("can't be read: {}", std::strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        objection = "is not a regular file";
    } else if (below && info.st_nlink > 1) {
        objection = "has another name (a hard link), expected a file of its own";
    } else if (!below && (!open_to_all || (info.st_mode & S_IROTH) == 0)) {
        objection = "is not below PBS_HOME, expected a file that everybody may read";
    }
    if (objection.empty()) return file;
    close(file);
    return tl::unexpected(std::move(objection));
}

}  // namespace pbs::objects
