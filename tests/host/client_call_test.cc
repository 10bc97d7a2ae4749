#include "server_plugin/host/base/client_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

namespace pbs::host {
namespace {

using namespace std::chrono_literals;

TEST(ListenerAt, IsWhoListensAtThePort) {
    const std::string table =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 00000000:DD75 00000000:0000 0A 00000000:00000000 00:00000000 00000000  4359        0 1 1 0 "
        "100\n"
        "   1: 0100007F:1F90 0100007F:A022 06 00000000:00000000 03:0000163A 00000000     0        0 0 3 0\n"
        "   2: broken\n";
    const auto at = [&](uint16_t port) {
        std::istringstream in(table);
        return listener_at(in, port);
    };
    EXPECT_EQ(at(0xDD75), uid_t{4359});
    EXPECT_FALSE(at(0x1F90)) << "a connection";
    EXPECT_FALSE(at(0x0D75));
}

TEST(CallClient, CallsWhoIsMeant) {
    const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listener.get(), generic, sizeof address), 0);
    ASSERT_EQ(::getsockname(listener.get(), generic, &size), 0);
    const uint16_t port = ntohs(address.sin_port);
    auto nobody = call_client(port, getuid(), 100ms);
    ASSERT_FALSE(nobody);
    EXPECT_THAT(nobody.error().message, testing::HasSubstr("doesn't listen"));
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    auto other = call_client(port, getuid() + 1, 100ms);
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().message, testing::HasSubstr("a process of uid"));
    auto called = call_client(port, getuid(), 100ms);
    ASSERT_TRUE(called) << called.error().message;
    const Fd caller(::accept4(listener.get(), generic, &size, SOCK_CLOEXEC));
    ASSERT_TRUE(caller);
    if (geteuid() == 0) {
        EXPECT_LT(ntohs(address.sin_port), IPPORT_RESERVED);
    }
}

}  // namespace
}  // namespace pbs::host
