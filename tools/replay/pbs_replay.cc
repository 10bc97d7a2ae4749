// The program pbs_replay: records a scheduling cycle, and runs it again.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/replay/anonymous.h"
#include "tools/replay/ask.h"
#include "tools/replay/replay.h"

namespace {

using namespace pbs::replay;  // NOLINT(google-build-using-namespace): this is a program

constexpr int kDiffers = 1;
constexpr int kFailed = 2;

struct Arguments {
    std::string file;
    std::string time_zone;
    bool record = false;
    bool next = false;
    bool anonymous = false;
    std::string sched;
    std::string server;
    std::string output;
};

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

int complain(const std::string& message, int status = kFailed) {
    fmt::print(stderr, "pbs_replay: {}\n", message);
    return status;
}

std::optional<std::string> read_file(const std::string& file) {
    const File opened(file == "-" ? nullptr : std::fopen(file.c_str(), "rb"));
    std::FILE* const in = file == "-" ? stdin : opened.get();
    if (in == nullptr) return std::nullopt;
    std::string text;
    char buffer[65536];
    while (const std::size_t read = std::fread(buffer, 1, sizeof buffer, in)) text.append(buffer, read);
    if (std::ferror(in) != 0) return std::nullopt;
    return text;
}

// Writes a file. Only the owner of a new file may read it, because it names users.
bool write_file(const std::string& file, const std::string& text) {
    const bool standard = file == "-";
    const int made = standard ? -1 : open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (!standard && made < 0) return false;
    File opened(standard ? nullptr : fdopen(made, "wb"));
    std::FILE* const out = standard ? stdout : opened.get();
    if (out == nullptr) return false;
    if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) return false;
    return !opened || std::fclose(opened.release()) == 0;
}

int write(const std::string& text, const Arguments& arguments) {
    const std::string file = arguments.output.empty() ? "-" : arguments.output;
    if (write_file(file, text)) return 0;
    return complain(fmt::format("can't write {}: {}", file, std::strerror(errno)));
}

std::optional<std::string> zone_of(const Arguments& arguments) {
    if (arguments.time_zone.empty()) return std::nullopt;
    return arguments.time_zone;
}

int write_anonymous(const std::string& text, const std::string& name, const Arguments& arguments) {
    const auto other = anonymous(text, name, zone_of(arguments));
    return other ? write(*other, arguments) : complain(other.error().message);
}

int record(const Arguments& arguments) {
    const auto text = ask_record(arguments.server, arguments.sched, arguments.next);
    if (!text) return complain(text.error().message, text.error().status);
    return arguments.anonymous ? write_anonymous(*text, "the record", arguments) : write(*text, arguments);
}

int run_again(const Arguments& arguments) {
    const auto text = read_file(arguments.file);
    if (!text) return complain(fmt::format("can't read {}: {}", arguments.file, std::strerror(errno)));
    if (arguments.anonymous) return write_anonymous(*text, arguments.file, arguments);
    const auto done = replay(*text, arguments.file, zone_of(arguments));
    if (!done) return complain(done.error().message);
    const std::string cycle =
        fmt::format("{} decisions, {} jobs, sched {} at {}", done->decisions, done->jobs, done->cycle.sched,
                    done->cycle.now.time_since_epoch().count());
    if (done->differences.empty()) {
        fmt::print("The same decisions: {}\n", cycle);
        return 0;
    }
    for (const std::string& difference : done->differences) fmt::print("{}\n", difference);
    fmt::print("{} {}: {}\n", done->differences.size(),
               done->differences.size() == 1 ? "difference" : "differences", cycle);
    return kDiffers;
}

void add_options(CLI::App& app, Arguments& arguments) {
    auto* file = app.add_option("FILE", arguments.file, "A record; - for standard input");
    auto* zone = app.add_option("--time-zone", arguments.time_zone,
                                "In place of the record's zone, such as Europe/Berlin")
                     ->type_name("ZONE");
    auto* record = app.add_option("--record", arguments.sched,
                                  "Ask a server for the record of a cycle of a scheduler; of the scheduler "
                                  "default without a name")
                       ->type_name("[SCHED]")
                       ->expected(0, 1)
                       ->default_str("")
                       ->excludes(file)
                       ->excludes(zone);
    app.add_flag("--next", arguments.next,
                 "The record of the next cycle that the server runs, not of one at this moment; the command "
                 "waits for that cycle")
        ->needs(record);
    app.add_option("--server", arguments.server, "The server to ask, in place of the default one")
        ->type_name("NAME")
        ->needs(record);
    app.add_flag("--anonymous", arguments.anonymous,
                 "Write the record with other names of users, groups, queues and hosts");
    app.add_option("-o,--output", arguments.output,
                   "Where the record is written; standard output if not given")
        ->type_name("FILE");
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app(
        "Runs the scheduling cycle of a record again and compares what it decides with what was decided; or "
        "asks a server for such a record.",
        "pbs_replay");
    app.footer("See pbs_replay(8).");
    app.set_version_flag("--version", std::string("pbspolicy ") + PBSPOLICY_VERSION);
    add_options(app, arguments);
    try {
        app.parse(argc, argv);
        arguments.record = app.count("--record") > 0;
        if (!arguments.record && arguments.file.empty()) throw CLI::RequiredError("FILE or --record");
        if (!arguments.output.empty() && !arguments.record && !arguments.anonymous)
            throw CLI::RequiresError("--output", "--record or --anonymous");
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kFailed;
    }
    try {
        return arguments.record ? record(arguments) : run_again(arguments);
    } catch (const std::exception& error) {
        return complain(error.what());
    }
}
