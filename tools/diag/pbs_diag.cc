// The program pbs_diag: shows the state and the health of a server.

#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "tools/diag/ask.h"
#include "tools/diag/bundle.h"
#include "tools/diag/report.h"
#include "values/new_file.h"
#include "values/text.h"

namespace {

using namespace pbs::diag;  // NOLINT(google-build-using-namespace): this is a program
using pbs::cmds::Connection;
using pbs::cmds::StatusList;

constexpr int kProblems = 1;
constexpr int kUsage = 2;

struct Arguments {
    bool cycles = false;
    bool waiting = false;
    bool requests = false;
    bool users = false;
    bool peers = false;
    bool health = false;
    std::size_t count = 10;
    std::string bundle;
    bool anonymous = false;
    std::string server;

    bool all() const { return !cycles && !waiting && !requests && !users && !peers && !health; }
};

int complain(const std::string& message, int status) {
    fmt::print(stderr, "pbs_diag: {}\n", message);
    return status;
}

// Returns the version of the zone data, such as "2024a", from the first line of tzdata.zi, "# version 2024a".
// Empty: unknown.
std::string zone_version() {
    for (const char* path : {"/usr/share/zoneinfo/tzdata.zi", "/usr/share/zoneinfo/+VERSION"}) {
        std::ifstream file(path);
        std::string line;
        if (!std::getline(file, line)) continue;
        return line.starts_with("# version ") ? line.substr(10) : line;
    }
    return {};
}

std::string versions() {
    utsname machine{};
    uname(&machine);
    std::string text = fmt::format("pbs_diag {}\n{} {} {}\nzone data {}\n", PBSPOLICY_VERSION,
                                   machine.sysname, machine.release, machine.machine, zone_version());
    std::ifstream release("/etc/os-release");
    for (std::string line; std::getline(release, line);)
        if (line.starts_with("PRETTY_NAME=")) text += line + '\n';
    return text;
}

class Report {
  public:
    Report(const Connection& connection, const Arguments& arguments)
        : connection_(connection), arguments_(arguments) {}

    // Makes the sections of the report that the arguments ask for, or with `all` all of them. A section that
    // the server doesn't answer goes to errors().
    void make(bool all) {
        using pbs::cmds::Result;
        const auto section = [&](bool wanted, std::string_view title, auto&& text) {
            if (!wanted && !all) return;
            const Result<std::string> made = text();
            if (made)
                text_ += fmt::format("{}{}\n\n{}", text_.empty() ? "" : "\n", title, *made);
            else
                errors_.push_back(made.error());
        };
        section(arguments_.health, "HEALTH", [&] { return health(); });
        section(arguments_.cycles, "LAST CYCLES", [&] { return shown("cycles", cycles_text); });
        section(arguments_.waiting, "WHY JOBS WAIT", [&]() -> Result<std::string> {
            const auto reasons = ask_reasons(connection_);
            if (!reasons) return tl::unexpected(reasons.error());
            return reasons_text(*reasons, arguments_.count);
        });
        section(arguments_.requests, "SLOW REQUESTS", [&] { return shown("requests", requests_text); });
        section(arguments_.peers, "SERVERS THAT JOBS ARE PULLED FROM",
                [&] { return shown("peers", peers_text); });
        section(arguments_.users, "WHO ASKS MOST", [&] { return shown("users", users_text); });
    }
    const std::string& text() const { return text_; }
    const std::vector<pbs::cmds::Error>& errors() const { return errors_; }
    int problems() const { return problems_; }
    // Returns a part of the diagnosis, for which the server is asked once.
    const pbs::cmds::Result<StatusList>& part(const std::string& name) {
        auto found = parts_.find(name);
        if (found == parts_.end()) found = parts_.emplace(name, ask_part(connection_, name)).first;
        return found->second;
    }

