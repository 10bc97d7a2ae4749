#include "server_plugin/host/net/connection_owner.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "server_plugin/host/base/tcp_table.h"
#include "values/number.h"

namespace pbs::host {
namespace {

constexpr std::string_view kEstablished = "01";
constexpr std::size_t kWordDigits = 8;

bool read_hex(std::string_view digits, std::uint32_t& number) {
    const auto read = values::number<std::uint32_t>(digits, 16);
    number = read.value_or(0);
    return read.has_value();
}

// Reads an address and port such as "0100007F:1F90". In /proc/net/tcp an address is written as 32-bit numbers
// of this machine, whose bytes in memory are in network order.
bool read_end(std::string_view text, std::string& address, std::uint16_t& port) {
    const std::size_t colon = text.find(':');
    std::uint32_t number = 0;
    if (colon == std::string_view::npos || !read_hex(text.substr(colon + 1), number) || number > UINT16_MAX)
        return false;
    sockaddr_storage read{};
    if (colon == kWordDigits) {
        auto& v4 = reinterpret_cast<sockaddr_in&>(read);
        v4.sin_family = AF_INET;
        v4.sin_port = htons(static_cast<std::uint16_t>(number));
        if (!read_hex(text.substr(0, colon), v4.sin_addr.s_addr)) return false;
    } else if (colon == 4 * kWordDigits) {
        auto& v6 = reinterpret_cast<sockaddr_in6&>(read);
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(static_cast<std::uint16_t>(number));
        for (std::size_t word = 0; word < 4; ++word)
            if (!read_hex(text.substr(word * kWordDigits, kWordDigits), v6.sin6_addr.s6_addr32[word]))
                return false;
    } else {
        return false;
    }
    address = ifl::numeric_address(read, port);
    return true;
}

}  // namespace

std::optional<uid_t> connection_owner(std::istream& table, const ifl::ConnectionEnds& ends) {
    while (const auto socket = next_socket(table)) {
        ifl::ConnectionEnds found;
        if (socket->state == kEstablished && read_end(socket->local, found.client, found.client_port) &&
            read_end(socket->remote, found.server, found.server_port) && found == ends)
            return socket->uid;
    }
    return std::nullopt;
}

std::optional<uid_t> connection_owner(const ifl::ConnectionEnds& ends) {
    for (const char* name : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        std::ifstream table(name);
        if (const auto uid = connection_owner(table, ends)) return uid;
    }
    return std::nullopt;
}

}  // namespace pbs::host
