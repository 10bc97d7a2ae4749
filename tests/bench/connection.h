// A connection to a benchmark's server, for programs that speak the protocol themselves.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tests/e2e/harness.h"

namespace pbs::bench {

// Connects by the server's local socket: a descriptor of the caller's, or -1.
inline int connect_to(const e2e::Server& server) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = server.home() / "server_priv/pbs.sock";
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
    close(fd);
    return -1;
}

}  // namespace pbs::bench