  private:
    pbs::cmds::Result<std::string> shown(const std::string& name,
                                         std::string (*format)(const batch_status*, std::size_t)) {
        const auto& list = part(name);
        if (!list) return tl::unexpected(list.error());
        return format(list->get(), arguments_.count);
    }
    pbs::cmds::Result<std::string> health() {
        const auto& list = part("health");
        if (!list) return tl::unexpected(list.error());
        const auto& counters = part("counters");
        if (!counters) return tl::unexpected(counters.error());
        const StatusList server(pbs_statserver(connection_.handle(), nullptr, nullptr));
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        const Health found = health_text(list->get(), counters->get(), server.get(), now, zone_version());
        problems_ = found.problems;
        return found.text;
    }

    const Connection& connection_;
    const Arguments& arguments_;
    std::map<std::string, pbs::cmds::Result<StatusList>> parts_;
    std::string text_;
    std::vector<pbs::cmds::Error> errors_;
    int problems_ = 0;
};

int bundle(const Connection& connection, const Arguments& arguments) {
    Report report(connection, arguments);
    report.make(true);
    BundleOptions options;
    options.report = report.text();
    for (const pbs::cmds::Error& error : report.errors()) options.left_out.push_back(error.message);
    options.versions = versions();
    options.anonymous = arguments.anonymous;
    options.now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    if (const auto& health = report.part("health"))
        options.home = pbs::cmds::value_of((*health)->attribs, "home").value_or("");
    if (const auto& users = report.part("users")) {
        options.users.emplace();
        for (const batch_status* at = users->get(); at != nullptr; at = at->next)
            options.users->emplace_back(pbs::cmds::value_of(at->attribs, "who").value_or(""));
    }
    const auto made = make_bundle(connection, options);
    if (!made) return complain(made.error().message, made.error().status);
    for (const std::string& what : made->left_out) (void)complain("not in it: " + what, 0);
    // Only its owner may read the bundle, because it names users.
    if (const int error = pbs::values::write_new_file(arguments.bundle, made->archive, 0600); error != 0)
        return complain(fmt::format("can't write {}: {}", arguments.bundle, pbs::values::system_text(error)),
                        kProblems);
    fmt::print("{}: {}\n", arguments.bundle, size_text(static_cast<double>(made->archive.size())));
    return 0;
}

int run(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Shows what a server does and whether it is well, to managers and operators.", "pbs_diag");
    app.footer("See pbs_diag(8).");
    app.set_version_flag("--version", std::string("pbspolicy ") + PBSPOLICY_VERSION);
    app.add_flag("--health", arguments.health, "Databases, disk, clock, zone data, log");
    app.add_flag("--cycles", arguments.cycles, "The last scheduling cycles: how long, and what they decided");
    app.add_flag("--waiting", arguments.waiting, "Why jobs wait, counted");
    app.add_flag("--requests", arguments.requests, "The last requests that took 50 ms or more");
    app.add_flag("--peers", arguments.peers,
                 "The servers that jobs are pulled from, and whether they answer");
    app.add_flag("--users", arguments.users, "Whose requests take most of the server's time");
    app.add_option("-n,--count", arguments.count, "At most so many lines of each")
        ->type_name("N")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    auto* file =
        app.add_option("--bundle", arguments.bundle,
                       "Write all of it into a new archive for tar(1), with the configuration, a record of "
                       "a cycle, the log and versions")
            ->type_name("FILE");
    app.add_flag("--anonymous", arguments.anonymous, "The same with other names of users, queues and hosts")
        ->needs(file);
    app.add_option("--server", arguments.server, "The server to ask, in place of the default one")
        ->type_name("NAME");
    try {
        app.parse(argc, argv);
        if (!arguments.bundle.empty() && !arguments.all())
            throw CLI::ExcludesError("--bundle", "what is to be shown: it has all");
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kUsage;
    }
    const auto connection = Connection::open(arguments.server);
    if (!connection) return complain(connection.error().message, connection.error().status);
    if (!arguments.bundle.empty()) return bundle(*connection, arguments);
    Report report(*connection, arguments);
    report.make(arguments.all());
    fmt::print("{}", report.text());
    for (const pbs::cmds::Error& error : report.errors()) (void)complain(error.message, 0);
    if (!report.errors().empty()) return report.errors().front().status;
    return report.problems() > 0 ? kProblems : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        return complain(error.what(), kProblems);
    }
}
