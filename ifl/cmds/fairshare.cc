// pbs_fairshare: shows and changes the shares of a scheduler and their usage. Options that OpenPBS's pbsfs
// has too have the same letters.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/fairshare_format.h"
#include "ifl/cmds/text.h"

namespace {

using namespace pbs::cmds;  // NOLINT(google-build-using-namespace): this is a program

constexpr Program kProgram{"pbs_fairshare", ""};

struct Arguments {
    std::string sched = "default";
    std::string group;
    std::string server;
    std::string entity;
    std::vector<std::string> compared;
    std::vector<std::string> set;
    bool decay = false;
    bool trim = false;
    bool outline = false;
    bool tickets = false;
    std::string format;
    std::string svg;

    bool json() const { return format == "json"; }
};

int refused(const Connection& connection) {
    const int code = pbs_errno;
    complain(kProgram, connection.error_text());
    return exit_status(code);
}

int write(const std::string& file, const std::string& text) {
    std::FILE* const out = file.empty() || file == "-" ? stdout : std::fopen(file.c_str(), "wb");
    bool written = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
    int error = errno;
    if (out != nullptr && (out == stdout ? std::fflush(out) : std::fclose(out)) != 0 && written) {
        written = false;
        error = errno;
    }
    if (written) return 0;
    return failed(kProgram, {fmt::format("{}: can't be written: {}", out == stdout ? "standard output" : file,
                                         std::strerror(error)),
                             1});
}

int change(const Connection& connection, const Arguments& arguments) {
    AttrList attributes;
    if (!arguments.group.empty()) attributes.add("fs_group", "", arguments.group);
    if (!arguments.set.empty()) attributes.add("usage", arguments.set[0], arguments.set[1]);
    if (arguments.decay) attributes.add("decay", "", "True");
    if (arguments.trim) attributes.add("trim", "", "True");
    if (pbs_manager(connection.handle(), MGR_CMD_SET, MGR_OBJ_FAIRSHARE, arguments.sched.c_str(),
                    attributes.operations(), nullptr) != 0)
        return refused(connection);
    return 0;
}

// Prints the path to an entity in each tree.
int show_entity(const std::vector<ShareTree>& trees, const Arguments& arguments) {
    std::vector<ShareTree> paths;
    for (const ShareTree& tree : trees)
        if (auto path = path_to(tree, arguments.entity)) paths.push_back(std::move(*path));
    if (paths.empty()) {
        return failed(kProgram,
                      {fmt::format("{}: no such entity or group is shown to you", arguments.entity), 1});
    }
    if (!arguments.svg.empty()) return write(arguments.svg, shares_svg(paths));
    if (arguments.json()) return write({}, shares_json(paths));
    std::string text;
    for (const ShareTree& path : paths) text += (text.empty() ? "" : "\n") + entity_text(path);
    return write({}, text);
}

int compare(const std::vector<ShareTree>& trees, const Arguments& arguments) {
    std::string text;
    for (const ShareTree& tree : trees) {
        const auto found = compare_shares(tree, arguments.compared[0], arguments.compared[1]);
        if (!found) return failed(kProgram, found.error());
        if (trees.size() > 1) text += tree.name + ": ";
        text += found->text;
    }
    return write({}, text);
}

int show(const Connection& connection, const Arguments& arguments) {
    const std::string extend = arguments.tickets         ? "tickets=True"
                               : arguments.group.empty() ? ""
                                                         : "fs_group=" + arguments.group;
    const StatusList list(pbs_statfairshare(connection.handle(), arguments.sched.c_str(), extend.c_str()));
    if (!list) return refused(connection);
    if (arguments.tickets) {
        const TicketList tickets = ticket_list(list.get());
        return write({}, arguments.json() ? tickets_json(tickets) : tickets_text(tickets));
    }
    const std::vector<ShareTree> trees = share_trees(list.get());
    if (!arguments.entity.empty()) return show_entity(trees, arguments);
    if (!arguments.compared.empty()) return compare(trees, arguments);
    if (!arguments.svg.empty()) return write(arguments.svg, shares_svg(trees));
    if (arguments.json()) return write({}, shares_json(trees));
    return write({}, arguments.outline ? shares_outline(trees) : shares_text(trees));
}

void add_options(CLI::App& app, Arguments& arguments) {
    app.add_option("-I", arguments.sched, "The scheduler whose usage it is; default, if none is named")
        ->type_name("SCHED");
    auto* group =
        app.add_option("-G", arguments.group, "One fs_group, where policies of the scheduler go by several")
            ->type_name("FS_GROUP");
    app.add_option("--server", arguments.server, "Another server than the default one")->type_name("NAME");
    auto* what = app.add_option_group("what", "One of");
    what->add_option("-g", arguments.entity, "The way to an entity or group, with all numbers of it")
        ->type_name("NAME");
    auto* compared = what->add_option("-c", arguments.compared, "Which of two entities goes first")
                         ->type_name("ENTITY ENTITY")
                         ->expected(2);
    auto* set = what->add_option("-s", arguments.set, "Set the usage of an entity")
                    ->type_name("ENTITY USAGE")
                    ->expected(2);
    auto* decay = what->add_flag("-d", arguments.decay, "Decay all usage now");
    auto* trim = what->add_flag("-e", arguments.trim, "Forget the usage of entities that are in no group");
    auto* outline = what->add_flag("-t", arguments.outline, "The tree alone: names and shares");
    auto* tickets = what->add_flag("--tickets", arguments.tickets,
                                   "The tickets of the jobs, by the scheduler's policy in force");
    what->require_option(0, 1);
    auto* format = app.add_option("-F", arguments.format, "json: for programs")
                       ->type_name("FORMAT")
                       ->check(CLI::IsMember({"json"}));
    auto* svg = app.add_option("--svg", arguments.svg, "A picture, into a file; - for standard output")
                    ->type_name("FILE");
    for (auto* option : {compared, set, decay, trim, outline}) {
        format->excludes(option);
        svg->excludes(option);
    }
    svg->excludes(format);
    svg->excludes(tickets);
    group->excludes(tickets);
}

int run(int argc, char** argv) {
    Arguments arguments;
    CLI::App app(
        "Shows the shares of a scheduler as a tree, with what has been used of them, and changes the usage.",
        std::string(kProgram.name));
    app.footer("See pbs_fairshare(8).");
    add_options(app, arguments);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const auto connection = Connection::open(arguments.server);
    if (!connection) return failed(kProgram, connection.error());
    const bool changes = !arguments.set.empty() || arguments.decay || arguments.trim;
    return changes ? change(*connection, arguments) : show(*connection, arguments);
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(kProgram, argc, argv, run);
}
