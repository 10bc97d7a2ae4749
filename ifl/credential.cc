#include "ifl/credential.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "ifl/pbs_error.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::ifl {
namespace {

tl::unexpected<Error> malformed(std::string_view what) {
    return tl::unexpected(Error{PBSE_BADCRED, fmt::format("a credential's text: {} expected", what)});
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

// Reads USER:GROUP:ADDRESS,PORT,ADDRESS,PORT. The addresses and ports aren't split at colons, because IPv6
// addresses have some.
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
    const auto parts = values::split(text.substr(group_end + 1), ',');
    const auto port = [&](std::size_t part) { return values::digits<std::uint16_t>(parts[part]); };
    if (parts.size() != 4 || !port(1) || !port(3))
        return malformed("ADDRESS,PORT,ADDRESS,PORT behind the group");
    read.ends = ConnectionEnds{.client = std::string(parts[0]),
                               .client_port = *port(1),
                               .server = std::string(parts[2]),
                               .server_port = *port(3)};
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
