// The C functions of pbs_ifl.h for the status of objects.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "ifl/api.h"
#include "ifl/error_text.h"
#include "ifl/host_status.h"
#include "ifl/queued_subjobs.h"
#include "values/object_types.h"
#include "values/text.h"

using namespace pbs::ifl;       // NOLINT(google-build-using-namespace): the exported functions
using namespace pbs::ifl::api;  // NOLINT(google-build-using-namespace)

namespace {

batch_status* no_status() {
    return nullptr;
}

// Returns whether the reply is a status reply. If it isn't, sets the error.
bool has_objects(int connect, const std::optional<Reply>& reply) {
    if (!reply || reply->code != 0) return false;
    if (std::holds_alternative<StatusReply>(reply->body) || std::holds_alternative<NullReply>(reply->body))
        return true;
    set_error(connect, {PBSE_PROTOCOL, "the type of the server's reply doesn't answer a status request"});
    return false;
}

// Makes a status request; returns the objects of the reply as a list. Returns nullptr after an error, which
// is set, even if objects came before it.
batch_status* status_list(int connect, RequestType type, RequestBody body, const char* extend) {
    StatusList list;
    QueuedSubjobs queued([&list](const ObjectView& object) { list.add(object); });
    const auto reply = request(connect, type, std::move(body), extend,
                               [&](const ObjectView& object) { queued.take(object); });
    queued.end();
    return has_objects(connect, reply) ? list.release() : nullptr;
}

batch_status* status(int connect, RequestType type, const char* object, const attrl* wanted,
                     const char* extend) {
    return guarded(no_status(), [&]() -> batch_status* {
        auto attributes = to_attributes(connect, wanted);
        if (!attributes) return nullptr;
        // the server's reply leaves out queued subjobs: QueuedSubjobs makes them from this attribute of the
        // job array
        const bool subjobs =
            type == RequestType::status_job && view(extend).find('t') != std::string_view::npos;
        if (subjobs && !attributes->empty())
            attributes->push_back({ATTR_array_indices_remaining, "", "", Op::set});
        return status_list(connect, type, Status{std::string(view(object)), std::move(*attributes)}, extend);
    });
}

// The extend string that makes a StatusScheduler request, which any PBS server accepts, ask for policy
// objects of a kind.
std::string extend_of(std::string_view kind, const char* extend) {
    std::string full = fmt::format("object={}", kind);
    if (!is_empty(extend)) full.append(";").append(extend);
    return full;
}

// Returns whether the server has policy objects. OpenPBS's server without the plugin ignores the extend
// string and lists its schedulers; if it is asked for an attribute that it doesn't know, it terminates. So
// call this before asking for attributes by name.
bool has_policies(int connect) {
    const auto connection = find_connection(connect);
    using Known = Connection::HasPolicies;
    if (!connection) return true;
    if (const Known known = connection->has_policies; known != Known::unknown) return known == Known::yes;
    bool found = false;
    const auto reply =
        request(connect, RequestType::status_scheduler, Status{"default_policy", {}}, "object=policy",
                [&found](const ObjectView& object) { found = found || object.type == MGR_OBJ_POLICY; });
    // after an error, assume that the server has policy objects: the caller's own request will fail with the
    // same error
    if (!reply || reply->code != 0) return true;
    connection->has_policies = found ? Known::yes : Known::no;
    return found;
}

// Makes a request like request() if the server has policy objects. For any other server, sets the error
// PBSE_NOSUP.
std::optional<Reply> policy_request(int connect, std::string_view kind, const char* object,
                                    const attrl* wanted, const char* extend, const ObjectSink& sink) {
    auto attributes = to_attributes(connect, wanted);
    if (!attributes) return std::nullopt;
    bool others = !attributes->empty() && !has_policies(connect);
    const auto take = [&](const ObjectView& view) {
        if (view.type == MGR_OBJ_SCHED) others = true;
        if (!others) sink(view);
    };
    std::optional<Reply> reply;
    if (!others)
        reply = request(connect, RequestType::status_scheduler,
                        Status{std::string(view(object)), std::move(*attributes)},
                        extend_of(kind, extend).c_str(), take);
    if (!others) return reply;
    set_error(connect, {PBSE_NOSUP,
                        "the server has no policies, time_windows, fs_groups and quotas: see "
                        "pbs_policy_install(8)"});
    return std::nullopt;
}

batch_status* policy_status(int connect, std::string_view kind, const char* object, const attrl* wanted,
                            const char* extend) {
    return guarded(no_status(), [&]() -> batch_status* {
        StatusList list;
        const auto reply = policy_request(connect, kind, object, wanted, extend,
                                          [&list](const ObjectView& view) { list.add(view); });
        return has_objects(connect, reply) ? list.release() : nullptr;
    });
}

int each_policy_object(int connect, int object_type, const char* object, const attrl* wanted,
                       const char* extend, pbs_each each, void* context) {
    const auto* type = pbs::values::find_type(static_cast<pbs::values::ObjectType>(object_type));
    if (type == nullptr || !type->own || !each) {
        return set_error(connect, {PBSE_IVALREQ, fmt::format("pbs_stateach: {}: expected a type of policy "
                                                             "objects, and a function",
                                                             object_type)});
    }
    std::vector<std::byte> memory;  // holds one object after another, in the form for C clients
    const auto take = [&](const ObjectView& view) {
        memory.resize(std::max(memory.size(), c_size(view)));
        each(c_object(memory.data(), view), context);
    };
    (void)has_objects(connect, policy_request(connect, type->name, object, wanted, extend, take));
    return thread_state().error;
}

template <class One>  // Attribute or AttributeView
bool is_wanted(const One& attribute, const Attributes& wanted) {
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const Attribute& w) {
               return pbs::values::same_word(w.name, attribute.name) &&
                      (w.resource.empty() || pbs::values::same_word(w.resource, attribute.resource));
           });
}

