// The server's side of authentication: finds out the user at the other end of a connection.
//
// A Unix socket needs no authentication: the kernel names the peer. Over TCP, OpenPBS clients (method
// "resvport", the default) do this:
//
//   1. The client connects from any port P and sends connect (answered with an empty reply, code 0).
//   2. It runs the setuid helper pbs_iff. The helper connects from a privileged port (512 to 1023) of the
//      same address, which only root of that host can do, and sends authenticate with method "resvport", port
//      P, and in the request's header the name of the user who ran it. (A host is trusted to let only root
//      use these ports.)
//   3. The server finds the connection from that address and port P and records the user for it. It answers
//      the helper with an empty reply, code 0; or PBSE_BADCRED when there is no such connection. The helper
//      disconnects.
//   4. The client makes its requests on its own connection. Their header names the user again; a request
//      under another name than the recorded one is refused with PBSE_BADCRED and the connection is closed.
//
// A server that connects to another server (to move a job there, for example) skips steps 1 to 3: it
// connects from a privileged port, and the user is root, whom its first request names.
//
// With method "munge":
//
//   1. The client sends authenticate with method "munge" on its own connection, answered with an empty reply,
//      code 0.
//   2. It sends a packet of type auth_token with a MUNGE credential (ifl/credential.h) and a NUL byte. The
//      credential is the statement of its host's munged on the user's number; every host with the same key
//      can check it.
//   3. The server answers with a packet of type auth_done with one byte, or with auth_error and a text, after
//      which it closes the connection.
//   4. The client makes its requests, as above.
//
// A peer that isn't authenticated may only send connect, authenticate and disconnect; other requests are
// refused with PBSE_BADCRED and the connection is closed.
//
// AuthTable implements this from the addresses alone; it does no input or output and keeps no time. The
// server itself resolves the host's name (for user@host in managers and operators).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ifl/auth_method.h"
#include "ifl/reply.h"
#include "ifl/request.h"

namespace pbs::ifl {

/// The decision about a request.
struct AuthDecision {
    enum class Action {
        handle,           ///< from a known user: process it
        reply,            ///< send `reply`
        reply_and_close,  ///< send `reply`, then close the connection
        close             ///< close the connection
    };
    Action action = Action::handle;
    Reply reply;
    std::string reason;  ///< the reason of a refusal, for the log; else empty
};

class AuthTable {
  public:
    /// A number by which the server tells its connections apart.
    using Id = std::uint64_t;

    explicit AuthTable(AuthMethods methods = {}) : methods_(methods) {}

    /// Adds an accepted TCP connection. `address` is the peer's numeric address, always written the same way
    /// for one peer (map IPv4-in-IPv6 to IPv4). `first_unprivileged`: the first port of the peer's host that
    /// anybody may bind; a helper's port has to be below it and below 1024.
    void add_tcp(Id id, std::string_view address, std::uint16_t port, int first_unprivileged = 1024);
    /// Adds an accepted connection of a Unix socket; the user is that of SO_PEERCRED.
    void add_local(Id id, std::string_view user);
    /// Removes a closed connection.
    void remove(Id id);

    /// Decides about a request just decoded on connection `id`, and carries out authenticate.
    AuthDecision judge(Id id, const Request& request);

    /// Returns whether the connection's next packet must be a token of its authentication method.
    bool token_due(Id id) const;
    /// Marks that the token came and is being checked: no request is accepted until identify().
    void take_token(Id id);
    /// Sets the user whom the token names. Requires take_token() before.
    void identify(Id id, std::string_view user);

    /// The user of a connection; nullopt: not known yet. Decide by this user, not by Request::user.
    std::optional<std::string_view> user(Id id) const;
    bool known(Id id) const { return user(id).has_value(); }
    /// Returns whether the connection is from a port that only root of the peer's host may use.
    bool from_reserved_port(Id id) const;

  private:
    struct Peer {
        std::string address;  // empty: a Unix socket
        std::uint16_t port = 0;
        int first_unprivileged = 1024;
        std::optional<std::string> user;
        enum class Token { none, due, taken } token = Token::none;
    };
    AuthDecision authenticate(Peer& peer, const Request& request);
    AuthDecision expect_token(Peer& peer, const Request& request);
    AuthDecision vouch(const Peer& helper, const Request& request);
    bool from_reserved_port(const Peer& peer) const;

    AuthMethods methods_;
    std::unordered_map<Id, Peer> peers_;
    std::map<std::pair<std::string, std::uint16_t>, Id, std::less<>> by_address_;
};

}  // namespace pbs::ifl
