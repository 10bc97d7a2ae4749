#include "ifl/connection.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <vector>

#include "ifl/credential.h"
#include "ifl/helper.h"
#include "ifl/munge.h"
#include "ifl/packet.h"
#include "ifl/pbs_error.h"

namespace pbs::ifl {

namespace {

// The longest wait for a reply: some requests, such as a rerun, take the server long.
constexpr std::chrono::seconds kReplyTimeout{10800};
constexpr std::chrono::seconds kHandshakeTimeout{30};
// The number of bytes at which buffered requests are sent.
constexpr std::size_t kSendSize = 32768;

Result<Reply> receive_reply(const Socket& socket, ReplyDecoder& replies, const ObjectSink& sink = nullptr) {
    for (;;) {
        auto decoded = replies.next(sink);
        if (auto* reply = std::get_if<Reply>(&decoded)) return std::move(*reply);
        if (auto* bad = std::get_if<ReplyDecoder::Malformed>(&decoded)) {
            return tl::unexpected(Error{PBSE_PROTOCOL, bad->error.message});
        }
        const auto received = socket.receive(replies.room(kReadSize), kReadSize, kReplyTimeout);
        replies.filled(received.value_or(0));
        if (!received) return tl::unexpected(received.error());
        if (*received == 0) return tl::unexpected(Error{PBSE_PROTOCOL, "the server closed the connection"});
    }
}

Error refusal(const Reply& reply, std::string_view what) {
    const auto* text = std::get_if<TextReply>(&reply.body);
    return {reply.code, fmt::format("{}: {}", what, text ? text->text : fmt::format("error {}", reply.code))};
}

// Does the work of pbs_iff: over `helper`, a connection from a reserved port, names the user of the
// connection from `port`.
Result<void> authenticate_here(const Socket& helper, const std::string& user, std::uint16_t port) {
    const Request request{RequestType::authenticate, user, Authenticate{"resvport", "", port}, ""};
    if (auto sent = helper.send(request_packet(request)); !sent) return sent;
    ReplyDecoder replies;
    const auto reply = receive_reply(helper, replies);
    if (!reply) return tl::unexpected(reply.error());
    if (reply->code != 0) return tl::unexpected(refusal(*reply, "the server refused the authentication"));
    return {};
}

Result<void> check_encryption(const Settings& settings) {
    if (settings.encrypt_method.empty() || settings.encrypt_method == kTlsMethod) return {};
    return tl::unexpected(Error{PBSE_NOSUP, fmt::format("PBS_ENCRYPT_METHOD: {} expected, found \"{}\"",
                                                        kTlsMethod, settings.encrypt_method)});
}

// Refuses an unknown or unavailable method of authentication before anything is sent.
Result<void> check_methods(const ServerAddress& address, const Settings& settings) {
    if (!address.socket.empty()) return {};
    if (settings.auth_method != kReservedPortMethod && settings.auth_method != kMungeMethod) {
        return tl::unexpected(
            Error{PBSE_NOSUP, fmt::format("PBS_AUTH_METHOD: {} or {} expected, found \"{}\"",
                                          kReservedPortMethod, kMungeMethod, settings.auth_method)});
    }
    return check_encryption(settings);
}

std::string login_group() {
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) return "";
    group group_entry{};
    group* group_found = nullptr;
    const gid_t gid = entry.pw_gid;
    if (getgrgid_r(gid, &group_entry, buffer.data(), buffer.size(), &group_found) == 0 && group_found)
        return group_found->gr_name;
    return std::to_string(gid);
}

// Reads the server's answer to a credential, the last packet of the handshake.
Result<void> receive_done(const Socket& socket) {
    PacketReader packets(kLongestToken);
    std::vector<char> bytes(kLongestToken);
    for (;;) {
        const auto packet = packets.next();
        if (!packet) return tl::unexpected(Error{PBSE_PROTOCOL, packet.error().message});
        if (*packet && packets.type() == PacketType::auth_error)
            return tl::unexpected(
                Error{PBSE_BADCRED, fmt::format("the server refused the authentication: {}", **packet)});
        if (*packet && (packets.type() != PacketType::auth_done || packets.in_progress()))
            return tl::unexpected(Error{PBSE_PROTOCOL, "the server's answer to a credential is none"});
        if (*packet) return {};
        const auto received = socket.receive(bytes.data(), bytes.size(), kReplyTimeout);
        if (!received) return tl::unexpected(received.error());
        if (*received == 0) return tl::unexpected(Error{PBSE_PROTOCOL, "the server closed the connection"});
        packets.feed({bytes.data(), *received});
    }
}

// Authenticates by a MUNGE credential, which is made only when the server has accepted the method.
Result<void> authenticate_by_munge(Connection& connection, const Socket& socket, const std::string& user,
                                   const Settings& settings) {
    const auto munge = Munge::load(settings.munge_socket);
    if (!munge) return tl::unexpected(munge.error());
    const auto ends = connection_ends(socket);
    if (!ends) return tl::unexpected(ends.error());
    const auto reply = connection.request(RequestType::authenticate, Authenticate{kMungeMethod, "", 0}, "");
    if (!reply) return tl::unexpected(reply.error());
    if (reply->code != 0)
        return tl::unexpected(refusal(*reply, "the server refused authentication by MUNGE"));
    auto credential = munge->encode(credential_text({user, login_group(), *ends}));
    if (!credential) return tl::unexpected(credential.error());
    credential->push_back('\0');  // as OpenPBS sends it
    if (auto sent = socket.send(make_packet(*credential, PacketType::auth_token)); !sent) return sent;
    return receive_done(socket);
}

Result<void> authenticate_by_port(const Socket& connection, const std::string& user,
                                  const ServerAddress& address, const Settings& settings) {
    const auto local = local_end(connection);
    if (!local) return tl::unexpected(local.error());
    const auto helper = connect_from_reserved_port(connection);
    if (helper) return authenticate_here(*helper, user, local->port);
    if (helper.error().code != PBSE_BADCRED) return tl::unexpected(helper.error());
    return authenticate_with_helper(connection, *local, address, settings.exec);
}

}  // namespace

