// Network: encrypts connections by TLS. Handshakes and data are processed in the turns of their users, like
// requests.

#include <fmt/format.h>
#include <uv.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/net/certificate.h"
#include "server_plugin/host/net/network_impl.h"

namespace pbs::host {

Result<EncryptionRequired> parse_encryption_required(std::string_view text) {
    if (text.empty() || text == "none") return EncryptionRequired::none;
    if (text == "remote") return EncryptionRequired::remote;
    if (text == "all") return EncryptionRequired::all;
    return fail(PBSE_BADATVAL, fmt::format("TLS required: none, remote or all expected, found \"{}\"", text));
}

Result<void> Network::Impl::start_tls() {
    if (options_.tls_certificate.empty() != options_.tls_key.empty())
        return fail(PBSE_BADATVAL, fmt::format("TLS: {} is given, and no {}",
                                               options_.tls_key.empty() ? "a certificate" : "a key",
                                               options_.tls_key.empty() ? "key" : "certificate"));
    if (options_.tls_certificate.empty()) {
        if (options_.tls_required == EncryptionRequired::none) return {};
        return fail(PBSE_BADATVAL, "TLS is required of clients, and the server has no certificate");
    }
    auto opened = Certificate::open(loop_, server_.parts.log, options_.tls_certificate, options_.tls_key);
    if (!opened) return tl::unexpected(opened.error());
    certificate_ = std::move(*opened);
    return {};
}

// Takes received bytes. The first bytes show whether the client uses TLS or sends packets in plain text.
void Network::Impl::take_bytes(Peer& peer, std::string_view bytes) {
    if (!in_progress(peer)) peer.waiting = Steady::now();
    if (!std::exchange(peer.begun, true) && certificate_ != nullptr && !peer.local &&
        ifl::begins_tls(bytes)) {
        auto session = ifl::TlsSession::accept(certificate_->context());
        if (!session) {
            drop(peer, session.error().message);
            return;
        }
        peer.tls = std::move(*session);
    }
    if (peer.tls == nullptr) {
        peer.decoder.feed(bytes);
    } else if (auto fed = peer.tls->feed(bytes); !fed) {
        drop(peer, fed.error().message);
        return;
    }
    peer.unread = true;
    recount(peer);
    if (!grows_too_long(peer)) want_turn(peer);
}

// Decrypts the received data, and passes it to the decoder. Returns false if the connection is being closed.
bool Network::Impl::decrypt(Peer& peer) {
    for (;;) {
        const auto size = peer.tls->read(plain_.data(), plain_.size());
        if (!size) {
            server_.parts.log.write(LogEvent::debug, LogClass::request, peer.key,
                                    fmt::format("connection closed: {}", size.error().message));
            settle();
            finish(peer);
            return false;
        }
        if (*size == 0) break;
        peer.decoder.feed({plain_.data(), *size});
    }
    recount(peer);
    return !grows_too_long(peer);
}

// Encrypts the pieces to be written. Returns false if the connection was dropped.
bool Network::Impl::encrypt(Peer& peer, std::vector<std::string>& pieces) {
    for (std::string& piece : pieces) {
        if (auto done = peer.tls->write(piece); !done) {
            drop(peer, done.error().message);
            return false;
        }
        piece = std::string();
    }
    pieces.clear();
    if (peer.tls->unsent() != 0) pieces.push_back(peer.tls->take_unsent());
    return true;
}

bool Network::Impl::in_progress(const Peer& peer) {
    return peer.decoder.in_progress() || (peer.tls != nullptr && peer.tls->in_progress());
}

// Returns whether the request may be sent in plain text. A helper that vouches for the user of a connection
// may always do that, because it sends only a port and a name.
bool Network::Impl::may_be_clear(const Peer& peer, const ifl::Request& request) const {
    if (peer.local || peer.tls != nullptr || options_.tls_required == EncryptionRequired::none) return true;
    if (options_.tls_required == EncryptionRequired::remote && !peer.other_host) return true;
    const auto* authenticate = std::get_if<ifl::Authenticate>(&request.body);
    return request.type == ifl::RequestType::disconnect ||
           (authenticate != nullptr && authenticate->method == ifl::kReservedPortMethod);
}

void Network::Impl::refuse_clear(Peer& peer, const ifl::Request& request) {
    server_.parts.log.write(LogEvent::security, LogClass::request, peer.key,
                            fmt::format("refused: {} in the clear", ifl::request_name(request.type)));
    send(peer,
         ifl::Reply::error(PBSE_BADCRED,
                           "this server takes requests by TLS only: PBS_ENCRYPT_METHOD=tls is to be set"),
         true);
}

}  // namespace pbs::host
