#include "server_plugin/host/base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string_view>

namespace pbs::host {

std::string address_text(const sockaddr_storage& address, uint16_t& port) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address.ss_family == AF_INET) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
        port = ntohs(v4->sin_port);
        return text;
    }
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
    inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    port = ntohs(v6->sin6_port);
    const std::string_view mapped = "::ffff:";
    return std::string_view(text).starts_with(mapped) ? std::string(text).substr(mapped.size()) : text;
}

}  // namespace pbs::host
