#include "server_plugin/host/base/client_call.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/tcp_table.h"

namespace pbs::host {

namespace {

constexpr int kHighestPrivileged = IPPORT_RESERVED - 1;
constexpr int kLowestPrivileged = 600;

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int bind_to(int fd, int port) {
    const sockaddr_in own = loopback(port);
    return ::bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own);
}

// Binds the socket to a free privileged port. Skips a port in use even if the system would let two sockets
// share it, because connect() would then refuse a second connection between the same two ports.
void take_privileged_port(int fd) {
    for (int port = kHighestPrivileged; port >= kLowestPrivileged; --port)
        if (bind_to(fd, port) == 0 || errno != EADDRINUSE) return;
}

}  // namespace

std::optional<uid_t> listener_at(std::istream& table, std::uint16_t port) {
    constexpr const char* kListening = "0A";
    while (const auto socket = next_socket(table))
        if (socket->state == kListening && socket->local.ends_with(fmt::format(":{:04X}", port)))
            return socket->uid;
    return std::nullopt;
}

Result<Fd> call_client(std::uint16_t port, uid_t uid, std::chrono::milliseconds timeout) {
    const auto failed = [&](std::string_view why) {
        return fail(PBSE_SYSTEM, fmt::format("qsub at port {} of this machine: {}", port, why));
    };
    std::ifstream table("/proc/net/tcp");
    const auto listener = listener_at(table, port);
    if (!listener) return failed("it doesn't listen any more");
    if (*listener != uid) return failed(fmt::format("a process of uid {} listens there", *listener));
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return failed(system_text(errno));
    if (::geteuid() == 0) take_privileged_port(fd.get());
    const sockaddr_in peer = loopback(port);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0) {
        if (errno != EINPROGRESS) return failed(system_text(errno));
        pollfd connected{fd.get(), POLLOUT, 0};
        if (::poll(&connected, 1, static_cast<int>(timeout.count())) != 1) return failed("it doesn't answer");
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) return failed(system_text(error));
    }
    return fd;
}

}  // namespace pbs::host
