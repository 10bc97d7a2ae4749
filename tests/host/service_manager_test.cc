#include "server_plugin/host/base/service_manager.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>

#include "server_plugin/host/base/posix.h"

namespace pbs::host {
namespace {

// Stands in for the service manager: a socket that receives datagrams.
class Listener {
  public:
    // `name`: a path, or '@' and a name of the abstract namespace.
    explicit Listener(const std::string& name) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::copy(name.begin(), name.end(), std::begin(address.sun_path));
        if (name.front() == '@') address.sun_path[0] = '\0';
        const auto size = offsetof(sockaddr_un, sun_path) + name.size();
        EXPECT_EQ(
            0, ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)));
    }

    // Returns the next datagram; "nothing" if there is none.
    std::string next() const {
        std::array<char, 256> text{};
        const ssize_t size = ::recv(fd_.get(), text.data(), text.size(), 0);
        return size < 0 ? "nothing" : std::string(text.data(), static_cast<std::size_t>(size));
    }

  private:
    Fd fd_;
};

ServiceManager manager_at(const std::string& socket) {
    return ServiceManager(
        [socket](const char* name) { return std::string(name) == "NOTIFY_SOCKET" ? socket : std::string(); });
}

TEST(ServiceManagerTest, TellsASocketInTheFileSystem) {
    char folder[] = "/tmp/service_manager_test.XXXXXX";
    ASSERT_NE(nullptr, ::mkdtemp(folder));
    const std::string path = std::string(folder) + "/notify";
    const Listener listener(path);
    const ServiceManager manager = manager_at(path);
    manager.ready();
    EXPECT_EQ(fmt::format("READY=1\nMAINPID={}", ::getpid()), listener.next());
    manager.alive();
    EXPECT_EQ("WATCHDOG=1", listener.next());
    manager.stopping();
    EXPECT_EQ("STOPPING=1", listener.next());
    std::filesystem::remove_all(folder);
}

TEST(ServiceManagerTest, TellsASocketInTheAbstractNamespace) {
    const std::string name = fmt::format("@service_manager_test.{}", ::getpid());
    const Listener listener(name);
    manager_at(name).alive();
    EXPECT_EQ("WATCHDOG=1", listener.next());
}

TEST(ServiceManagerTest, WithoutOneOrWhenItIsGoneNothingHappens) {
    const std::string name = fmt::format("@service_manager_test.{}", ::getpid());
    const Listener listener(name);
    for (const std::string& socket :
         {std::string(), std::string("relative"), name + "gone", "/" + std::string(300, 'x')}) {
        manager_at(socket).alive();
    }
    EXPECT_EQ("nothing", listener.next());
}

}  // namespace
}  // namespace pbs::host
