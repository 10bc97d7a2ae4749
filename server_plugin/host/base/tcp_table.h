// Reads the kernel's tables of TCP sockets, /proc/net/tcp and tcp6. Their format is documented in the
// kernel's networking/proc_net_tcp.
#pragma once

#include <sys/types.h>

#include <istream>
#include <optional>
#include <string>

namespace pbs::host {

struct TcpSocket {
    std::string local;   // "0100007F:1F90": address and port in hexadecimal digits
    std::string remote;  // the peer's address and port, in the same form
    std::string state;   // two hexadecimal digits
    uid_t uid = 0;       // the owner of the socket
};

// Reads the next socket of a table. Skips lines without a socket, such as the heading. Returns nullopt at the
// end of the table.
std::optional<TcpSocket> next_socket(std::istream& table);

}  // namespace pbs::host
