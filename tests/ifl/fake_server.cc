#include "tests/ifl/fake_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace pbs::ifl::testing {

namespace {

void check(bool good, const char* what) {
    if (!good) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

std::string user_name(uid_t uid) {
    const passwd* entry = getpwuid(uid);
    return entry ? entry->pw_name : std::to_string(uid);
}

}  // namespace

FakeServer::FakeServer(Handler handler, const std::string& socket)
    : handler_(std::move(handler)), socket_(socket) {
    tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    check(bind(tcp_, reinterpret_cast<sockaddr*>(&address), length) == 0, "bind");
    check(listen(tcp_, 16) == 0, "listen");
    check(getsockname(tcp_, reinterpret_cast<sockaddr*>(&address), &length) == 0, "getsockname");
    port_ = ntohs(address.sin_port);
    if (!socket.empty()) {
        unix_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        check(socket.size() < sizeof name.sun_path, "socket path");
        std::memcpy(name.sun_path, socket.c_str(), socket.size() + 1);
        check(bind(unix_, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0, "bind");
        check(listen(unix_, 16) == 0, "listen");
    }
    check(pipe(stop_) == 0, "pipe");
    thread_ = std::thread([this] { run(); });
}

FakeServer::~FakeServer() {
    close(stop_[1]);
    thread_.join();
    close(stop_[0]);
    close(tcp_);
    if (unix_ >= 0) {
        close(unix_);
        unlink(socket_.c_str());
    }
    for (const auto& [fd, peer] : peers_) close(fd);
}

std::vector<Request> FakeServer::requests() const {
    const std::lock_guard guard(mutex_);
    return requests_;
}

void FakeServer::run() {
    for (;;) {
        std::vector<pollfd> polled{{stop_[0], POLLIN, 0}, {tcp_, POLLIN, 0}, {unix_, POLLIN, 0}};
        for (const auto& [fd, peer] : peers_) polled.push_back({fd, POLLIN, 0});
        if (poll(polled.data(), polled.size(), -1) < 0) continue;
        if (polled[0].revents) return;
        if (polled[1].revents) accept_peer(tcp_);
        if (polled[2].revents) accept_peer(unix_);
        for (std::size_t i = 3; i < polled.size(); ++i) {
            if (!polled[i].revents) continue;
            const auto peer = peers_.find(polled[i].fd);
            if (read_from(peer->first, peer->second)) continue;
            auth_.remove(peer->second.id);
            close(peer->first);
            peers_.erase(peer);
        }
    }
}

void FakeServer::accept_peer(int listener) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    const bool tcp = listener == tcp_;
    const int fd =
        accept(listener, tcp ? reinterpret_cast<sockaddr*>(&address) : nullptr, tcp ? &length : nullptr);
    if (fd < 0) return;
    Peer& peer = peers_[fd];
    peer.id = ++last_id_;
    if (tcp) {
        auth_.add_tcp(peer.id, inet_ntoa(address.sin_addr), ntohs(address.sin_port));
        peer.decoder.set_limits(RequestLimits::before_authentication());
    } else {
        ucred credentials{};
        length = sizeof credentials;
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length);
        auth_.add_local(peer.id, user_name(credentials.uid));
    }
}

bool FakeServer::read_from(int fd, Peer& peer) {
    char bytes[65536];
    const ssize_t count = recv(fd, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    if (auth_.known(peer.id)) peer.decoder.set_limits({});
    peer.decoder.feed({bytes, static_cast<std::size_t>(count)});
    for (;;) {
        auto decoded = peer.decoder.next();
        if (std::holds_alternative<RequestDecoder::NeedMore>(decoded)) return true;
        if (const auto* bad = std::get_if<RequestDecoder::Malformed>(&decoded)) {
            send_all(fd, reply_packet(Reply::error(bad->error.code, bad->error.message)));
            return false;
        }
        if (!serve(fd, peer, std::get<Request>(decoded))) return false;
    }
}

bool FakeServer::serve(int fd, Peer& peer, const Request& request) {
    {
        const std::lock_guard guard(mutex_);
        requests_.push_back(request);
    }
    const AuthDecision decision = auth_.judge(peer.id, request);
    switch (decision.action) {
        case AuthDecision::Action::reply:
            return send_all(fd, reply_packet(decision.reply));
        case AuthDecision::Action::reply_and_close:
            send_all(fd, reply_packet(decision.reply));
            return false;
        case AuthDecision::Action::close:
            return false;
        case AuthDecision::Action::handle:
            break;
    }
    const std::string answer = handler_(request, *auth_.user(peer.id));
    if (!has_reply(request.type)) return true;
    return !answer.empty() && send_all(fd, answer);
}

bool FakeServer::send_all(int fd, std::string_view data) {
    while (!data.empty()) {
        const ssize_t sent = send(fd, data.data(), data.size(), MSG_NOSIGNAL);
        if (sent < 0) return false;
        data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace pbs::ifl::testing
