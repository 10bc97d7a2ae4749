// Who is at the other end of a connection: the server's side of authentication.
//
// A Unix socket needs none: the kernel names the peer. Over TCP, OpenPBS clients (method "resvport", the
// default) do this:
//
//   1. The client connects from any port P and sends connect (answered with an empty reply, code 0).
//   2. It runs the setuid helper pbs_iff. The helper connects from a privileged port (512 to 1023) of the
//   same
//      address, which only root of that host can do, and sends authenticate with method "resvport", port P,
//      and the name of the user who ran it in the request's header. (A host is trusted to let only root use
//      these ports.)
//   3. The server finds the connection from that address and port P, notes the user on it, and answers the
//   helper
//      with an empty reply, code 0; or PBSE_BADCRED when there is no such connection. The helper disconnects.
//   4. The client makes its requests on its own connection. Their header names the user again; a request
//   under
//      another name than the noted one is refused with PBSE_BADCRED and the connection is closed.
//
// A server that asks another one (it moves a job there, say) does without 1 to 3: its own connection comes
// from a privileged port, and root is the user whom its first request names.
//
// With method "munge" it is:
//
//   1. The client sends authenticate with method "munge" on its own connection, answered with an empty reply,
//      code 0.
//   2. It sends a packet of type auth_token with a MUNGE credential (ifl/credential.h) and a NUL byte: the
//   word
//      of the munged of its host for the user's number, which every host with the same key can check.
//   3. The server answers with a packet of type auth_done with one byte, or with auth_error and a text, after
//      which it closes the connection.
//   4. As above.
//
// connect, authenticate and disconnect are the only requests that any other unknown peer may make; others are
// refused with PBSE_BADCRED and the connection is closed.
//
// This table does all of it, given the addresses; it does no input or output and keeps no time. The server
// resolves the host's name (for user@host in managers and operators) itself.
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

/// What to do with a request.
struct AuthDecision {
    enum class Action {
        handle,           ///< from a known user: hand it on
        reply,            ///< send `reply`
        reply_and_close,  ///< send `reply`, then close the connection
        close             ///< close the connection
    };
    Action action = Action::handle;
    Reply reply;
    std::string reason;  ///< for the log, of a refusal; else empty
};

class AuthTable {
  public:
    /// The server's own key of a connection.
    using Id = std::uint64_t;

    explicit AuthTable(AuthMethods methods = {}) : methods_(methods) {}

    /// A TCP connection was accepted. `address` is the peer's numeric address, always written the same way
    /// for one peer (map IPv4-in-IPv6 to IPv4). `first_unprivileged`: the first port of that peer's host that
    /// anybody may bind; a helper's port has to be below it and below 1024.
    void add_tcp(Id id, std::string_view address, std::uint16_t port, int first_unprivileged = 1024);
    /// A Unix socket's connection was accepted from this user (SO_PEERCRED).
    void add_local(Id id, std::string_view user);
    /// The connection is closed.
    void remove(Id id);

    /// Judges a request that has just been decoded on connection `id`, and does what authenticate asks for.
    AuthDecision judge(Id id, const Request& request);

    /// Is the next packet of this connection a token of its authentication method, instead of a request?
    bool token_due(Id id) const;
    /// The token came, and is being looked at: no request is judged until identify().
    void take_token(Id id);
    /// The token says that the connection is this user's. Only for a connection whose token was taken.
    void identify(Id id, std::string_view user);

    /// The user of a connection; nullopt while it isn't known. This, not Request::user, is who asks.
    std::optional<std::string_view> user(Id id) const;
    bool known(Id id) const { return user(id).has_value(); }
    /// Did only root of the peer's host make this connection?
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
