// Manager requests about the server object (qmgr: set server).
#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/mail.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/host/requests/not_acted_on.h"
#include "server_plugin/host/state/limits.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr int64_t kSmallestLastId = 9999999;
constexpr int64_t kLargestLastId = 999999999999;

// Checks the entries of managers and operators. Entries match hosts by their complete names only. So this
// host's short name is refused, because it would match nobody.
Result<void> check_manager_list(const Attributes& attributes, std::string_view name, const State& state) {
    const std::string_view full = state.host_name;
    const std::string_view shorter = state.short_host_name();
    for (const std::string& entry : attributes.list(name)) {
        if (!legal_manager_entry(entry))
            return fail(
                PBSE_BADHOST,
                fmt::format("Illegal entry \"{}\" of {}: expected user@host, user@*.domain, user@* or @host",
                            entry, name));
        const std::string_view host = std::string_view(entry).substr(entry.find('@') + 1);
        if (shorter != full && same_name(host, shorter))
            return fail(PBSE_BADHOST,
                        fmt::format("Illegal entry \"{}\" of {}: expected the host's full name, {}", entry,
                                    name, full));
    }
    return {};
}

Result<void> check_range(const Attributes& attributes, std::string_view name, int64_t least, int64_t most,
                         int code) {
    if (!attributes.has(name)) return {};
    const int64_t value = attributes.integer(name, 0);
    if (value >= least && value <= most) return {};
    return fail(code, fmt::format("Illegal value {} for {}: expected {} to {}", value, name, least, most));
}

void deprecated(Management& request, std::string_view name) {
    add_warning(request,
                fmt::format("Warning: {} in server is deprecated. Set {} in a policy object.", name, name));
}

// Sets the default scheduler's `scheduling` or `scheduler_iteration` to the server's value. If the server has
// none, `scheduling` is off and `scheduler_iteration` is 600, as in PBS.
void share_with_default_sched(Change& change, Attributes& server, std::string_view name) {
    if (name == "scheduler_iteration" && !server.has(name)) server.set(*server_table().find(name), {}, "600");
    const Sched* current = change.server().state.sched("default");
    if (current == nullptr) return;
    Sched& sched = change.sched(*current);
    const AttributeDef& def = *sched_table().find(name);
    if (server.has(name)) {
        sched.attributes.set(def, {}, server.text(name));
    } else {
        sched.attributes.set(def, {}, "False");
    }
}

Result<void> check(Management& request, Change& change, const AttributeDef& def) {
    Attributes& server = change.server_attributes();
    const State& state = request.context.state();
    if (auto ok = check_limit_styles(def.name, server, state); !ok) return ok;
    // The mailer runs with the server's rights, and acl_roots permits jobs of root. So only root and the user
    // who runs the server may set these two, and no other manager.
    if ((def.name == "mailer" || def.name == "acl_roots") && !is_administrator(request.context))
        return fail(PBSE_PERM,
                    fmt::format("{} can only be set by root and by the user who runs the server, at its host",
                                def.name));
    if (def.name == "managers" || def.name == "operators") return check_manager_list(server, def.name, state);
    if (def.name == "default_queue" && server.has(def.name) && state.queue(server.text(def.name)) == nullptr)
        return fail(PBSE_UNKQUE, fmt::format("Unknown queue: {}", server.text(def.name)));
    if (def.name == "scheduling" || def.name == "scheduler_iteration") {
        if (auto ok = check_range(server, "scheduler_iteration", 1, 1'000'000'000, PBSE_BADATVAL); !ok)
            return ok;
        share_with_default_sched(change, server, def.name);
    }
    if (def.name == "max_job_sequence_id")
        return check_range(server, def.name, kSmallestLastId, kLargestLastId,
                           PBSE_INVALID_MAX_JOB_SEQUENCE_ID);
    if (def.name == "max_array_size") return check_range(server, def.name, 1, 10'000'000, PBSE_BADATVAL);
    if (def.name == "jobscript_max_size")
        return check_range(server, def.name, 0, int64_t{2} << 30, PBSE_BADJOBSCRIPTMAXSIZE);
    if ((def.name == "backfill_depth" || def.name == "job_sort_formula") && server.has(def.name))
        deprecated(request, def.name);
    if (def.name == "backfill_depth") return check_range(server, def.name, 0, 1'000'000'000, PBSE_BADATVAL);
    return {};
}

// Passes a job_sort_formula that is set on the server to the plugin, which knows formulas and checks it.
void have_formula_checked(Management& request, const Attributes& server) {
    for (const ifl::Attribute& attribute : request.own) {
        if (!same_name(attribute.name, "job_sort_formula") || !server.has("job_sort_formula")) continue;
        request.plugins.push_back(attribute);
        request.plugins.back().op = ifl::Op::set;
        request.plugins.back().value = server.text("job_sort_formula");
        return;
    }
}

}  // namespace

ifl::Reply manage_server(Management& request) {
    if (request.command != PBS_CMD_SET && request.command != PBS_CMD_UNSET)
        return ifl::Reply::error(PBSE_IVALREQ);
    Context& context = request.context;
    Change change(context.server, context.now);
    if (!request.own.empty()) {
        auto done = apply_own(
            request, server_table(), change.server_attributes(),
            [&](const AttributeDef& def, const ifl::Attribute&) { return check(request, change, def); });
        if (!done) return refuse(request, done.error());
        warn_of_not_acted_on(request, change.server_attributes(), {});
        have_formula_checked(request, change.server_attributes());
        change.then([&server = context.server] {
            const Attributes& now = server.state.server;
            server.parts.log.set_events(static_cast<unsigned>(now.integer("log_events", 511)));
            server.parts.mailer.set_command(std::string(now.text("mailer")));
            server.parts.mailer.set_from(now.has("mail_from") ? std::string(now.text("mail_from")) : "adm");
        });
    }
    return finish(request, change, {});
}

}  // namespace pbs::host
