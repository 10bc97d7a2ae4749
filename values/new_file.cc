#include "values/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "values/fd.h"

namespace pbs::values {
namespace {

int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

int write_new_file(const std::string& path, std::string_view text, mode_t permissions) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions));
    if (!file) return errno;
    const int error = write_all(file.get(), text);
    if (error != 0) ::unlink(path.c_str());
    return error;
}

}  // namespace pbs::values
