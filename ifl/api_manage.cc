// pbs_ifl.h: administration.

#include "ifl/api.h"

using namespace pbs::ifl;       // NOLINT(google-build-using-namespace): this is the library's own edge
using namespace pbs::ifl::api;  // NOLINT(google-build-using-namespace)

extern "C" {

int pbs_manager(int connect, int command, int object_type, const char* object, struct attropl* attributes,
                const char* extend) {
    return guarded(PBSE_SYSTEM, [&] {
        if (command < 0 || object_type < 0) {
            return set_error(connect, {PBSE_IVALREQ, "a command and an object type expected"});
        }
        auto list = to_attributes(connect, attributes);
        if (!list) return thread_state().error;
        return request_code(
            connect, RequestType::manager,
            Manage{static_cast<std::uint32_t>(command), static_cast<std::uint32_t>(object_type),
                   std::string(view(object)), std::move(*list)},
            extend);
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
