// Manager (qmgr): creates, deletes, sets and unsets the server's objects and the plugin's.
#include <fmt/format.h>

#include <cctype>
#include <memory>
#include <utility>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/queue_types.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/in_slices.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

std::string change_text(const Management& request) {
    constexpr std::string_view kCommands[] = {"created", "deleted", "attributes set", "attributes unset"};
    constexpr std::string_view kOperators[] = {"=", "", "+=", "-="};
    std::string text(kCommands[static_cast<size_t>(request.command)]);
    for (const ifl::Attribute& attribute : request.body.attributes) {
        // Don't log a whole configuration or file. The plugin's history has it.
        if (request.type == PBS_OBJ_CONFIGURATION &&
            (attribute.name == "import" || attribute.name == "replace" ||
             attribute.name.starts_with("migrate"))) {
            text += fmt::format(" {}{}{} ({} bytes)", attribute.name, attribute.resource.empty() ? "" : ".",
                                attribute.resource, attribute.value.size());
            continue;
        }
        const auto op = static_cast<size_t>(attribute.op);
        text += fmt::format(" {}{}{} {} {}", attribute.name, attribute.resource.empty() ? "" : ".",
                            attribute.resource, op < 4 ? kOperators[op] : "=", attribute.value);
    }
    return text;
}

std::string quoted(const std::string& value) {
    if (!value.empty() && value.find_first_of("\"' \t,;#[\\") == std::string::npos) return value;
    return value.find('"') == std::string::npos ? fmt::format("\"{}\"", value) : fmt::format("'{}'", value);
}

// Returns the request in qmgr's language, for the history.
std::string command_text(const Management& request, std::string_view object) {
    constexpr std::string_view kVerbs[] = {"create", "delete", "set", "unset"};
    constexpr std::string_view kOperators[] = {"=", "", "+=", "-="};
    // A request without a name is for all queues or nodes, or for the scheduler `default`.
    const bool of_all = (request.type == PBS_OBJ_QUEUE || request.type == PBS_OBJ_NODE) &&
                        (request.body.object.empty() || request.body.object.front() == '@');
    const std::string name = request.type == PBS_OBJ_SERVER ? std::string()
                             : of_all                       ? std::string("@default")
                                                            : std::string(object);
    std::string text =
        fmt::format("{} {}", kVerbs[static_cast<size_t>(request.command)], title({request.type, name}));
    std::string_view separator = " ";
    for (const ifl::Attribute& attribute : request.body.attributes) {
        text += fmt::format("{}{}{}{}", separator, attribute.name, attribute.resource.empty() ? "" : ".",
                            attribute.resource);
        const auto op = static_cast<size_t>(attribute.op);
        if (request.command != PBS_CMD_UNSET)
            text += fmt::format(" {} {}", op < 4 ? kOperators[op] : "=", quoted(attribute.value));
        separator = ", ";
    }
    return text;
}

void log_management(const Management& request, std::string_view object) {
    const std::string_view nameless = request.type == PBS_OBJ_CONFIGURATION ? "configuration" : "Server";
    request.context.server.parts.log.write(
        LogEvent::admin, LogClass::server, object.empty() ? nameless : object,
        fmt::format("{} at request of {}", change_text(request), requestor(request.context)));
}

// Returns the reply to a request whose change is made. Without memory, the reply has no warnings.
ifl::Reply reply_with(const Management& request) {
    ifl::Reply reply = ifl::Reply::ok();
    if (!request.warning.empty())
        guarded(request.context.server.parts.log, "warnings",
                [&] { reply = ifl::Reply::warning(request.warning); });
    return reply;
}

Result<void> call_plugin(Management& request, int command, std::string_view object,
                         const ifl::Attributes& attributes, const HostRecord& record = {},
                         uint64_t ticket = 0) {
    return request.context.server.parts.plugin->manager(
        request.context.now, command, request.type, object, attributes, request.context.who,
        request.context.request.extend, request.warning, record, ticket);
}

