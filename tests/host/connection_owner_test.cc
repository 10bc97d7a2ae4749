#include "server_plugin/host/net/connection_owner.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <sstream>

#include "server_plugin/host/base/posix.h"

namespace pbs::host {
namespace {

using ifl::ConnectionEnds;

TEST(ConnectionOwner, IsThatOfTheClientsOpenSocket) {
    if (std::endian::native != std::endian::little) GTEST_SKIP() << "the table is of a little-endian machine";
    const std::string table =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100007F:3A99 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 7 1\n"
        "   1: 0100007F:9CBA 0100007F:3A99 01 00000000:00000000 00:00000000 00000000  4359        0 8 1\n"
        "   2: 0100007F:3A99 0100007F:9CBA 01 00000000:00000000 00:00000000 00000000     0        0 9 1\n"
        "   3: 0100007F:9CBB 0100007F:3A99 06 00000000:00000000 03:00000163 00000000     0        0 0 3\n"
        "   4: 0000000000000000FFFF00000100007F:9CBC 0000000000000000FFFF00000100007F:3A99 01 0:0 00:0 0 77 "
        "0\n"
        "   5: 00000000000000000000000001000000:9CBD 00000000000000000000000001000000:3A99 01 0:0 00:0 0 78 "
        "0\n"
        "   6: 0100007F:XXXX 0100007F:3A99 01 00000000:00000000 00:00000000 00000000     5        0 9 1\n"
        "   7: broken\n";
    const auto owner = [&](const std::string& address, uint16_t port) {
        std::istringstream in(table);
        return connection_owner(in, ConnectionEnds{address, port, address, 15001});
    };
    EXPECT_EQ(owner("127.0.0.1", 40122), uid_t{4359});
    EXPECT_EQ(owner("127.0.0.1", 40124), uid_t{77}) << "a socket of IPv6";
    EXPECT_EQ(owner("::1", 40125), uid_t{78});
    EXPECT_FALSE(owner("127.0.0.1", 40123)) << "closed: the kernel says root, whoever had it";
    EXPECT_FALSE(owner("127.0.0.2", 40122));
    EXPECT_FALSE(owner("127.0.0.1", 1));
}

TEST(ConnectionOwner, TheOwnerOfAConnectionOfThisProcessIsItsUser) {
    const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    sockaddr_in own{};
    ASSERT_EQ(::getsockname(client.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
    const ConnectionEnds ends{"127.0.0.1", ntohs(own.sin_port), "127.0.0.1", ntohs(address.sin_port)};
    EXPECT_EQ(connection_owner(ends), geteuid());
    client = Fd();
    EXPECT_FALSE(connection_owner(ends));
}

}  // namespace
}  // namespace pbs::host
