#include "server_plugin/host/base/daily_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace pbs::host {

std::string DailyFile::path(int day) const {
    return fmt::format("{}/{:08}", directory_, day);
}

int DailyFile::open(int day) {
    struct stat status {};
    if (fd_ && day == day_ && ::fstat(fd_.get(), &status) == 0 && status.st_nlink > 0) return 0;
    fd_.reset(::open(path(day).c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, mode_));
    day_ = day;
    if (!fd_) return errno;
    // A power failure may have left the beginning of a line at the end of the file. End that line, so that
    // the next line doesn't continue it.
    char last = '\n';
    if (::fstat(fd_.get(), &status) != 0 || status.st_size == 0) return 0;
    if (::pread(fd_.get(), &last, 1, status.st_size - 1) != 1 || last == '\n') return 0;
    if (::write(fd_.get(), "\n", 1) == 1) return 0;
    const int error = errno;
    fd_.reset();  // the next append() opens the file again
    return error;
}

int DailyFile::append(int day, const std::string& line) {
    if (const int error = open(day); error != 0) return error;
    ssize_t n = 0;
    do {
        n = ::write(fd_.get(), line.data(), line.size());
    } while (n < 0 && errno == EINTR);
    if (n == static_cast<ssize_t>(line.size())) return 0;
    if (n < 0) return errno;
    // On a full disk only the beginning of the line may have been written. Remove it, because half a record
    // is worse than none.
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0 || ::ftruncate(fd_.get(), status.st_size - n) != 0) return errno;
    return ENOSPC;
}

}  // namespace pbs::host
