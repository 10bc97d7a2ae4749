#include "server_plugin/host/base/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "server_plugin/host/base/posix.h"

namespace pbs::host {

ServiceManager::ServiceManager(const Environment& environment) : socket_(environment("NOTIFY_SOCKET")) {
    const bool address = socket_.starts_with('/') || socket_.starts_with('@');
    if (!address || socket_.size() >= sizeof sockaddr_un::sun_path) socket_.clear();
}

void ServiceManager::ready() const {
    tell(fmt::format("READY=1\nMAINPID={}", ::getpid()));
}

void ServiceManager::tell(std::string_view state) const {
    if (socket_.empty()) return;
    const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(socket_.begin(), socket_.end(), std::begin(address.sun_path));
    if (socket_.front() == '@') address.sun_path[0] = '\0';
    // The address of a path includes the final zero byte. For a name in the abstract namespace it must not,
    // because the zero would be part of the name.
    const auto size = offsetof(sockaddr_un, sun_path) + socket_.size() + (socket_.front() == '@' ? 0 : 1);
    static_cast<void>(::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
                               reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)));
}

}  // namespace pbs::host