batch_status* sched_status(int connect, const attrl* list, const char* extend) {
    auto wanted = to_attributes(connect, list);
    if (!wanted) return nullptr;
    if (wanted->empty() || has_policies(connect))
        return status_list(connect, RequestType::status_scheduler, Status{"", std::move(*wanted)}, extend);
    StatusList result;
    const auto reply =
        request(connect, RequestType::status_scheduler, Status{}, extend, [&](const ObjectView& sched) {
            std::vector<AttributeView> some(sched.attributes.begin(), sched.attributes.end());
            std::erase_if(some, [&](const auto& a) { return !is_wanted(a, *wanted); });
            result.add(ObjectView{sched.type, sched.name, some});
        });
    return has_objects(connect, reply) ? result.release() : nullptr;
}

batch_status* host_status(int connect, const char* host, const attrl* list, const char* extend) {
    const auto wanted = to_attributes(connect, list);
    if (!wanted) return nullptr;
    // ask for all attributes of all vnodes: resources_available.host tells which vnodes make up a host
    const auto reply = request(connect, RequestType::status_node, Status{}, extend);
    if (!has_objects(connect, reply)) return nullptr;
    const auto* vnodes = std::get_if<StatusReply>(&reply->body);
    auto hosts = hosts_of_vnodes(vnodes ? vnodes->objects : std::vector<ObjectStatus>(), view(host));
    if (hosts.empty() && !is_empty(host)) {
        set_error(connect, {PBSE_UNKNODE, std::string(error_text(PBSE_UNKNODE))});
        return nullptr;
    }
    for (ObjectStatus& entry : hosts) {
        std::erase_if(entry.attributes, [&](const Attribute& a) { return !is_wanted(a, *wanted); });
    }
    StatusList result;
    for (const ObjectStatus& entry : hosts) result.add(entry);
    return result.release();
}

}  // namespace

