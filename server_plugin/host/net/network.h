// Serves the connections of clients, over the Unix socket HOME/server_priv/pbs.sock and over TCP, by one
// libuv loop.
//
// A client that misbehaves harms only its own connection. Packets have a size limit, which is small until the
// user is known. Connections are closed if a request stops halfway, a reply isn't read, a TCP connection
// doesn't authenticate, a TLS handshake stalls, or no request comes for long.
//
// Users share the server (clients.h): they take turns of a few milliseconds; each has a bounded part of the
// memory for requests and replies, and a bounded number of connections. Long status replies are made in
// parts, as the client reads them; each part shows its objects as they are when the part is made. A manager's
// connections are counted apart from those of other users with the same name. If there are as many
// connections as possible, a new connection of a manager replaces another one.
//
// Other folders use only Network. network_impl.h declares its implementation, which has files for the
// identities of clients (network_peers.cc, network_credentials.cc with munge_check.h), for TLS
// (network_tls.cc with certificate.h), and for the turns of clients (network_turns.cc with clients.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ifl/auth_method.h"
#include "server_plugin/host/base/error.h"
#include "server_plugin/host/change/server.h"

struct uv_loop_s;

namespace pbs::host {

// The clients over TCP that have to use TLS: none, those of other hosts, or all. A helper program that
// vouches for the user of another connection may always use plain text.
enum class EncryptionRequired { none, remote, all };
// Reads "none", "remote" or "all". Errors: PBSE_BADATVAL.
Result<EncryptionRequired> parse_encryption_required(std::string_view text);

struct NetworkOptions {
    std::string socket;                        // path of the Unix socket
    std::string bind = "127.0.0.1";            // numeric address
    uint16_t port = 15001;                     // 0: any free one
    std::chrono::seconds request_timeout{30};  // until a request must be complete, or a reply be read
    std::chrono::seconds unknown_timeout{60};  // until a TCP connection must be authenticated
    std::chrono::seconds idle_timeout{900};    // until the next request must come; 0: no limit
    ifl::AuthMethods methods{};                // methods by which a TCP connection may be authenticated
    std::string munge_socket{};                // socket of munged; empty: libmunge's usual one
    std::chrono::seconds check_timeout{15};    // until munged must answer about a credential
    std::string tls_certificate{};             // PEM; empty: there is no TLS
    std::string tls_key{};                     // the certificate's key
    EncryptionRequired tls_required = EncryptionRequired::none;
    std::chrono::seconds handshake_timeout{
        15};  // until the handshake of TLS must end, from the connection's beginning on
    std::size_t most_connections = 4096;
    std::size_t most_per_user = 512;
    std::size_t most_unknown_per_address = 512;   // TCP connections of unknown users, from one address
    std::size_t most_per_address = 2048;          // TCP connections from one address of another host
    std::size_t most_memory = size_t{256} << 20;  // bytes for requests and replies of all connections
};

class Network {
  public:
    // Begins to listen. Calls `after_request` each time a request was answered. Errors name the address, the
    // path or the certificate's file. PBSE_NOSUP: MUNGE is one of the methods and isn't installed.
    static Result<std::unique_ptr<Network>> open(uv_loop_s* loop, Server& server, NetworkOptions options,
                                                 std::function<void()> after_request);
    // REQUIRES: close() was called, and the loop has run since, so that all handles are closed.
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    uint16_t port() const;  // the TCP port in use
    // Returns the last time at which a client connected, sent data or was sent data. (A command sends several
    // requests, each after the reply to the last one, so its next request may come soon.)
    std::chrono::steady_clock::time_point last_exchange() const;
    // Returns the bytes of requests and replies that are in memory.
    std::size_t memory() const;
    // Stops listening. Closes each connection when its pending bytes are sent.
    void close();

  private:
    class Impl;
    explicit Network(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::host
