// Functions that the handlers of Manager requests (qmgr) share, whatever the type of object.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

// A Manager request, with its attributes divided into those of the server and those of the plugin.
struct Management {
    Context& context;
    const ifl::Manage& body;
    int command;  // enum pbs_manager_command
    int type;     // enum pbs_object_type
    ifl::Attributes own;
    std::vector<size_t> own_index;  // the index of each own attribute in the request
    ifl::Attributes plugins;
    std::string warning;

    Management(Context& context_given, const ifl::Manage& body_given);
};

// A refusal, and the attribute that it concerns.
struct Refusal {
    Error error;
    size_t own = kNpos;  // the attribute's index in Management::own; kNpos: the whole request is refused
    static constexpr size_t kNpos = static_cast<size_t>(-1);
};
template <typename T = void>
using Managed = tl::expected<T, Refusal>;
inline tl::unexpected<Refusal> refusal(int code, std::string message = {}) {
    return tl::unexpected<Refusal>(Refusal{Error{code, std::move(message)}, Refusal::kNpos});
}

// Applies the server's attributes of a set, unset or create request to `attributes`. `hook`, if it isn't
// empty, is called after each attribute, and may check or correct its value. PBSE_NOATTR, PBSE_NOSUP,
// PBSE_ATTRRO, and the errors of the values.
using AttributeHook = std::function<Result<void>(const AttributeDef& def, const ifl::Attribute& change)>;
Managed<> apply_own(Management& request, const AttributeTable& table, Attributes& attributes,
                    const AttributeHook& hook);

// Adds a line of warning, which the client prints.
void add_warning(Management& request, std::string_view text);

// Commits the change together with the plugin's part, and returns the reply to the request.
ifl::Reply finish(Management& request, Change& change, std::string_view object);
ifl::Reply refuse(const Management& request, const Refusal& refusal);
// Answers a request that changes many objects, in slices: `some` does the server's part (Slices::some).
// `object`: the object's name in the log. `warnings`: the text that has the warnings when all is done; null:
// there are none.
ifl::Reply change_in_slices(Management& request, std::string_view object,
                            std::function<tl::expected<bool, ifl::Reply>(Context& context)> some,
                            std::shared_ptr<const std::string> warnings = nullptr);
// A request that changes more objects than this number is done in slices.
constexpr size_t kManyAtOnce = 50;

// Returns whether the name is a letter, followed by letters, digits, '-', '_' and '.', with at most `longest`
// characters in all.
bool legal_object_name(std::string_view name, size_t longest);

// Checks a partition that a manager gives to a vnode, a queue or a scheduler. PBSE_DEFAULT_PARTITION: it is
// PBS's name for that of the scheduler `default`.
Result<void> check_partition_name(std::string_view partition);

// Returns the name of an object or job that uses the resource; empty: nothing uses it.
std::string user_of_resource(const State& state, const Resource& resource);

// Passes a request that concerns only the plugin to the plugin.
ifl::Reply manage_plugin_object(Management& request, const HostRecord& record = {});

// Sets steps that call `what` until its reply isn't PBSE_TRYAGAIN. Then the plugin commits, and the last
// reply is the reply to the request. `what` may use the context's ticket in the plugin.
ifl::Reply until_answered(Context& context, std::function<ifl::Reply(Context&)> what);

// Handles requests for the whole configuration: rollback to a revision, and import of a document.
ifl::Reply manage_configuration(Management& request);
// Handles a request for an object of the server itself, by one of the functions below. PBSE_IVALREQ: the type
// is another one.
ifl::Reply manage_host_object(Management& request);
ifl::Reply manage_server(Management& request);
ifl::Reply manage_queue(Management& request);
ifl::Reply manage_node(Management& request);
ifl::Reply manage_sched(Management& request);
ifl::Reply manage_resource(Management& request);

}  // namespace pbs::host
