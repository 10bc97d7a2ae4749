#include "ifl/cmds/qmgr_session.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/qmgr_help.h"
#include "ifl/cmds/qmgr_print.h"
#include "ifl/cmds/sort_formula.h"
#include "ifl/cmds/text.h"
#include "ifl/pbs_error.h"
#include "objects/spelling.h"
#include "values/object_types.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

constexpr const char* kDefaultSched = "default";
// Exit statuses of PBS's qmgr: for a list or print that fails, and for a server of a directive that can't be
// reached.
constexpr int kCannotShow = 1;
constexpr int kNoConnection = 1;

// The status of an object of a type, or of all with an empty name.
StatusList stat(const Connection& connection, ObjectType type, const std::string& name, attrl* wanted) {
    const int c = connection.handle();
    const char* object = name.empty() ? nullptr : name.c_str();
    switch (type) {
        case ObjectType::server:
            return StatusList(pbs_statserver(c, wanted, nullptr));
        case ObjectType::queue:
            return StatusList(pbs_statque(c, object, wanted, nullptr));
        case ObjectType::node:
            return StatusList(pbs_statvnode(c, object, wanted, nullptr));
        case ObjectType::resource:
            // with "p", PBS's own resources come first, then "|unknown|", then the site's
            return StatusList(pbs_statrsc(c, object, wanted, "p"));
        case ObjectType::sched:
            return StatusList(pbs_statsched(c, wanted, nullptr));
        case ObjectType::policy:
            return StatusList(pbs_statpolicy(c, object, wanted, nullptr));
        case ObjectType::time_window:
            return StatusList(pbs_stattimewindow(c, object, wanted, nullptr));
        case ObjectType::fs_group:
            return StatusList(pbs_statfsgroup(c, object, wanted, nullptr));
        case ObjectType::quota:
            return StatusList(pbs_statquota(c, object, wanted, nullptr));
    }
    return nullptr;
}

int manager_command(Command command) {
    switch (command) {
        case Command::create:
            return MGR_CMD_CREATE;
        case Command::remove:
            return MGR_CMD_DELETE;
        case Command::unset:
            return MGR_CMD_UNSET;
        default:
            return MGR_CMD_SET;
    }
}

AttrList attribute_list(const Directive& directive) {
    AttrList attributes;
    for (const Assignment& attribute : directive.attributes) {
        attributes.add(attribute.name, attribute.resource, attribute.value,
                       static_cast<batch_op>(attribute.op));
    }
    return attributes;
}

std::string shown(const std::string& server) {
    return server.empty() ? "default" : server;
}

// The scheduler of this name in a list, because pbs_statsched() takes no name.
const batch_status* find_named(batch_status* list, const std::string& name) {
    for (; list != nullptr; list = list->next)
        if (view(list->name) == name) return list;
    return nullptr;
}

void write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

// Prints a list while it is received, because it can be long.
class ListWriter {
  public:
    explicit ListWriter(ObjectType type) : type_(type) {}
    void add(const batch_status& object) {
        append_list_text(text_, type_, object);
        if (text_.size() >= kPiece) finish();
    }
    void finish() {
        write(text_);
        text_.clear();
    }

  private:
    static constexpr std::size_t kPiece = 32768;
    ObjectType type_;
    std::string text_;
};

void write_list(ObjectType type, const batch_status* objects) {
    ListWriter writer(type);
    for (; objects != nullptr; objects = objects->next) writer.add(*objects);
    writer.finish();
}

}  // namespace

bool QmgrSession::connect(const std::vector<std::string>& servers) {
    active_servers_ = servers;
    if (active_servers_.empty()) active_servers_.emplace_back();
    for (std::string& name : active_servers_)
        if (name == "default" || name == "@default") name.clear();
    return std::all_of(active_servers_.begin(), active_servers_.end(),
                       [&](const std::string& name) { return server(name) != nullptr; });
}

Connection* QmgrSession::server(const std::string& name) {
    if (const auto known = connections_.find(name); known != connections_.end()) return &known->second;
    auto connection = Connection::open(name);
    if (!connection) {
        write_error("qmgr: " + connection.error().message + "\n");
        return nullptr;
    }
    return &connections_.emplace(name, std::move(*connection)).first->second;
}

void QmgrSession::write_error(const std::string& text) const {
    if (!options_.silent) {
        std::fflush(stdout);
        fmt::print(stderr, "{}", text);
    }
}

