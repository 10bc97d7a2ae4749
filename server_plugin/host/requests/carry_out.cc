#include "server_plugin/host/requests/carry_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/json_text.h"
#include "server_plugin/host/log.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// One Manager request with at most one attribute.
struct Directive {
    ifl::Manage body;
    std::string refused;  // the last time that it was tried
    bool done = false;
    std::optional<ConfigValues> before{};  // the object, before the first directive on it

    ConfigName object() const { return {static_cast<int>(body.object_type), body.object}; }
    std::string key() const {
        if (body.attributes.empty()) return {};
        const ifl::Attribute& attribute = body.attributes.front();
        return attribute.resource.empty() ? attribute.name
                                          : fmt::format("{}.{}", attribute.name, attribute.resource);
    }
};

std::string text_of(const Json& row, const char* key) {
    const auto found = row.find(key);
    return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

uint32_t number_of(const Json& row, const char* key) {
    const auto found = row.find(key);
    return found != row.end() && found->is_number_unsigned() ? found->get<uint32_t>() : 0;
}

Result<std::vector<Directive>> directives_of(std::string_view text) {
    std::vector<Directive> out;
    if (text.empty()) return out;
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("commands") || !json["commands"].is_array())
        return fail(PBSE_INTERNAL, "the directives of a migration can't be read");
    for (const Json& row : json["commands"]) {
        if (!row.is_object()) return fail(PBSE_INTERNAL, "a directive of a migration can't be read");
        Directive directive;
        directive.body = {number_of(row, "command"), number_of(row, "type"), text_of(row, "object"), {}};
        if (const std::string key = text_of(row, "attribute"); !key.empty()) {
            const auto [name, resource] = split_key(key);
            directive.body.attributes.push_back({std::string(name), std::string(resource),
                                                 text_of(row, "value"),
                                                 static_cast<ifl::Op>(number_of(row, "op"))});
        }
        out.push_back(std::move(directive));
    }
    return out;
}

