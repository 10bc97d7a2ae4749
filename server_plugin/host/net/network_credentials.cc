// Network: takes the credentials that clients send, and has them checked in threads.

#include <fmt/format.h>
#include <sys/socket.h>
#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ifl/credential.h"
#include "ifl/munge.h"
#include "ifl/packet.h"
#include "ifl/request.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/net/network_impl.h"

namespace pbs::host {
namespace {

// The longest text of a refusal, in bytes: OpenPBS's clients have a buffer of this size for it.
constexpr std::size_t kLongestRefusal = 200;

}  // namespace

Result<void> Network::Impl::start_munge() {
    if (!options_.methods.munge) return {};
    const auto munge = ifl::Munge::load(options_.munge_socket);
    if (!munge) return tl::unexpected(munge.error());
    munge_ = std::make_unique<MungeCheck>(
        loop_, credential_sources(*munge), [this](uint64_t connection, const Result<std::string>& user) {
            guarded(server_.parts.log, "credential", [&] { credential_checked(connection, user); });
        });
    return {};
}

// Takes the client's credential, which is the packet that follows the reply to `authenticate`.
void Network::Impl::take_credential(Peer& peer) {
    auto token = peer.decoder.next_token();
    if (!token) {
        refuse_credential(peer, token.error().message);
        return;
    }
    if (!*token) {
        peer.unread = false;
        return;
    }
    if ((*token)->type != ifl::PacketType::auth_token) {
        refuse_credential(peer, "a packet with a credential expected");
        return;
    }
    ShownCredential shown{std::move((*token)->data), {}, !peer.other_host};
    // Remove the final NUL byte, which OpenPBS's clients send, too.
    shown.credential.resize(shown.credential.find_last_not_of('\0') + 1);
    if (shown.credential.find('\0') != std::string::npos) {
        refuse_credential(peer, "a NUL byte in the credential");
        return;
    }
    sockaddr_storage own{};
    int size = sizeof own;
    if (uv_tcp_getsockname(&peer.handle.tcp, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
        drop(peer, "");
        return;
    }
    shown.ends.client = ifl::numeric_address(peer.socket_address, shown.ends.client_port);
    shown.ends.server = ifl::numeric_address(own, shown.ends.server_port);
    auth_.take_token(peer.id);
    peer.waiting = Steady::now();
    peer.checked = true;
    munge_->check(peer.id, std::move(shown));
}

void Network::Impl::credential_checked(uint64_t id, const Result<std::string>& user) {
    const auto at = peers_.find(id);
    if (at == peers_.end() || !at->second->checked || closing_) return;
    Peer& peer = *at->second;
    guard(peer, [&] {
        if (!user) {
            refuse_credential(peer, user.error().message);
            return;
        }
        peer.checked = false;
        auth_.identify(peer.id, *user);
        server_.parts.log.write(LogEvent::debug2, LogClass::request, peer.key,
                                fmt::format("a connection of {} by MUNGE", *user));
        peer.unsent.add(ifl::make_packet(std::string(1, '\0'), ifl::PacketType::auth_done));
        write(peer);
        recount(peer);
        want_turn(peer);
    });
}

// Sends the client the reason why its credential is refused, and closes the connection.
void Network::Impl::refuse_credential(Peer& peer, std::string_view why) {
    if (peer.closing) return;
    if (std::exchange(peer.checked, false)) munge_->forget(peer.id);
    server_.parts.log.write(LogEvent::security, LogClass::request, peer.key,
                            fmt::format("refused: authenticate by MUNGE: {}", why));
    peer.unsent.add(ifl::make_packet(why.substr(0, kLongestRefusal), ifl::PacketType::auth_error));
    finish(peer);
}

}  // namespace pbs::host