Result<void> encrypt_as_asked(Socket& socket, const ServerAddress& address, const Settings& settings) {
    if (!address.socket.empty() || settings.encrypt_method.empty()) return {};
    if (auto known = check_encryption(settings); !known) return known;
    const auto context = TlsContext::client(settings.tls_authorities);
    if (!context) return tl::unexpected(context.error());
    return socket.encrypt(*context, settings.tls_name.empty() ? address.host : settings.tls_name,
                          kHandshakeTimeout);
}

std::string current_user() {
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found)
        return found->pw_name;
    return std::to_string(getuid());
}

Result<std::shared_ptr<Connection>> Connection::open(const ServerAddress& address, const Settings& settings,
                                                     std::string_view extend) {
    if (auto known = check_methods(address, settings); !known) return tl::unexpected(known.error());
    auto socket = connect_to(address);
    if (!socket) return tl::unexpected(socket.error());
    if (auto done = encrypt_as_asked(*socket, address, settings); !done) return tl::unexpected(done.error());
    std::shared_ptr<Connection> connection(new Connection(std::move(*socket), current_user()));
    const auto reply = connection->request(RequestType::connect, Connect{}, extend);
    if (!reply) return tl::unexpected(reply.error());
    if (reply->code != 0) return tl::unexpected(refusal(*reply, "the server refused the connection"));
    // over a Unix socket the kernel tells the server who the user is
    if (!address.socket.empty()) return connection;
    const auto done =
        settings.auth_method == kMungeMethod
            ? authenticate_by_munge(*connection, connection->socket_, connection->user_, settings)
            : authenticate_by_port(connection->socket_, connection->user_, address, settings);
    if (!done) return tl::unexpected(done.error());
    return connection;
}

Result<Reply> Connection::request(RequestType type, RequestBody body, std::string_view extend,
                                  const ObjectSink& sink) {
    if (!broken_.empty()) return tl::unexpected(Error{PBSE_PROTOCOL, broken_});
    if (unanswered_ != 0)
        return tl::unexpected(
            Error{PBSE_IVALREQ, fmt::format("{} earlier requests are to be answered first", unanswered_)});
    const Request request{type, user_, std::move(body), std::string(extend)};
    auto sent = socket_.send(request_packet(request));
    // a server that refuses a request halfway closes the connection, but the reply that it sent before can
    // still be read
    if (sent && !has_reply(type)) return Reply::ok();
    Result<Reply> reply;
    try {
        reply = receive_reply(socket_, replies_, sink);
    } catch (...) {
        broken_ = "the reply to an earlier request was not read to its end";
        throw;
    }
    if (!reply) {
        if (!sent) reply = tl::unexpected(sent.error());
        broken_ = reply.error().message;
    } else if (!sent) {
        broken_ = sent.error().message;
    }
    return reply;
}

Error Connection::broken(const Error& error) {
    broken_ = error.message;
    return {PBSE_PROTOCOL, broken_};
}

// Sends the buffered requests. While the server takes no more, reads its replies, because it may wait until
// they are read. If the server closes the connection, the replies that it sent before can still be received.
void Connection::send_kept() {
    if (!unsendable_.empty()) return;
    std::vector<char> bytes;
    std::string_view rest = kept_;
    while (!rest.empty()) {
        auto sent = socket_.send_some(rest);
        if (!sent) {
            unsendable_ = sent.error().message;
            break;
        }
        rest.remove_prefix(*sent);
        if (*sent != 0) continue;
        bytes.resize(kReadSize);
        auto received = socket_.receive_or_send(bytes.data(), bytes.size(), kReplyTimeout);
        if (!received) {
            (void)broken(received.error());
            return;
        }
        replies_.feed({bytes.data(), *received});
    }
    kept_.clear();
}

Result<void> Connection::send(RequestType type, RequestBody body, std::string_view extend) {
    if (!broken_.empty()) return tl::unexpected(Error{PBSE_PROTOCOL, broken_});
    kept_ += request_packet({type, user_, std::move(body), std::string(extend)});
    ++unanswered_;
    // a request that can't be sent shows its error when its reply is received
    if (kept_.size() >= kSendSize) send_kept();
    return {};
}

Result<Reply> Connection::receive() {
    if (unanswered_ == 0) return tl::unexpected(Error{PBSE_IVALREQ, "no request is unanswered"});
    --unanswered_;
    if (!broken_.empty()) return tl::unexpected(Error{PBSE_PROTOCOL, broken_});
    send_kept();
    if (!broken_.empty()) return tl::unexpected(Error{PBSE_PROTOCOL, broken_});
    // replies that send_kept() has read come first
    auto reply = receive_reply(socket_, replies_);
    if (reply) return reply;
    return tl::unexpected(broken(unsendable_.empty() ? reply.error() : Error{PBSE_PROTOCOL, unsendable_}));
}

}  // namespace pbs::ifl
