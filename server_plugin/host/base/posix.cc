#include "server_plugin/host/base/posix.h"

#include "ifl/pbs_error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace pbs::host {

bool may_pass(int error) {
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOBUFS ||
           error == ENOSPC || error == EDQUOT;
}

Result<std::string> read_fd(int fd, const std::string& name, std::size_t limit) {
    std::string text;
    std::array<char, 16384> buffer;
    for (;;) {
        const ssize_t n = ::read(fd, buffer.data(), buffer.size());
        if (n == 0) return text;
        if (n < 0) {
            if (errno == EINTR) continue;
            return fail(PBSE_SYSTEM, fmt::format("cannot read {}: {}", name, system_text(errno)));
        }
        if (text.size() + static_cast<std::size_t>(n) > limit)
            return fail(PBSE_SYSTEM, fmt::format("{} is larger than {} bytes", name, limit));
        text.append(buffer.data(), static_cast<std::size_t>(n));
    }
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return fail(PBSE_SYSTEM, fmt::format("cannot open {}: {}", path, system_text(errno)));
    return read_fd(fd.get(), path, limit);
}

Fd new_file_for(const std::string& path, mode_t mode, uid_t uid, gid_t gid) {
    ::unlink(path.c_str());
    Fd fd(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) return fd;
    if ((::geteuid() == 0 && ::fchown(fd.get(), uid, gid) != 0) || ::fchmod(fd.get(), mode) != 0) {
        const int error = errno;
        fd.reset();
        errno = error;
    }
    return fd;
}

namespace {
struct flock write_lock(off_t byte) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    return lock;
}
}  // namespace

bool lock_byte(int fd, off_t byte) {
    struct flock lock = write_lock(byte);
    return ::fcntl(fd, F_SETLK, &lock) == 0;
}

pid_t lock_holder(int fd, off_t byte) {
    struct flock lock = write_lock(byte);
    if (::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
    return lock.l_pid;
}

bool make_directory(const std::string& path, mode_t mode) {
    if (::mkdir(path.c_str(), 0700) != 0) return false;
    // The umask would remove bits from mkdir's mode.
    if (::chmod(path.c_str(), mode) == 0) return true;
    const int error = errno;
    ::rmdir(path.c_str());
    errno = error;
    return false;
}

Existence look_for(const std::string& path, Links links) {
    struct stat status {};
    const int flags = links == Links::followed ? 0 : AT_SYMLINK_NOFOLLOW;
    if (::fstatat(AT_FDCWD, path.c_str(), &status, flags) == 0) return Existence::there;
    return errno == ENOENT ? Existence::gone : Existence::unknown;
}

bool rename_new(const std::string& from, const std::string& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EINVAL) return false;
    // This file system doesn't know RENAME_NOREPLACE.
    const Existence found = look_for(to);
    if (found == Existence::there) errno = EEXIST;
    return found == Existence::gone && ::rename(from.c_str(), to.c_str()) == 0;
}

bool sync_directory(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return fd && ::fsync(fd.get()) == 0;
}

}  // namespace pbs::host
