// The parts of a Manager request (qmgr) that all object types share.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

// A Manager request, with the plugin's attributes of a server's object apart from the server's own.
struct Management {
    Context& context;
    const ifl::Manage& body;
    int command;  // enum pbs_manager_command
    int type;     // enum pbs_object_type
    ifl::Attributes own;
    std::vector<size_t> own_index;  // the place of each own attribute in the request
    ifl::Attributes plugins;
    std::string warning;

    Management(Context& context_given, const ifl::Manage& body_given);
};

// A refusal, with the attribute that it is about.
struct Refusal {
    Error error;
    size_t own = kNpos;  // index into Management::own; npos: it is about the request as a whole
    static constexpr size_t kNpos = static_cast<size_t>(-1);
};
template <typename T = void>
using Managed = tl::expected<T, Refusal>;
inline tl::unexpected<Refusal> refusal(int code, std::string message = {}) {
    return tl::unexpected<Refusal>(Refusal{Error{code, std::move(message)}, Refusal::kNpos});
}

// Applies the server's own attributes of a set, unset or create. `hook`, which may be empty, is called after
// each one is applied, and may check or correct the value. PBSE_NOATTR, PBSE_NOSUP, PBSE_ATTRRO, and the
// errors of the values.
using AttributeHook = std::function<Result<void>(const AttributeDef& def, const ifl::Attribute& change)>;
Managed<> apply_own(Management& request, const AttributeTable& table, Attributes& attributes,
                    const AttributeHook& hook);

// Adds a line that the client prints.
void add_warning(Management& request, std::string_view text);

// Commits the change together with the plugin's part, and answers.
ifl::Reply finish(Management& request, Change& change, std::string_view object);
ifl::Reply refuse(const Management& request, const Refusal& refusal);
// Answers a change of many objects, which `some` makes (Slices::some). `object` is for the log; `warnings`
// returns the warnings at the end; null: none.
ifl::Reply change_in_slices(Management& request, std::string_view object,
                            std::function<tl::expected<bool, ifl::Reply>(Context& context)> some,
                            std::shared_ptr<const std::string> warnings = nullptr);
// A request that changes more objects than this works in slices.
constexpr size_t kManyAtOnce = 50;

// Letters, digits, '-', '_', '.', a letter first, at most `longest` characters.
bool legal_object_name(std::string_view name, size_t longest);

// The object or job, by name, that uses the resource; empty: none does.
std::string user_of_resource(const State& state, const Resource& resource);

// Hands a request to the plugin that concerns the plugin alone.
ifl::Reply manage_plugin_object(Management& request, const HostRecord& record = {});

// Calls `what`, which may ask the plugin with the context's ticket, until its reply isn't PBSE_TRYAGAIN. That
// is the request's reply, once the plugin has committed.
ifl::Reply until_answered(Context& context, std::function<ifl::Reply(Context&)> what);

// Handles requests for the whole configuration: rollback to a revision, and import of a document.
ifl::Reply manage_configuration(Management& request);
ifl::Reply manage_server(Management& request);
ifl::Reply manage_queue(Management& request);
ifl::Reply manage_node(Management& request);
ifl::Reply manage_sched(Management& request);
ifl::Reply manage_resource(Management& request);

}  // namespace pbs::host
