// The kernel's tables of TCP sockets, /proc/net/tcp and tcp6. Source: the kernel's networking/proc_net_tcp.
#pragma once

#include <sys/types.h>

#include <istream>
#include <optional>
#include <string>

namespace pbs::host {

struct TcpSocket {
    std::string local;   // "0100007F:1F90": address and port in hexadecimal digits
    std::string remote;  // the same
    std::string state;   // two hexadecimal digits
    uid_t uid = 0;       // whose it is
};

// The next socket of a table; lines that describe none, such as the heading, are left out. nullopt: there is
// no more.
std::optional<TcpSocket> next_socket(std::istream& table);

}  // namespace pbs::host
