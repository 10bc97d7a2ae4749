// The program random_requests ADDRESS PORT SEED COUNT: makes COUNT connections from reserved ports, as root.
// On each it sends up to three requests at once, about policies and related objects. The requests are well
// formed and have random contents. On half of the connections it doesn't wait for replies. Exit status 1: the
// server could no longer be reached.
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <system_error>

#include "ifl/request.h"
#include "tests/openpbs/reserved_port.h"

namespace {

using pbs::ifl::Attributes;
using pbs::ifl::Request;
using pbs::ifl::RequestType;

class Maker {
  public:
    explicit Maker(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t count) { return random_() % count; }

    std::string packets() {
        std::string out;
        for (std::size_t i = 0; i <= below(3); ++i) out += pbs::ifl::request_packet(request());
        return out;
    }

  private:
    template <std::size_t N>
    std::string any(const std::array<const char*, N>& texts) {
        return texts[below(N)];
    }

    Attributes attributes() {
        Attributes out;
        for (std::size_t i = below(4); i > 0; --i) {
            std::string value = any(kValues);
            if (below(20) == 0) value.assign(5000, 'x');
            out.push_back({any(kAttributes), below(4) == 0 ? "ncpus" : "", std::move(value),
                           static_cast<pbs::ifl::Op>(below(4))});
        }
        return out;
    }

    Request request() {
        const std::string user = any(kUsers);
        if (below(5) < 3) {
            const std::uint32_t type = kTypes[below(kTypes.size())];
            // Don't create objects of the server's own types: OpenPBS's server doesn't survive a new queue
            // with any of these names.
            const std::size_t command = type < 64 ? 2 + below(2) : below(4);
            pbs::ifl::Manage body{static_cast<std::uint32_t>(command), type, any(kNames), attributes()};
            return {RequestType::manager, user, std::move(body), any(kExtends)};
        }
        const std::string extend = any(kExtends);
        pbs::ifl::Status body{any(kNames), {}};
        // Request only attributes of schedulers that OpenPBS knows. For any other attribute its server
        // replies twice, and ends.
        for (std::size_t i = below(3); i > 0; --i)
            body.wanted.push_back(
                {extend.starts_with("object=p") ? any(kAttributes) : any(kListed), {}, {}, {}});
        return {RequestType::status_scheduler, user, std::move(body), extend};
    }

    static constexpr std::array kUsers{"root", "root", "alice", "oscar", "una"};
    static constexpr std::array kNames{"",         "default", "workq", "p1", "t1", "default_policy",
                                       "@default", "a,b",     "nobody"};
    static constexpr std::array kAttributes{"policy",   "time_window", "non_work_days", "by_queue",
                                            "Priority", "POLICY",      "rrule",         "",
                                            "revision", "import",      "comment"};
    static constexpr std::array kListed{"policy", "active_policy", "scheduling", "POLICY", "partition"};
    static constexpr std::array kValues{"",      "True",  "5",          "t1", "default_policy",
                                        "np:p1", "12/25", "FREQ=DAILY", "{}", "\xff\xfe"};
    static constexpr std::array kExtends{"",
                                         "x",
                                         "object=policy",
                                         "object=policy;after=",
                                         "object=history;limit=3",
                                         "object=configuration",
                                         "object=record",
                                         "object=",
                                         "object=nonsense;"};
    static constexpr std::array<std::uint32_t, 11> kTypes{0, 1, 5, 6, 64, 64, 65, 66, 67, 68, 72};

    std::mt19937 random_;
};

}  // namespace

int main(int argc, char** argv) {
    std::array<int, 3> numbers{};  // port, seed, number of connections
    if (argc != 5) return 2;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::string_view text = argv[i + 2];
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
        if (error != std::errc() || end != text.data() + text.size()) return 2;
    }
    const auto [port, seed, count] = numbers;
    Maker maker(static_cast<unsigned>(seed));
    int replies = 0;
    for (int left = count; left > 0; --left) {
        const int fd = connect_from_reserved(argv[1], port, static_cast<unsigned>(maker.below(420)));
        if (fd < 0) return 1;
        const std::string packets = maker.packets();
        if (send(fd, packets.data(), packets.size(), MSG_NOSIGNAL) < 0) return 1;
        pollfd answer{fd, POLLIN, 0};
        std::array<char, 4096> reply{};
        if (maker.below(2) == 0 && poll(&answer, 1, 2000) == 1 && recv(fd, reply.data(), reply.size(), 0) > 0)
            ++replies;
        close(fd);
    }
    std::printf("%d\n", replies);
    return 0;
}
