// The C functions of pbs_ifl.h for reservations. Their status is in api_status.cc.

#include "ifl/api.h"

using namespace pbs::ifl;       // NOLINT(google-build-using-namespace): the exported functions
using namespace pbs::ifl::api;  // NOLINT(google-build-using-namespace)

namespace {

// The text of the server's reply: the reservation's id and state.
char* text_of(int connect, const std::optional<Reply>& reply) {
    if (!reply || reply->code != 0) return nullptr;
    if (const auto* text = std::get_if<TextReply>(&reply->body)) return c_string(text->text);
    set_error(connect, {PBSE_PROTOCOL, "the type of the server's reply doesn't answer the request"});
    return nullptr;
}

std::optional<Attributes> set_attributes(int connect, const attropl* list) {
    auto attributes = to_attributes(connect, list);
    if (attributes)
        for (Attribute& attribute : *attributes) attribute.op = Op::set;
    return attributes;
}

}  // namespace

extern "C" {

char* pbs_submit_resv(int connect, struct attropl* attributes, const char* extend) {
    return guarded(static_cast<char*>(nullptr), [&]() -> char* {
        auto list = set_attributes(connect, attributes);
        if (!list) return nullptr;
        return text_of(connect, request(connect, RequestType::submit_reservation,
                                        QueueJob{"", "", std::move(*list)}, extend));
    });
}

int pbs_delresv(int connect, const char* reservation, const char* extend) {
    if (is_empty(reservation)) return refuse_missing(connect, "a reservation");
    return guarded(PBSE_SYSTEM, [&] {
        return request_code(connect, RequestType::delete_reservation,
                            Manage{MGR_CMD_DELETE, MGR_OBJ_RESV, reservation, {}}, extend);
    });
}

int pbs_confirmresv(int connect, const char* reservation, const char* vnodes, unsigned long start,
                    const char* extend) {
    if (is_empty(reservation)) return refuse_missing(connect, "a reservation");
    return guarded(PBSE_SYSTEM, [&] {
        return request_code(connect, RequestType::confirm_reservation,
                            RunJob{reservation, vnodes == nullptr ? "" : vnodes, start}, extend);
    });
}

char* pbs_modify_resv(int connect, const char* reservation, struct attropl* attributes, const char* extend) {
    if (is_empty(reservation)) {
        refuse_missing(connect, "a reservation");
        return nullptr;
    }
    return guarded(static_cast<char*>(nullptr), [&]() -> char* {
        auto list = set_attributes(connect, attributes);
        if (!list) return nullptr;
        return text_of(connect,
                       request(connect, RequestType::modify_reservation,
                               ModifyReservation{MGR_OBJ_RESV, reservation, std::move(*list)}, extend));
    });
}

}  // extern "C"
