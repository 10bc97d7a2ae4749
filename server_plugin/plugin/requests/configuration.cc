#include "server_plugin/plugin/requests/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "ifl/pbs_error.h"
#include "migrate/migrate.h"
#include "migrate/show.h"
#include "objects/names_in_use.h"
#include "objects/restore.h"
#include "server_plugin/plugin/configuration.h"
#include "server_plugin/plugin/first_start.h"
#include "server_plugin/plugin/guard.h"
#include "server_plugin/plugin/queue_types.h"
#include "server_plugin/plugin/requests/extend.h"
#include "server_plugin/plugin/requests/manager.h"
#include "server_plugin/plugin/text.h"
#include "text/hex.h"

namespace pbs::plugin {
namespace {

// The most lines in a reply. Further lines are only counted.
constexpr std::size_t kMostLines = 1000;
// The user name of the host's own requests.
constexpr std::string_view kServer = "pbs_server";

// A parsed request. It has exactly one of restoration, import, migration, queue_type_done and outcomes,
// except that outcomes may come with a migration.
struct ConfigurationRequest {
    std::optional<objects::Restoration> restoration;
    std::optional<objects::Import> import;
    std::optional<migrate::LegacyTexts> migration;
    std::optional<std::string> queue_type_done;
    // The outcomes of the server's part of a migration.
    std::optional<std::vector<migrate::HostOutcome>> outcomes;
    bool dry_run = false;
    bool infer = false;
    bool strict = false;
    std::optional<migrate::Format> format;