// Makes the plugin do its part of a request, in one call, which may have to be repeated. The plugin learns
// which queues and schedulers are made or deleted, and which resources are deleted; it may refuse that. The
// plugin gets its own attributes, and writes the server's changes into its history.
Result<void> plugin_part(Management& request, std::string_view object, const HostRecord& record) {
    if (request.context.server.parts.plugin == nullptr) return {};
    const bool coming_or_going = request.command == PBS_CMD_CREATE || request.command == PBS_CMD_DELETE;
    const bool announced =
        ((request.type == PBS_OBJ_QUEUE || request.type == PBS_OBJ_SCHED) && coming_or_going) ||
        (request.type == PBS_OBJ_RESOURCE && request.command == PBS_CMD_DELETE);
    if (!announced && request.plugins.empty() && record.changes.empty()) return {};
    const bool made = request.command == PBS_CMD_CREATE && !announced;
    return call_plugin(request, made ? PBS_CMD_SET : request.command, object, request.plugins, record,
                       request.context.ticket);
}

}  // namespace

ifl::Reply manage_plugin_object(Management& request, const HostRecord& record) {
    Plugin* plugin = request.context.server.parts.plugin;
    if (plugin == nullptr) return ifl::Reply::error(PBSE_NOSUP);
    // Make this action before the change: a lack of memory must not refuse a change that is made. Copy the
    // data for the action, because the request is gone when the plugin commits.
    std::function<void()> when_committed =
        [&server = request.context.server, object = request.body.object,
         configuration = request.type == PBS_OBJ_CONFIGURATION,
         text = fmt::format("{} at request of {}", change_text(request), requestor(request.context))] {
            server.parts.log.write(LogEvent::admin, LogClass::server, object, text);
            server.want_cycle(PBS_SCH_CONFIGURE);
            if (configuration) set_queue_types(server);
        };
    auto done = call_plugin(request, request.command, request.body.object, request.body.attributes, record,
                            request.context.ticket);
    if (!done) return refuse(done.error());
    request.context.when_committed = std::move(when_committed);
    return reply_with(request);
}

namespace {

// Returns whether the requester may give this command. Managers make and delete objects; operators may set
// attributes whose flags permit it.
bool permitted(const Identity& who, int command) {
    return command == PBS_CMD_CREATE || command == PBS_CMD_DELETE ? who.manager() : who.operator_();
}

// Returns whether the plugin has the attribute: either as its own, or as one that OpenPBS has at its
// schedulers and the plugin in the policies of a scheduler.
bool is_plugins(const Plugin& plugin, int type, const std::string& name) {
    if (type != PBS_OBJ_SERVER && type != PBS_OBJ_QUEUE && type != PBS_OBJ_SCHED) return false;
    if (plugin.owns(type, name)) return true;
    const AttributeDef* def = type == PBS_OBJ_SCHED ? sched_table().find_any(name) : nullptr;
    return def != nullptr && def->has(ifl::of_policies);
}

}  // namespace

Management::Management(Context& context_given, const ifl::Manage& body_given)
    : context(context_given),
      body(body_given),
      command(static_cast<int>(body_given.command)),
      type(body_given.object_type == MGR_OBJ_HOST ? int{PBS_OBJ_NODE}
                                                  : static_cast<int>(body_given.object_type)) {
    const Plugin* plugin = context.server.parts.plugin;
    for (size_t i = 0; i < body.attributes.size(); ++i) {
        if (plugin != nullptr && is_plugins(*plugin, type, body.attributes[i].name)) {
            plugins.push_back(body.attributes[i]);
        } else {
            own.push_back(body.attributes[i]);
            own_index.push_back(i);
        }
    }
}

namespace {

// Checks the value that a change has given to a default of jobs. Accepts a change without a known resource,
// which sets nothing.
Result<void> check_defaults(const Attributes& attributes, const AttributeDef& def,
                            const ifl::Attribute& change, const ResourceTable& resources) {
    const Resource* resource = resources.find(change.resource);
    const AttributeValue* value = resource == nullptr ? nullptr : attributes.find(def.name, resource->name);
    return value == nullptr ? Result<void>() : check_default(*resource, value->value());
}

}  // namespace

