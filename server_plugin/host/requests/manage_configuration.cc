// Manager requests about the whole configuration (pbs_config): back to a revision, and the import of a
// document. The server's part is done first, by its own handlers, then the plugin's, which also writes both
// into the history; it is one change.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "ifl/pbs_error.h"
#include "server_plugin/host/config_document.h"
#include "server_plugin/host/log.h"
#include "server_plugin/host/requests/config_targets.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// The last one counts, as for the plugin.
const std::string* value_of(const Management& request, std::string_view name) {
    const std::string* value = nullptr;
    for (const ifl::Attribute& attribute : request.body.attributes)
        if (attribute.name == name) value = &attribute.value;
    return value;
}

// Of nodes and resources the plugin knows only what has changed.
Result<void> check_known(const Management& request) {
    const std::string_view object = request.body.object;
    const std::string_view word = object.substr(0, object.find(' '));
    const std::string name(trimmed(object.substr(word.size())));
    if (word.empty() || name.empty()) return {};
    for (const auto& [type, full, code] :
         {std::tuple(PBS_OBJ_NODE, std::string_view("node"), PBSE_UNKNODE),
          std::tuple(PBS_OBJ_RESOURCE, std::string_view("resource"), PBSE_UNKRESC)})
        if (full.starts_with(lower(word)) &&
            !config_values(request.context.state(), request.context.server.options.home, {type, name}))
            return fail(code, fmt::format("the server has no {} '{}', and it had none then", full, name));
    return {};
}

// The server's objects that have changed since a revision, as they were at it.
Result<std::vector<ConfigTarget>> targets_of_revision(const Management& request,
                                                      const std::string& revision) {
    const Context& context = request.context;
    auto past = past_configuration(*context.server.parts.plugin, context.now, context.who, revision,
                                   request.body.object);
    if (!past) return tl::unexpected(past.error());
    std::vector<ConfigTarget> targets;
    for (auto& [object, values] : *past) targets.push_back({object, std::move(values), false});
    if (targets.empty())
        if (auto known = check_known(request); !known) return tl::unexpected(known.error());
    return targets;
}

// Every node of this server is a part of its own machine, so that those of another's document aren't made.
bool is_foreign_node(const Context& context, const ConfigName& object, const ConfigValues& values) {
    if (object.type != PBS_OBJ_NODE) return false;
    const auto mom = std::ranges::find(values, "Mom", [](const auto& value) { return value.first; });
    return mom != values.end() && !same_name(mom->second, context.state().host_name);
}

Result<std::vector<ConfigTarget>> targets_of_document(Management& request, std::string_view document,
                                                      bool replace) {
    const Context& context = request.context;
    auto read = read_host_document(document);
    if (!read) return tl::unexpected(read.error());
    std::vector<ConfigTarget> targets;
    if (!*read) return targets;  // it says nothing of the server's
    std::set<ConfigName> named;
    for (auto& [object, values] : **read) {
        named.insert(object);
        if (is_foreign_node(context, object, values)) {
            request.warning += fmt::format("{}Warning: {} is left out: it is a part of another machine",
                                           request.warning.empty() ? "" : "\n", title(object));
            continue;
        }
        targets.push_back({object, std::move(values), !replace});
    }
    if (!replace) return targets;
    for (const auto& [object, values] : host_configuration(context.state(), context.server.options.home))
        if (!named.contains(object) && object != ConfigName{PBS_OBJ_SCHED, "default"} &&
            object.type != PBS_OBJ_SERVER)
            targets.push_back({object, std::nullopt, false});
    return targets;
}

Result<std::vector<ConfigTarget>> targets_of(Management& request) {
    if (const std::string* revision = value_of(request, "revision"))
        return targets_of_revision(request, *revision);
    if (const std::string* document = value_of(request, "import"))
        return targets_of_document(request, *document, false);
    if (const std::string* document = value_of(request, "replace"))
        return targets_of_document(request, *document, true);
    return std::vector<ConfigTarget>{};  // the plugin says what was expected
}

void tell(const Retargeted& done, std::string& warning) {
    const auto add = [&](const std::string& line) {
        if (!warning.empty()) warning += '\n';
        warning += line;
    };
    for (const std::string& line : done.warnings) add("Warning: " + line);
    for (const ConfigChange& change : done.changes)
        for (const std::string& line : config_lines(change)) add(line);
}

bool is_dry_run(const Management& request) {
    const std::string* dry_run = value_of(request, "dry_run");
    if (dry_run == nullptr) return false;
    const auto value = canonical(Type::boolean, *dry_run);
    return value && *value == "True";  // what else it may be is the plugin's to refuse
}

}  // namespace

ifl::Reply manage_configuration(Management& request) {
    Context& context = request.context;
    if (!context.who.manager()) return ifl::Reply::error(PBSE_PERM);
    if (context.server.parts.plugin == nullptr) return ifl::Reply::error(PBSE_NOSUP);
    const auto targets = targets_of(request);
    if (!targets) return refuse(targets.error());
    Batch batch(context.server);
    if (auto begun = batch.begin(); !begun) return refuse(begun.error());
    const auto done = reach(context, *targets);
    if (!done) return refuse(done.error());
    tell(*done, request.warning);
    ifl::Reply reply;
    const auto plugins = [&]() -> Result<void> {
        reply = manage_plugin_object(request, {{}, done->changes});
        if (reply.code != 0) return fail(reply.code);
        return {};
    };
    // Thrown away, the batch leaves everything as it was.
    if (is_dry_run(request)) {
        (void)plugins();
        context.when_committed = {};
        return reply;
    }
    if (auto committed = batch.commit(plugins); !committed)
        return reply.code != 0 ? reply : refuse(committed.error());
    return reply;
}

}  // namespace pbs::host
