#include "ifl/credential.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

tl::unexpected<Error> malformed(std::string_view what) {
    return tl::unexpected(Error{PBSE_BADCRED, fmt::format("a credential's text: {} expected", what)});
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(at, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

bool read_port(std::string_view text, std::uint16_t& port) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string credential_text(const CredentialText& text) {
    std::string written = fmt::format("{}:{}", text.user, text.group);
    if (text.ends) {
        written += fmt::format(":{},{},{},{}", text.ends->client, text.ends->client_port, text.ends->server,
                               text.ends->server_port);
    }
    return written;
}

// Addresses of IPv6 have colons: what follows the group's is one part.
Result<CredentialText> parse_credential_text(std::string_view text) {
    CredentialText read;
    const std::size_t user_end = text.find(':');
    read.user = text.substr(0, user_end);
    if (read.user.empty()) return malformed("a user's name");
    if (read.user.find('\0') != std::string::npos) return malformed("a user's name without a NUL byte");
    if (user_end == std::string_view::npos) return read;
    text.remove_prefix(user_end + 1);
    const std::size_t group_end = text.find(':');
    read.group = text.substr(0, group_end);
    if (group_end == std::string_view::npos) return read;
    const auto parts = split(text.substr(group_end + 1), ',');
    ConnectionEnds ends;
    if (parts.size() != 4 || !read_port(parts[1], ends.client_port) || !read_port(parts[3], ends.server_port))
        return malformed("ADDRESS,PORT,ADDRESS,PORT behind the group");
    ends.client = parts[0];
    ends.server = parts[2];
    read.ends = std::move(ends);
    return read;
}

std::string numeric_address(const sockaddr_storage& address, std::uint16_t& port) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address.ss_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
        port = ntohs(v4.sin_port);
        inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    } else if (address.ss_family == AF_INET6) {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
        port = ntohs(v6.sin6_port);
        const bool mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
        inet_ntop(mapped ? AF_INET : AF_INET6, mapped ? &v6.sin6_addr.s6_addr[12] : &v6.sin6_addr.s6_addr[0],
                  text, sizeof text);
    }
    return text;
}

}  // namespace pbs::ifl
