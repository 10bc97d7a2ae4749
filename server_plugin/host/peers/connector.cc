#include "server_plugin/host/peers/connector.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "ifl/connection.h"
#include "ifl/pbs_error.h"
#include "ifl/settings.h"
#include "server_plugin/host/base/address.h"
#include "server_plugin/posix/spawn.h"
#include "values/number.h"

namespace pbs::host {
namespace {

constexpr const char* kConnectArgument = "--connect";
constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kRelayBuffer = std::size_t{64} << 10;
// The longest wait for data of the other server while a connection is relayed. The main process closes the
// connection to a silent server earlier.
constexpr std::chrono::seconds kRelayPatience{3600};
// The lowest port to connect to. Other services listen at lower ports, and might take a connection from a
// privileged port for root's.
constexpr unsigned kFirstPort = 1024;

using Control = std::array<char, CMSG_SPACE(sizeof(int))>;

bool hand_over(const std::string& text, int fd) {
    iovec piece{const_cast<char*>(text.data()), text.size()};
    alignas(cmsghdr) Control control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    return ::sendmsg(STDIN_FILENO, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

bool hand_over_error(const ifl::Error& error) {
    return hand_over(error.message.empty() ? "it can't be connected to" : error.message, -1);
}

// Returns the numeric address to which a descriptor is connected; empty: it isn't connected.
std::string peer_address(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    uint16_t port = 0;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
    return address_text(address, port);
}

bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) return false;
        if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

// Passes the data that has come from the other server to this one. Returns false if the connection is over.
bool pass_back(const ifl::Socket& encrypted, int own, std::vector<char>& buffer) {
    for (;;) {
        const auto came = encrypted.receive_or_send(buffer.data(), buffer.size(), kRelayPatience);
        if (!came) return false;
        if (*came == 0) return true;
        if (!send_all(own, {buffer.data(), *came})) return false;
    }
}

// Passes data between the encrypted connection and `own`, the connection to this server, until either side
// closes. Reads from `own` only when all earlier data from it is sent.
void pass_on(const ifl::Socket& encrypted, int own) {
    std::vector<char> buffer(kRelayBuffer);
    std::string out;
    for (;;) {
        const bool sends = !out.empty() || encrypted.keeps_some();
        std::array<pollfd, 2> ends{
            {{encrypted.fd(), static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN), 0},
             {own, static_cast<short>(out.empty() ? POLLIN : 0), 0}}};
        if (::poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) return;
        // This server has closed its connection, so it doesn't need the answer to the unsent data.
        if (!out.empty() && (ends[1].revents & (POLLHUP | POLLERR)) != 0) return;
        if (ends[1].revents != 0 && out.empty()) {
            const ssize_t size = ::recv(own, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) return;
            if (size > 0) out.assign(buffer.data(), static_cast<std::size_t>(size));
        }
        const auto sent = encrypted.send_some(out);
        if (!sent) return;
        out.erase(0, *sent);
        if ((ends[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !pass_back(encrypted, own, buffer))
            return;
    }
}

bool relay(const std::string& user, const ifl::Socket& encrypted) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return hand_over_error({PBSE_SYSTEM, system_text(errno)});
    const Fd own(ends[0]);
    {
        const Fd other(ends[1]);
        if (!hand_over(user + ' ' + peer_address(encrypted.fd()), other.get())) return false;
    }
    pass_on(encrypted, own.get());
    return true;
}

// Connects to the other server from a privileged port, as servers do. If the process may not use such a port,
// or PBS_AUTH_METHOD names another method, connects as this process's user.
bool connect(const ifl::ServerAddress& address) {
    const auto settings = ifl::load_settings(ifl::process_environment());
    if (!settings) return hand_over_error(settings.error());
    if (settings->auth_method == ifl::kReservedPortMethod) {
        const auto probe = ifl::connect_to(address);
        if (!probe) return hand_over_error(probe.error());
        if (auto made = ifl::connect_from_reserved_port(*probe)) {
            if (settings->encrypt_method.empty()) return hand_over("root", made->fd());
            if (auto done = ifl::encrypt_as_asked(*made, address, *settings); !done)
                return hand_over_error(done.error());
            return relay("root", *made);
        }
    }
    const auto made = ifl::Connection::open(address, *settings, "");
    if (!made) return hand_over_error(made.error());
    if (settings->encrypt_method.empty()) return hand_over(ifl::current_user(), (*made)->fd());
    return relay(ifl::current_user(), (*made)->socket());
}

}  // namespace

std::optional<ServerName> server_name_of(std::string_view text) {
    ServerName name{std::string(text.substr(0, text.find(':'))), ifl::kDefaultPort};
    if (name.host.empty() || name.host.front() == '-') return std::nullopt;
    if (name.host.size() == text.size()) return name;
    const auto port = values::number<std::uint16_t>(text.substr(name.host.size() + 1));
    if (!port || *port < kFirstPort) return std::nullopt;
    name.port = *port;
    return name;
}

Result<Connector> Connector::start(const std::string& program, const ServerName& to) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return fail(PBSE_SYSTEM, system_text(errno));
    Fd own(ends[0]);
    const Fd other(ends[1]);
    posix::Spawn started;
    started.give(other.get(), STDIN_FILENO);
    started.give_nothing(STDOUT_FILENO);
    started.give_nothing(STDERR_FILENO);
    started.close_from(STDERR_FILENO + 1);
    const pid_t pid =
        started.start(program, {"pbs_server", kConnectArgument, to.host, fmt::format("{}", to.port)});
    if (pid < 0) return fail(PBSE_SYSTEM, system_text(-pid));
    return Connector(std::move(own), pid);
}

Result<Connector::Made> Connector::take() {
    std::array<char, kLongestText> text{};
    iovec piece{text.data(), text.size()};
    alignas(cmsghdr) Control control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(channel_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size <= 0) return fail(PBSE_NOSERVER, "the process that was to connect died");
    std::string said(text.data(), static_cast<std::size_t>(size));
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return fail(PBSE_NOSERVER, std::move(said));
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    Made made{ifl::Socket(fd), said, peer_address(fd)};
    if (const std::size_t space = said.find(' '); space != std::string::npos) {
        made.user.resize(space);
        made.address = said.substr(space + 1);
        made.relayed = true;
    }
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return fail(PBSE_SYSTEM, system_text(errno));
    return made;
}

bool is_connector(int argc, char** argv) {
    return argc > 1 && std::string_view(argv[1]) == kConnectArgument;
}

int connector_main(int argc, char** argv) {
    const auto to = argc == 4 ? server_name_of(std::string(argv[2]) + ":" + argv[3]) : std::nullopt;
    if (!to) {
        (void)std::fprintf(stderr, "pbs_server: %s is for the server's own use\n", argv[1]);
        return EINVAL;
    }
    ifl::ServerAddress address;
    address.host = to->host;
    address.port = to->port;
    return connect(address) ? 0 : EIO;
}

}  // namespace pbs::host
