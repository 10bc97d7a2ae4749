#include "server_plugin/plugin/spool_file.h"
#include "values/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace pbs::plugin {
namespace {

std::string reason(const std::string& folder, int error) {
    return fmt::format("{}: {}", folder, values::system_text(error));
}

// Opens a file without a name. On file systems without O_TMPFILE, makes a file and removes its name.
int open_unnamed(const std::string& folder) {
    const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
    std::string name = folder + "/.spool-XXXXXX";
    const int named = mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) unlink(name.c_str());
    return named;
}

}  // namespace

SpoolFile::~SpoolFile() {
    if (fd_ >= 0) close(fd_);
}

// Returns whether, with `more` bytes added, the disk would have as much free space as the file has bytes. A
// full disk would stop the server.
bool SpoolFile::has_room(std::size_t more) {
    struct statvfs disk {};
    if (fstatvfs(fd_, &disk) != 0) {
        error_ = reason(folder_, errno);
        return false;
    }
    const auto free = static_cast<std::uintmax_t>(disk.f_bavail) * disk.f_frsize;
    const std::uintmax_t size = static_cast<std::uintmax_t>(size_) + 2 * more;
    if (free < size)
        error_ = fmt::format("{}: it takes more than {} MB, and as much has to be left free: there are {} MB",
                             folder_, size_ >> 20, free >> 20);
    return free >= size;
}

void SpoolFile::append(std::string_view text) {
    if (fd_ < 0 && error_.empty()) {
        fd_ = open_unnamed(folder_);
        if (fd_ < 0) error_ = reason(folder_, errno);
    }
    if (!error_.empty() || !has_room(text.size())) return;
    while (!text.empty()) {
        const ssize_t written = pwrite(fd_, text.data(), text.size(), size_);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            error_ = reason(folder_, written < 0 ? errno : ENOSPC);
            return;
        }
        size_ += written;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

bool SpoolFile::shrink() {
    constexpr std::int64_t kAtOnce = std::int64_t{16} << 20;
    size_ = std::max<std::int64_t>(0, size_ - kAtOnce);
    return fd_ >= 0 && ftruncate(fd_, size_) == 0 && size_ > 0;
}

tl::expected<std::string, std::string> SpoolFile::part(std::int64_t offset, std::size_t most) const {
    std::string text(most, '\0');
    std::size_t have = 0;
    while (have < most) {
        const ssize_t got =
            pread(fd_, text.data() + have, most - have, offset + static_cast<std::int64_t>(have));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tl::unexpected(reason(folder_, errno));
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return text;
}

}  // namespace pbs::plugin
