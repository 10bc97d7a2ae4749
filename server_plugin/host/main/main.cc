// The program pbs_server: reads its options, then becomes the server (program.h) or one of its helpers.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server_plugin/host/base/version.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/life/message.h"
#include "server_plugin/host/main/program.h"
#include "server_plugin/host/peers/connector.h"

namespace {

// Prints a message. Replaces control characters, because a terminal might obey them, and the message may have
// names of files and texts of databases that anybody has written.
void tell(std::string_view message) {
    std::string line;
    for (const char c : message) {
        if (c == '\n' || (c >= ' ' && c < '\x7f'))
            line += c;
        else
            line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    (void)std::fprintf(stderr, "pbs_server: %s\n", line.c_str());
}

// Adds the options --backup, --restore and --accept-loss, which can be combined only with --home.
void add_copies(CLI::App& app, std::string& backup, std::string& restore, bool& accept) {
    const auto others = app.get_options();
    const CLI::Validator named(
        [](const std::string& text) { return !text.empty() ? "" : "expected a directory"; }, "DIRECTORY");
    auto* back_up = app.add_option(
        "--backup", backup, "Don't serve: copy the databases, also of a running server, to a new directory");
    auto* put_back = app.add_option(
        "--restore", restore, "Don't serve: put a backup in place of the databases of a server that is down");
    auto* go_on =
        app.add_flag("--accept-loss", accept,
                     "Don't serve: let a home that has lost acknowledged changes go on without them, "
                     "and say what is lost");
    back_up->check(named)->excludes(put_back)->excludes(go_on);
    put_back->check(named)->excludes(go_on);
    for (CLI::Option* other : others) {
        const std::string name = other->get_name();
        if (name == "--home" || name == "--help" || name == "--version") continue;
        back_up->excludes(other);
        put_back->excludes(other);
        go_on->excludes(other);
    }
}

// Makes the C library use pages of 2 MB where the kernel has them: a server with many jobs then needs only
// two thirds of the time for its start and its other work. The library reads the variable GLIBC_TUNABLES only
// when a program begins, so the program sets it and executes itself again. The second run unsets it, so that
// child processes don't get it.
void use_large_pages(char** argv) {
    constexpr const char* kVariable = "GLIBC_TUNABLES";
    constexpr std::string_view kWanted = "glibc.malloc.hugetlb=1";
    // There are no threads yet. NOLINTBEGIN(concurrency-mt-unsafe)
    if (const char* tunables = std::getenv(kVariable); tunables != nullptr) {
        if (tunables == kWanted) unsetenv(kVariable);
        return;
    }
    std::array<char, PATH_MAX> path{};
    if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0) return;
    setenv(kVariable, kWanted.data(), 1);
    execv(path.data(), argv);
    unsetenv(kVariable);
    // NOLINTEND(concurrency-mt-unsafe)
}

int serve(int argc, char** argv) {
    pbs::host::ProgramOptions options;
    CLI::App app{
        "PBS server with the policy plugin. Keeps everything under its home directory; runs jobs on this "
        "machine.",
        "pbs_server"};
    app.set_version_flag("--version", std::string(pbs::host::server_version()));
    app.add_option("-d,--home", options.home, "Home directory (PBS_HOME); made at the first start")
        ->required()
        ->envname("PBS_HOME");
    app.add_option("-p,--port", options.port,
                   "TCP port; 0 takes a free one. The port is in HOME/server_priv/server.port")
        ->capture_default_str();
    app.add_option("--bind", options.bind, "Numeric address to listen on; 0.0.0.0 for all")
        ->capture_default_str();
    app.add_option("--plugin", options.plugin, "Policy plugin; by default pbs_policy.so beside this program");
    app.add_option("--name", options.name,
                   "Name of the server in job ids, kept from its first start on; by default this host's");
    app.add_flag("--daemon", options.daemon, "Go into the background when ready");
    app.add_option("--idle-timeout", options.idle_timeout,
                   "Seconds after which a connection that asks for nothing is closed; 0: never")
        ->capture_default_str();
    app.add_option(
           "--auth-methods", options.auth_methods,
           "How clients over TCP say who they are: resvport (pbs_iff), munge, or both as resvport,munge")
        ->envname("PBS_SUPPORTED_AUTH_METHODS")
        ->capture_default_str();
    app.add_option("--munge-socket", options.munge_socket, "Socket of munged; by default libmunge's");
    app.add_option(
           "--tls-certificate", options.tls_certificate,
           "PEM file with the certificate by which clients over TCP know this server; read anew when it "
           "changes")
        ->envname("PBS_TLS_CERTIFICATE");
    app.add_option("--tls-key", options.tls_key, "PEM file with its key")->envname("PBS_TLS_KEY");
    app.add_option("--tls-required", options.tls_required,
                   "Clients that have to use TLS: none, remote (on other hosts), or all over TCP")
        ->envname("PBS_TLS_REQUIRED");
    app.add_option("--clock-offset", options.clock_offset,
                   "Seconds to add to the clock, for tests and demonstrations");
    app.add_option("--clock-file", options.clock_file,
                   "File with seconds to add to the clock, read again when it changes");
    std::string backup;
    std::string restore;
    bool accept = false;
    add_copies(app, backup, restore, accept);
    CLI11_PARSE(app, argc, argv);

    if (backup.empty() && restore.empty() && !accept) use_large_pages(argv);
    signal(SIGPIPE, SIG_IGN);
    auto done = !backup.empty()    ? pbs::host::run_backup(options, backup)
                : !restore.empty() ? pbs::host::run_restore(options, restore)
                : accept           ? pbs::host::run_accept_loss(options)
                                   : pbs::host::run_server(options);
    if (done) return 0;
    tell(done.error().message);
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (pbs::host::is_connector(argc, argv)) return pbs::host::connector_main(argc, argv);
    if (pbs::host::is_message_writer(argc, argv)) return pbs::host::message_writer_main(argc, argv);
    try {
        return serve(argc, argv);
    } catch (const std::exception& error) {
        tell(error.what());
        return 1;
    }
}
