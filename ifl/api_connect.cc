// The C functions of pbs_ifl.h for connections and their errors.

#include <algorithm>
#include <cstring>

#include "ifl/api.h"

using namespace pbs::ifl;       // NOLINT(google-build-using-namespace): the exported functions
using namespace pbs::ifl::api;  // NOLINT(google-build-using-namespace)

namespace {

void copy_name(char (&to)[PBS_MAXSERVERNAME + 1], std::string_view name) {
    const std::size_t length = std::min(name.size(), sizeof to - 1);
    std::memcpy(to, name.data(), length);
    to[length] = '\0';
}

Result<std::shared_ptr<Connection>> open_connection(const char* server, const char* extend) {
    const auto settings = load_settings(process_environment());
    if (!settings) return tl::unexpected(settings.error());
    const auto address = server_address(view(server), *settings);
    if (!address) return tl::unexpected(address.error());
    copy_name(thread_state().server, address->host);
    auto connection = Connection::open(*address, *settings, view(extend));
    const bool is_default = is_empty(server) || settings->server == server;
    if (connection || !is_default || settings->secondary.empty()) return connection;
    const auto other = server_address(settings->secondary, *settings);
    auto active = other ? Connection::open(*other, *settings, view(extend)) : tl::unexpected(other.error());
    // if neither server can be reached, report the failure of the first one, which the caller has named
    if (!active) return connection;
    copy_name(thread_state().server, other->host);
    return active;
}

}  // namespace

extern "C" {

int* __pbs_errno_location(void) {
    return &thread_state().error;
}

char* __pbs_server_location(void) {
    return thread_state().server;
}

int pbs_connect_extend(const char* server, const char* extend) {
    return guarded(-1, [&] {
        ThreadState& state = thread_state();
        auto connection = open_connection(server, extend);
        if (!connection) {
            state.error = connection.error().code;
            state.connect_text = std::move(connection.error().message);
            return -1;
        }
        add_connection(*connection);
        state.error = 0;
        state.connect_text.clear();
        return (*connection)->fd();
    });
}

int pbs_connect(const char* server) {
    return pbs_connect_extend(server, nullptr);
}

int pbs_disconnect(int connect) {
    return guarded(-1, [&] {
        const auto connection = find_connection(connect);
        if (!connection) {
            thread_state().error = PBSE_IVALREQ;
            return -1;
        }
        {
            const auto lock = connection->lock();
            // tell the server; if that fails, the connection is closed all the same
            (void)connection->request(RequestType::disconnect, Disconnect{}, {});
        }
        remove_connection(connect);
        thread_state().texts.erase(connect);
        thread_state().error = 0;
        return 0;
    });
}

char* pbs_default(void) {
    return guarded(static_cast<char*>(nullptr), []() -> char* {
        ThreadState& state = thread_state();
        const auto settings = load_settings(process_environment());
        const std::string name = settings ? default_server(*settings) : std::string();
        if (name.empty()) {
            state.error = settings ? PBSE_NOSERVER : settings.error().code;
            return nullptr;
        }
        copy_name(state.default_server, name);
        return state.default_server;
    });
}

char* pbs_geterrmsg(int connect) {
    return guarded(static_cast<char*>(nullptr), [&]() -> char* {
        ThreadState& state = thread_state();
        if (connect == -1) return state.connect_text.empty() ? nullptr : state.connect_text.data();
        const auto found = state.texts.find(connect);
        if (found == state.texts.end() || found->second.text.empty()) return nullptr;
        // the text may be of an earlier connection with the same number
        if (found->second.connection.lock() != find_connection(connect)) return nullptr;
        return found->second.text.data();
    });
}

}  // extern "C"
