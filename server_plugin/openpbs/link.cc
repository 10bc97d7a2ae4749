#include "server_plugin/openpbs/link.h"
#include "values/text.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace pbs::openpbs {
namespace {

constexpr std::chrono::seconds kShortestPause{1};
constexpr int kMostDoublings = 5;
// The most bytes that are queued while the service doesn't read.
constexpr std::size_t kMostQueued = std::size_t{64} << 20;

}  // namespace

tl::expected<sockaddr_un, std::string> socket_address(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return tl::unexpected(fmt::format("{}: the path is too long for a socket", path));
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

Connector beside(std::string socket_path) {
    return [path = std::move(socket_path)]() -> tl::expected<int, std::string> {
        const auto address = socket_address(path);
        if (!address) return tl::unexpected(address.error());
        const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) return tl::unexpected(values::system_text(errno));
        if (::connect(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0) return fd;
        const int error = errno;
        close(fd);
        return tl::unexpected(fmt::format("{}: {}", path, values::system_text(error)));
    };
}

Link::Link(Connector connector, std::string what, Log log)
    : connector_(std::move(connector)),
      what_(std::move(what)),
      log_(std::move(log)),
      why_down_(fmt::format("{} isn't there yet", what_)),
      packets_(kLongestMessage) {}

Link::~Link() {
    forget();
}

void Link::forget() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
}

std::chrono::seconds Link::silent(Clock::time_point now) const {
    return std::chrono::duration_cast<std::chrono::seconds>(now - last_heard_);
}

bool Link::connect(Clock::time_point now) {
    if (up() || now < next_attempt_) return false;
    next_attempt_ = now + kShortestPause * (1 << std::min(failures_, kMostDoublings));
    ++failures_;
    auto made = connector_();
    if (!made) {
        down(made.error());
        return false;
    }
    fd_ = *made;
    packets_ = ifl::PacketReader(kLongestMessage);
    queued_.clear();
    last_heard_ = now;
    return true;
}

void Link::down(const std::string& why) {
    forget();
    queued_.clear();
    why_down_ = fmt::format("{} doesn't answer: {}", what_, why);
    if (!std::exchange(told_, true)) log_(why_down_);
}

void Link::send_queued() {
    while (fd_ >= 0 && !queued_.empty()) {
        const ssize_t sent = ::send(fd_, queued_.data(), queued_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (sent < 0) return down(values::system_text(errno));
        queued_.erase(0, static_cast<std::size_t>(sent));
    }
}

void Link::send(const ToService& message) {
    if (!up()) return;
    queued_ += packet_of(message);
    send_queued();
    if (queued_.size() > kMostQueued) down("it takes no more requests");
}

std::vector<FromService> Link::receive(std::chrono::milliseconds patience) {
    std::vector<FromService> out;
    if (!up()) return out;
    send_queued();
    if (!up()) return out;
    pollfd waiting{fd_, static_cast<short>(queued_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    if (poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return out;
    if ((waiting.revents & POLLOUT) != 0) send_queued();
    while (up()) {
        const ssize_t size = recv(fd_, packets_.room(ifl::kReadSize), ifl::kReadSize, MSG_DONTWAIT);
        const int error = errno;
        packets_.filled(size > 0 ? static_cast<std::size_t>(size) : 0);
        if (size < 0 && error == EINTR) continue;
        if (size < 0 && (error == EAGAIN || error == EWOULDBLOCK)) break;
        if (size <= 0) {
            down(size < 0 ? values::system_text(error) : std::string("it has ended"));
            break;
        }
    }
    for (;;) {
        auto packet = packets_.next();
        if (packet && !*packet) break;
        auto message = packet ? from_service(**packet) : tl::unexpected(packet.error());
        if (!message) {
            down(message.error().message);
            break;
        }
        out.push_back(std::move(*message));
    }
    if (!out.empty()) {
        last_heard_ = Clock::now();
        failures_ = 0;
        if (std::exchange(told_, false)) log_(fmt::format("{} answers again", what_));
    }
    return out;
}

}  // namespace pbs::openpbs
