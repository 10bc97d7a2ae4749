#include "migrate/migrate.h"

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <utility>

#include "migrate/holidays_fact.h"
#include "migrate/other_scheds.h"
#include "objects/check.h"
#include "objects/database.h"
#include "objects/execute.h"
#include "objects/store.h"
#include "objects/usage_store.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

// Returns an error as a problem without a file: no line of a file is to blame.
tl::unexpected<Problems> fail(const objects::Error& error) {
    return tl::unexpected(Problems{{"", 0, 0, "", error.message, error.code == objects::Code::system}});
}

// Joins neighbouring commands on the same object into one, so that only their joint outcome is checked. If a
// window's new start_time were set alone, the window might overlap another one until its new end_time is set.
std::vector<objects::Command> grouped(const std::vector<objects::Command>& commands) {
    std::vector<objects::Command> out;
    for (const objects::Command& command : commands) {
        // Keep commands that add to a list single: they add one element each.
        const bool same = !out.empty() && command.kind == objects::CommandKind::set &&
                          out.back().kind == command.kind && out.back().type == command.type &&
                          out.back().object == command.object &&
                          command.changes.front().operation == objects::Operation::set;
        if (same) {
            out.back().changes.insert(out.back().changes.end(), command.changes.begin(),
                                      command.changes.end());
        } else {
            out.push_back(command);
        }
    }
    return out;
}

Result<std::string> kept_text(const objects::Store& store, std::string_view key) {
    auto kept = store.meta(key);
    if (!kept) return fail(kept.error());
    return std::move(*kept).value_or("");
}

// Drops usage from files for scopes that have usage in the store: the server has counted by itself since an
// earlier migration, so the files are older.
Result<void> leave_known_usage(Conversion& conversion, objects::Store& store) {
    auto& usage = conversion.usage;
    for (auto scope = usage.begin(); scope != usage.end();) {
        const auto empty = objects::usage_is_empty(store.database(), scope->first);
        if (!empty) return fail(empty.error());
        if (*empty && !scope->second.usage.empty()) {
            ++scope;
            continue;
        }
        for (Report::Line& line : conversion.report.lines)
            if (line.target == "usage of " + scope->first) line.changed = false;
        scope = usage.erase(scope);
    }
    return {};
}

// Returns the facts (Store::meta) that the migration changes.
Result<std::map<std::string, std::string>> new_facts(const Conversion& conversion,
                                                     const objects::Store& store, const Surroundings& server,
                                                     const MigrateOptions& options) {
    std::map<std::string, std::string> facts = options.facts;
    const auto pending = kept_text(store, kQueueTypesKey);
    if (!pending) return tl::unexpected(pending.error());
    const auto left = merged(queue_types_from_text(*pending), conversion.queue_types);
    facts[std::string(kLedgerKey)] = to_text(conversion.ledger);
    facts[std::string(kQueueTypesKey)] = to_text(left);
    if (!options.outcomes && server.carries_out && !conversion.host.commands.empty())
        facts[std::string(kHostWorkKey)] = to_json(conversion.host);
    for (auto fact = facts.begin(); fact != facts.end();) {
        const auto kept = kept_text(store, fact->first);
        if (!kept) return tl::unexpected(kept.error());
        fact = *kept == fact->second ? facts.erase(fact) : std::next(fact);
    }
    return facts;
}

objects::Result<void> write_facts(objects::Store& store, const std::map<std::string, std::string>& facts) {
    for (const auto& [key, value] : facts)
        if (auto done = store.set_meta(key, value); !done) return done;
    return {};
}

objects::Result<void> write_usage(objects::Store& store, const Conversion& conversion) {
    for (const auto& [scope, batch] : conversion.usage)
        if (auto done = objects::write_usage_within(store.database(), scope, batch); !done) return done;
    return {};
}

bool is_of_formula(std::string_view warning) {
    return warning.find("_formula: '") != std::string_view::npos &&
           warning.ends_with("' is not a resource of this server");
}

// Stores the facts with which a server can take the migration back after a crash.
objects::Result<void> remember_before(objects::Store& store) {
    const auto ledger = store.meta(kLedgerKey);
    if (!ledger) return tl::unexpected(ledger.error());
    return write_facts(store,
                       {{std::string(kLedgerBeforeKey), ledger->value_or("")},
                        {std::string(kBeforeMigrationKey), std::to_string(store.snapshot()->revision())}});
}

