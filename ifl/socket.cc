#include "ifl/socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "ifl/auth_method.h"
#include "ifl/pbs_error.h"
#include "values/text.h"

namespace pbs::ifl {

namespace {

constexpr std::chrono::seconds kConnectTimeout{30};

Error system_error(int code, std::string_view what, int error) {
    return {code, fmt::format("{}: {}", what, values::system_text(error))};
}

// Waits until one of `events` happens on the descriptor. False: the time is over.
Result<bool> wait_for(int fd, short events, std::chrono::milliseconds timeout) {
    pollfd poller{fd, events, 0};
    for (;;) {
        const int ready = poll(&poller, 1, static_cast<int>(timeout.count()));
        if (ready > 0) return true;
        if (ready == 0) return false;
        if (errno != EINTR) return tl::unexpected(system_error(PBSE_PROTOCOL, "poll", errno));
    }
}

// Connects within kConnectTimeout. Returns 0 or an errno.
int connect_within(int fd, const sockaddr* address, socklen_t length) {
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return errno;
    int error = connect(fd, address, length) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        const auto ready = wait_for(fd, POLLOUT, kConnectTimeout);
        if (!ready || !*ready) return ETIMEDOUT;
        socklen_t size = sizeof error;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    }
    if (error != 0) return error;
    return fcntl(fd, F_SETFL, flags) < 0 ? errno : 0;
}

void set_no_delay(int fd) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Result<Socket> connect_unix(const std::string& path) {
    const auto fail = [&path](int error) {
        return tl::unexpected(system_error(PBSE_NOSERVER, fmt::format("cannot connect to {}", path), error));
    };
    Socket sock(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (sock.fd() < 0) return fail(errno);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string name = path;
    Socket directory;
    if (name.size() >= sizeof address.sun_path) {
        // sun_path is too short for a deep home; through a descriptor of the folder any path fits
        const std::filesystem::path file(path);
        directory = Socket(open(file.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (directory.fd() < 0) return fail(errno);
        name = fmt::format("/proc/self/fd/{}/{}", directory.fd(), file.filename().string());
    }
    if (name.size() >= sizeof address.sun_path) return fail(ENAMETOOLONG);
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    const int error = connect_within(sock.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (error != 0) return fail(error);
    return sock;
}

Result<Socket> connect_tcp(const ServerAddress& address) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(address.port);
    if (const int error = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found); error != 0) {
        return tl::unexpected(Error{
            PBSE_BADHOST, fmt::format("cannot resolve server {}: {}", address.host, gai_strerror(error))});
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
    int error = ENOENT;
    for (const addrinfo* entry = found; entry; entry = entry->ai_next) {
        Socket sock(socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (sock.fd() < 0) {
            error = errno;
            continue;
        }
        error = connect_within(sock.fd(), entry->ai_addr, entry->ai_addrlen);
        if (error == 0) {
            set_no_delay(sock.fd());
            return sock;
        }
    }
    return tl::unexpected(
        system_error(PBSE_NOSERVER,
                     fmt::format("cannot connect to server {}, port {}", address.host, address.port), error));
}

using Address = sockaddr_storage;

in_port_t& port_of(Address& address) {
    return address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                         : reinterpret_cast<sockaddr_in&>(address).sin_port;
}

}  // namespace

Socket::~Socket() {
    if (fd_ >= 0) close(fd_);
}

namespace {

// Sends as much as the socket takes now; returns the number of bytes, or 0.
Result<std::size_t> send_now(int fd, std::string_view data) {
    for (;;) {
        const ssize_t sent = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) return static_cast<std::size_t>(sent);
        if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
        if (errno != EINTR)
            return tl::unexpected(system_error(PBSE_PROTOCOL, "cannot send to the server", errno));
    }
}

Error late(std::chrono::seconds timeout) {
    return {PBSE_PROTOCOL, fmt::format("no answer from the server within {} s", timeout.count())};
}

constexpr std::size_t kEncryptedRead = 65536;
// The most bytes of send_some() that go into one TLS record.
constexpr std::size_t kEncryptedPiece = std::size_t{16} << 10;

}  // namespace

// Sends encrypted bytes as long as the socket takes them. True: all are sent.
Result<bool> Socket::send_kept() const {
    Tls& tls = *tls_;
    tls.kept += tls.session->take_unsent();
    while (tls.sent < tls.kept.size()) {
        const auto sent = send_now(fd_, std::string_view(tls.kept).substr(tls.sent));
        if (!sent) return tl::unexpected(sent.error());
        if (*sent == 0) return false;
        tls.sent += *sent;
    }
    tls.kept.clear();
    tls.sent = 0;
    return true;
}

// Waits for data and reads it. Meanwhile sends the encrypted bytes that are kept. Returns 0 when the peer has
// closed; with `or_send` also when the socket has room; with `size` 0 when the handshake is over.
Result<std::size_t> Socket::receive_encrypted(char* data, std::size_t size, std::chrono::seconds timeout,
                                              bool or_send) const {
    const auto until = std::chrono::steady_clock::now() + timeout;
    std::string bytes;
    for (;;) {
        auto read = tls_->session->read(data, size);
        // send the kept bytes even after an error: they tell the server the reason
        const auto all_sent = send_kept();
        if (!read) return read;
        if (*read > 0) return read;
        if (size == 0 && tls_->session->established()) return 0;
        if (!all_sent) return tl::unexpected(all_sent.error());
        if (tls_->ended) return 0;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        const bool sends = or_send || !*all_sent;
        const auto events = static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN);
        const auto ready = wait_for(fd_, events, std::max(left, std::chrono::milliseconds(0)));
        if (!ready) return tl::unexpected(ready.error());
        if (!*ready) return tl::unexpected(late(timeout));
        bytes.resize(kEncryptedRead);
        const ssize_t received = recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (received > 0) {
            if (auto fed = tls_->session->feed({bytes.data(), static_cast<std::size_t>(received)}); !fed)
                return tl::unexpected(fed.error());
        } else if (received == 0) {
            tls_->ended = true;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (or_send && *all_sent) return 0;
        } else if (errno != EINTR) {
            return tl::unexpected(system_error(PBSE_PROTOCOL, "cannot read from the server", errno));
        }
    }
}

Result<void> Socket::encrypt(const TlsContext& context, const std::string& name,
                             std::chrono::seconds timeout) {
    auto session = TlsSession::connect(context, name);
    if (!session) return tl::unexpected(session.error());
    auto tls = std::make_unique<Tls>();
    tls->session = std::move(*session);
    tls_ = std::move(tls);
    const auto sent = send_kept();
    if (!sent) return tl::unexpected(sent.error());
    // a server without TLS answers with something else, or closes the connection
    const auto none = [&name](std::string_view how) {
        return tl::unexpected(
            Error{PBSE_PROTOCOL, fmt::format("the server {} doesn't take TLS: it {}", name, how)});
    };
    const auto ready = wait_for(fd_, POLLIN, timeout);
    if (!ready) return tl::unexpected(ready.error());
    if (!*ready) return none(fmt::format("gave no answer within {} s", timeout.count()));
    char first = 0;
    ssize_t peeked = 0;
    while ((peeked = recv(fd_, &first, 1, MSG_PEEK)) < 0 && errno == EINTR) continue;
    if (peeked <= 0) return none("closed the connection");
    if (!is_tls({&first, 1})) return none("answers in the clear");
    const auto done = receive_encrypted(nullptr, 0, timeout, false);
    if (!done) return tl::unexpected(done.error());
    if (!tls_->session->established()) return none("closed the connection in the handshake");
    return {};
}

Result<void> Socket::send(std::string_view data) const {
    if (tls_ != nullptr) {
        if (auto written = tls_->session->write(data); !written) return written;
        for (;;) {
            const auto all = send_kept();
            if (!all) return tl::unexpected(all.error());
            if (*all) return {};
            if (const auto ready = wait_for(fd_, POLLOUT, std::chrono::milliseconds(-1)); !ready)
                return tl::unexpected(ready.error());
        }
    }
    while (!data.empty()) {
        const ssize_t sent = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return tl::unexpected(system_error(PBSE_PROTOCOL, "cannot send to the server", errno));
        data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

Result<std::size_t> Socket::send_some(std::string_view data) const {
    if (tls_ == nullptr) return send_now(fd_, data);
    const auto before = send_kept();
    if (!before) return tl::unexpected(before.error());
    if (!*before) return 0;
    const std::string_view piece = data.substr(0, kEncryptedPiece);
    if (auto written = tls_->session->write(piece); !written) return tl::unexpected(written.error());
    if (const auto sent = send_kept(); !sent) return tl::unexpected(sent.error());
    return piece.size();
}

Result<std::size_t> Socket::receive_or_send(char* data, std::size_t size,
                                            std::chrono::seconds timeout) const {
    if (tls_ != nullptr) {
        auto received = receive_encrypted(data, size, timeout, true);
        if (received && *received == 0 && tls_->ended)
            return tl::unexpected(Error{PBSE_PROTOCOL, "the server closed the connection"});
        return received;
    }
    const auto ready = wait_for(fd_, POLLIN | POLLOUT, timeout);
    if (!ready) return tl::unexpected(ready.error());
    if (!*ready) return tl::unexpected(late(timeout));
    for (;;) {
        const ssize_t received = recv(fd_, data, size, MSG_DONTWAIT);
        if (received > 0) return static_cast<std::size_t>(received);
        if (received == 0) return tl::unexpected(Error{PBSE_PROTOCOL, "the server closed the connection"});
        if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
        if (errno != EINTR)
            return tl::unexpected(system_error(PBSE_PROTOCOL, "cannot read from the server", errno));
    }
}

Result<std::size_t> Socket::receive(char* data, std::size_t size, std::chrono::seconds timeout) const {
    if (tls_ != nullptr) return receive_encrypted(data, size, timeout, false);
    const auto ready = wait_for(fd_, POLLIN, timeout);
    if (!ready) return tl::unexpected(ready.error());
    if (!*ready) return tl::unexpected(late(timeout));
    for (;;) {
        const ssize_t received = recv(fd_, data, size, 0);
        if (received >= 0) return static_cast<std::size_t>(received);
        if (errno != EINTR)
            return tl::unexpected(system_error(PBSE_PROTOCOL, "cannot read from the server", errno));
    }
}

Result<Socket> connect_to(const ServerAddress& address) {
    return address.socket.empty() ? connect_tcp(address) : connect_unix(address.socket);
}

namespace {

struct Addresses {
    Address local{};
    Address remote{};
    socklen_t local_length = sizeof(Address);
    socklen_t remote_length = sizeof(Address);
};

Result<Addresses> addresses_of(const Socket& connection) {
    Addresses of;
    if (getsockname(connection.fd(), reinterpret_cast<sockaddr*>(&of.local), &of.local_length) != 0 ||
        getpeername(connection.fd(), reinterpret_cast<sockaddr*>(&of.remote), &of.remote_length) != 0) {
        return tl::unexpected(system_error(PBSE_SYSTEM, "addresses of the connection", errno));
    }
    return of;
}

}  // namespace

Result<Socket> connect_from_reserved_port(const Socket& connection) {
    auto addresses = addresses_of(connection);
    if (!addresses) return tl::unexpected(addresses.error());
    auto& [local, remote, local_length, remote_length] = *addresses;
    // start at different ports in processes that connect at the same time
    const int count = kLastReservedPort - kFirstReservedPort + 1;
    const int start = getpid() % count;
    for (int i = 0; i < count; ++i) {
        Socket sock(socket(local.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (sock.fd() < 0) return tl::unexpected(system_error(PBSE_SYSTEM, "socket", errno));
        port_of(local) = htons(static_cast<std::uint16_t>(kLastReservedPort - (start + i) % count));
        if (bind(sock.fd(), reinterpret_cast<const sockaddr*>(&local), local_length) != 0) {
            if (errno == EADDRINUSE || errno == EADDRNOTAVAIL) continue;
            const int code = errno == EACCES ? PBSE_BADCRED : PBSE_SYSTEM;
            return tl::unexpected(system_error(code, "cannot use a reserved port", errno));
        }
        const int error =
            connect_within(sock.fd(), reinterpret_cast<const sockaddr*>(&remote), remote_length);
        if (error == 0) return sock;
        if (error != EADDRINUSE && error != EADDRNOTAVAIL) {
            return tl::unexpected(system_error(PBSE_NOSERVER, "cannot connect from a reserved port", error));
        }
    }
    return tl::unexpected(Error{PBSE_NOCONNECTS, "all reserved ports are in use"});
}

Result<ConnectionEnds> connection_ends(const Socket& connection) {
    const auto addresses = addresses_of(connection);
    if (!addresses) return tl::unexpected(addresses.error());
    ConnectionEnds ends;
    ends.client = numeric_address(addresses->local, ends.client_port);
    ends.server = numeric_address(addresses->remote, ends.server_port);
    return ends;
}

Result<LocalEnd> local_end(const Socket& connection) {
    Address local{};
    socklen_t length = sizeof local;
    char host[NI_MAXHOST];
    if (getsockname(connection.fd(), reinterpret_cast<sockaddr*>(&local), &length) != 0) {
        return tl::unexpected(system_error(PBSE_SYSTEM, "address of the connection", errno));
    }
    if (const int error = getnameinfo(reinterpret_cast<const sockaddr*>(&local), length, host, sizeof host,
                                      nullptr, 0, NI_NUMERICHOST);
        error != 0) {
        return tl::unexpected(
            Error{PBSE_SYSTEM, fmt::format("address of the connection: {}", gai_strerror(error))});
    }
    return LocalEnd{host, ntohs(port_of(local))};
}

}  // namespace pbs::ifl
