#include "server_plugin/host/base/daemonize.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"

namespace pbs::host {

namespace {

// Runs in the parent: waits until the child has called ready() or has ended, and then exits.
[[noreturn]] void wait_for(int fd) {
    char byte = 0;
    ssize_t n = 0;
    do {
        n = ::read(fd, &byte, 1);
    } while (n < 0 && errno == EINTR);
    ::_exit(n == 1 ? 0 : 1);
}

void to_null(int fd, int flags) {
    const Fd null(::open("/dev/null", flags | O_CLOEXEC));
    if (null) ::dup2(null.get(), fd);
}

}  // namespace

Daemon::Daemon(Daemon&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Daemon& Daemon::operator=(Daemon&& other) noexcept {
    if (this != &other) fd_ = std::exchange(other.fd_, -1);
    return *this;
}

// Leaves the descriptor open: it is closed when the process ends, so that the parent, which then exits,
// doesn't do so before the message about a failed start is written.
Daemon::~Daemon() = default;

Result<Daemon> Daemon::detach() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return fail(PBSE_SYSTEM, fmt::format("cannot go into the background: pipe: {}", system_text(errno)));
    const pid_t pid = ::fork();
    if (pid < 0) {
        const int error = errno;
        ::close(ends[0]);
        ::close(ends[1]);
        return fail(PBSE_SYSTEM, fmt::format("cannot go into the background: fork: {}", system_text(error)));
    }
    if (pid > 0) {
        ::close(ends[1]);
        wait_for(ends[0]);
    }
    ::close(ends[0]);
    ::setsid();
    to_null(STDIN_FILENO, O_RDONLY);
    return Daemon(ends[1]);
}

void Daemon::ready() {
    if (fd_ < 0) return;
    static_cast<void>(write_all(fd_, "r"));
    ::close(std::exchange(fd_, -1));
    to_null(STDOUT_FILENO, O_WRONLY);
    to_null(STDERR_FILENO, O_WRONLY);
}

}  // namespace pbs::host