Managed<> apply_own(Management& request, const AttributeTable& table, Attributes& attributes,
                    const AttributeHook& hook) {
    const uint32_t rights = write_rights(request.context.who);
    for (size_t i = 0; i < request.own.size(); ++i) {
        ifl::Attribute change = request.own[i];
        if (request.command == PBS_CMD_UNSET) change.op = ifl::Op::unset;
        const AttributeDef* def = table.find(change.name);
        if (def == nullptr) {
            if (table.is_openpbs_only(change.name))
                return tl::unexpected(Refusal{
                    {PBSE_NOSUP, fmt::format("No support for requested service: {}", change.name)}, i});
            return tl::unexpected(Refusal{{PBSE_NOATTR, {}}, i});
        }
        if ((def->flags & rights & kAllWrites) == 0) return tl::unexpected(Refusal{{PBSE_ATTRRO, {}}, i});
        auto done = apply_change(attributes, *def, change, request.context.state().resources);
        if (done && change.op != ifl::Op::unset &&
            (def->name == "resources_default" || def->name == "default_chunk"))
            done = check_defaults(attributes, *def, change, request.context.state().resources);
        if (done && hook) done = hook(*def, change);
        if (!done) return tl::unexpected(Refusal{done.error(), i});
    }
    return {};
}

void add_warning(Management& request, std::string_view text) {
    if (!request.warning.empty()) request.warning += '\n';
    request.warning += text;
}

ifl::Reply refuse(const Management& request, const Refusal& why) {
    if (why.own == Refusal::kNpos) return refuse(why.error);
    return refuse_attribute(why.error, request.own[why.own], request.own_index[why.own]);
}

ifl::Reply finish(Management& request, Change& change, std::string_view object) {
    change.want_cycle(PBS_SCH_CONFIGURE);
    if (request.context.server.batch != nullptr) {
        // Have the plugin check its own attributes now; the batch reports the change at its end.
        if (request.context.server.parts.plugin != nullptr && !request.plugins.empty())
            if (auto checked = call_plugin(request, request.command, object, request.plugins); !checked)
                return refuse(checked.error());
        auto done = change.commit();
        return done ? reply_with(request) : refuse(done.error());
    }
    const std::vector<ConfigChange> changes = change.configuration();
    const std::string text = command_text(request, object);
    if (auto done = change.commit([&] { return plugin_part(request, object, {text, changes}); }); !done)
        return refuse(done.error());
    // The change is made, so nothing that fails from here on may refuse it.
    Server& server = request.context.server;
    guarded(server.parts.log, "after a change", [&] { log_management(request, object); });
    // The plugin may have waited for this queue, whose type a migration has decided: set the type.
    if (request.type == PBS_OBJ_QUEUE && request.command != PBS_CMD_DELETE)
        guarded(server.parts.log, "after a change", [&] { set_queue_types(server); });
    return reply_with(request);
}

ifl::Reply change_in_slices(Management& request, std::string_view object,
                            std::function<tl::expected<bool, ifl::Reply>(Context& context)> some,
                            std::shared_ptr<const std::string> warnings) {
    const ifl::Manage& body = request.body;
    const auto plugins_part = [&body, object = std::string(object), warnings = std::move(warnings)](
                                  Context& context, const HostRecord& record) {
        Management rest(context, body);
        if (warnings != nullptr) rest.warning = *warnings;
        if (context.server.parts.plugin != nullptr && !record.changes.empty())
            if (auto done = call_plugin(rest, rest.command, object, {}, record, context.ticket); !done)
                return refuse(done.error());
        context.when_committed = [&context, &body, object] {
            const Management whole(context, body);
            context.server.want_cycle(PBS_SCH_CONFIGURE);
            log_management(whole, object);
            if (whole.type == PBS_OBJ_QUEUE) set_queue_types(context.server);
        };
        return reply_with(rest);
    };
    return in_slices(request.context, {std::move(some), plugins_part, command_text(request, object)});
}