extern "C" {

// Status functions that differ only in what they ask for, a row each.
#define STATUS(function, type)                                                           \
    struct batch_status* function(int connect, const char* object, struct attrl* wanted, \
                                  const char* extend) {                                  \
        return status(connect, RequestType::type, object, wanted, extend);               \
    }
#define POLICY_STATUS(function, kind)                                                    \
    struct batch_status* function(int connect, const char* object, struct attrl* wanted, \
                                  const char* extend) {                                  \
        return policy_status(connect, kind, object, wanted, extend);                     \
    }
#define ANSWER(function, kind)                                                           \
    struct batch_status* function(int connect, const char* object, const char* extend) { \
        return policy_status(connect, kind, object, nullptr, extend);                    \
    }
// clang-format off
STATUS(pbs_statjob, status_job)
STATUS(pbs_statque, status_queue)
STATUS(pbs_statvnode, status_node)
STATUS(pbs_statrsc, status_resource)
STATUS(pbs_statresv, status_reservation)
STATUS(pbs_stathook, status_hook)
POLICY_STATUS(pbs_statpolicy, "policy")
POLICY_STATUS(pbs_stattimewindow, "time_window")
POLICY_STATUS(pbs_statfsgroup, "fs_group")
POLICY_STATUS(pbs_statquota, "quota")
ANSWER(pbs_statexplanation, "explanation")
ANSWER(pbs_statrecord, "record")
ANSWER(pbs_statquotause, "quota_use")
ANSWER(pbs_statfairshare, "fairshare")
ANSWER(pbs_stataccounting, "accounting")
ANSWER(pbs_statdiagnosis, "diagnosis")
// clang-format on
#undef STATUS
#undef POLICY_STATUS
#undef ANSWER

struct batch_status* pbs_selstat(int connect, struct attropl* criteria, struct attrl* wanted,
                                 const char* extend) {
    return guarded(no_status(), [&]() -> batch_status* {
        auto select = to_attributes(connect, criteria);
        if (!select) return nullptr;
        auto attributes = to_attributes(connect, wanted);
        if (!attributes) return nullptr;
        return status_list(connect, RequestType::select_status,
                           Select{std::move(*select), std::move(*attributes)}, extend);
    });
}

struct batch_status* pbs_statserver(int connect, struct attrl* wanted, const char* extend) {
    return status(connect, RequestType::status_server, "", wanted, extend);
}

struct batch_status* pbs_statsched(int connect, struct attrl* wanted, const char* extend) {
    return guarded(no_status(), [&] { return sched_status(connect, wanted, extend); });
}

struct batch_status* pbs_stathost(int connect, const char* host, struct attrl* wanted, const char* extend) {
    return guarded(no_status(), [&] { return host_status(connect, host, wanted, extend); });
}

struct batch_status* pbs_statnode(int connect, const char* host, struct attrl* wanted, const char* extend) {
    return pbs_stathost(connect, host, wanted, extend);
}

int pbs_stateach(int connect, int object_type, const char* name, struct attrl* wanted, const char* extend,
                 pbs_each each, void* context) {
    return guarded(static_cast<int>(PBSE_SYSTEM), [&] {
        return each_policy_object(connect, object_type, name, wanted, extend, each, context);
    });
}

struct batch_status* pbs_statconfiguration(int connect, const char* extend) {
    return policy_status(connect, "configuration", "", nullptr, extend);
}

struct batch_status* pbs_stathistory(int connect, const char* extend) {
    return policy_status(connect, "history", "", nullptr, extend);
}

struct batch_status* pbs_asks(int connect, const char* job, const char* location, const char* extend) {
    return guarded(no_status(), [&]() -> batch_status* {
        if (!is_short_enough(connect, view(location))) return nullptr;
        std::string full = "location";
        if (!is_empty(extend)) full.append(";").append(extend);
        std::string name = "location";
        std::string place(view(location));
        const attrl asked{nullptr, name.data(), nullptr, place.data(), SET};
        return policy_status(connect, "explanation", job, &asked, full.c_str());
    });
}

int pbs_schedregister(int connect, const char* sched, const char* extend) {
    return guarded(static_cast<int>(PBSE_SYSTEM), [&] {
        const auto none = [](const ObjectView&) {};
        (void)has_objects(connect, policy_request(connect, "registration", sched, nullptr, extend, none));
        return thread_state().error;
    });
}

struct batch_status* pbs_statchanges(int connect, const char* sched, long long version, int timeout,
                                     const char* extend) {
    return guarded(no_status(), [&]() -> batch_status* {
        std::string full = fmt::format("version={};timeout={}", version, timeout);
        if (!is_empty(extend)) full.append(";").append(extend);
        return policy_status(connect, "changes", sched, nullptr, full.c_str());
    });
}

void pbs_statfree(struct batch_status* list) {
    while (list) {
        batch_status* next = list->next;
        std::free(list);  // its attributes and texts are in the same block: see StatusList
        list = next;
    }
}

}  // extern "C"
