// Manager requests about schedulers: `default`, which always exists, and others, each for a partition.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/change/batch.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr size_t kLongestSchedName = 15;
constexpr std::string_view kDefaultName = "default";

std::string default_folder(const Server& server, const Sched& sched, std::string_view attribute) {
    return default_sched_folder(server.options.home, sched.name, attribute);
}

// Sets defaults for unset attributes. By default `scheduling` is off. Only the `default` scheduler is made
// with scheduling on.
void set_defaults(const Server& server, Sched& sched) {
    const auto set = [&](std::string_view attribute, std::string value) {
        if (!sched.attributes.has(attribute)) sched.attributes.set(*sched_table().find(attribute), {}, value);
    };
    set("sched_priv", default_folder(server, sched, "sched_priv"));
    set("sched_log", default_folder(server, sched, "sched_log"));
    set("scheduling", "False");
    set("scheduler_iteration", "600");
}

// Makes the default sched_priv folder of a new scheduler, which may hold its sched_config. If an earlier
// scheduler of that name has left the folder, uses that.
Result<void> make_sched_priv(const Server& server, const Sched& sched) {
    const std::string path = default_folder(server, sched, "sched_priv");
    if (sched.attributes.text("sched_priv") != path) return {};
    if (!make_directory(path, 0750)) {
        struct stat status {};
        if (errno == EEXIST && ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
        return fail(PBSE_SYSTEM, fmt::format("Cannot create folder {}: {}", path, system_text(errno)));
    }
    if (server.batch != nullptr) server.batch->on_undo([path] { (void)::rmdir(path.c_str()); });
    return {};
}

// Returns the text with which the names of schedulers' folders in the server's home begin.
std::string_view first_of_folders(std::string_view attribute) {
    return attribute == "sched_priv" ? "sched_priv" : "sched_logs";
}

// Checks a folder that a manager sets. The server, which may run as root, reads and writes in it. So a
// manager who isn't root may choose only folders in the server's home.
Result<void> check_folder(const Management& request, const std::string& home, std::string_view name,
                          std::string_view path) {
    if (!path.starts_with('/'))
        return fail(PBSE_BADATVAL, fmt::format("Illegal {} \"{}\": expected an absolute path", name, path));
    const std::string_view first = first_of_folders(name);
    std::string_view folder = path;
    const bool own = folder.starts_with(home) && (folder.remove_prefix(home.size()), true) &&
                     folder.starts_with('/') && (folder.remove_prefix(1), true) &&
                     folder.starts_with(first) && folder.find('/') == std::string_view::npos;
    if (own || is_administrator(request.context)) return {};
    return fail(PBSE_PERM,
                fmt::format("Illegal {} \"{}\": expected a folder {}/{}*; others can only be set by "
                            "root and by the user who runs the server, at its host",
                            name, path, home, first));
}

// Checks that no other scheduler has the same partition or folders.
Result<void> check_unshared(const Sched& sched, const State& state, std::string_view name, int code) {
    const std::string_view value = sched.attributes.text(name);
    if (value.empty()) return {};
    for (const auto& [other, there] : state.scheds())
        if (other != sched.name && there.attributes.text(name) == value)
            return fail(code, fmt::format("{} {} is that of scheduler {}", name, value, other));
    return {};
}

// Sets the server's `scheduling` or `scheduler_iteration` to that of the default scheduler.
void share_with_server(Change& change, const Sched& sched, std::string_view name) {
    const AttributeDef& def = *server_table().find(name);
    if (sched.attributes.has(name)) {
        change.server_attributes().set(def, {}, sched.attributes.text(name));
    } else {
        change.server_attributes().unset(def, {});
    }
}

Result<void> check(Management& request, Change& change, Sched& sched, const AttributeDef& def) {
    const State& state = change.server().state;
    if (def.name == "partition") {
        if (sched.name == kDefaultName) return fail(PBSE_SCHED_OP_NOT_PERMITTED);
        if (auto ok = check_partition_name(sched.attributes.text(def.name)); !ok) return ok;
        return check_unshared(sched, state, def.name, PBSE_SCHED_PARTITION_ALREADY_EXISTS);
    }
    if (def.name == "sched_priv" || def.name == "sched_log") {
        if (!sched.attributes.has(def.name)) set_defaults(change.server(), sched);
        // A folder in the server's home may be given by its name alone, as in qmgr's print.
        if (const std::string name(sched.attributes.text(def.name));
            name.starts_with(first_of_folders(def.name)) && name.find('/') == std::string::npos)
            sched.attributes.set(def, {}, change.server().options.home + "/" + name);
        const std::string_view path = sched.attributes.text(def.name);
        if (auto ok = check_folder(request, change.server().options.home, def.name, path); !ok) return ok;
        return check_unshared(sched, state, def.name,
                              def.name == "sched_priv" ? PBSE_SCHED_PRIV_EXIST : PBSE_SCHED_LOG_EXIST);
    }
    if (def.name == "scheduler_iteration" && sched.attributes.integer(def.name, 600) < 1)
        return fail(PBSE_BADATVAL, "Illegal scheduler_iteration: expected 1 or more seconds");
    set_defaults(change.server(), sched);
    if (sched.name == kDefaultName && (def.name == "scheduling" || def.name == "scheduler_iteration"))
        share_with_server(change, sched, def.name);
    return {};
}

Managed<> apply(Management& request, Change& change, Sched& sched) {
    return apply_own(
        request, sched_table(), sched.attributes,
        [&](const AttributeDef& def, const ifl::Attribute&) { return check(request, change, sched, def); });
}

ifl::Reply create_sched(Management& request) {
    Server& server = request.context.server;
    const std::string& name = request.body.object;
    if (name.size() > kLongestSchedName)
        return ifl::Reply::error(
            PBSE_SCHED_NAME_BIG,
            fmt::format("Scheduler name is too long: {} characters, at most {} are allowed", name.size(),
                        kLongestSchedName));
    if (!legal_object_name(name, kLongestSchedName)) return ifl::Reply::error(PBSE_IVAL_OBJ_NAME);
    if (server.state.sched(name) != nullptr) return ifl::Reply::error(PBSE_SCHEDEXIST);
    Sched sched;
    sched.handle = server.state.new_handle();
    sched.name = name;
    set_defaults(server, sched);
    Change change(server, request.context.now);
    if (auto done = apply(request, change, sched); !done) return refuse(request, done.error());
    if (auto made = make_sched_priv(server, sched); !made) return refuse(made.error());
    change.add(std::move(sched));
    return finish(request, change, name);
}

ifl::Reply remove_sched(Management& request) {
    Server& server = request.context.server;
    const Sched* sched = server.state.sched(request.body.object);
    if (sched == nullptr) return ifl::Reply::error(PBSE_UNKSCHED);
    if (sched->name == kDefaultName) return ifl::Reply::error(PBSE_SCHED_NO_DEL);
    Change change(server, request.context.now);
    change.remove(*sched);
    change.then([&server, name = std::string(sched->name)] { server.registrations.end(name); });
    return finish(request, change, std::string(sched->name));
}

}  // namespace

ifl::Reply manage_sched(Management& request) {
    if (request.command == PBS_CMD_CREATE) return create_sched(request);
    if (request.command == PBS_CMD_DELETE) return remove_sched(request);
    Server& server = request.context.server;
    const std::string_view name =
        request.body.object.empty() ? kDefaultName : std::string_view(request.body.object);
    const Sched* sched = server.state.sched(name);
    if (sched == nullptr) return ifl::Reply::error(PBSE_UNKSCHED);
    Change change(server, request.context.now);
    if (!request.own.empty())
        if (auto done = apply(request, change, change.sched(*sched)); !done)
            return refuse(request, done.error());
    return finish(request, change, name);
}

}  // namespace pbs::host