    int things() const {
        return (restoration ? 1 : 0) + (import ? 1 : 0) + (migration ? 1 : 0) + (queue_type_done ? 1 : 0) +
               (outcomes && !migration ? 1 : 0);
    }
};

// Reads a legacy file of a migration. An attribute "migrate.sched_config" has the file's name, a newline, and
// its text as value; "migrate_hex.usage" has the text's bytes in hexadecimal digits.
objects::Result<void> read_migration(std::string_view name, std::string_view kind, std::string_view value,
                                     ConfigurationRequest& asked) {
    const auto kinds = migrate::legacy_kinds();
    const auto found = std::ranges::find(kinds, kind, &migrate::LegacyKind::name);
    const std::size_t end = value.find('\n');
    if (found == kinds.end() || end == std::string_view::npos) {
        return objects::fail(
            objects::Code::bad_value,
            fmt::format("{}.{}: expected a legacy file, such as migrate.sched_config, and its name, a "
                        "newline and its text as the value",
                        name, kind));
    }
    const std::string_view text = value.substr(end + 1);
    std::optional<std::string> bytes = name == "migrate" ? std::string(text) : text::from_hex(text);
    if (!bytes)
        return objects::fail(objects::Code::bad_value,
                             fmt::format("{}.{}: expected two hexadecimal digits for each byte after the "
                                         "newline",
                                         name, kind));
    if (!asked.migration) asked.migration.emplace();
    (*asked.migration).*(found->text) =
        migrate::LegacyText{std::string(value.substr(0, end)), std::move(*bytes)};
    return {};
}

objects::Result<void> read_flag(std::string_view name, std::string_view value, bool& flag) {
    const auto read = objects::parse_boolean(name, value);
    if (!read) return tl::unexpected(read.error());
    flag = *read;
    return {};
}

objects::Result<void> read_format(std::string_view value, ConfigurationRequest& asked) {
    const auto format = migrate::format_from_word(value);
    if (!format)
        return objects::fail(objects::Code::bad_value,
                             "format: expected text, json, commands, diff or notes");
    asked.format = *format;
    return {};
}

objects::Result<objects::Restoration> read_restoration(std::string_view object, std::string_view revision) {
    objects::Restoration out;
    const auto number = extend_number("revision", revision);
    if (!number) return tl::unexpected(number.error());
    out.revision = static_cast<std::uint64_t>(*number);
    if (object.empty()) return out;
    auto name = objects::parse_object_name(object);
    if (!name) return tl::unexpected(name.error());
    out.object = std::move(*name);
    return out;
}

objects::Result<void> read_attribute(const pbs_attr& attr, std::string_view object,
                                     ConfigurationRequest& asked) {
    const std::string_view name = view(attr.name);
    const std::string_view value = view(attr.value);
    if ((name == "migrate" || name == "migrate_hex") && attr.op == PBS_OP_SET && object.empty())
        return read_migration(name, view(attr.resource), value, asked);
    if (attr.resource.len != 0 || attr.op != PBS_OP_SET)
        return objects::fail(objects::Code::invalid_request,
                             fmt::format("{}: expected {} = value", name, name));
    if (name == "dry_run") return read_flag(name, value, asked.dry_run);
    if (name == "infer") return read_flag(name, value, asked.infer);
    if (name == "strict") return read_flag(name, value, asked.strict);
    if (name == "format") return read_format(value, asked);
    if (name == "host_outcome") {
        asked.outcomes = migrate::outcomes_from_json(value);
        if (asked.outcomes) return {};
        return objects::fail(objects::Code::bad_value, "host_outcome: expected a list of outcomes as JSON");
    }
    if (name == "queue_type_done") {
        asked.queue_type_done = value;
        return {};
    }
    const bool imports = name == "import" || name == "replace";
    if (!imports && name != "revision") {
        return objects::fail(objects::Code::unknown_attribute,
                             fmt::format("unknown attribute '{}': expected revision, import, replace or "
                                         "migrate, and dry_run",
                                         name));
    }
    if (asked.restoration || asked.import)
        return objects::fail(objects::Code::invalid_request, "expected one of revision, import and replace");
    if (imports) {
        if (!object.empty())
            return objects::fail(objects::Code::invalid_request,
                                 fmt::format("{} is of the whole configuration: no object expected", name));
        asked.import = {std::string(value), name == "replace"};
        return {};
    }
    auto restoration = read_restoration(object, value);
    if (!restoration) return tl::unexpected(restoration.error());
    asked.restoration = std::move(*restoration);
    return {};
}

objects::Result<ConfigurationRequest> read_request(const pbs_manager_request& request) {
    if (request.command != PBS_CMD_SET || (request.attr_count != 0 && !request.attrs))
        return objects::fail(objects::Code::invalid_request, "the configuration can be set, nothing else");
    ConfigurationRequest asked;
    for (const pbs_attr& attr : std::span(request.attrs, request.attr_count)) {
        if (auto read = read_attribute(attr, view(request.object_name), asked); !read)
            return tl::unexpected(read.error());
    }
    if (asked.things() != 1)
        return objects::fail(objects::Code::invalid_request,
                             "expected one of revision, import, replace and migrate");
    if (!asked.migration && (asked.infer || asked.strict || asked.format))
        return objects::fail(objects::Code::invalid_request, "infer, strict and format are of migrate");
    return asked;
}

// Returns a function that knows the queues and schedulers of the host after its changes, which the host may
// not have reported by events yet.
objects::HostHas host_has(const State& state, const std::vector<objects::HostChange>& changes) {
    std::set<std::pair<objects::ObjectType, std::string>> all;
    for (const auto& [name, folder] : state.sched_priv) all.emplace(objects::ObjectType::sched, name);
    for (const auto& [handle, name] : state.sched_configs.queues)
        all.emplace(objects::ObjectType::queue, name);
    for (const objects::HostChange& change : changes) {
        if (change.removes()) {
            all.erase({change.type, change.name});
        } else {
            all.emplace(change.type, change.name);
        }
    }
    return [all = std::move(all)](objects::ObjectType type, std::string_view name) {
        return all.contains({type, std::string(name)});
    };
}

// Stores which queues and resources exist after the host's changes.
void note_names(objects::Store& store, const std::vector<objects::HostChange>& changes) {
    for (const objects::HostChange& change : changes) {
        if (change.type == objects::ObjectType::queue)
            change.removes() ? store.forget_queue(change.name) : store.define_queue(change.name);
        if (change.type == objects::ObjectType::resource)
            change.removes() ? store.forget_resource(change.name)
                             : store.define_resource(change.name, objects::kind_after(change));
    }
}

void tell(std::span<const std::string> lines, std::string_view before, Reply& reply) {
    const std::size_t shown = std::min(lines.size(), kMostLines);
    for (const std::string& line : lines.first(shown)) reply.warning(fmt::format("{}{}", before, line));
    if (shown < lines.size()) reply.warning(fmt::format("{}and {} more", before, lines.size() - shown));
}

void tell(const objects::Rewritten& done, Reply& reply) {
    tell(done.reply.warnings, "Warning: ", reply);
    tell(done.lines, {}, reply);
}

// Puts a change of the configuration into effect.
void take_effect(State& state, sched::Instant now, Reply& reply) {
    set_queue_types(state, now);
    if (const auto kept = forget_corrected_mistake(state); !kept)
        state.host.log(PBS_LOG_ERROR, "migration", kept.error().message);
    if (const std::string why = adopt_configuration(state); !why.empty()) {
        reply.warning(
            fmt::format("Warning: saved, but the scheduler can't use it and goes on as before: {}", why));
    }
}

// Notes that the host has done its part of a migration.
int32_t finish_host_work(State& state, const ConfigurationRequest& asked, Reply reply) {
    const auto done = migrate::finish_host_work(*state.store, *asked.outcomes, migration_report(state),
                                                with_report({}).report_fact);
    if (!done) return reply.error(PBSE_SYSTEM, migrate::to_text(done.error().front()));
    for (const std::string& note : done->notes) state.host.log(PBS_LOG_WARNING, "migration", note);
    write_migration_report(state);
    return PBSE_NONE;
}

// Migrates the files that a request contains, as the first start migrates the files in the home.
LongChange::Done migrate_files(objects::Store& store, const ConfigurationRequest& asked,
                               const objects::Identity& who, const migrate::Surroundings& known,
                               std::vector<objects::HostChange> changes) {
    migrate::MigrateOptions options =
        with_report({.convert = {asked.infer, asked.strict}, .dry_run = asked.dry_run});
    options.outcomes = asked.outcomes;
    options.host_changes = std::move(changes);
    const auto done = migrate::migrate(*asked.migration, store, who, *known.now, known, options);
    if (!done) {
        std::string text;
        for (const migrate::Problem& problem : done.error())
            text += (text.empty() ? "" : "\n") + migrate::to_text(problem);
        return objects::fail(
            migrate::has_system_problem(done.error()) ? objects::Code::system : objects::Code::bad_value,
            std::move(text));
    }
    objects::Rewritten out;
    out.reply.changed = !asked.dry_run;
    out.lines.push_back(migrate::show(*done, asked.format.value_or(migrate::Format::text)));
    out.usage = !asked.dry_run && done->usage.contains(std::string(UsageSaver::kScope));
    out.share_usage = !asked.dry_run && done->usage.size() > (out.usage ? 1U : 0U);
    return out;
}

}  // namespace

bool needs_scheduler(const pbs_manager_request& request) {
    return std::ranges::any_of(std::span(request.attrs, request.attr_count), [](const pbs_attr& attr) {
        return view(attr.name).starts_with("migrate") && view(attr.resource) == "decay_usage";
    });
}

int32_t finish_configuration(State& state, const objects::Result<objects::Rewritten>& done,
                             sched::Instant now, Reply reply) {
    if (!done) return reply.error(static_cast<int32_t>(done.error().code), done.error().message);
    if (!done->reply.changed && !done->usage && !done->share_usage) {
        tell(*done, reply);
        return PBSE_NONE;
    }
    // The change is made, so nothing that fails from here on may refuse it, such as for lack of memory.
    guarded(&state, "configuration", [&](State&) {
        if (done->reply.changed) {
            write_migration_report(state);
            take_effect(state, now, reply);
        }
        if (done->usage) {
            if (const auto loaded = state.usage.add_stored(*state.store, state.scheduler, state.host, now);
                !loaded)
                reply.warning("Warning: the usage counts from the next start on: " + loaded.error().message);
        }
        tell(*done, reply);
    });
    state.shares_came = state.shares_came || done->share_usage;
    return PBSE_NONE;
}

int32_t manage_configuration(State& state, const pbs_manager_request& request, std::uint64_t ticket,
                             Reply reply) {
    const auto refuse = [&](const objects::Error& error) {
        return reply.error(static_cast<int32_t>(error.code), error.message);
    };
    const objects::Identity who = identity(request.who);
    if ((who.privilege & (objects::manager_privilege | objects::root_privilege)) == 0)
        return reply.error(PBSE_PERM, {});
    objects::Result<ConfigurationRequest> asked = read_request(request);
    if (!asked) return refuse(asked.error());
    auto host = host_changes(request);
    if (!host) return reply.error(PBSE_IVALREQ, {});
    if (asked->outcomes && !asked->migration) return finish_host_work(state, *asked, reply);
    if (asked->queue_type_done) {
        queue_type_done(state, *asked->queue_type_done);
        return PBSE_NONE;
    }
    objects::RewriteOptions options{host_has(state, *host), asked->dry_run, *host};
    const sched::Instant now = instant(request.now);
    migrate::Surroundings known;
    if (asked->migration) {
        known = state.sched_configs.surroundings();
        known.now = now;
        known.home = state.host.home();
        known.same_scheduler = state.has_pbs_sched_alone();
        known.carries_out = !state.host.has_pbs_sched();
        known.root_programs = state.dynamic_resources.root_programs().listed(state.host);
        if (needs_scheduler(request)) {
            if (!state.queries.has_turn(state, ticket)) return reply.error(PBSE_TRYAGAIN, {});
            state.usage.save(*state.store, state.scheduler, state.host, now);
        }
    }
    // After a crash the server goes back to the revision of its own database. If that undoes a migration,
    // forget the migration.
    if (asked->restoration && who.user == kServer)
        if (const auto forgotten = forget_migration(state, asked->restoration->revision); !forgotten)
            return refuse(forgotten.error());
    const auto work = [asked = std::move(*asked), options = std::move(options), known = std::move(known), who,
                       now](objects::Store& store) -> LongChange::Done {
        if (asked.migration) return migrate_files(store, asked, who, known, options.host);
        if (asked.restoration) return objects::restore(store, *asked.restoration, options, who, now);
        return objects::import(store, *asked.import, options, who, now);
    };
    if (ticket == 0) return finish_configuration(state, work(*state.store), now, reply);
    return try_again(
        state, ticket,
        [work, changes = std::move(*host)](objects::Store& store) {
            note_names(store, changes);
            return work(store);
        },
        reply);
}

namespace {

// The objects that a status request for the configuration asks for.
struct ShownObjects {
    std::optional<std::uint64_t> revision{};
    std::optional<std::uint64_t> after{};  // for the host's objects: the page that follows this row
    std::string_view part{};               // one of kParts; empty: all objects of the plugin, as a document
};

constexpr std::string_view kParts[] = {"policies", "host", "recorded", "queue_types", "host_work", "checked"};

objects::Result<ShownObjects> read_shown(std::string_view extend) {
    constexpr std::string_view kKeys = "revision, part or after";
    ShownObjects out;
    const auto read = read_extend(
        extend, [&](std::string_view key, std::string_view value) -> objects::Result<std::int64_t> {
            if (key == "part" && std::ranges::find(kParts, value) != std::end(kParts)) {
                out.part = value;
                return 0;
            }
            if (key == "part")
                return objects::fail(
                    objects::Code::bad_value,
                    fmt::format("part: bad value '{}': expected one of {}", value, fmt::join(kParts, ", ")));
            if (key == "after" && value.empty()) {
                out.after = 0;
                return 0;
            }
            if (key != "revision" && key != "after") return unknown_key(key, kKeys);
            auto number = extend_number(key, value);
            if (number) (key == "after" ? out.after : out.revision) = static_cast<std::uint64_t>(*number);
            return number;
        });
    if (!read) return tl::unexpected(read.error());
    return out;
}

// Adds an object to the reply for each of the host's objects that has changed since the revision, with its
// attributes at that time.
int32_t status_host_objects(State& state, const ShownObjects& asked, std::string_view object, Reply reply) {
    const auto refuse = [&](const objects::Error& error) {
        return reply.error(static_cast<int32_t>(error.code), error.message);
    };
    objects::Restoration what;
    what.revision = asked.revision.value_or(state.store->snapshot()->revision());
    if (!object.empty()) {
        auto name = objects::parse_object_name(object);
        if (!name) return refuse(name.error());
        what.object = std::move(*name);
    }
    const auto past = objects::host_objects(*state.store, what, asked.after);
    if (!past) return refuse(past.error());
    for (const objects::HostObject& one : past->objects) {
        const ShownAttribute attributes{"attributes", one.attributes, {}};
        reply.object(static_cast<int32_t>(one.type), one.name, std::span(&attributes, 1));
    }
    if (past->next) {
        const std::string next = std::to_string(*past->next);
        reply.attribute({"after", next, {}});
    }
    return PBSE_NONE;
}

// Adds an object to the reply for each of the host's objects in the history, with its last change.
int32_t status_recorded(State& state, Reply reply) {
    const auto rows = objects::last_host_rows(*state.store);
    if (!rows) return reply.error(static_cast<int32_t>(rows.error().code), rows.error().message);
    for (const objects::HistoryEntry& row : *rows) {
        const std::string change = std::to_string(row.change);
        const std::array<ShownAttribute, 3> shown{
            {{"before", row.before, {}}, {"after", row.after, {}}, {"change", change, {}}}};
        reply.object(static_cast<int32_t>(row.type), row.object, shown);
    }
    return PBSE_NONE;
}

// Adds an object to the reply for each queue whose execution_type has still to be set for a migration.
int32_t status_queue_types(const State& state, Reply reply) {
    for (const migrate::QueueType& type : queue_types(state)) {
        const ShownAttribute attributes[] = {{"from", type.from, {}}, {"to", type.to, {}}};
        reply.object(PBS_OBJ_QUEUE, type.queue, attributes);
    }
    return PBSE_NONE;
}

// Adds the work that a migration has left to the server (migrate/host_work.h), if any, to the reply.
int32_t status_host_work(const State& state, Reply reply) {
    const auto kept = state.store->meta(migrate::kHostWorkKey);
    if (!kept) return reply.error(PBSE_SYSTEM, kept.error().message);
    const std::string work = kept->value_or("");
    if (work.empty()) return PBSE_NONE;
    const ShownAttribute json{"json", work, {}};
    reply.object(PBS_OBJ_CONFIGURATION, "host_work", std::span(&json, 1));
    return PBSE_NONE;
}

// Adds an object to the reply for each resource that a migrated sched_config names in its option `resources`.
int32_t status_checked(const State& state, Reply reply) {
    const auto kept = state.store->meta(migrate::kLedgerKey);
    if (!kept) return reply.error(PBSE_SYSTEM, kept.error().message);
    for (const std::string& name : migrate::checked_resources(migrate::ledger_from_text(kept->value_or(""))))
        reply.object(PBS_OBJ_RESOURCE, name, {});
    return PBSE_NONE;
}

}  // namespace

int32_t status_configuration(State& state, const pbs_status_request& request, Reply reply) {
    if ((request.who.privilege & (PBS_PRIV_OPERATOR | PBS_PRIV_MANAGER | PBS_PRIV_ROOT)) == 0)
        return reply.error(PBSE_PERM, {});
    const auto asked = read_shown(view(request.extend));
    if (!asked) return reply.error(static_cast<int32_t>(asked.error().code), asked.error().message);
    const std::optional<std::uint64_t> revision = asked->revision;
    if (asked->part == "recorded") return status_recorded(state, reply);
    if (asked->part == "queue_types") return status_queue_types(state, reply);
    if (asked->part == "host_work") return status_host_work(state, reply);
    if (asked->part == "checked") return status_checked(state, reply);
    if (asked->part == "host") return status_host_objects(state, *asked, view(request.object_name), reply);
    const auto document = objects::export_document(*state.store, revision);
    if (!document) return reply.error(static_cast<int32_t>(document.error().code), document.error().message);
    const std::uint64_t shown = revision.value_or(state.store->snapshot()->revision());
    const ShownAttribute json{"json", *document, {}};
    reply.object(PBS_OBJ_CONFIGURATION, std::to_string(shown), std::span(&json, 1));
    return PBSE_NONE;
}

}  // namespace pbs::plugin
