// The program pbs_migrate, with which an administrator converts the files of an Origin, PBS or TORQUE
// scheduler, or of Grid Engine, to objects.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "migrate/at_server.h"
#include "migrate/export.h"
#include "migrate/in_home.h"
#include "migrate/migrate.h"
#include "migrate/show.h"
#include "values/new_file.h"
#include "values/text.h"

namespace {

using namespace pbs::migrate;  // NOLINT(google-build-using-namespace): this is a program

constexpr int kRefused = 2;

constexpr const char* kDescription =
    "Turns the files of an older scheduler into objects of a PBS server. Every option in the configuration\n"
    "file of an Origin scheduler becomes an attribute of the policy default_policy; its prime time becomes "
    "a\n"
    "time_window, and its holidays become the server's non_work_days. The options in the sched_config of "
    "PBS\n"
    "or TORQUE become attributes of default_policy, of default_policy_prime and default_policy_non_prime\n"
    "where prime and non-prime time differ, and of the fs_group default_fs_group, whose tree is that of\n"
    "resource_group. The holidays file becomes time_windows of type prime and non_work_days, and\n"
    "dedicated_time becomes time_windows of type dedicated.\n"
    "The output of Grid Engine's qconf, in a folder, becomes attributes of default_policy, quotas, the\n"
    "fs_group default_fs_group, time_windows and resources; pbs_migrate(8) names its files.\n"
    "The files are only read. A mistake that the older scheduler ignored, such as an unknown option, is\n"
    "reported, and the rest is migrated; with --strict nothing is. A mistake that kept that scheduler from\n"
    "starting is always refused.";

constexpr const char* kFooter =
    "Without --dry-run and --check, pbs_migrate writes into HOME/server_priv/policy.db itself (--into),\n"
    "while no server runs on HOME, or has a running server do it (--server), as one of its managers.\n"
    "A second run with the same files changes nothing. Values of an earlier run that are no longer in the\n"
    "files are taken back. Exit status: 0 done, 1 wrong usage, 2 refused. Errors are on standard error, one\n"
    "line each: FILE:LINE:COLUMN: OPTION: what was expected.";

// The task for the files: apply them, show the changes (dry_run), check for mistakes, or show a diff.
enum class Task { apply, dry_run, check, diff };

struct Arguments {
    LegacyFiles files;
    Surroundings server;
    std::string home;
    std::string server_name;
    std::optional<std::string> at;  // server to migrate at; empty: the default one; not set: none is asked
    bool dry_run = false;
    bool check = false;
    bool diff = false;
    bool json = false;
    bool infer = false;
    bool strict = false;
    std::vector<std::string> wanted_export;  // the two arguments of --export: kind and folder

