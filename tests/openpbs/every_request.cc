// every_request ADDRESS PORT USER TYPE...: a request of each type but these, from a reserved port, with a
// body of noughts, and the answer to each, a line. Digits, of times and lengths, are told as one. A program
// of the tests, as root. Exit status 1: the server couldn't be reached any more.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ifl/dis.h"
#include "ifl/packet.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "tests/openpbs/reserved_port.h"

namespace {

// Those beyond, of noughts, OpenPBS's server doesn't survive.
constexpr int kTypes = 55;

std::string request(int type, const std::string& user) {
    std::string data;
    pbs::ifl::DisWriter out(data);
    out.put_unsigned(pbs::ifl::kProtocolType);
    out.put_unsigned(pbs::ifl::kProtocolVersion);
    out.put_unsigned(static_cast<std::uint64_t>(type));
    out.put_string(user);
    for (int i = 0; i < 30; ++i) out.put_unsigned(0);
    return pbs::ifl::make_packet(data);
}

std::string masked(const std::string& bytes) {
    std::string out;
    for (const char c : bytes) {
        const bool digit = c >= '0' && c <= '9';
        if (digit && !out.empty() && out.back() == '#') continue;
        out += digit ? '#' : c >= ' ' && c <= '~' ? c : '.';
    }
    return out;
}

// Of the replies, which are packets one behind the other.
std::string codes(const std::string& answer) {
    pbs::ifl::PacketReader packets(std::size_t{1} << 20);
    std::ranges::copy(answer, packets.room(answer.size()));
    packets.filled(answer.size());
    std::string out;
    for (auto packet = packets.next(); packet && *packet; packet = packets.next()) {
        const auto reply = pbs::ifl::decode_reply(**packet);
        out += reply ? " " + std::to_string(reply->code) : " ?";
    }
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    for (int type = 0; type < kTypes; ++type) {
        if (std::find(argv + 4, argv + argc, std::to_string(type)) != argv + argc) continue;
        const int fd = connect_from_reserved(argv[1], std::atoi(argv[2]), static_cast<unsigned>(type));
        if (fd < 0) return 1;
        const std::string packet = request(type, argv[3]);
        if (send(fd, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) return 1;
        // When it has answered, the server sees that nothing more comes.
        shutdown(fd, SHUT_WR);
        std::string answer;
        std::array<char, 65536> part{};
        pollfd ready{fd, POLLIN, 0};
        while (poll(&ready, 1, 20000) == 1) {
            const ssize_t size = recv(fd, part.data(), part.size(), 0);
            if (size <= 0) break;
            answer.append(part.data(), static_cast<std::size_t>(size));
        }
        close(fd);
        std::printf("type %d as %s:%s: %s\n", type, argv[3], codes(answer).c_str(), masked(answer).c_str());
    }
    return 0;
}
