// What a MUNGE credential carries, beside the user's number that munged puts there: a text of the client.
//
//     alice:users                                             of OpenPBS's clients: user and login group
//     alice:users:10.0.0.5,40122,10.0.0.1,15001               of ours: also the connection that it is for
//
// The number says who the user is. That the name has to be the one that the server's host has for that number
// keeps out users of hosts that count otherwise. The connection (addresses and ports of the client's end and
// of the server's, as the client sees them) is what makes a credential useless to whom it wasn't made for: a
// server that is shown one could show it to another server as its own. OpenPBS's server reads the user alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/error.h"

struct sockaddr_storage;

namespace pbs::ifl {

/// Both ends of a TCP connection. Addresses are numeric, as numeric_address() writes them.
struct ConnectionEnds {
    std::string client;
    std::uint16_t client_port = 0;
    std::string server;
    std::uint16_t server_port = 0;
    bool operator==(const ConnectionEnds&) const = default;
};

struct CredentialText {
    std::string user;
    std::string group;
    std::optional<ConnectionEnds> ends;  ///< nullopt: it doesn't say for which connection it is
    bool operator==(const CredentialText&) const = default;
};

std::string credential_text(const CredentialText& text);
/// Errors: PBSE_BADCRED with what was expected.
Result<CredentialText> parse_credential_text(std::string_view text);

/// The address of a socket, an IPv4 one in IPv6 as IPv4, without a zone; and its port in host byte order.
std::string numeric_address(const sockaddr_storage& address, std::uint16_t& port);

/// The longest token of a handshake, in bytes.
inline constexpr std::size_t kLongestToken = 4096;

}  // namespace pbs::ifl
