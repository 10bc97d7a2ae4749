// Connects to a server from ports that only root may use. On such connections OpenPBS's server believes the
// user name in requests.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

// Connects from a reserved port; tries the port `first` of them before the others. Returns the descriptor;
// -1: the server can't be reached.
inline int connect_from_reserved(const char* address, int port, unsigned first) {
    constexpr unsigned kPorts = 420;
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(static_cast<std::uint16_t>(port));
    if (inet_pton(AF_INET, address, &server.sin_addr) != 1) return -1;
    for (unsigned tries = 0; tries < kPorts; ++tries) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in here = server;
        here.sin_port = htons(static_cast<std::uint16_t>(600 + (first + tries) % kPorts));
        if (bind(fd, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0 &&
            connect(fd, reinterpret_cast<const sockaddr*>(&server), sizeof server) == 0)
            return fd;
        const bool refused = errno == ECONNREFUSED;
        close(fd);
        if (refused) return -1;
    }
    return -1;
}
