// TLS 1.3 over a connection of the batch protocol: it hides and seals what is sent, and says who the server
// is. Who the user is, is said inside of it, as without (ifl/auth.h).
//
// A client that is to use it begins with it: the first byte that a server gets is that of a TLS handshake, or
// the P of a packet (ifl/packet.h). So a server takes both on one port, and a helper such as pbs_iff, which
// knows nothing of TLS, finds it there.
//
// OpenSSL is loaded when it is needed, so that clients and servers that don't use it need no more packages.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "ifl/error.h"

namespace pbs::ifl {

/// The method that PBS_ENCRYPT_METHOD names.
inline constexpr const char* kTlsMethod = "tls";
/// Can these bytes, the first of a client's, be the beginning of a TLS handshake?
bool begins_tls(std::string_view bytes);
/// Can these, the first of a server's, be of TLS: of a handshake or an alert?
bool is_tls(std::string_view bytes);

/// Frees what OpenSSL keeps for the calling thread. A thread that has read certificates and may outlive
/// OpenSSL, which ends with the process before a pool's threads do, calls it when it has done so.
void release_tls_of_thread();

/// What all sessions of a server, or of a client, have in common. Copies share it; threads may use it.
class TlsContext {
  public:
    /// A server's certificate with those of its issuers behind it, and its key, both PEM. Neither file may be
    /// writable by others than their owner, who is root or this user; the key may be read by nobody else.
    /// `now`: a certificate that is no good then is an error. Errors: PBSE_SYSTEM, naming the file and what
    /// is wrong with it; PBSE_NOSUP: OpenSSL isn't installed.
    static Result<TlsContext> server(const std::string& certificate, const std::string& key,
                                     std::chrono::system_clock::time_point now);
    /// What a client trusts: the authorities of a PEM file, or those of the system if `authorities` is empty.
    /// Errors: as server().
    static Result<TlsContext> client(const std::string& authorities);

    /// Until when a server's certificate is good.
    std::chrono::system_clock::time_point good_until() const;

  private:
    friend class TlsSession;
    struct Data;
    explicit TlsContext(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

/// One connection's side of TLS. It does no input or output: what came from the peer is fed, and what is to
/// be sent to it is taken.
class TlsSession {
  public:
    /// The server's side.
    static Result<std::unique_ptr<TlsSession>> accept(const TlsContext& context);
    /// The client's: the server's certificate has to be for `name`, a host's name or a numeric address.
    static Result<std::unique_ptr<TlsSession>> connect(const TlsContext& context, const std::string& name);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    /// Bytes that came. They are kept until read().
    Result<void> feed(std::string_view bytes);
    /// Goes on with the handshake, then reads what was sent, at most `size` bytes: 0 when more has to come.
    /// Errors: PBSE_PROTOCOL or, of a server that isn't who it should be, PBSE_BADCRED, with what is wrong;
    /// the session is of no use then. There may be something to be sent all the same, which says so to the
    /// peer.
    Result<std::size_t> read(char* data, std::size_t size);
    /// Is the handshake over? What is written before is an error.
    bool established() const;
    /// Is there a part of something that isn't whole?
    bool in_progress() const;
    /// Puts bytes into what is to be sent. Errors: PBSE_PROTOCOL.
    Result<void> write(std::string_view data);

    /// Bytes that are to be sent to the peer.
    std::size_t unsent() const;
    std::string take_unsent();
    /// About how many bytes of memory it keeps.
    std::size_t size() const;

  private:
    struct Data;
    explicit TlsSession(std::unique_ptr<Data> data);
    static Result<std::unique_ptr<TlsSession>> make(const TlsContext& context);
    Error failure() const;
    std::unique_ptr<Data> data_;
};

}  // namespace pbs::ifl
