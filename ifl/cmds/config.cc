// pbs_config: the history of the configuration, differences, rollback, export, import and backups.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/config_diff.h"
#include "ifl/cmds/config_format.h"
#include "ifl/cmds/datetime.h"
#include "ifl/cmds/text.h"
#include "values/abridged.h"
#include "values/number.h"
#include "values/text.h"

namespace {

using namespace pbs::cmds;  // NOLINT(google-build-using-namespace): this is a program

constexpr Program kProgram{"pbs_config", ""};
// The largest value that a request may have in the protocol.
constexpr std::size_t kLargestImport = std::size_t{4} << 20;
constexpr long long kPage = 1000;

struct Arguments {
    std::string server;
    std::string object;
    std::string since;
    std::string until;
    long long limit = 100;
    bool json = false;
    bool qmgr = false;
    bool dry_run = false;
    bool replace = false;
    bool without_server = false;
    long long revision = 0;
    std::optional<long long> second_revision;
    std::string file;
};

// Prints the server's refusal line by line, and returns the exit status.
int refused(const Connection& connection) {
    const int code = pbs_errno;
    const std::string all = connection.error_text();
    for (const std::string_view line : pbs::values::split(pbs::values::trim(all), '\n'))
        complain(kProgram, line);
    return exit_status(code);
}

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

// ---- history

// The extend string "type=policy;name=p1;" for "policy p1". The server checks the name of the type.
Result<std::string> object_keys(std::string_view object) {
    if (pbs::values::trim(object).empty()) return std::string();
    const std::string_view type = first_word(pbs::values::trim(object));
    const std::string_view name = pbs::values::trim(pbs::values::trim(object).substr(type.size()));
    if (object.find(';') != std::string_view::npos)
        return fail(fmt::format("bad object '{}': expected a type and a name, as in \"policy p1\"", object));
    return name.empty() ? fmt::format("type={};", type) : fmt::format("type={};name={};", type, name);
}

Result<std::string> time_key(std::string_view key, const std::string& text) {
    if (text.empty()) return std::string();
    const auto when = parse_instant(text);
    if (!when) return tl::unexpected(when.error());
    return fmt::format("{}={};", key, *when);
}

Result<std::string> history_query(const Arguments& arguments) {
    std::string query;
    for (const auto& part : {object_keys(arguments.object), time_key("from", arguments.since),
                             time_key("until", arguments.until)}) {
        if (!part) return tl::unexpected(part.error());
        query += *part;
    }
    return query;
}

int history(const Connection& connection, const Arguments& arguments) {
    const auto query = history_query(arguments);
    if (!query) return failed(kProgram, query.error());
    std::vector<std::vector<HistoryRow>> pages;  // pages of at most kPage changes, the latest page first
    long long found = 0;
    while (found < arguments.limit) {
        std::string extend = *query + fmt::format("limit={}", std::min(kPage, arguments.limit - found));
        if (!pages.empty()) extend += fmt::format(";before_revision={}", pages.back().front().revision);
        const StatusList list(pbs_stathistory(connection.handle(), extend.c_str()));
        if (!list && pbs_errno != 0) return refused(connection);
        std::vector<HistoryRow> page = history_rows(list.get());
        if (page.empty()) break;
        found += static_cast<long long>(page.size());
        pages.push_back(std::move(page));
    }
    std::vector<HistoryRow> rows;
    rows.reserve(static_cast<std::size_t>(found));
    for (auto page = pages.rbegin(); page != pages.rend(); ++page)
        std::move(page->begin(), page->end(), std::back_inserter(rows));
    print(arguments.json ? history_json(rows) : history_text(rows));
    return 0;
}

// ---- diff, export

// The document of a revision, or of the present configuration; nullopt: the server refused.
std::optional<std::string> document(const Connection& connection, std::optional<long long> revision,
                                    bool without_server = false) {
    std::string extend = revision ? fmt::format("revision={};", *revision) : "";
    if (without_server) extend += "part=policies";
    const StatusList list(pbs_statconfiguration(connection.handle(), extend.c_str()));
    if (!list) return std::nullopt;
    return std::string(value_of(list->attribs, "json").value_or(std::string_view()));
}

int diff(const Connection& connection, const Arguments& arguments) {
    const auto before = document(connection, arguments.revision);
    if (!before) return refused(connection);
    const auto after = document(connection, arguments.second_revision);
    if (!after) return refused(connection);
    const auto changes = config_diff(*before, *after, arguments.object);
    if (!changes) return failed(kProgram, changes.error());
    print(arguments.qmgr ? diff_directives(*changes) : diff_text(*changes));
    return 0;
}

// Writes the whole file or nothing, by a temporary file that replaces it.
Result<void> write_file(const std::string& path, std::string_view text) {
    std::string pattern = path + ".XXXXXX";
    const int fd = mkstemp(pattern.data());
    std::FILE* file = fd < 0 ? nullptr : fdopen(fd, "w");
    const auto broken = [&] {
        const std::string why = std::strerror(errno);
        if (fd >= 0) unlink(pattern.c_str());
        return fail(fmt::format("can't write {}: {}", path, why), 1);
    };
    if (file == nullptr) return broken();
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                         std::fflush(file) == 0 && fsync(fd) == 0;
    if (std::fclose(file) != 0 || !written || std::rename(pattern.c_str(), path.c_str()) != 0)
        return broken();
    return {};
}

int export_configuration(const Connection& connection, const Arguments& arguments) {
    const auto text = document(connection, arguments.second_revision, arguments.without_server);
    if (!text) return refused(connection);
    if (text->size() > kLargestImport) {
        complain(kProgram, fmt::format("Warning: the document has {} bytes, import takes at most {}",
                                       text->size(), kLargestImport));
    }
    if (arguments.file.empty() || arguments.file == "-") {
        print(*text);
        return 0;
    }
    const auto written = write_file(arguments.file, *text);
    return written ? 0 : failed(kProgram, written.error());
}

// ---- rollback, import

int change(const Connection& connection, const std::string& object, AttrList& attributes, bool dry_run) {
    if (dry_run) attributes.add("dry_run", "", "True");
    if (pbs_manager(connection.handle(), MGR_CMD_SET, MGR_OBJ_CONFIGURATION, object.c_str(),
                    attributes.operations(), nullptr) != 0)
        return refused(connection);
    const char* const told = pbs_geterrmsg(connection.handle());
    if (told == nullptr || pbs::values::trim(told).empty()) {
        print("nothing to change\n");
        return 0;
    }
    for (const std::string_view line : pbs::values::split(pbs::values::trim(told), '\n'))
        if (line.starts_with("Warning: "))
            complain(kProgram, line);
        else
            print(printable(line) + "\n");
    return 0;
}

int rollback(const Connection& connection, const Arguments& arguments) {
    AttrList attributes;
    attributes.add("revision", "", std::to_string(arguments.revision));
    return change(connection, arguments.object, attributes, arguments.dry_run);
}

Result<std::string> read_file(const std::string& path) {
    const auto all = [](std::istream& in) {
        return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    };
    if (path == "-") return all(std::cin);
    std::ifstream in(path, std::ios::binary);
    struct stat about {};
    if (!in || stat(path.c_str(), &about) != 0 || S_ISDIR(about.st_mode))
        return fail(fmt::format("can't read {}: {}", path, in ? "it is a folder" : std::strerror(errno)), 1);
    return all(in);
}

int import_configuration(const Connection& connection, const Arguments& arguments) {
    const auto text = read_file(arguments.file);
    if (!text) return failed(kProgram, text.error());
    if (text->size() > kLargestImport) {
        return failed(kProgram, {fmt::format("{} has {} bytes: expected at most {}", arguments.file,
                                             text->size(), kLargestImport),
                                 1});
    }
    AttrList attributes;
    attributes.add(arguments.replace ? "replace" : "import", "", *text);
    return change(connection, "", attributes, arguments.dry_run);
}

// ---- backup

int back_up(const Connection& connection, const Arguments&) {
    AttrList attributes;
    attributes.add("backup", "", "True");
    return change(connection, "", attributes, false);
}

// ---- The command line.

constexpr const char* kDescription =
    "The history of a PBS server's configuration (policies, time_windows, fs_groups, quotas, the server, "
    "its\n"
    "queues, nodes, resources and schedulers): who changed what, differences, going back, and export and\n"
    "import as JSON. See pbs_config(8).";
constexpr const char* kFooter =
    "TIME is YYYY-MM-DD, YYYY-MM-DDTHH:MM[:SS] in the local zone (with Z: UTC), or seconds since the Epoch.\n"
    "Managers may do all of it, operators read.\n"
    "Exit status: 0 done, 2 wrong usage, 1 a file can't be read or written, or the server not be reached;\n"
    "else the low byte of the PBS error number.";

using Action = int (*)(const Connection&, const Arguments&);

void add_object(CLI::App& command, Arguments& arguments) {
    // refuse an empty text, which would mean all objects: the variable of a script may be empty by mistake
    command.add_option("--object", arguments.object, "One object only, as in \"policy p1\" or server")
        ->check([](const std::string& text) {
            return pbs::values::trim(text).empty()
                       ? std::string("expected a type and a name, as in \"policy p1\"")
                       : "";
        });
}

CLI::Validator is_revision() {
    return {[](std::string& text) {
                const auto number = pbs::values::digits<std::int64_t>(text);
                return number ? std::string()
                              : fmt::format(
                                    "'{}' is no revision: expected a number of pbs_config history, from 0 on",
                                    pbs::values::abridged(text, 40));
            },
            "", "REVISION"};
}

void add_commands(CLI::App& app, Arguments& arguments, Action& action) {
    const auto add = [&](const char* name, const char* help, Action todo) {
        CLI::App* command = app.add_subcommand(name, help);
        command->callback([&action, todo] { action = todo; });
        return command;
    };
    CLI::App* command = add("history", "List changes, the latest last", history);
    add_object(*command, arguments);
    command->add_option("--since", arguments.since, "From this TIME on");
    command->add_option("--until", arguments.until, "Before this TIME");
    command->add_option("--limit", arguments.limit, "The latest so many")
        ->check(CLI::Range(1LL, 1000000000LL))
        ->capture_default_str();
    command->add_flag("--json", arguments.json, "As a JSON array, with the values before and after");

    command = add("diff", "Show what is different at two revisions", diff);
    command->add_option("R1", arguments.revision, "The revision before")->required()->check(is_revision());
    command->add_option("R2", arguments.second_revision, "The revision after; the present one if not given")
        ->check(is_revision());
    add_object(*command, arguments);
    command->add_flag("--qmgr", arguments.qmgr, "As directives of qmgr that make R2 out of R1");

    command = add("rollback", "Go back to a revision, as one change", rollback);
    command->add_option("R", arguments.revision, "The revision")->required()->check(is_revision());
    add_object(*command, arguments);
    command->add_flag("--dry-run", arguments.dry_run, "Check, and show what would change; change nothing");

    command = add("export", "Write the configuration as JSON", export_configuration);
    command->add_option("FILE", arguments.file, "Where to; standard output if not given, or -");
    command->add_option("--revision", arguments.second_revision, "As it was at this revision")
        ->check(is_revision());

    command->add_flag("--without-server", arguments.without_server,
                      "Leave out what the server keeps itself: queues, nodes, resources, its own attributes");

    command = add("import", "Take over an exported configuration, as one change", import_configuration);
    command->add_option("FILE", arguments.file, "The file; - for standard input")->required();
    command->add_flag("--replace", arguments.replace, "Delete and unset what the file doesn't name");
    command->add_flag("--dry-run", arguments.dry_run, "Check, and show what would change; change nothing");

    add("backup", "Have the server copy its databases to a folder of its home, and print its name", back_up);
}

int run(int argc, char** argv) {
    Arguments arguments;
    Action action = nullptr;
    CLI::App app(kDescription, std::string(kProgram.name));
    app.footer(kFooter);
    app.add_option("-s,--server", arguments.server, "The server; the default one if not given");
    app.require_subcommand(1);
    add_commands(app, arguments, action);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const auto connection = Connection::open(arguments.server);
    return connection ? action(*connection, arguments) : failed(kProgram, connection.error());
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(kProgram, argc, argv, run);
}
