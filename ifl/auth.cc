#include "ifl/auth.h"

#include <fmt/format.h>

#include "ifl/pbs_error.h"

namespace pbs::ifl {

namespace {

constexpr std::string_view kServersUser = "root";

AuthDecision answer(Reply reply) {
    return {AuthDecision::Action::reply, std::move(reply), {}};
}

AuthDecision refuse(int code, std::string reason) {
    return {AuthDecision::Action::reply_and_close, Reply::error(code), std::move(reason)};
}

}  // namespace

void AuthTable::add_tcp(Id id, std::string_view address, std::uint16_t port, int first_unprivileged) {
    remove(id);
    by_address_[{std::string(address), port}] = id;
    peers_[id] = Peer{std::string(address), port, first_unprivileged, std::nullopt};
}

void AuthTable::add_local(Id id, std::string_view user) {
    remove(id);
    peers_[id] = Peer{{}, 0, 0, std::string(user)};
}

void AuthTable::remove(Id id) {
    const auto found = peers_.find(id);
    if (found == peers_.end()) return;
    // another connection may have this address and port by now: it was added before this one's end was
    // noticed
    const auto address = by_address_.find(std::pair{found->second.address, found->second.port});
    if (address != by_address_.end() && address->second == id) by_address_.erase(address);
    peers_.erase(found);
}

std::optional<std::string_view> AuthTable::user(Id id) const {
    const auto found = peers_.find(id);
    if (found == peers_.end() || !found->second.user) return std::nullopt;
    return *found->second.user;
}

bool AuthTable::from_reserved_port(const Peer& peer) const {
    return methods_.reserved_port && peer.port >= kFirstReservedPort && peer.port <= kLastReservedPort &&
           peer.port < peer.first_unprivileged;
}

bool AuthTable::from_reserved_port(Id id) const {
    const auto found = peers_.find(id);
    return found != peers_.end() && from_reserved_port(found->second);
}

AuthDecision AuthTable::authenticate(Peer& peer, const Request& request) {
    const auto& body = std::get<Authenticate>(request.body);
    if (peer.address.empty()) {
        return refuse(PBSE_BADCRED, "authenticate on a Unix socket, whose user is known");
    }
    const bool by_munge = body.method == kMungeMethod;
    if (by_munge ? !methods_.munge : body.method != kReservedPortMethod || !methods_.reserved_port) {
        return refuse(PBSE_NOSUP, fmt::format("authentication method \"{}\" isn't supported", body.method));
    }
    if (!body.encrypt_method.empty()) {
        return refuse(PBSE_NOSUP,
                      fmt::format("encryption method \"{}\" isn't supported", body.encrypt_method));
    }
    return by_munge ? expect_token(peer, request) : vouch(peer, request);
}

AuthDecision AuthTable::expect_token(Peer& peer, const Request& request) {
    if (peer.user) {
        return refuse(PBSE_BADCRED,
                      fmt::format("authenticate as {} on a connection of {}", request.user, *peer.user));
    }
    peer.token = Peer::Token::due;
    return answer(Reply::ok());
}

AuthDecision AuthTable::vouch(const Peer& helper, const Request& request) {
    const auto& body = std::get<Authenticate>(request.body);
    if (!from_reserved_port(helper)) {
        return refuse(PBSE_BADCRED, fmt::format("authenticate as {} from the unprivileged port {}",
                                                request.user, helper.port));
    }
    if (request.user.empty()) return refuse(PBSE_BADCRED, "authenticate without a user");
    const auto target =
        body.port <= UINT16_MAX
            ? by_address_.find(std::pair{helper.address, static_cast<std::uint16_t>(body.port)})
            : by_address_.end();
    if (target == by_address_.end()) {
        return refuse(PBSE_BADCRED, fmt::format("authenticate for port {} of {}, which has no connection",
                                                body.port, helper.address));
    }
    if (peers_[target->second].token != Peer::Token::none) {
        return refuse(PBSE_BADCRED,
                      fmt::format("authenticate for port {} of {}, which is to show a credential", body.port,
                                  helper.address));
    }
    std::optional<std::string>& user = peers_[target->second].user;
    if (user && *user != request.user) {
        return refuse(PBSE_BADCRED,
                      fmt::format("authenticate as {} for a connection of {}", request.user, *user));
    }
    user = request.user;
    return answer(Reply::ok());
}

bool AuthTable::token_due(Id id) const {
    const auto found = peers_.find(id);
    return found != peers_.end() && found->second.token == Peer::Token::due;
}

void AuthTable::take_token(Id id) {
    const auto found = peers_.find(id);
    if (found != peers_.end() && found->second.token == Peer::Token::due)
        found->second.token = Peer::Token::taken;
}

void AuthTable::identify(Id id, std::string_view user) {
    const auto found = peers_.find(id);
    if (found == peers_.end() || found->second.token != Peer::Token::taken) return;
    found->second.token = Peer::Token::none;
    found->second.user = user;
}

AuthDecision AuthTable::judge(Id id, const Request& request) {
    const auto found = peers_.find(id);
    if (found == peers_.end())
        return refuse(PBSE_INTERNAL, "a request on a connection that isn't in the table");
    Peer& peer = found->second;
    if (peer.token != Peer::Token::none) return refuse(PBSE_BADCRED, "a request before a credential");
    switch (request.type) {
        case RequestType::connect:
            return answer(Reply::ok());
        case RequestType::disconnect:
            return {AuthDecision::Action::close, {}, {}};
        case RequestType::authenticate:
            return authenticate(peer, request);
        default:
            break;
    }
    if (!peer.user && request.user == kServersUser && from_reserved_port(peer)) peer.user = kServersUser;
    if (!peer.user) {
        return refuse(PBSE_BADCRED, fmt::format("{} as {} before authentication", request_name(request.type),
                                                request.user));
    }
    // over a Unix socket the kernel has named the user, whatever the header says
    if (!peer.address.empty() && request.user != *peer.user) {
        return refuse(PBSE_BADCRED, fmt::format("{} as {} on a connection of {}", request_name(request.type),
                                                request.user, *peer.user));
    }
    return {};
}

}  // namespace pbs::ifl
