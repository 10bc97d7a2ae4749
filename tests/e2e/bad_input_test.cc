// Sends the server bytes that aren't a valid request. The server ends the connection, and goes on serving
// other clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

#include "ifl/dis.h"
#include "ifl/packet.h"
#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

class Socket {
  public:
    explicit Socket(int fd) : fd_(fd) {}
    ~Socket() { close(fd_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    static int local(const Server& server) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string path = (server.home() / "server_priv/pbs.sock").string();
        if (path.size() >= sizeof address.sun_path) throw std::runtime_error("the socket's path is too long");
        path.copy(address.sun_path, path.size());
        return connected(AF_UNIX, reinterpret_cast<sockaddr*>(&address), sizeof address);
    }
    static int tcp(const Server& server) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<uint16_t>(server.port()));
        return connected(AF_INET, reinterpret_cast<sockaddr*>(&address), sizeof address);
    }

    void write(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) return;  // the server has closed the connection
            bytes.remove_prefix(static_cast<size_t>(n));
        }
    }
    void half_close() const { shutdown(fd_, SHUT_WR); }
    // Reads until the server closes the connection, or sends nothing for `patience`. Sets `closed` to whether
    // it closed the connection.
    std::string read(std::chrono::milliseconds patience, bool& closed) const {
        std::string all;
        closed = false;
        for (;;) {
            pollfd polled{fd_, POLLIN, 0};
            if (poll(&polled, 1, static_cast<int>(patience.count())) <= 0) return all;
            char buffer[4096];
            const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
            if (n <= 0) {
                closed = true;
                return all;
            }
            all.append(buffer, static_cast<size_t>(n));
        }
    }

  private:
    static int connected(int family, const sockaddr* address, socklen_t length) {
        const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, address, length) != 0) throw std::runtime_error("can't connect");
        return fd;
    }
    int fd_;
};

// Builds a request of root with this type and encoded body; by default the body is an empty extension.
std::string request(unsigned type, std::string_view body = "+0") {
    std::string data;
    ifl::DisWriter out(data);
    out.put_unsigned(2);
    out.put_unsigned(2);
    out.put_unsigned(type);
    out.put_string("root");
    data += body;
    return ifl::make_packet(data);
}
// Builds a request for the server's status, without name, attributes and extension.
std::string status_server() {
    return request(21, "+0+0+0");
}

class BadInput : public ::testing::Test {
  protected:
    void SetUp() override {
        NEEDS(own_server);
        ASSERT_TRUE(server.start());
    }
    void TearDown() override {
        if (IsSkipped()) return;
        if (!server.running()) FAIL() << "the server has ended";
        EXPECT_EQ(server.command({"qstat", "-B"}).exit, 0) << "another client is served";
    }
    // Sends the bytes. The server has to answer with an error or to close the connection, which must not stay
    // open without an answer.
    void expect_refused(std::string_view bytes, const char* what) const {
        const Socket socket(Socket::local(server));
        socket.write(bytes);
        socket.half_close();
        bool closed = false;
        const std::string reply = socket.read(std::chrono::seconds(5), closed);
        EXPECT_TRUE(closed || !reply.empty()) << what;
    }

    Server server;
};

TEST_F(BadInput, RandomBytesAreRefused) {
    std::mt19937 random(748);
    for (int round = 0; round < 50; ++round) {
        std::string bytes(1 + random() % 600, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        expect_refused(bytes, "garbage");
        // send the bytes again, as the data of a packet with a valid header
        expect_refused(ifl::make_packet(bytes), "garbage in a packet");
    }
    expect_refused("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "http");
}

TEST_F(BadInput, TruncatedAtEveryByte) {
    const std::string whole = status_server();
    for (size_t length = 1; length < whole.size(); ++length) {
        const Socket socket(Socket::local(server));
        socket.write(std::string_view(whole).substr(0, length));
    }
}

TEST_F(BadInput, ARequestInPiecesIsStillARequest) {
    const Socket socket(Socket::local(server));
    for (const char byte : status_server()) socket.write(std::string_view(&byte, 1));
    bool closed = false;
    EXPECT_NE(socket.read(std::chrono::milliseconds(500), closed), "");
}

TEST_F(BadInput, HalfOpenConnectionsHoldNobodyUp) {
    std::vector<std::unique_ptr<Socket>> silent;
    for (int i = 0; i < 64; ++i) {
        silent.push_back(std::make_unique<Socket>(Socket::local(server)));
        silent.push_back(std::make_unique<Socket>(Socket::tcp(server)));
        silent.back()->write("PKTV1");  // the beginning of a packet, and nothing more
    }
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(server.command({"qstat", "-B"}).exit, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(BadInput, LengthsBeyondThePacketAreRefused) {
    std::string header("PKTV1\0", 6);
    header += '\0';
    header += "\xff\xff\xff\xff";  // the packet's size: 4 GiB
    expect_refused(header + std::string(4096, 'x'), "a packet of 4 GiB");
    expect_refused(ifl::make_packet("+2+22+21210+9999999999x"), "a user name of 10 GB");
    expect_refused(ifl::make_packet("+2+22+21+4root+0210+4294967295"), "4294967295 attributes");
    std::string nested = "+2+22+21+4root";
    nested += std::string(200, '9');
    expect_refused(ifl::make_packet(nested), "counts of counts");
}

TEST_F(BadInput, NamesThatAreTooLongAreRefused) {
    // a valid request, except that the policy's name is too long
    std::string body;
    ifl::DisWriter out(body);
    out.put_unsigned(0);   // operation: create
    out.put_unsigned(64);  // object type: policy
    out.put_string(std::string(100000, 'p'));
    body += "+0+0";
    expect_refused(request(9, body), "a policy's name of 100,000 characters");
    const std::string value(200000, 'v');
    const Output done = server.qmgr("set policy default_policy comment='" + value + "'");
    EXPECT_FALSE(done.timed_out);
}

TEST_F(BadInput, UnknownRequestTypes) {
    for (const unsigned type : {2u, 49u, 101u, 999u, 65535u, 4294967295u}) {
        expect_refused(request(type), "an unknown type");
    }
}

TEST_F(BadInput, UnknownObjectTypes) {
    for (const unsigned type : {4u, 63u, 67u, 1000u}) {
        std::string body;
        ifl::DisWriter out(body);
        out.put_unsigned(0);
        out.put_unsigned(type);
        out.put_string("x");
        body += "+0+0";
        expect_refused(request(9, body), "an unknown object type");
    }
}

TEST_F(BadInput, AnotherClientKeepsWorkingMeanwhile) {
    const Socket good(Socket::local(server));
    std::mt19937 random(13);
    for (int round = 0; round < 20; ++round) {
        const Socket bad(Socket::local(server));
        std::string bytes(200, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        bad.write(bytes);
        good.write(status_server());
        bool closed = false;
        ASSERT_NE(good.read(std::chrono::milliseconds(100), closed), "") << round;
        ASSERT_FALSE(closed) << round;
    }
}

TEST_F(BadInput, TcpWithoutAuthenticationIsRefused) {
    const Socket socket(Socket::tcp(server));
    std::string body;
    ifl::DisWriter out(body);
    out.put_unsigned(0);
    out.put_unsigned(64);
    out.put_string("intruder");
    body += "+0+0";
    socket.write(request(9, body));
    bool closed = false;
    socket.read(std::chrono::milliseconds(500), closed);
    EXPECT_NE(server.qmgr("list policy intruder").exit, 0) << "a name in a request is no identity";
}

}  // namespace
}  // namespace pbs::e2e
