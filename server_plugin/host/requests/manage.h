// The parts of a Manager request (qmgr) that are common to all object types.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {

// A Manager request, with the plugin's attributes of a server's object taken out.
struct Management {
    Context& context;
    const ifl::Manage& body;
    int command;  // enum pbs_manager_command
    int type;     // enum pbs_object_type
    ifl::Attributes own;
    std::vector<size_t> own_index;  // place of each in the request
    ifl::Attributes plugins;
    std::string warning;

    Management(Context& context_given, const ifl::Manage& body_given);
};

// A refusal that knows the attribute it is about.
struct Refusal {
    Error error;
    size_t own = kNpos;  // index into Management::own; npos: of the request as a whole
    static constexpr size_t kNpos = static_cast<size_t>(-1);
};
template <typename T = void>
using Managed = tl::expected<T, Refusal>;
inline tl::unexpected<Refusal> refusal(int code, std::string message = {}) {
    return tl::unexpected<Refusal>(Refusal{Error{code, std::move(message)}, Refusal::kNpos});
}

// Applies the server's own attributes of a set, unset or create. `hook` sees each one after it is applied and
// may check or correct the value; it may be empty. PBSE_NOATTR, PBSE_NOSUP, PBSE_ATTRRO and what the values
// say.
using AttributeHook = std::function<Result<void>(const AttributeDef& def, const ifl::Attribute& change)>;
Managed<> apply_own(Management& request, const AttributeTable& table, Attributes& attributes,
                    const AttributeHook& hook);

// Another line for the client to print.
void add_warning(Management& request, std::string_view text);

// Stores the change with the plugin's part in the same step, and answers.
ifl::Reply finish(Management& request, Change& change, std::string_view object);
ifl::Reply refuse(const Management& request, const Refusal& refusal);
// A change of many objects, which `some` makes (Slices::some), and answers. `object` is for the log;
// `warnings`: what there is to be told in the end; null: nothing.
ifl::Reply change_in_slices(Management& request, std::string_view object,
                            std::function<tl::expected<bool, ifl::Reply>(Context& context)> some,
                            std::shared_ptr<const std::string> warnings = nullptr);
// More than are changed while others wait.
constexpr size_t kManyAtOnce = 50;

// Letters, digits, '-', '_', '.', a letter first, at most `longest` characters.
bool legal_object_name(std::string_view name, size_t longest);

// Where the resource is used: an object or a job, by name; empty if nowhere.
std::string user_of_resource(const State& state, const Resource& resource);

// What is the plugin's alone.
ifl::Reply manage_plugin_object(Management& request, const HostRecord& record = {});

// Calls `what`, which may ask the plugin with the context's ticket, until its reply isn't PBSE_TRYAGAIN: that
// is the request's, once the plugin has committed.
ifl::Reply until_answered(Context& context, std::function<ifl::Reply(Context&)> what);

// The whole configuration: going back to a revision, and importing a document.
ifl::Reply manage_configuration(Management& request);
ifl::Reply manage_server(Management& request);
ifl::Reply manage_queue(Management& request);
ifl::Reply manage_node(Management& request);
ifl::Reply manage_sched(Management& request);
ifl::Reply manage_resource(Management& request);

}  // namespace pbs::host
