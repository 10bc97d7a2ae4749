// TLS 1.3 over a connection of the batch protocol: encrypts and protects the traffic, and proves who the
// server is. The user is authenticated inside of it, as without TLS (ifl/auth.h).
//
// A client that uses TLS begins with it: the first byte that a server gets is that of a TLS handshake, or the
// P of a packet (ifl/packet.h). So a server takes both on one port, and a helper such as pbs_iff, which
// doesn't know TLS, finds the same port.
//
// OpenSSL is loaded on first use, so that other clients and servers need no more packages.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "ifl/error.h"

namespace pbs::ifl {

/// The name of TLS in PBS_ENCRYPT_METHOD.
inline constexpr const char* kTlsMethod = "tls";
/// Returns whether these first bytes of a client can be the beginning of a TLS handshake.
bool begins_tls(std::string_view bytes);
/// Returns whether these first bytes of a server can be TLS: a handshake or an alert.
bool is_tls(std::string_view bytes);

/// Frees OpenSSL's data of the calling thread. Threads that have read certificates and may outlive OpenSSL
/// have to call it: when the process ends, OpenSSL ends before the threads of a pool do.
void release_tls_of_thread();

/// The common data of all sessions of a server, or of a client. Copies share it; threads may use it
/// concurrently.
class TlsContext {
  public:
    /// For a server: its certificate with those of its issuers after it, and its key, both PEM. The files
    /// belong to root or this user; nobody else may write them, or read the key. A certificate that isn't
    /// valid at `now` is an error. Errors: PBSE_SYSTEM, naming the file and what is wrong with it;
    /// PBSE_NOSUP: OpenSSL isn't installed.
    static Result<TlsContext> server(const std::string& certificate, const std::string& key,
                                     std::chrono::system_clock::time_point now);
    /// For a client: trusts the authorities of a PEM file, or those of the system if `authorities` is empty.
    /// Errors: as server().
    static Result<TlsContext> client(const std::string& authorities);

    /// The end of validity of the server's certificate.
    std::chrono::system_clock::time_point good_until() const;

  private:
    friend class TlsSession;
    struct Data;
    explicit TlsContext(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

/// One connection's side of TLS. It does no input or output: feed() takes the peer's bytes, take_unsent()
/// returns the bytes for the peer.
class TlsSession {
  public:
    /// Makes the server's side of a session.
    static Result<std::unique_ptr<TlsSession>> accept(const TlsContext& context);
    /// Makes the client's side. The server's certificate has to be for `name`, a host's name or a numeric
    /// address.
    static Result<std::unique_ptr<TlsSession>> connect(const TlsContext& context, const std::string& name);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    /// Takes bytes that came from the peer, and keeps them until read().
    Result<void> feed(std::string_view bytes);
    /// Continues the handshake, then reads at most `size` decrypted bytes. Returns 0 if the peer has to send
    /// more. Errors: PBSE_PROTOCOL or, if the server isn't who it should be, PBSE_BADCRED, with what is
    /// wrong; then the session can't be used any more. There may still be bytes to be sent that tell the peer
    /// why.
    Result<std::size_t> read(char* data, std::size_t size);
    /// Returns whether the handshake is over. Writing before that is an error.
    bool established() const;
    /// Returns whether the handshake, or a record from the peer, is incomplete.
    bool in_progress() const;
    /// Encrypts bytes for the peer. Errors: PBSE_PROTOCOL.
    Result<void> write(std::string_view data);

    /// The number of encrypted bytes for the peer; take_unsent() takes them out.
    std::size_t unsent() const;
    std::string take_unsent();
    /// The approximate number of bytes of memory in use.
    std::size_t size() const;

  private:
    struct Data;
    explicit TlsSession(std::unique_ptr<Data> data);
    static Result<std::unique_ptr<TlsSession>> make(const TlsContext& context);
    Error failure() const;
    std::unique_ptr<Data> data_;
};

}  // namespace pbs::ifl
