// The program pipelined_requests ADDRESS PORT: as root from a reserved port, waits for changes without
// reading the answer, and sends another request behind it on the same connection. Prints the number of
// replies that come within a minute.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/packet.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "tests/openpbs/reserved_port.h"

namespace {

using namespace pbs::ifl;  // NOLINT(google-build-using-namespace): this program speaks that protocol

constexpr int kMinute = 60'000;

class Connection {
  public:
    explicit Connection(int fd) : fd_(fd) {}

    static std::string packet_about(const std::string& extend) {
        return request_packet({RequestType::status_scheduler, "root", Status{{}, {}}, "object=" + extend});
    }
    bool send(const std::string& packets) const {
        return ::send(fd_, packets.data(), packets.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(packets.size());
    }
    // Returns the parts of the next reply, one after another; nullopt: none has come within a minute.
    std::optional<std::string> receive() {
        for (std::string parts;;) {
            const auto packet = in_.next();
            if (!packet) return std::nullopt;
            if (*packet) {
                parts += **packet;
                const auto reply = decode_reply(**packet);
                if (!reply || !reply->more_parts) return parts;
                continue;
            }
            pollfd answer{fd_, POLLIN, 0};
            if (poll(&answer, 1, kMinute) != 1) return std::nullopt;
            const ssize_t size = recv(fd_, in_.room(kReadSize), kReadSize, 0);
            in_.filled(size > 0 ? static_cast<std::size_t>(size) : 0);
            if (size <= 0) return std::nullopt;
        }
    }
    // Returns the version after the last change; empty: the server doesn't tell.
    std::string version() {
        std::string last = version_in(answer("record"), false);
        for (std::string before; before != last;) {
            before = last;
            last = version_in(answer("changes;version=" + before + ";timeout=0"), true);
        }
        return last;
    }

  private:
    std::string answer(const std::string& extend) {
        return send(packet_about(extend)) ? receive().value_or("") : "";
    }
    static std::string version_in(const std::string& text, bool last) {
        constexpr std::string_view kVersion = "\"version\":";
        const std::size_t at = last ? text.rfind(kVersion) : text.find(kVersion);
        if (at == std::string::npos) return {};
        const std::size_t digits = at + kVersion.size();
        return text.substr(digits, text.find_first_not_of("0123456789", digits) - digits);
    }

    int fd_;
    PacketReader in_{1U << 24};
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return EXIT_FAILURE;
    const int fd = connect_from_reserved(argv[1], static_cast<int>(std::strtol(argv[2], nullptr, 10)), 0);
    if (fd < 0) return EXIT_FAILURE;
    Connection connection(fd);
    const std::string first = connection.version();
    const std::string other = request_packet({RequestType::status_server, "root", Status{{}, {}}, {}});
    if (!connection.send(Connection::packet_about("changes;version=" + first + ";timeout=600") + other))
        return EXIT_FAILURE;
    int replies = 0;
    while (replies < 2 && connection.receive()) ++replies;
    std::printf("%d\n", replies);
    return EXIT_SUCCESS;
}
