#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

// Binds an abstract socket name that stands for the port. Returns the descriptor, or -1 if another test holds
// the port. The kernel frees the name when the descriptor is closed.
int hold(int port) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "pbs-e2e-port-" + std::to_string(port);
    std::copy(name.begin(), name.end(), address.sun_path + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
    close(fd);
    return -1;
}

bool nobody_listens(int port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    const bool free = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    return free;
}

}  // namespace

HeldPort::HeldPort() {
    // Try ports below the range from which the kernel takes ports for outgoing connections.
    constexpr int kFirst = 16000;
    constexpr int kCount = 16000;
    for (int tried = 0, port = static_cast<int>(getpid()) * 7 % kCount; tried < kCount;
         ++tried, port = (port + 1) % kCount) {
        number_ = kFirst + port;
        fd_ = hold(number_);
        if (fd_ >= 0 && nobody_listens(number_)) return;
        if (fd_ >= 0) close(fd_);
    }
    throw std::runtime_error("no free port");
}

HeldPort::~HeldPort() {
    close(fd_);
}

}  // namespace pbs::e2e
