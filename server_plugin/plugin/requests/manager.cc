#include "server_plugin/plugin/requests/manager.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "ifl/pbs_error.h"
#include "objects/execute.h"
#include "rrule/overlap.h"
#include "server_plugin/plugin/configuration.h"
#include "server_plugin/plugin/first_start.h"
#include "server_plugin/plugin/guard.h"
#include "server_plugin/plugin/requests/configuration.h"
#include "server_plugin/plugin/requests/fair_share.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

// Returns the handler of an object type; null: it has none.
ManagerHandler handler_of(int32_t type) {
    switch (static_cast<objects::ObjectType>(type)) {
        case objects::ObjectType::server:
            return manage_server;
        case objects::ObjectType::queue:
        case objects::ObjectType::node:
            return manage_host_object;
        case objects::ObjectType::sched:
            return manage_sched;
        case objects::ObjectType::resource:
            return manage_resource;
        default:
            return objects::is_own_type(static_cast<objects::ObjectType>(type)) ? manage_own_object : nullptr;
    }
}

// Returns the first attribute that is given with a resource although it isn't a resource list, as in `set
// policy p1 by_queue.ncpus = 1`; null: there is none.
const pbs_attr* with_resource(const pbs_manager_request& request) {
    for (const pbs_attr& attr : std::span(request.attrs, request.attr_count)) {
        if (attr.resource.len == 0) continue;
        const auto* attribute =
            objects::find_attribute(static_cast<objects::ObjectType>(request.object_type), view(attr.name));
        if (attribute == nullptr || !attribute->is_keyed()) return &attr;
    }
    return nullptr;
}

// If a request comes with more changes of the host's objects than this, and has a ticket, a thread writes
// them to the history, so that other clients needn't wait.
constexpr std::size_t kManyChanges = 100;

}  // namespace

std::optional<std::vector<objects::HostChange>> host_changes(const pbs_manager_request& request) {
    std::vector<objects::HostChange> out;
    if (request.host_change_count != 0 && !request.host_changes) return std::nullopt;
    for (const pbs_host_change& change : std::span(request.host_changes, request.host_change_count)) {
        out.push_back({static_cast<objects::ObjectType>(change.object_type), std::string(view(change.name)),
                       std::string(view(change.before)), std::string(view(change.after))});
    }
    return out;
}

objects::Identity identity(const pbs_identity& who) {
    // The bits of a privilege are the same here and in the store. Bits that this version doesn't know give no
    // rights.
    constexpr uint32_t kKnown = PBS_PRIV_OPERATOR | PBS_PRIV_MANAGER | PBS_PRIV_ROOT;
    return {std::string(view(who.user)), std::string(view(who.host)), who.privilege & kKnown};
}

namespace {

std::optional<ManagerRequest> translate(const pbs_manager_request& request) {
    if (request.command < PBS_CMD_CREATE || request.command > PBS_CMD_UNSET) return std::nullopt;
    if (request.attr_count != 0 && !request.attrs) return std::nullopt;
    ManagerRequest out;
    out.now = instant(request.now);
    out.who = identity(request.who);
    out.command.kind = static_cast<objects::CommandKind>(request.command);
    out.command.type = static_cast<objects::ObjectType>(request.object_type);
    out.command.object = view(request.object_name);
    if (auto changes = host_changes(request)) {
        out.command.host = std::move(*changes);
    } else {
        return std::nullopt;
    }
    out.command.text = view(request.text);
    for (const pbs_attr& attr : std::span(request.attrs, request.attr_count)) {
        if (attr.op < PBS_OP_SET || attr.op > PBS_OP_DECR) return std::nullopt;
        out.command.changes.push_back({std::string(view(attr.name)), std::string(view(attr.value)),
                                       static_cast<objects::Operation>(attr.op),
                                       std::string(view(attr.resource))});
    }
    return out;
}

bool hosts_only(const objects::Command& command) {
    const bool changes =
        command.kind == objects::CommandKind::set || command.kind == objects::CommandKind::unset;
    return command.changes.empty() && (changes || command.type == objects::ObjectType::node ||
                                       command.type == objects::ObjectType::resource);
}

// Returns whether the request only sets the server's own job_sort_formula. The plugin then only checks the
// formula.
bool only_checks(const pbs_manager_request& request) {
    return request.object_type == PBS_OBJ_SERVER && request.command == PBS_CMD_SET &&
           request.attr_count == 1 && request.attrs != nullptr &&
           view(request.attrs->name) == "job_sort_formula" && request.host_change_count == 0;
}

// Checks a request by executing it on a draft that is dropped. Omits comparisons of windows that take long;
// the request itself makes them.
int32_t check(State& state, const pbs_manager_request& request, Reply reply) {
    const std::optional<ManagerRequest> asked = translate(request);
    if (!asked) return reply.error(PBSE_IVALREQ, {});
    const auto refuse = [&](const objects::Error& why) {
        return reply.error(static_cast<int32_t>(why.code), why.message);
    };
    if (const auto allowed = objects::authorize(asked->command, asked->who); !allowed)
        return refuse(allowed.error());
    if (asked->command.type == objects::ObjectType::resource) {
        const auto unused = manage_resource(*state.store, *asked);  // without command.host this only checks
        return unused ? PBSE_NONE : refuse(unused.error());
    }
    objects::Rewrite rewrite;
    rewrite.command = objects::to_text(asked->command);
    rewrite.dry_run = true;
    rewrite.work = [&](objects::Draft& draft, const objects::CheckContext& context,
                       std::vector<std::string>&) {
        return objects::execute_on(draft, asked->command, context);
    };
    const auto done = state.store->rewrite(rewrite, asked->who, asked->now);
    if (!done && done.error().code != objects::Code::takes_long) return refuse(done.error());
    return PBSE_NONE;
}

}  // namespace