bool legal_object_name(std::string_view name, size_t longest) {
    return !name.empty() && name.size() <= longest && values::is_letter(name.front()) &&
           std::ranges::all_of(
               name, [](char c) { return values::is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

Result<void> check_partition_name(std::string_view partition) {
    if (partition != "pbs-default") return {};
    return fail(PBSE_DEFAULT_PARTITION,
                "Partition pbs-default is the default scheduler's and can't be given to others");
}

std::string user_of_resource(const State& state, const Resource& resource) {
    const auto uses = [&](const Attributes& attributes) {
        for (const AttributeValue& value : attributes.values())
            if (value.resource() == resource.name) return true;
        return false;
    };
    if (uses(state.server)) return "the server";
    for (const auto& [name, queue] : state.queues())
        if (uses(queue.attributes)) return "queue " + name;
    for (const auto& [name, node] : state.nodes())
        if (uses(node.attributes)) return "node " + name;
    for (const auto& [handle, job] : state.jobs())
        if (uses(job.attributes)) return "job " + job.id;
    return {};
}

namespace {

ifl::Reply manage(Context& context, const ifl::Manage& body) {
    Management request(context, body);
    // While a batch changes many objects, no other request may change the server's objects.
    const bool hosts = !is_plugin_type(static_cast<uint32_t>(request.type));
    if (hosts && context.server.open_batch != nullptr) return ifl::Reply::error(PBSE_TRYAGAIN);
    // The client of an earlier change of many objects may have gone before all rows were moved to their
    // places in the database. Move some of the rows first.
    if (Store& store = context.server.parts.store; hosts && store.behind()) {
        const auto more = store.catch_up(Batch::kAtOnce);
        return more ? ifl::Reply::error(PBSE_TRYAGAIN) : refuse(more.error());
    }
    if (request.type == PBS_OBJ_CONFIGURATION) return manage_configuration(request);
    if (!hosts || request.type == PBS_OBJ_FAIRSHARE) return manage_plugin_object(request);
    return manage_host_object(request);
}

class Again final : public Steps {
  public:
    Again(const Context& context, std::function<ifl::Reply(Context&)> what)
        : server_(context.server), ticket_(context.ticket), what_(std::move(what)) {}
    ~Again() override {
        // Drop the request if the plugin still works on it, for example if the server has refused the request
        // in the end. The plugin ignores the ticket of a finished request.
        if (server_.parts.plugin != nullptr) server_.parts.plugin->abandon(ticket_);
    }

    Remaining step(Context& context, ifl::StatusParts& out) override {
        if (rest_ != nullptr) return rest_->step(context, out);
        std::unique_ptr<Steps> self = std::move(context.rest);
        reply_ = what_(context);
        rest_ = std::exchange(context.rest, std::move(self));
        // The handler may have set further steps in place of a reply: go on with them.
        if (rest_ != nullptr) return Remaining::more;
        if (reply_.code == PBSE_TRYAGAIN) return Remaining::later;
        Plugin* plugin = server_.parts.plugin;
        if (auto done = plugin == nullptr ? Result<void>() : plugin->commit(context.now); !done)
            reply_ = ifl::Reply::error(done.error().code, done.error().message);
        if (const auto then = std::exchange(context.when_committed, {}); then && reply_.code == 0) then();
        return Remaining::nothing;
    }
    ifl::Reply reply() override { return rest_ != nullptr ? rest_->reply() : std::move(reply_); }

  private:
    Server& server_;
    uint64_t ticket_;
    std::function<ifl::Reply(Context&)> what_;
    std::unique_ptr<Steps> rest_;
    ifl::Reply reply_;
};

}  // namespace

ifl::Reply manage_host_object(Management& request) {
    switch (request.type) {
        case PBS_OBJ_SERVER:
            return manage_server(request);
        case PBS_OBJ_QUEUE:
            return manage_queue(request);
        case PBS_OBJ_NODE:
            return manage_node(request);
        case PBS_OBJ_RESOURCE:
            return manage_resource(request);
        case PBS_OBJ_SCHED:
            return manage_sched(request);
        default:
            return ifl::Reply::error(PBSE_IVALREQ);
    }
}

ifl::Reply until_answered(Context& context, std::function<ifl::Reply(Context&)> what) {
    context.rest = std::make_unique<Again>(context, std::move(what));
    return {};
}

ifl::Reply manager(Context& context) {
    const auto& body = std::get<ifl::Manage>(context.request.body);
    if (body.command > PBS_CMD_UNSET) return ifl::Reply::error(PBSE_IVALREQ);
    if (!permitted(context.who, static_cast<int>(body.command))) return ifl::Reply::error(PBSE_PERM);
    // Requests for MGR_OBJ_HOST come from pbsnodes, which marks all vnodes of a host together. So only set
    // and unset are permitted for it.
    if (body.object_type == MGR_OBJ_HOST && body.command != PBS_CMD_SET && body.command != PBS_CMD_UNSET)
        return ifl::Reply::error(PBSE_IVALREQ);
    context.ticket = ++context.server.last_ticket;
    ifl::Reply reply = manage(context, body);
    if (reply.code != PBSE_TRYAGAIN) return reply;
    // A thread of the plugin works on this request, or on another one that comes first: try again later.
    return until_answered(context, [&body](Context& again) { return manage(again, body); });
}

}  // namespace pbs::host
