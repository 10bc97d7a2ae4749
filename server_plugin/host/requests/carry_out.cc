#include "server_plugin/host/requests/carry_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/batch.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "text/json_document.h"

namespace pbs::host {
namespace {

using Json = nlohmann::json;

// A directive: a Manager request with at most one attribute.
struct Directive {
    ifl::Manage body;
    std::string refused;  // why it was refused at the last try; empty: not refused
    bool done = false;
    std::optional<ConfigValues> before{};  // the object's values before the first directive about it

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
    const Json json = text::parse_json(text);
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

}  // namespace

class CarryOut::Work {
  public:
    Work(Context& context, std::vector<Directive> directives)
        : context_(context), directives_(std::move(directives)) {
        find_other_machines();
    }

    bool go_on() {
        while (at_ < directives_.size()) {
            Directive& directive = directives_[at_++];
            if (directive.done) continue;
            progress_ = carry_out(directive) || progress_;
            return true;
        }
        at_ = 0;
        if (std::exchange(progress_, false)) return true;
        make_outcomes();
        return false;
    }
    const std::string& outcomes() const { return outcomes_; }

  private:
    std::optional<ConfigValues> present(const ConfigName& object) const {
        return config_values(context_.state(), context_.server.options.home, object);
    }

    bool exists(const ConfigName& object) const {
        const State& state = context_.state();
        switch (object.type) {
            case PBS_OBJ_SERVER:
                return true;
            case PBS_OBJ_QUEUE:
                return state.queue(object.name) != nullptr;
            case PBS_OBJ_NODE:
                return state.node(object.name) != nullptr;
            case PBS_OBJ_SCHED:
                return state.sched(object.name) != nullptr;
            default:
                return present(object).has_value();
        }
    }

    // Finds the vnodes that are parts of other machines. A vnode's machine is its Mom or, if that isn't
    // given, its host. If neither is given, it is the vnode's name.
    void find_other_machines() {
        struct Hosts {
            std::string mom;
            std::string host;
        };
        std::map<std::string, Hosts> vnodes;
        for (const Directive& directive : directives_) {
            if (directive.body.object_type != PBS_OBJ_NODE) continue;
            Hosts& hosts = vnodes[directive.body.object];
            const std::string key = directive.key();
            if (same_name(key, "Mom")) hosts.mom = directive.body.attributes.front().value;
            if (same_name(key, "resources_available.host"))
                hosts.host = directive.body.attributes.front().value;
        }
        for (const auto& [node, hosts] : vnodes) {
            const std::string& named = hosts.mom.empty() ? hosts.host : hosts.mom;
            if (!context_.state().is_own_mom(named.empty() ? node.substr(0, node.find('[')) : named))
                other_machines_.insert(node);
        }
    }

    bool carry_out(Directive& directive) {
        const ConfigName object = directive.object();
        if (!before_.contains(object)) before_.emplace(object, present(object));
        const bool now = exists(object);
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
        const ifl::Reply reply = manage_host_object(request);
        directive.done = reply.code == 0;
        if (!directive.done) {
            const auto* text = std::get_if<ifl::TextReply>(&reply.body);
            directive.refused = text != nullptr ? text->text : std::string(ifl::error_text(reply.code));
            if (directive.refused.empty()) directive.refused = fmt::format("error {}", reply.code);
        }
        return directive.done;
    }

    // Writes the outcome of each directive as JSON, when all are done.
    void make_outcomes() {
        std::map<ConfigName, std::optional<ConfigValues>> after;
        Json outcomes = Json::array();
        for (const Directive& directive : directives_) {
            const ConfigName object = directive.object();
            const auto& was = before_.at(object);
            if (!after.contains(object)) after.emplace(object, present(object));
            const auto& is = after.at(object);
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
        outcomes_ = text::write_json(outcomes);
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
    size_t at_ = 0;          // the next directive
    bool progress_ = false;  // a directive has succeeded in this round
    std::string outcomes_ = "[]";
};

CarryOut::CarryOut(std::unique_ptr<Work> work) : work_(std::move(work)) {}
CarryOut::~CarryOut() = default;

Result<std::unique_ptr<CarryOut>> CarryOut::begin(Context& context, std::string_view json) {
    auto directives = directives_of(json);
    if (!directives) return tl::unexpected(directives.error());
    return std::unique_ptr<CarryOut>(new CarryOut(std::make_unique<Work>(context, std::move(*directives))));
}

bool CarryOut::go_on() {
    return work_->go_on();
}
const std::string& CarryOut::outcomes() const {
    return work_->outcomes();
}

namespace {

std::string pending(Server& server, const Identity& who) {
    const ifl::Reply reply =
        server.parts.plugin->status(server.now(), PBS_OBJ_CONFIGURATION, {}, {}, who, "part=host_work");
    const auto* status = std::get_if<ifl::StatusReply>(&reply.body);
    if (status == nullptr || status->objects.empty() || status->objects.front().attributes.empty()) return {};
    return status->objects.front().attributes.front().value;
}

// Passes the outcomes to the plugin only after the changes are in the server's database. If the server dies
// between the two, its next start carries out the same directives again.
Result<void> carry_out_at_start(Server& server, const Identity& who, std::string_view json) {
    Plugin& plugin = *server.parts.plugin;
    const ifl::Request request;
    Session session;
    Context context{server, who, server.now(), request, session};
    auto directives = CarryOut::begin(context, json);
    if (!directives) return tl::unexpected(directives.error());
    std::string warning;
    {
        Batch batch(server);
        batch.run([&] {
            while ((*directives)->go_on()) continue;
        });
        if (auto written = batch.write(); !written) return written;
        const auto history = [&]() -> Result<void> {
            if (batch.changes().empty()) return {};
            return plugin.manager(server.now(), PBS_CMD_SET, PBS_OBJ_SERVER, {}, {}, who, {}, warning,
                                  {"carry out what qmgr printed of the older server", batch.changes()});
        };
        if (auto committed = batch.commit(history, Batch::ToldToPlugin::before); !committed) return committed;
        for (Result<bool> more = true; more && *more;) more = batch.settle_some();
    }
    const ifl::Attribute outcomes{"host_outcome", {}, (*directives)->outcomes(), ifl::Op::set};
    return plugin.manager(server.now(), PBS_CMD_SET, PBS_OBJ_CONFIGURATION, {}, {outcomes}, who, {}, warning);
}

}  // namespace

void carry_out_pending(Server& server) {
    if (server.parts.plugin == nullptr) return;
    const Identity self = server.identity();
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
