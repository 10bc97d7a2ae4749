// pbs_ifl.h: status of objects.

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>

#include "ifl/api.h"
#include "ifl/error_text.h"
#include "ifl/host_status.h"

using namespace pbs::ifl;       // NOLINT(google-build-using-namespace): this is the library's own edge
using namespace pbs::ifl::api;  // NOLINT(google-build-using-namespace)

namespace {

batch_status* no_status() {
    return nullptr;
}

// The objects of a status reply. nullopt: there are none to be had, and the error is set.
std::optional<std::vector<ObjectStatus>> objects_of(int connect, std::optional<Reply> reply) {
    if (!reply || reply->code != 0) return std::nullopt;
    if (auto* status = std::get_if<StatusReply>(&reply->body)) return std::move(status->objects);
    if (std::holds_alternative<NullReply>(reply->body)) return std::vector<ObjectStatus>();
    set_error(connect, {PBSE_PROTOCOL, "the server's reply to a status request is of another kind"});
    return std::nullopt;
}

batch_status* status(int connect, RequestType type, const char* object, const attrl* wanted,
                     const char* extend) {
    return guarded(no_status(), [&]() -> batch_status* {
        auto attributes = to_attributes(connect, wanted);
        if (!attributes) return nullptr;
        const auto objects = objects_of(
            connect,
            request(connect, type, Status{std::string(view(object)), std::move(*attributes)}, extend));
        return objects ? c_status(*objects) : nullptr;
    });
}

// The policy objects are asked for by a request type that any PBS server lets through its authentication, and
// an extend string that says which kind is meant.
batch_status* policy_status(int connect, std::string_view kind, const char* object, const attrl* wanted,
                            const char* extend) {
    return guarded(no_status(), [&] {
        std::string full = fmt::format("object={}", kind);
        if (!is_empty(extend)) full.append(";").append(extend);
        return status(connect, RequestType::status_scheduler, object, wanted, full.c_str());
    });
}

bool is_wanted(const Attribute& attribute, const Attributes& wanted) {
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const Attribute& w) {
               return strcasecmp(w.name.c_str(), attribute.name.c_str()) == 0 &&
                      (w.resource.empty() || strcasecmp(w.resource.c_str(), attribute.resource.c_str()) == 0);
           });
}

batch_status* host_status(int connect, const char* host, const attrl* list, const char* extend) {
    const auto wanted = to_attributes(connect, list);
    if (!wanted) return nullptr;
    // All attributes of all vnodes: which belong together is in them.
    const auto vnodes = objects_of(connect, request(connect, RequestType::status_node, Status{}, extend));
    if (!vnodes) return nullptr;
    auto hosts = hosts_of_vnodes(*vnodes, view(host));
    if (hosts.empty() && !is_empty(host)) {
        set_error(connect, {PBSE_UNKNODE, std::string(error_text(PBSE_UNKNODE))});
        return nullptr;
    }
    for (ObjectStatus& entry : hosts) {
        std::erase_if(entry.attributes, [&](const Attribute& a) { return !is_wanted(a, *wanted); });
    }
    return c_status(hosts);
}

}  // namespace

extern "C" {

struct batch_status* pbs_statjob(int connect, const char* job, struct attrl* wanted, const char* extend) {
    return status(connect, RequestType::status_job, job, wanted, extend);
}

struct batch_status* pbs_selstat(int connect, struct attropl* criteria, struct attrl* wanted,
                                 const char* extend) {
    return guarded(no_status(), [&]() -> batch_status* {
        auto select = to_attributes(connect, criteria);
        if (!select) return nullptr;
        auto attributes = to_attributes(connect, wanted);
        if (!attributes) return nullptr;
        const auto objects =
            objects_of(connect, request(connect, RequestType::select_status,
                                        Select{std::move(*select), std::move(*attributes)}, extend));
        return objects ? c_status(*objects) : nullptr;
    });
}

struct batch_status* pbs_statque(int connect, const char* queue, struct attrl* wanted, const char* extend) {
    return status(connect, RequestType::status_queue, queue, wanted, extend);
}

struct batch_status* pbs_statserver(int connect, struct attrl* wanted, const char* extend) {
    return status(connect, RequestType::status_server, "", wanted, extend);
}

struct batch_status* pbs_statsched(int connect, struct attrl* wanted, const char* extend) {
    return status(connect, RequestType::status_scheduler, "", wanted, extend);
}

struct batch_status* pbs_statvnode(int connect, const char* vnode, struct attrl* wanted, const char* extend) {
    return status(connect, RequestType::status_node, vnode, wanted, extend);
}

struct batch_status* pbs_stathost(int connect, const char* host, struct attrl* wanted, const char* extend) {
    return guarded(no_status(), [&] { return host_status(connect, host, wanted, extend); });
}

struct batch_status* pbs_statnode(int connect, const char* host, struct attrl* wanted, const char* extend) {
    return pbs_stathost(connect, host, wanted, extend);
}

struct batch_status* pbs_statrsc(int connect, const char* resource, struct attrl* wanted,
                                 const char* extend) {
    return status(connect, RequestType::status_resource, resource, wanted, extend);
}

struct batch_status* pbs_statresv(int connect, const char* reservation, struct attrl* wanted,
                                  const char* extend) {
    return status(connect, RequestType::status_reservation, reservation, wanted, extend);
}

struct batch_status* pbs_stathook(int connect, const char* hook, struct attrl* wanted, const char* extend) {
    return status(connect, RequestType::status_hook, hook, wanted, extend);
}

struct batch_status* pbs_statpolicy(int connect, const char* policy, struct attrl* wanted,
                                    const char* extend) {
    return policy_status(connect, "policy", policy, wanted, extend);
}

struct batch_status* pbs_stattimewindow(int connect, const char* time_window, struct attrl* wanted,
                                        const char* extend) {
    return policy_status(connect, "time_window", time_window, wanted, extend);
}

struct batch_status* pbs_statfsgroup(int connect, const char* fs_group, struct attrl* wanted,
                                     const char* extend) {
    return policy_status(connect, "fs_group", fs_group, wanted, extend);
}

struct batch_status* pbs_statconfiguration(int connect, const char* extend) {
    return policy_status(connect, "configuration", "", nullptr, extend);
}

struct batch_status* pbs_stathistory(int connect, const char* extend) {
    return policy_status(connect, "history", "", nullptr, extend);
}

void pbs_statfree(struct batch_status* list) {
    while (list) {
        batch_status* next = list->next;
        while (list->attribs) {
            attrl* attribute = list->attribs;
            list->attribs = attribute->next;
            std::free(attribute->name);
            std::free(attribute->resource);
            std::free(attribute->value);
            std::free(attribute);
        }
        std::free(list->name);
        std::free(list->text);
        std::free(list);
        list = next;
    }
}

}  // extern "C"
