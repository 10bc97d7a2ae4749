// Fuzz target of a TLS session: the server's or the client's side must read any bytes, before or after the
// handshake, or fail with a message. The first byte chooses the side, the handshake and the size of the
// pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/tls.h"
#include "tests/certificates.h"

namespace {

using pbs::ifl::TlsContext;
using pbs::ifl::TlsSession;

void require(bool holds) {
    if (!holds) std::abort();
}

struct Contexts {
    TlsContext server;
    TlsContext client;
};

Contexts make_contexts() {
    const pbs::test::Certificates made;
    require(made.make("DNS:head"));
    return {*TlsContext::server(made.certificate(), made.key(), std::chrono::system_clock::now()),
            *TlsContext::client(made.authority())};
}

// Reads all text that has arrived. Returns false if the session has failed.
bool read_all(TlsSession& session) {
    std::vector<char> text(1000);
    for (;;) {
        const auto size = session.read(text.data(), text.size());
        if (!size) {
            require(!size.error().message.empty());
            require(!session.write("x"));
            return false;
        }
        require(*size <= text.size());
        if (*size == 0) return true;
    }
}

void shake_hands(TlsSession& client, TlsSession& server) {
    for (int i = 0; i < 2; ++i) {
        require(server.feed(client.take_unsent()).has_value() && read_all(server));
        require(client.feed(server.take_unsent()).has_value() && read_all(client));
    }
    require(client.established() && server.established() && !server.in_progress());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (!pbs::test::Certificates::can_be_made() || size < 1) return 0;
    static const Contexts contexts = make_contexts();
    const auto client = std::move(*TlsSession::connect(contexts.client, "head"));
    const auto server = std::move(*TlsSession::accept(contexts.server));
    if ((data[0] & 1) != 0) shake_hands(*client, *server);
    TlsSession& session = (data[0] & 2) != 0 ? *client : *server;
    const std::size_t piece = 1 + (data[0] >> 2) * 16U;
    std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
    while (!rest.empty()) {
        const std::string_view now = rest.substr(0, piece);
        require(session.feed(now).has_value());
        rest.remove_prefix(now.size());
        if (!read_all(session)) break;
        require(session.unsent() < (std::size_t{1} << 20));
        require(session.take_unsent().size() < (std::size_t{1} << 20));
    }
    return 0;
}
