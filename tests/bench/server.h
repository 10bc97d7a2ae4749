// Helpers for benchmarks that measure a running server.
#pragma once

#include <errno.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::bench {

// Prints why the benchmark can't go on, and aborts the program.
[[noreturn]] inline void give_up(const std::string& what) {
    fmt::print(stderr, "{}: {}\n", program_invocation_short_name, what);
    std::abort();
}

// Starts a server. `patience` limits the time of a start and of a stop. With many jobs a start takes long, as
// the server reads them all.
inline std::unique_ptr<e2e::Server> start_server(
    std::chrono::seconds patience = e2e::Server::Options().patience) {
    e2e::Server::Options options;
    options.patience = patience;
    auto server = std::make_unique<e2e::Server>(options);
    if (const auto started = server->start(); !started) give_up(started.message());
    return server;
}

// Connects to the server's local socket. Returns a descriptor that the caller has to close, or -1.
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

// Returns the number of scheduling cycles in the server's log.
inline std::size_t cycles_in(const e2e::Server& server) {
    const std::string log = server.log();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = log.find(";cycle, command", at)) != std::string::npos; ++at) ++count;
    return count;
}

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Returns the value below which this share of the sorted values is; 0: there are none.
inline double percentile(const std::vector<double>& sorted, double share) {
    return sorted.empty() ? 0
                          : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace pbs::bench
