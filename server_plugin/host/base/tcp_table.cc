#include "server_plugin/host/base/tcp_table.h"

#include <sstream>

namespace pbs::host {

std::optional<TcpSocket> next_socket(std::istream& table) {
    std::string line;
    while (std::getline(table, line)) {
        std::istringstream fields(line);
        std::string slot;
        std::string queues;
        std::string timer;
        std::string retransmissions;
        TcpSocket socket;
        fields >> slot >> socket.local >> socket.remote >> socket.state >> queues >> timer >>
            retransmissions >> socket.uid;
        if (fields) return socket;
    }
    return std::nullopt;
}

}  // namespace pbs::host
