// The C functions of pbs_ifl.h for administration.

#include <fmt/format.h>

#include "ifl/api.h"

using namespace pbs::ifl;       // NOLINT(google-build-using-namespace): the exported functions
using namespace pbs::ifl::api;  // NOLINT(google-build-using-namespace)

namespace {

// The body of a manager request. nullopt: the arguments are invalid, and the error is set.
std::optional<Manage> manage_body(int connect, int command, int object_type, const char* object,
                                  const attropl* attributes) {
    if (command < 0 || object_type < 0) {
        set_error(connect, {PBSE_IVALREQ, "a command and an object type expected"});
        return std::nullopt;
    }
    auto list = to_attributes(connect, attributes);
    if (!list) return std::nullopt;
    return Manage{static_cast<std::uint32_t>(command), static_cast<std::uint32_t>(object_type),
                  std::string(view(object)), std::move(*list)};
}

template <class Work>
int with_connection(int number, Work&& work) {
    const auto connection = find_connection(number);
    if (!connection) return set_error(number, {PBSE_IVALREQ, fmt::format("{} is no connection", number)});
    const auto lock = connection->lock();
    return std::forward<Work>(work)(*connection);
}

}  // namespace

extern "C" {

int pbs_manager_send(int connect, int command, int object_type, const char* object,
                     struct attropl* attributes, const char* extend) {
    return guarded(PBSE_SYSTEM, [&] {
        auto body = manage_body(connect, command, object_type, object, attributes);
        if (!body) return thread_state().error;
        return with_connection(connect, [&](Connection& connection) {
            auto sent = connection.send(RequestType::manager, std::move(*body), view(extend));
            return sent ? thread_state().error = PBSE_NONE : set_error(connect, sent.error());
        });
    });
}

int pbs_manager_reply(int connect) {
    return guarded(PBSE_SYSTEM, [&] {
        return with_connection(connect, [&](Connection& connection) {
            const auto reply = connection.receive();
            return reply ? set_result(connect, find_connection(connect), *reply)
                         : set_error(connect, reply.error());
        });
    });
}

int pbs_manager(int connect, int command, int object_type, const char* object, struct attropl* attributes,
                const char* extend) {
    return guarded(PBSE_SYSTEM, [&] {
        auto body = manage_body(connect, command, object_type, object, attributes);
        if (!body) return thread_state().error;
        return request_code(connect, RequestType::manager, std::move(*body), extend);
    });
}

int pbs_terminate(int connect, int manner, const char* extend) {
    return guarded(PBSE_SYSTEM, [&] {
        if (manner < 0) return set_error(connect, {PBSE_IVALREQ, "a manner of shutdown expected"});
        return request_code(connect, RequestType::shutdown, Shutdown{static_cast<std::uint32_t>(manner)},
                            extend);
    });
}

}  // extern "C"