// Applies the commands, the facts (Store::meta) and the usage in one transaction.
Result<void> apply(Conversion& conversion, objects::Store& store, const objects::Identity& identity,
                   std::chrono::sys_seconds now, const Surroundings& server, const MigrateOptions& options) {
    const auto facts = new_facts(conversion, store, server, options);
    if (!facts) return tl::unexpected(facts.error());
    for (const objects::Command& command : conversion.changes.commands)
        if (const auto allowed = objects::authorize(command, identity); !allowed)
            return fail(allowed.error());
    objects::Rewrite all;
    all.command = "migrate legacy files";
    all.host = options.host_changes;
    all.work = [&](objects::Draft& draft, const objects::CheckContext& context,
                   std::vector<std::string>&) -> objects::Result<void> {
        // Accept unknown queues and resources, which may be created later: the report lists them.
        std::vector<std::string> warnings;
        objects::ResourceNames resources = context.resources;
        for (const PrintedCommand& printed : conversion.host.commands)
            if (printed.command.type == objects::ObjectType::resource &&
                printed.command.kind == objects::CommandKind::create)
                resources.add(printed.command.object);
        const objects::CheckContext lenient{context.zone,     resources,   context.now,
                                            context.queues,   &warnings,   context.windows,
                                            context.patience, context.end, context.provisions};
        for (const objects::Command& command : grouped(conversion.changes.commands))
            if (auto done = objects::execute_on(draft, command, lenient); !done) return done;
        // Skip warnings about formulas: the conversion has checked the names in them, and knows resources
        // that will be created.
        for (std::string& warning : warnings)
            if (!is_of_formula(warning)) conversion.report.notes.push_back(std::move(warning));
        return {};
    };
    // Write the report after the commands, which add notes to it.
    all.beside = [&]() -> objects::Result<void> {
        if (!options.host_changes.empty())
            if (auto done = remember_before(store); !done) return done;
        if (auto done = write_facts(store, *facts); !done) return done;
        if (!options.report_fact.empty())
            if (auto done = store.set_meta(options.report_fact, to_text(conversion.report)); !done)
                return done;
        return write_usage(store, conversion);
    };
    if (const auto reply = store.rewrite(all, identity, now); !reply) return fail(reply.error());
    return {};
}

// Adds notes on the directives that the server leaves to its administrator.
void tell_left_work(Conversion& conversion) {
    const HostWork& work = conversion.host;
    std::size_t printed = 0;
    for (const PrintedCommand& one : work.commands) {
        if (one.file.empty() || one.file == work.file) {
            ++printed;
        } else {
            conversion.report.notes.push_back(refusal_note(
                work, one,
                fmt::format("this server keeps its own objects as they are: expected the command in qmgr: {}",
                            objects::to_text(one.command))));
        }
    }
    if (printed != 0)
        conversion.report.notes.push_back(fmt::format(
            "{0}: {1} would change queues, vnodes or the server itself, which isn't done here; this does it: "
            "qmgr < {0} (qmgr refuses to create what there is already)",
            work.file, values::counted(printed, "directive")));
}

// Adds the directives for the server to the report: with their outcomes if the server has carried them out,
// else as work that is left to it or to the administrator.
Result<void> tell_host_work(Conversion& conversion, const Surroundings& server,
                            const MigrateOptions& options) {
    const HostWork& work = conversion.host;
    if (options.outcomes && options.outcomes->size() != work.commands.size())
        return tl::unexpected(
            Problems{{"", 0, 0, "", "the server carried out other directives than those of the file", true}});
    if (!server.carries_out) {
        tell_left_work(conversion);
    } else if (options.outcomes || options.dry_run) {
        add_lines(conversion.report, work, options.outcomes.value_or(std::vector<HostOutcome>{}));
    } else if (!work.commands.empty()) {
        conversion.report.notes.push_back(
            fmt::format("{}: {} of the server's own objects: the server carries them out at its next start "
                        "and reports the outcome of each in server_priv/migration_report",
                        work.file, values::counted(work.commands.size(), "directive")));
    }
    return {};
}

// Removes from the ledger the objects that the server had before the migration, since no migration made them.
void forget_others(Conversion& conversion, const MigrateOptions& options, const Surroundings& server,
                   const Ledger& before) {
    const auto& commands = conversion.host.commands;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        const objects::Command& command = commands[i].command;
        if (command.kind != objects::CommandKind::create || before.has(command.type, command.object, ""))
            continue;
        const bool made =
            server.carries_out &&
            (options.outcomes ? options.outcomes->at(i).changed && options.outcomes->at(i).refused.empty()
                              : server.has(command.type, command.object) != true);
        if (made) continue;
        std::erase_if(conversion.ledger.lines, [&](const LedgerLine& line) {
            return line.type == command.type && line.object == command.object && line.attribute.empty();
        });
    }
}

// Parses and converts the texts. `problems` are of files that couldn't be read; they are returned with the
// problems of the texts.
Result<Conversion> convert_texts(const LegacyTexts& texts, const objects::Snapshot* current,
                                 const Surroundings& server, const Ledger& before,
                                 const ConvertOptions& options, Problems problems) {
    const auto legacy = parse(texts, options.strict);
    if (!legacy) problems.insert(problems.end(), legacy.error().begin(), legacy.error().end());
    if (!problems.empty()) return tl::unexpected(std::move(problems));
    return convert(*legacy, server, current, before, options);
}