    Task task() const {
        if (dry_run) return Task::dry_run;
        if (check) return Task::check;
        return diff ? Task::diff : Task::apply;
    }
    Format format() const {
        if (json) return Format::json;
        if (dry_run) return Format::commands;
        if (check) return Format::notes;
        return diff ? Format::diff : Format::text;
    }
};

int refuse(const Arguments& arguments, const Problems& problems) {
    const bool migrates = arguments.task() == Task::apply || arguments.task() == Task::dry_run;
    const bool unknown =
        arguments.task() == Task::apply &&
        std::ranges::any_of(problems, [](const Problem& problem) { return problem.unknown; });
    if (arguments.json) fmt::print("{}", to_json(problems, unknown));
    for (const Problem& problem : problems) fmt::print(stderr, "pbs_migrate: {}\n", to_text(problem));
    if (unknown) {
        fmt::print(stderr,
                   "pbs_migrate: the server may have migrated the files or not: --diff in place of this run "
                   "shows what is missing\n");
    } else if (migrates && arguments.wanted_export.empty()) {
        fmt::print(stderr, "pbs_migrate: nothing was migrated\n");
    }
    return kRefused;
}

int wrong_usage(const char* what) {
    fmt::print(stderr, "pbs_migrate: {}\n", what);
    return 1;
}

// Converts the files without a server, as for a fresh one, and prints the result.
int convert_alone(const Arguments& arguments) {
    const auto conversion =
        read_and_convert(arguments.files, nullptr, arguments.server, {}, {arguments.infer, arguments.strict});
    if (!conversion) return refuse(arguments, conversion.error());
    fmt::print("{}", show(*conversion, arguments.format()));
    return 0;
}

int migrate_at_server(const Arguments& arguments) {
    Problems problems;
    ServerRequest request{read_files(arguments.files, problems), arguments.format(), arguments.infer,
                          arguments.strict, arguments.task() != Task::apply};
    // Check the files before the connection: so their mistakes are reported, with lines, even if the server
    // can't be reached.
    if (const auto parsed = parse(request.texts, arguments.strict); !parsed)
        problems.insert(problems.end(), parsed.error().begin(), parsed.error().end());
    if (!problems.empty()) return refuse(arguments, problems);
    const auto report = migrate_at(*arguments.at, request);
    if (!report) return refuse(arguments, report.error());
    fmt::print("{}", *report);
    return 0;
}

int migrate_home(const Arguments& arguments) {
    const MigrateOptions options{{arguments.infer, arguments.strict}, arguments.task() != Task::apply, {}};
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    Surroundings server = arguments.server;
    server.knows_resources = false;  // the store doesn't have the server's resources
    std::string shown;
    const auto done = with_home(arguments.home, [&](pbs::objects::Store& store) -> Result<void> {
        const auto conversion = migrate(arguments.files, store, identity_here(), now, server, options);
        if (!conversion) return tl::unexpected(conversion.error());
        shown = show(*conversion, arguments.format());
        return {};
    });
    if (!done) return refuse(arguments, done.error());
    fmt::print("{}", shown);
    return 0;
}

// ---- Export

const Exporter* find_exporter(const std::string& kind) {
    const auto all = exporters();
    const auto found = std::ranges::find(all, kind, &Exporter::kind);
    return found == all.end() ? nullptr : &*found;
}

Result<void> write_export(const Arguments& arguments, const ExportSource& source) {
    const Exporter& exporter = *find_exporter(arguments.wanted_export[0]);
    const std::string path = fmt::format("{}/{}", arguments.wanted_export[1], exporter.file);
    const Exported made = exporter.write(source);
    if (const int error = pbs::values::write_new_file(path, made.text, 0666); error != 0)
        return tl::unexpected(
            Problems{{path, 0, 0, "", fmt::format("can't be written: {}", pbs::values::system_text(error))}});
    if (arguments.json) {
        fmt::print("{}", to_json(path, made));
        return {};
    }
    fmt::print("{} is written\n", path);
    for (const std::string& text : made.left_out) fmt::print("left out: {}\n", text);
    return {};
}

int export_file(const Arguments& arguments) {
    const auto found = pbs::rrule::Zone::system();
    if (!found) return refuse(arguments, Problems{{"", 0, 0, "", found.error().message}});
    const pbs::rrule::Zone& zone = *found;
    const auto now = *arguments.server.now;
    const auto done = [&]() -> Result<void> {
        if (arguments.at) {
            const auto server = configuration_of(*arguments.at);
            if (!server) return tl::unexpected(server.error());
            return write_export(arguments, {*server->snapshot, zone, now, "default", server->queues,
                                            server->consumables, server->queue_types, server->others});
        }
        return with_home(arguments.home, [&](pbs::objects::Store& store) -> Result<void> {
            const auto kept = store.meta(kLedgerKey);
            if (!kept) return tl::unexpected(Problems{{"", 0, 0, "", kept.error().message}});
            const Ledger ledger = ledger_from_text(kept->value_or(""));
            std::vector<FoundQueueType> types;
            for (const LedgerLine& line : ledger.lines)
                if (line.type == pbs::objects::ObjectType::queue)
                    types.push_back({line.object, line.value, "queue " + line.object});
            const auto snapshot = store.snapshot();
            return write_export(arguments, {*snapshot, zone, now, "default", arguments.server.queues,
                                            arguments.server.consumables, types, checked_resources(ledger)});
        });
    }();
    return done ? 0 : refuse(arguments, done.error());
}

void add_files(CLI::App& app, Arguments& arguments) {
    LegacyFiles& files = arguments.files;
    auto* config = app.add_option("--config", files.config,
                                  "Configuration file of an Origin scheduler (sched_priv/config)")
                       ->type_name("F");
    app.add_option("--holidays", files.holidays,
                   "Holidays file: of an Origin scheduler (/usr/lib/acct/holidays), or with --sched-config "
                   "that of PBS or TORQUE (sched_priv/holidays)")
        ->type_name("F");
    auto* sched_config =
        app.add_option("--sched-config", files.sched_config,
                       "Configuration file of the scheduler of PBS or TORQUE (sched_priv/sched_config)")
            ->type_name("F")
            ->excludes(config);
    app.add_option("--dedicated-time", files.dedicated_time,
                   "Dedicated times of PBS or TORQUE (sched_priv/dedicated_time)")
        ->type_name("F")
        ->needs(sched_config);
    app.add_option("--resource-group", files.resource_group,
                   "Fairshare tree of PBS or TORQUE (sched_priv/resource_group)")
        ->type_name("F")
        ->excludes(config);
    app.add_option("--usage", files.usage, "Usage of the entities in that tree (sched_priv/usage)")
        ->type_name("F")
        ->excludes(config);
    app.add_option("--sched-formula", files.sched_formula,
                   "File in which PBS kept job_sort_formula (sched_priv/sched_formula)")
        ->type_name("F")
        ->excludes(config);
    app.add_option("--qmgr-print", files.qmgr_print,
                   "Output of qmgr -c \"print server\" at the older server, followed by that of print node "
                   "@default and print sched")
        ->type_name("F");
    app.add_option("--resourcedef", files.resourcedef,
                   "Custom resources of the older PBS server (server_priv/resourcedef)")
        ->type_name("F")
        ->excludes(config);
    app.add_option("--decay-usage", files.decay_usage,
                   "Past usage that the Origin scheduler kept (sched_priv/decay_usage)")
        ->type_name("F")
        ->excludes(sched_config);
    app.add_option("--allocations", files.allocations,
                   "Allocations of groups at an Origin system; the file is checked and stays in use "
                   "(SCHED_ACCT_DIR/allocations)")
        ->type_name("F")
        ->excludes(sched_config);
    app.add_option("--current", files.current,
                   "Usage of these groups; the file is checked and stays in use (SCHED_ACCT_DIR/current)")
        ->type_name("F")
        ->excludes(sched_config);
    app.add_option(
           "--grid-engine", files.grid_engine,
           "Folder with the output of Grid Engine's qconf, a file for each command (ssconf, sconf, srqs, "
           "sstree, sc, scal/, sq/, sp/, shgrp/, su/, suser/ and sprj/); without other files")
        ->type_name("DIR");
    app.add_option("--queues", arguments.server.queues,
                   "Names of the server's queues, for the prefixes in sched_config")
        ->type_name("Q,...")
        ->delimiter(',')
        ->excludes(config);
    app.add_option("--resources", arguments.server.consumables,
                   "Custom consumable resources of the server, which are excluded if the option resources "
                   "doesn't name them")
        ->type_name("R,...")
        ->delimiter(',')
        ->excludes(config);
    app.add_option("--export", arguments.wanted_export,
                   "Make the file KIND (sched_config, holidays, dedicated_time, resource_group or "
                   "configfile) of the objects of --into HOME or --server, in the folder DIR")
        ->type_name("KIND DIR")
        ->expected(2);
}

void add_options(CLI::App& app, Arguments& arguments) {
    add_files(app, arguments);
    app.add_flag("--infer", arguments.infer,
                 "Turn holidays that are known by name into rules that need no yearly update");
    app.add_flag("--strict", arguments.strict,
                 "Refuse files with mistakes that the older scheduler logged and ignored, instead of only "
                 "reporting them");
    auto* dry_run =
        app.add_flag("--dry-run", arguments.dry_run, "Print the qmgr commands that have the same effect");
    auto* check =
        app.add_flag("--check", arguments.check, "Print only mistakes in the files, and notes on them")
            ->excludes(dry_run);
    app.add_flag("--diff", arguments.diff,
                 "Print the changes as a diff of present and future values, and make none")
        ->excludes(dry_run)
        ->excludes(check);
    app.add_flag("--json", arguments.json, "Print the report, or the errors, as JSON");
    auto* into = app.add_option("--into", arguments.home,
                                "Home of the server whose objects are changed, offline; by default PBS_HOME")
                     ->type_name("HOME")
                     ->excludes(dry_run);
    app.add_option("--server", arguments.server_name,
                   "Have a running server do it, as one of its managers; without a name, the default one")
        ->type_name("[NAME]")
        ->expected(0, 1)
        ->excludes(into);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app(kDescription, "pbs_migrate");
    app.footer(kFooter);
    app.set_version_flag("--version", std::string("pbspolicy ") + PBSPOLICY_VERSION);
    Arguments arguments;
    add_options(app, arguments);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }
    if (app.count("--server") != 0) arguments.at = arguments.server_name;
    arguments.server.now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const bool exports = !arguments.wanted_export.empty();
    if (exports && find_exporter(arguments.wanted_export[0]) == nullptr)
        return wrong_usage(
            "--export: expected sched_config, holidays, dedicated_time, resource_group or configfile, and a "
            "folder");
    if (exports && (!arguments.files.empty() || arguments.task() != Task::apply))
        return wrong_usage("--export reads no files: expected --into HOME or --server beside it, and --json");
    if (!exports && arguments.files.empty())
        return wrong_usage(
            "nothing to read, expected --config F, --holidays F or both, --sched-config F and the files "
            "beside "
            "it, or --grid-engine DIR");
    const bool names = !arguments.server.queues.empty() || !arguments.server.consumables.empty();
    LegacyFiles others = arguments.files;
    others.grid_engine.clear();
    if (!arguments.files.grid_engine.empty() && (names || !others.empty()))
        return wrong_usage(
            "--grid-engine is for a whole configuration: expected no other files, and no "
            "--queues and --resources beside it");
    if (arguments.at && names)
        return wrong_usage(
            "--queues and --resources are for a server that isn't running: a running one knows its own");
    if (arguments.at) return exports ? export_file(arguments) : migrate_at_server(arguments);
    const Task task = arguments.task();
    if (task == Task::dry_run || (task == Task::check && arguments.home.empty()))
        return convert_alone(arguments);
    if (const char* home = std::getenv("PBS_HOME"); home != nullptr && arguments.home.empty())
        arguments.home = home;
    if (arguments.home.empty())
        return wrong_usage(
            "expected --dry-run, or --into HOME or PBS_HOME for a server that isn't running, or --server for "
            "one that is");
    return exports ? export_file(arguments) : migrate_home(arguments);
}
