// qmgr: the managers' command. Reads directives from -c, a file or a terminal, and carries them out.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/input_lines.h"
#include "ifl/cmds/options.h"
#include "ifl/cmds/qmgr_complete.h"
#include "ifl/cmds/qmgr_grammar.h"
#include "ifl/cmds/qmgr_session.h"
#include "ifl/cmds/qmgr_terminal.h"

namespace {

using namespace pbs::cmds;

constexpr Program kProgram{"qmgr",
                           "usage: qmgr [-a] [-c command]... [-e] [-n] [-z] [server...]\n"
                           "       qmgr --complete text\n"
                           "       qmgr --help | --version\n"};
// Exit statuses of PBS's qmgr for a wrong command line, and for a server that can't be reached.
constexpr int kUsage = 1;
constexpr int kNoServer = 3;

void run_lines(QmgrSession& session, DirectiveReader& reader) {
    while (!session.finished()) {
        const auto directive = reader.next();
        if (!directive) return;
        session.run(*directive);
    }
}

void run_text(QmgrSession& session, const std::string& text) {
    DirectiveReader reader;
    reader.add_text(text);
    run_lines(session, reader);
    reader.end_of_input();
    run_lines(session, reader);
    session.take_answers();
    if (!session.take_history_request().empty())
        fmt::print(stderr, "qmgr: there is a history only on a terminal\n");
}

void run_input(QmgrSession& session) {
    DirectiveReader reader;
    // before waiting for more input, print all answers: the writer of the directives may be waiting for them
    InputLines lines(STDIN_FILENO, [&session] {
        session.take_answers();
        std::fflush(stdout);
    });
    while (!session.finished()) {
        const auto line = lines.next();
        if (!line) break;
        reader.add_line(*line);
        run_lines(session, reader);
    }
    reader.end_of_input();
    run_lines(session, reader);
    session.take_answers();
}

std::string history_file() {
    const char* home = std::getenv("HOME");
    return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.pbs_qmgr_history";
}

Completion completed(QmgrSession& session, std::string_view line) {
    return complete(line, {.objects = [&](ObjectType type) { return session.object_names(type); },
                           .elements =
                               [&](ObjectType type, const std::string& object, const std::string& attribute) {
                                   return session.element_names(type, object, attribute);
                               },
                           .numbers = [&] { return session.numeric_resources(); }});
}

void run_terminal(QmgrSession& session) {
    QmgrTerminal terminal(history_file(), [&](std::string_view line) { return completed(session, line); });
    DirectiveReader reader;
    while (!session.finished()) {
        const auto line = terminal.read_line(reader.continues());
        if (terminal.interrupted()) {
            reader.clear();
            continue;
        }
        if (!line) return;
        reader.add_line(*line);
        run_lines(session, reader);
        if (const std::string count = session.take_history_request(); !count.empty())
            fmt::print("{}", terminal.history_text(count));
    }
}

// Prints completions for shells: the directive as typed so far, with each possible last word.
int print_completions(const std::string& text) {
    QmgrOptions options;
    options.silent = true;  // without a server only names of objects are missing
    QmgrSession session(options);
    session.connect({});
    const auto found = completed(session, text);
    for (const std::string& candidate : found.candidates)
        fmt::print("{}{}\n", text.substr(0, found.begin), candidate);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = arguments_of(argc, argv);
    if (information_asked(kProgram, arguments)) return 0;
    if (arguments.size() == 2 && arguments[0] == "--complete") return print_completions(arguments[1]);
    const auto line = parse_options("ac:enz", arguments);
    if (!line) {
        usage_error(kProgram, line.error());
        return kUsage;
    }
    QmgrOptions options;
    std::vector<std::string> commands;
    for (const Option& option : line->options) {
        switch (option.letter) {
            case 'a':
                options.abort_on_error = true;
                break;
            case 'c':
                commands.push_back(option.value);
                break;
            case 'e':
                options.echo = true;
                break;
            case 'n':
                options.no_execution = true;
                break;
            default:
                options.silent = true;
                break;
        }
    }
    const bool terminal = commands.empty() && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
    options.send_ahead = !options.abort_on_error && !terminal;
    QmgrSession session(options);
    if (!session.connect(line->operands)) return kNoServer;
    if (!commands.empty()) {
        for (const std::string& command : commands) run_text(session, command);
    } else if (terminal) {
        run_terminal(session);
    } else {
        run_input(session);
    }
    std::fflush(stdout);
    return session.status();
}
