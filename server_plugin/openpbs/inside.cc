#include "server_plugin/openpbs/inside.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

namespace pbs::openpbs {
namespace {

constexpr std::time_t kPatienceWithThread = 3;  // seconds for which stop() waits for the end of the thread

}  // namespace

tl::expected<int, std::string> Inside::connect() {
    stop();
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return tl::unexpected(std::generic_category().message(errno));
    end_ = false;
    service_end_ = ends[1];
    // Block all signals in the thread: the server's main thread has to get them.
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    const int error = pthread_create(&thread, nullptr, run, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != 0) {
        close(ends[0]);
        close(ends[1]);
        return tl::unexpected(std::generic_category().message(error));
    }
    thread_ = thread;
    return ends[0];
}

void* Inside::run(void* self) {
    auto& inside = *static_cast<Inside*>(self);
    serve(inside.service_end_, inside.options_, inside.end_);
    inside.service_end_ = -1;
    return nullptr;
}

void Inside::stop() {
    if (!thread_) return;
    end_ = true;
    if (const int fd = service_end_; fd >= 0) shutdown(fd, SHUT_RDWR);
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += kPatienceWithThread;
    if (pthread_timedjoin_np(*thread_, nullptr, &until) != 0) pthread_detach(*thread_);
    thread_.reset();
}

void Inside::forget() {
    if (const int fd = service_end_; fd >= 0) close(fd);
    thread_.reset();
}

}  // namespace pbs::openpbs
