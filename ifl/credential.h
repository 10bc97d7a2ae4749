// Reads and writes the text in a MUNGE credential. The client writes the text; munged adds the user's number.
//
//     alice:users                                             OpenPBS's clients: user and login group
//     alice:users:10.0.0.5,40122,10.0.0.1,15001               this project's: also the connection
//
// The number says who the user is. The name has to be the one that the server's host has for that number:
// this keeps out users of hosts that number users differently. The connection (addresses and ports of the
// client's end and of the server's, as the client sees them) is the one that the credential is for: a server
// that receives a credential could otherwise present it to another server as its own. OpenPBS's server reads
// only the user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/error.h"

struct sockaddr_storage;

namespace pbs::ifl {

/// The two ends of a TCP connection. Addresses are numeric, as numeric_address() writes them.
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
    std::optional<ConnectionEnds> ends;  ///< the connection that the credential is for; nullopt: none
    bool operator==(const CredentialText&) const = default;
};

std::string credential_text(const CredentialText& text);
/// Reads the text of a credential. Errors: PBSE_BADCRED with what was expected.
Result<CredentialText> parse_credential_text(std::string_view text);

/// Returns the numeric address in a socket's address, without an IPv6 zone; an IPv4 address that is mapped to
/// IPv6 becomes IPv4. `port` gets the port, in host byte order.
std::string numeric_address(const sockaddr_storage& address, std::uint16_t& port);

/// The longest token of a handshake, in bytes.
inline constexpr std::size_t kLongestToken = 4096;

}  // namespace pbs::ifl