// Converts the files of schedulers other than `default`, and adds the results to the conversion.
Result<void> add_other_scheds(Conversion& conversion, const std::string& home, const Surroundings& server,
                              const MigrateOptions& options) {
    for (const auto& [name, folder] : options.other_scheds) {
        const LegacyFiles files = find_files_of_sched(folder);
        if (files.empty()) continue;
        Problems problems;
        LegacyTexts texts = read_files(files, problems, home);
        if (!options.server_print.empty()) texts.qmgr_print = LegacyText{"server", options.server_print};
        auto read = convert_texts(texts, nullptr, server, {}, options.convert, std::move(problems));
        if (!read) return tl::unexpected(std::move(read.error()));
        Conversion other = of_sched(std::move(*read), name);
        const auto append = [](auto& to, auto& from) {
            to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
        };
        append(conversion.changes.commands, other.changes.commands);
        append(conversion.report.lines, other.report.lines);
        append(conversion.report.notes, other.report.notes);
    }
    return {};
}

Result<Conversion> migrate_texts(const LegacyTexts& texts, objects::Store& store,
                                 const objects::Identity& identity, std::chrono::sys_seconds now,
                                 const Surroundings& server, const MigrateOptions& options, Problems problems,
                                 const std::string& home = {}) {
    const auto before = kept_text(store, kLedgerKey);
    if (!before) return tl::unexpected(before.error());
    const Ledger known = ledger_from_text(*before);
    auto conversion =
        convert_texts(texts, store.snapshot().get(), server, known, options.convert, std::move(problems));
    if (!conversion) return conversion;
    if (auto done = add_other_scheds(*conversion, home, server, options); !done)
        return tl::unexpected(std::move(done.error()));
    if (const auto done = leave_known_usage(*conversion, store); !done) return tl::unexpected(done.error());
    if (const auto told = tell_host_work(*conversion, server, options); !told)
        return tl::unexpected(told.error());
    if (options.dry_run) return conversion;
    forget_others(*conversion, options, server, known);
    MigrateOptions with_file = options;
    if (conversion->holidays)
        with_file.facts[std::string(kHolidaysFactKey)] =
            holidays_fact(texts, home.empty() ? server.home : home);
    if (const auto done = apply(*conversion, store, identity, now, server, with_file); !done)
        return tl::unexpected(done.error());
    return conversion;
}

}  // namespace

Result<Conversion> read_and_convert(const LegacyFiles& files, const objects::Snapshot* current,
                                    const Surroundings& server, const Ledger& before,
                                    const ConvertOptions& options) {
    Problems problems;
    const LegacyTexts texts = read_files(files, problems);
    auto conversion = convert_texts(texts, current, server, before, options, std::move(problems));
    if (conversion) add_lines(conversion->report, conversion->host, {});
    return conversion;
}

Result<Conversion> migrate(const LegacyTexts& texts, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server,
                           const MigrateOptions& options) {
    return migrate_texts(texts, store, identity, now, server, options, {});
}

Result<Conversion> migrate(const LegacyFiles& files, objects::Store& store, const objects::Identity& identity,
                           std::chrono::sys_seconds now, const Surroundings& server,
                           const MigrateOptions& options) {
    Problems problems;
    const LegacyTexts texts = read_files(files, problems);
    return migrate_texts(texts, store, identity, now, server, options, std::move(problems));
}

Result<Conversion> first_start(const std::string& home, objects::Store& store,
                               const objects::Identity& identity, std::chrono::sys_seconds now,
                               const Surroundings& server, const MigrateOptions& options) {
    const LegacyFiles files = find_legacy_files(home);
    if (!files.empty()) {
        Problems problems;
        LegacyTexts texts = read_files(files, problems, home);
        if (!texts.qmgr_print && !options.server_print.empty())
            texts.qmgr_print = LegacyText{"server", options.server_print};
        return migrate_texts(texts, store, identity, now, server, options, std::move(problems), home);
    }
    const auto facts = [&] { return write_facts(store, options.facts); };
    if (const auto done = store.database().in_transaction(facts); !done) return fail(done.error());
    return Conversion{};
}

Result<Report> finish_host_work(objects::Store& store, const std::vector<HostOutcome>& outcomes,
                                const std::string& report_before, const std::string& report_fact) {
    const auto kept = kept_text(store, kHostWorkKey);
    if (!kept) return tl::unexpected(kept.error());
    Report report;
    add_lines(report, host_work_from_json(*kept), outcomes);
    const std::string text =
        fmt::format("{}\nCarried out by the server:\n{}", report_before, to_text(report));
    const auto facts = [&] {
        return write_facts(store, {{std::string(kHostWorkKey), ""}, {report_fact, text}});
    };
    if (const auto done = store.database().in_transaction(facts); !done) return fail(done.error());
    return report;
}

}  // namespace pbs::migrate