int32_t try_again(State& state, std::uint64_t ticket, LongChange::Work work, Reply reply) {
    if (state.long_change.ready()) state.long_change.begin(*state.store, ticket, std::move(work));
    return reply.error(PBSE_TRYAGAIN, {});
}

namespace {

// Writes the reply to a request about one object.
int32_t finish(State& state, const pbs_manager_request& request, const objects::Command& command,
               const objects::Result<objects::Reply>& done, bool staged, Reply reply) {
    if (!done) return reply.error(static_cast<int32_t>(done.error().code), done.error().message);
    // The change is made, so nothing that fails from here on may refuse it, such as for lack of memory.
    guarded(&state, "manager", [&](State&) {
        // A line for debugging: the host has its own line for administrators.
        state.host.log(PBS_LOG_DEBUG, view(request.object_name),
                       fmt::format("{} by {}@{}", objects::to_text(command), view(request.who.user),
                                   view(request.who.host)));
        // If pbs_sched schedules all jobs, omit the warnings: they are about settings that the plugin's own
        // scheduler doesn't act on.
        if (!state.has_pbs_sched_alone())
            for (const std::string& warning : done->warnings) reply.warning(warning);
        // Don't adopt a change of the host's own objects: it arrives as an event.
        if (!done->changed || staged || hosts_only(command)) return;
        if (const auto kept = forget_corrected_mistake(state); !kept)
            state.host.log(PBS_LOG_ERROR, "migration", kept.error().message);
        if (const std::string why = adopt_configuration(state); !why.empty())
            reply.warning(
                fmt::format("saved, but the scheduler can't use it and goes on as before: {}", why));
    });
    return PBSE_NONE;
}

// Replies to a request that a thread works on: with the result if the work is over, else with PBSE_TRYAGAIN.
int32_t end_long_change(State& state, const pbs_manager_request& request, Reply reply) {
    const bool configures = request.object_type == PBS_OBJ_CONFIGURATION;
    if (!state.long_change.over() ||
        (configures && needs_scheduler(request) && !state.queries.has_turn(state, request.ticket)))
        return reply.error(PBSE_TRYAGAIN, {});
    // Translate before the change is made, so that a lack of memory can't refuse what is made.
    const std::optional<ManagerRequest> translated = translate(request);
    LongChange::Done done = state.long_change.end(*state.store);
    if (configures) return finish_configuration(state, done, instant(request.now), reply);
    if (!translated) return reply.error(PBSE_IVALREQ, {});
    return finish(
        state, request, translated->command,
        std::move(done).map([](objects::Rewritten&& rewritten) { return std::move(rewritten.reply); }), false,
        reply);
}

int32_t manage_object(State& state, const pbs_manager_request& request, Reply reply) {
    const ManagerHandler handler = handler_of(request.object_type);
    std::optional<ManagerRequest> translated = translate(request);
    if (!handler || !translated) return reply.error(PBSE_IVALREQ, {});
    if (const pbs_attr* attr = with_resource(request)) {
        return reply.error(PBSE_UNKRESC,
                           fmt::format("{}.{}: {} is not a resource list, expected no resource",
                                       view(attr->name), view(attr->resource), view(attr->name)));
    }
    if (request.check_only != 0) return check(state, request, reply);
    const std::uint64_t ticket = request.ticket;
    const auto in_thread = [&] {
        return try_again(
            state, ticket,
            [handler, asked = std::move(*translated)](objects::Store& store) {
                return handler(store, asked).map([](objects::Reply done) {
                    return objects::Rewritten{std::move(done)};
                });
            },
            reply);
    };
    if (ticket != 0 && translated->command.host.size() > kManyChanges) return in_thread();
    constexpr std::uint64_t kMostWork = rrule::OverlapSearch::kMostWork;
    state.store->set_patience(ticket != 0 ? kMostWork / 2 : kMostWork);
    auto done = handler(*state.store, *translated);
    if (!done && done.error().code == objects::Code::takes_long) {
        if (ticket != 0) return in_thread();
        done.error().code = objects::Code::bad_value;
    }
    // Staged changes aren't adopted here: settle() adopts them when the scheduler needs them.
    const bool staged = handler == manage_own_object;
    return finish(state, request, translated->command, done, staged, reply);
}

}  // namespace

int32_t manager(State& state, const pbs_manager_request* request, Reply reply) {
    if (!fits(request)) {
        return reply.error(PBSE_INTERNAL,
                           "the server's request isn't of this version of the plugin interface");
    }
    if (!state.store) return reply.error(PBSE_INTERNAL, "the policy store isn't open");
    if (!request->who.authenticated) return reply.error(PBSE_PERM, {});
    const std::uint64_t ticket = request->ticket;
    if (state.long_change.busy() && !(ticket == 0 && only_checks(*request))) {
        if (ticket == 0)
            return reply.error(PBSE_OBJBUSY, "another change of the configuration is under way: try again");
        if (ticket != state.long_change.ticket()) return reply.error(PBSE_TRYAGAIN, {});
        return end_long_change(state, *request, reply);
    }
    if (request->object_type == PBS_OBJ_CONFIGURATION)
        return manage_configuration(state, *request, ticket, reply);
    if (request->object_type == PBS_OBJ_FAIRSHARE) return manage_fair_share(state, *request, ticket, reply);
    return manage_object(state, *request, reply);
}

}  // namespace pbs::plugin