void QmgrSession::warn(std::string_view text) const {
    // print each line as a warning of its own, since servers write one warning a line
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        warn(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    const bool complete = text.substr(0, 5) == "qmgr:";
    const bool says_warning = text.substr(0, 8) == "Warning:";
    write_error(fmt::format("{}{}\n", complete ? "" : says_warning ? "qmgr: " : "qmgr: Warning: ", text));
}

void QmgrSession::failed(int status, int status_when_aborting) {
    status_ = status;
    if (options_.abort_on_error) {
        status_ = status_when_aborting;
        finished_ = true;
    }
}

void QmgrSession::syntax_error(std::string_view text, const SyntaxError& error) {
    std::string message = error.message + "\n";
    if (error.offset) message += marked(text, *error.offset);
    write_error(message);
    failed(error.status, 1);
}

std::string QmgrSession::take_history_request() {
    return std::exchange(history_request_, {});
}

// Begins a directive: echoes it, if the options say so, and resets the exit status.
void QmgrSession::begin(std::string_view text) {
    if (options_.echo) fmt::print("{}\n", text);
    status_ = 0;
}

void QmgrSession::run(std::string_view text) {
    const auto directive = parse_directive(text, is_attribute);
    if (options_.send_ahead && directive && !options_.no_execution && QmgrPipeline::takes(*directive)) {
        send_ahead(text, *directive);
        return;
    }
    take_answers();
    if (finished_) return;
    begin(text);
    if (!directive) {
        syntax_error(text, directive.error());
        return;
    }
    switch (directive->command) {
        case Command::help:
            fmt::print("{}\n", help_text(directive->topic));
            return;
        case Command::quit:
            finished_ = true;
            return;
        case Command::history:
            history_request_ = directive->topic.empty() ? "all" : directive->topic;
            return;
        default:
            if (!options_.no_execution) execute(*directive);
    }
}

std::vector<QmgrSession::Target> QmgrSession::targets(const Directive& directive) {
    std::vector<Target> found;
    const ObjectType type = directive.type;
    if (!directive.names.empty()) {
        for (const ObjectName& name : directive.names) {
            if (type == ObjectType::server) {
                // the name of the object is the server to ask
                const std::string where = name.server ? *name.server : name.name;
                found.push_back({where == "default" ? "" : where, ""});
            } else if (name.server) {
                found.push_back({*name.server, name.name});
            } else {
                for (const std::string& active : active_servers_) found.push_back({active, name.name});
            }
        }
        return found;
    }
    if (const auto active = active_.find(type); active != active_.end()) return active->second;
    const bool read = directive.command == Command::list || directive.command == Command::print;
    const bool whole_server =
        type == ObjectType::server || type == ObjectType::sched || type == ObjectType::resource;
    if (!whole_server && !(values::is_own_type(type) && read)) {
        write_error(
            fmt::format("No Active {}, nothing done.\n", values::title(values::find_type(type)->plural)));
        return found;
    }
    for (const std::string& active : active_servers_) found.push_back({active, ""});
    return found;
}

void QmgrSession::execute(const Directive& directive) {
    if (directive.command == Command::active) {
        activate(directive);
        return;
    }
    for (const Target& target : targets(directive)) {
        for (const Target& one : each_meant(target, directive)) {
            execute_at(one, directive);
            if (finished_) return;
        }
    }
}

// Returns the objects to change. For a change of all policies at a server, `set policy @default ...`, these
// are its policies, one by one; the same holds for the other types of this project.
std::vector<QmgrSession::Target> QmgrSession::each_meant(const Target& target, const Directive& directive) {
    const bool reads = directive.command == Command::list || directive.command == Command::print;
    if (reads || !target.object.empty() || !values::is_own_type(directive.type)) return {target};
    Connection* connection = server(target.server);
    if (connection == nullptr) {
        failed(kNoConnection, 2);
        return {};
    }
    pbs_errno = PBSE_NONE;
    const StatusList list = stat(*connection, directive.type, "", nullptr);
    if (const int code = pbs_errno; list == nullptr && code != PBSE_NONE)
        report(*connection, target, code, exit_status(code));
    std::vector<Target> all;
    for (const batch_status* object = list.get(); object != nullptr; object = object->next)
        all.push_back({target.server, std::string(view(object->name))});
    return all;
}

void QmgrSession::execute_at(const Target& target, const Directive& directive) {
    Connection* connection = server(target.server);
    if (connection == nullptr) {
        failed(kNoConnection, 2);
        return;
    }
    if (directive.command == Command::list || directive.command == Command::print)
        show(*connection, target, directive);
    else
        change(*connection, target, directive);
}

void QmgrSession::change(Connection& connection, const Target& target, const Directive& directive) {
    AttrList attributes = attribute_list(directive);
    std::string object = target.object;
    if (directive.type == ObjectType::sched && object.empty()) object = kDefaultSched;
    const auto ask = [&] {
        return pbs_manager(connection.handle(), manager_command(directive.command),
                           static_cast<int>(directive.type), object.c_str(), attributes.operations(),
                           nullptr);
    };
    const std::string formula = sort_formula_of(directive);
    if (!formula.empty()) remove_sort_formula_file();
    int code = ask();
    if (code == PBSE_PERM && !formula.empty()) {
        const SortFormulaFile file(formula);
        if (file.written()) code = ask();
    }
    answered(connection, target, code);
    if (code == PBSE_NOATTR && !values::is_own_type(directive.type)) suggest(directive);
}

void QmgrSession::suggest(const Directive& directive) const {
    const std::vector<std::string> names = attribute_names(directive.type);
    const std::vector<std::string_view> known(names.begin(), names.end());
    for (const Assignment& change : directive.attributes) {
        if (is_attribute(directive.type, change.name)) continue;
        if (const auto meant = objects::nearest(change.name, known); !meant.empty())
            write_error(fmt::format("qmgr: unknown attribute '{}'; did you mean {}?\n", change.name, meant));
    }
}

void QmgrSession::send_ahead(std::string_view text, const Directive& directive) {
    AttrList attributes = attribute_list(directive);
    bool first = true;
    for (const Target& target : targets(directive)) {
        if (!connections_.contains(target.server)) {
            // print the results of earlier directives first, so that a failure to connect is printed in its
            // place
            take_answers();
            if (finished_) return;
            if (std::exchange(first, false)) begin(text);
        }
        Connection* connection = server(target.server);
        if (connection == nullptr) {
            failed(kNoConnection, 2);
            continue;
        }
        if (pipeline_.full()) take_answer();
        if (finished_) return;
        const int code =
            pipeline_.send({connection, target.server, target.object, std::string(text), first},
                           manager_command(directive.command), static_cast<int>(directive.type), attributes);
        if (code != 0) {
            take_answers();
            if (finished_) return;
            if (first) begin(text);
            answered(*connection, target, code);
        }
        first = false;
    }
}

void QmgrSession::take_answer() {
    const QmgrPipeline::Answer answer = pipeline_.take();
    const QmgrPipeline::Request& request = answer.request;
    if (request.first) begin(request.directive);
    answered(*request.connection, {request.server, request.object}, answer.code);
    if (!finished_) return;
    // the connection is broken: it isn't known whether the server has carried out the directives
    write_error(fmt::format("qmgr: not answered: {}\n", request.directive));
    for (const std::string& directive : pipeline_.take_directives())
        write_error(fmt::format("qmgr: not answered: {}\n", directive));
}

void QmgrSession::take_answers() {
    while (!pipeline_.empty()) take_answer();
}

void QmgrSession::answered(Connection& connection, const Target& target, int code) {
    if (code != 0)
        report(connection, target, code, exit_status(code));
    else if (const std::string_view text = view(pbs_geterrmsg(connection.handle())); !text.empty())
        warn(text);
}

void QmgrSession::show(Connection& connection, const Target& target, const Directive& directive) {
    AttrList wanted;
    for (const Assignment& attribute : directive.attributes)
        wanted.add(attribute.name, attribute.resource, "");
    const bool print = directive.command == Command::print;
    if (print && directive.type == ObjectType::server && wanted.empty()) {
        print_server(connection, target);
        return;
    }
    if (!print && values::is_own_type(directive.type)) {
        list_as_it_comes(connection, target, directive.type, wanted.attributes());
        return;
    }
    pbs_errno = PBSE_NONE;
    const StatusList list = stat(connection, directive.type, target.object, wanted.attributes());
    if (list == nullptr) {
        if (const int code = pbs_errno; code != PBSE_NONE) report(connection, target, code, kCannotShow);
        return;
    }
    const PrintScope scope = wanted.empty() ? PrintScope::whole : PrintScope::some;
    const auto show_all = [&](const batch_status* objects) {
        if (print)
            write(print_text(directive.type, objects, scope));
        else
            write_list(directive.type, objects);
    };
    if (directive.type == ObjectType::sched && !target.object.empty()) {
        const batch_status* named = find_named(list.get(), target.object);
        if (named == nullptr) {
            write_error(
                fmt::format("qmgr obj={} svr={}: Unknown scheduler\n", target.object, shown(target.server)));
            failed(kCannotShow, 2);
            return;
        }
        batch_status alone = *named;
        alone.next = nullptr;
        show_all(&alone);
        return;
    }
    const bool site_resources = directive.type == ObjectType::resource && target.object.empty();
    show_all(site_resources ? custom_resources(list.get()) : list.get());
}

void QmgrSession::list_as_it_comes(Connection& connection, const Target& target, ObjectType type,
                                   attrl* wanted) {
    ListWriter writer(type);
    const int code = pbs_stateach(
        connection.handle(), static_cast<int>(type), target.object.c_str(), wanted, nullptr,
        [](batch_status* object, void* list) { static_cast<ListWriter*>(list)->add(*object); }, &writer);
    writer.finish();
    if (code != PBSE_NONE) report(connection, target, code, kCannotShow);
}

// Prints everything on a server except its nodes, as OpenPBS does, in an order in which it can be made again.
void QmgrSession::print_server(Connection& connection, const Target& target) {
    for (const ObjectType type : values::kMakingOrder) {
        if (type == ObjectType::node) continue;
        pbs_errno = PBSE_NONE;
        const StatusList list = stat(connection, type, "", nullptr);
        const int code = pbs_errno;
        if (list == nullptr && code != PBSE_NONE) {
            if (values::is_own_type(type) && code != PBSE_PROTOCOL)
                continue;  // a server without the policy plugin
            report(connection, target, code, kCannotShow);
            return;
        }
        const bool resources = type == ObjectType::resource;
        write(print_text(type, resources ? custom_resources(list.get()) : list.get()));
    }
}

void QmgrSession::report(Connection& connection, const Target& target, int code, int status) {
    const std::string_view text = view(pbs_geterrmsg(connection.handle()));
    if (!text.empty())
        write_error(fmt::format("qmgr obj={} svr={}: {}\n", target.object, shown(target.server), text));
    if (code == PBSE_PROTOCOL) {
        write_error("qmgr: Protocol error, server disconnected\n");
        status_ = 1;
        finished_ = true;
        return;
    }
    write_error(fmt::format("qmgr: Error ({}) returned from server\n", code));
    failed(status, 2);
}

bool QmgrSession::exists(const Directive& directive, const Target& target) {
    Connection* connection = server(target.server);
    if (connection == nullptr) return false;
    if (target.object.empty()) return true;
    const StatusList list = stat(*connection, directive.type, target.object, nullptr);
    const bool found = directive.type == ObjectType::sched ? find_named(list.get(), target.object) != nullptr
                                                           : list != nullptr;
    if (!found) {
        write_error(fmt::format("{} does not exist: {}.\n", values::title(values::type_name(directive.type)),
                                target.object));
    }
    return found;
}

void QmgrSession::activate(const Directive& directive) {
    if (directive.type == ObjectType::resource) {
        write_error("qmgr: resources can't be made active\n");
        failed(1, 2);
        return;
    }
    if (directive.names.empty()) {
        fmt::print("Active {}:\n", values::find_type(directive.type)->plural);
        if (directive.type == ObjectType::server) {
            for (const std::string& name : active_servers_) fmt::print("{}\n", shown(name));
        } else if (const auto active = active_.find(directive.type); active != active_.end()) {
            for (const Target& target : active->second)
                fmt::print("{}@{}\n", target.object, shown(target.server));
        }
        return;
    }
    const std::vector<Target> named = targets(directive);
    for (const Target& target : named) {
        if (!exists(directive, target)) {
            failed(1, 2);
            return;
        }
    }
    if (directive.type != ObjectType::server) {
        active_[directive.type] = named;
        return;
    }
    active_servers_.clear();
    for (const Target& target : named) active_servers_.push_back(target.server);
}

std::vector<std::string> QmgrSession::object_names(ObjectType type) {
    std::vector<std::string> names;
    for (const std::string& name : active_servers_) {
        const auto connection = connections_.find(name);
        if (connection == connections_.end()) continue;
        const StatusList list = stat(connection->second, type, "", nullptr);
        for (const batch_status* object = list.get(); object != nullptr; object = object->next)
            if (view(object->name).find('|') == std::string_view::npos)
                names.emplace_back(view(object->name));
    }
    return names;
}

std::vector<std::string> QmgrSession::numeric_resources() {
    std::vector<std::string> names;
    for (const std::string& name : active_servers_) {
        const auto connection = connections_.find(name);
        if (connection == connections_.end()) continue;
        const StatusList list(pbs_statrsc(connection->second.handle(), nullptr, nullptr, nullptr));
        for (const batch_status* object = list.get(); object != nullptr; object = object->next) {
            const std::string_view type = text_of(*object, "type");
            if (type == "long" || type == "float" || type == "size") names.emplace_back(view(object->name));
        }
    }
    return names;
}

std::vector<std::string> QmgrSession::element_names(ObjectType type, const std::string& object,
                                                    const std::string& attribute) {
    std::vector<std::string> names;
    for (const std::string& name : active_servers_) {
        const auto connection = connections_.find(name);
        if (connection == connections_.end()) continue;
        const StatusList list = stat(connection->second, type, object, nullptr);
        const attrl* const first = list.get() == nullptr ? nullptr : list.get()->attribs;
        for (const attrl* a = first; a != nullptr; a = a->next)
            if (view(a->name) == attribute && !view(a->resource).empty())
                names.emplace_back(view(a->resource));
    }
    return names;
}

}  // namespace pbs::cmds