ifl::Reply ask(Management& request) {
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

class Work {
  public:
    Work(Context& context, std::vector<Directive> directives)
        : context_(context), directives_(std::move(directives)) {
        find_other_machines();
    }

    CarriedOut run() {
        // The default scheduler shares some of its attributes with the server.
        for (const ConfigName& shared :
             {ConfigName{PBS_OBJ_SERVER, {}}, ConfigName{PBS_OBJ_SCHED, "default"}})
            before_.try_emplace(shared, present(shared));
        for (bool progress = true; progress;) {
            progress = false;
            for (Directive& directive : directives_)
                progress = (!directive.done && carry_out(directive)) || progress;
        }
        return outcome();
    }

  private:
    std::optional<ConfigValues> present(const ConfigName& object) const {
        return config_values(context_.state(), context_.server.options.home, object);
    }

    bool is_here(std::string_view host) const {
        const std::string_view full = context_.state().host_name;
        return same_name(host, full) || same_name(host, full.substr(0, full.find('.'))) ||
               same_name(host, "localhost");
    }

    // Vnodes whose host, or where none is named whose own name, is another machine's.
    void find_other_machines() {
        std::map<std::string, std::string> hosts;
        for (const Directive& directive : directives_) {
            if (directive.body.object_type != PBS_OBJ_NODE) continue;
            const auto [host, fresh] = hosts.try_emplace(directive.body.object, directive.body.object);
            if (fresh) host->second.resize(std::min(host->second.find('['), host->second.size()));
            const std::string key = directive.key();
            if (same_name(key, "Mom") || same_name(key, "resources_available.host"))
                host->second = directive.body.attributes.front().value;
        }
        for (const auto& [node, host] : hosts)
            if (!is_here(host)) other_machines_.insert(node);
    }

    bool carry_out(Directive& directive) {
        const ConfigName object = directive.object();
        const auto now = present(object);
        before_.try_emplace(object, now);
        if (object.type == PBS_OBJ_NODE && other_machines_.contains(object.name)) {
            directive.refused =
                "the vnode is a part of another machine, and this server runs jobs on its own";
            return false;
        }
        const bool create = directive.body.command == PBS_CMD_CREATE;
        if ((create && now) || (directive.body.command == PBS_CMD_DELETE && !now)) {
            directive.done = true;
            return true;
        }
        const bool names_object = object.type != PBS_OBJ_SERVER;
        if (names_object && (object.name.empty() || object.name.front() == '@')) {
            directive.refused = "expected the name of one object";
            return false;
        }
        if (names_object && !create && !now) {
            directive.refused = fmt::format("there is no {}", title(object));
            return false;
        }
        Management request(context_, directive.body);
        const ifl::Reply reply = ask(request);
        directive.done = reply.code == 0;
        if (!directive.done) {
            const auto* text = std::get_if<ifl::TextReply>(&reply.body);
            directive.refused = text != nullptr ? text->text : std::string(ifl::error_text(reply.code));
            if (directive.refused.empty()) directive.refused = fmt::format("error {}", reply.code);
        }
        return directive.done;
    }

    CarriedOut outcome() const {
        CarriedOut out;
        Json outcomes = Json::array();
        for (const Directive& directive : directives_) {
            const auto& was = before_.at(directive.object());
            const auto is = present(directive.object());
            const std::string key = directive.key();
            const std::string* old = find_any_case(was, key);
            const std::string* fresh = find_any_case(is, key);
            const bool changed =
                key.empty() ? was.has_value() != is.has_value()
                            : (old == nullptr) != (fresh == nullptr) || (old != nullptr && *old != *fresh);
            outcomes.push_back({{"changed", directive.done && changed},
                                {"before", old == nullptr ? std::string() : *old},
                                {"refused", directive.done ? std::string() : directive.refused}});
        }
        out.outcomes = outcomes.dump(-1, ' ', false, Json::error_handler_t::replace);
        for (const auto& [object, was] : before_)
            if (auto is = present(object); is != was) out.changes.push_back({object, was, std::move(is)});
        return out;
    }

    static const std::string* find_any_case(const std::optional<ConfigValues>& values, std::string_view key) {
        if (!values) return nullptr;
        const auto found =
            std::ranges::find_if(*values, [&](const auto& value) { return same_name(value.first, key); });
        return found == values->end() ? nullptr : &found->second;
    }

    Context& context_;
    std::vector<Directive> directives_;
    std::set<std::string> other_machines_;
    std::map<ConfigName, std::optional<ConfigValues>> before_;
};

std::string pending(Server& server, const Identity& who) {
    const ifl::Reply reply =
        server.parts.plugin->status(server.now(), PBS_OBJ_CONFIGURATION, {}, {}, who, "part=host_work");
    const auto* status = std::get_if<ifl::StatusReply>(&reply.body);
    if (status == nullptr || status->objects.empty() || status->objects.front().attributes.empty()) return {};
    return status->objects.front().attributes.front().value;
}

// The plugin hears of the outcomes only when they are in the server's database: after a crash before that,
// the next start does the same again.
Result<void> carry_out_at_start(Server& server, const Identity& who, std::string_view json) {
    Plugin& plugin = *server.parts.plugin;
    const ifl::Request request;
    Session session;
    Context context{server, who, server.now(), request, session};
    ifl::Attribute outcomes;
    std::string warning;
    {
        Batch batch(server);
        if (auto begun = batch.begin(); !begun) return begun;
        const auto done = carry_out(context, json);
        if (!done) return tl::unexpected(done.error());
        outcomes = {"host_outcome", {}, done->outcomes, ifl::Op::set};
        const auto history = [&]() -> Result<void> {
            if (done->changes.empty()) return {};
            return plugin.manager(server.now(), PBS_CMD_SET, PBS_OBJ_SERVER, {}, {}, who, {}, warning,
                                  {"carry out what qmgr printed of the older server", done->changes});
        };
        if (auto committed = batch.commit(history); !committed) return committed;
    }
    return plugin.manager(server.now(), PBS_CMD_SET, PBS_OBJ_CONFIGURATION, {}, {outcomes}, who, {}, warning);
}

}  // namespace

Result<CarriedOut> carry_out(Context& context, std::string_view json) {
    auto directives = directives_of(json);
    if (!directives) return tl::unexpected(directives.error());
    return Work(context, std::move(*directives)).run();
}

void carry_out_pending(Server& server) {
    if (server.parts.plugin == nullptr) return;
    const Identity self{"pbs_server", server.state.server_name,
                        privilege_operator | privilege_manager | privilege_root};
    const std::string json = pending(server, self);
    if (json.empty()) return;
    if (auto done = carry_out_at_start(server, self, json); !done) {
        server.parts.log.error("migration", done.error().message);
        return;
    }
    server.parts.log.write(LogEvent::admin, LogClass::server, "migration",
                           "What qmgr printed of the older server is carried out: see "
                           "server_priv/migration_report");
}

}  // namespace pbs::host
