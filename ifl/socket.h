// A stream socket for the client library; it closes its descriptor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ifl/credential.h"
#include "ifl/error.h"
#include "ifl/settings.h"
#include "ifl/tls.h"

namespace pbs::ifl {

class Socket {
  public:
    Socket() = default;
    explicit Socket(int fd) : fd_(fd) {}
    Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(tls_, other.tls_);
        return *this;
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket();

    int fd() const { return fd_; }
    /// Encrypts all further traffic by TLS, with a server whose certificate is for `name`. Waits for the
    /// handshake until `timeout`. Errors: as TlsSession, and PBSE_PROTOCOL for a server that takes no TLS;
    /// then the socket can't be used any more.
    Result<void> encrypt(const TlsContext& context, const std::string& name, std::chrono::seconds timeout);
    /// Sends all of `data`. Errors: PBSE_PROTOCOL with the system's text.
    Result<void> send(std::string_view data) const;
    /// Sends as much of `data` as the peer takes now; returns the number of bytes, 0 if it takes none.
    /// Errors: as send().
    Result<std::size_t> send_some(std::string_view data) const;
    /// Returns whether encrypted bytes of send_some() are still to be sent. The next call that sends or
    /// receives sends them first.
    bool keeps_some() const { return tls_ != nullptr && !tls_->kept.empty(); }
    /// Waits until there is data or the peer takes some; returns the number of bytes read, 0 if only the peer
    /// takes data. Errors: PBSE_PROTOCOL, also when the peer has closed.
    Result<std::size_t> receive_or_send(char* data, std::size_t size, std::chrono::seconds timeout) const;
    /// Waits for data until `timeout` and reads at most `size` bytes: 0 when the peer has closed.
    Result<std::size_t> receive(char* data, std::size_t size, std::chrono::seconds timeout) const;

  private:
    Result<std::size_t> receive_encrypted(char* data, std::size_t size, std::chrono::seconds timeout,
                                          bool or_send) const;
    Result<bool> send_kept() const;

    int fd_ = -1;
    struct Tls {
        std::unique_ptr<TlsSession> session;
        std::string kept;  // bytes to be sent, from `sent` on
        std::size_t sent = 0;
        bool ended = false;  // the peer has closed
    };
    std::unique_ptr<Tls> tls_;  // null: not encrypted
};

/// Connects to a Unix socket, or to host and port. Errors: PBSE_BADHOST for a host that can't be resolved,
/// PBSE_NOSERVER for a server that doesn't answer; the message names the server.
Result<Socket> connect_to(const ServerAddress& address);

/// Connects from a privileged port of the local address of `connection` to its peer. Errors: PBSE_BADCRED
/// when the system doesn't let this process use such a port, PBSE_NOCONNECTS when all are in use,
/// PBSE_NOSERVER.
Result<Socket> connect_from_reserved_port(const Socket& connection);

/// The numeric local address of a TCP connection, and its port in host byte order.
struct LocalEnd {
    std::string address;
    std::uint16_t port = 0;
};
Result<LocalEnd> local_end(const Socket& connection);

/// Both ends of a TCP connection whose client is this process. Errors: PBSE_SYSTEM.
Result<ConnectionEnds> connection_ends(const Socket& connection);

}  // namespace pbs::ifl
