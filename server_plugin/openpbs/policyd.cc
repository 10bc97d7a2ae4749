// pbs_policyd: the policy service as a process beside pbs_server of OpenPBS.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <tl/expected.hpp>

#include "server_plugin/openpbs/conf.h"
#include "server_plugin/openpbs/link.h"
#include "server_plugin/openpbs/running_daemon.h"
#include "server_plugin/openpbs/service.h"
#include "server_plugin/openpbs/supervise.h"
#include "values/text.h"

namespace {

using namespace pbs::openpbs;  // NOLINT(google-build-using-namespace): this program belongs to that namespace

using Log = std::function<void(const std::string&)>;

// The longest wait for a daemon to end, and then for a supervisor, such as systemd, to start it again.
constexpr std::chrono::seconds kSupervisorsPause{5};

std::string system_text() {
    return pbs::values::system_text(errno);
}

void log_line(const std::string& line) {
    fmt::print(stderr, "pbs_policyd: {}\n", line);
}

// Appends a line to the log file `path`. If the file can't be written, as on a full disk, writes the line to
// the machine's log.
void log_to(const std::string& path, const std::string& line) {
    std::FILE* file = std::fopen(path.c_str(), "ae");
    if (file != nullptr) {
        fmt::print(file, "{:%m/%d/%Y %H:%M:%S};{}\n", fmt::localtime(std::time(nullptr)), line);
        if (std::fclose(file) == 0) return;
    }
    syslog(LOG_DAEMON | LOG_ERR, "%s", line.c_str());
}

// Listens on the socket `path` in the server's home. Only the server's user may connect.
tl::expected<int, std::string> listen_on(const std::string& path) {
    const auto address = socket_address(path);
    if (!address) return tl::unexpected(address.error());
    if (listener_of(path)) return tl::unexpected(fmt::format("{}: another pbs_policyd answers there", path));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return tl::unexpected(system_text());
    unlink(path.c_str());
    umask(0177);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0 && listen(fd, 4) == 0)
        return fd;
    const std::string why = fmt::format("{}: {}", path, system_text());
    close(fd);
    return tl::unexpected(why);
}

bool is_servers(int fd) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

// Serves one connection of the server at a time: accepts the next one when the last one has ended. pbs.conf
// says for each connection, thus at each start of the server, whether the plugin schedules. Returns 1 after
// an error.
int answer(int listener, ServiceOptions options) {
    const std::atomic<bool> never = false;
    for (;;) {
        const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (fd < 0) {
            log_line(system_text());
            return 1;
        }
        if (is_servers(fd)) {
            options.scheduler = is_scheduler();
            serve(fd, options, never);
        } else {
            close(fd);
        }
    }
}

// Waits until `done` returns true, at most for kSupervisorsPause. Returns its last result.
template <class Done>
bool wait_until(Done&& done) {
    const auto until = std::chrono::steady_clock::now() + kSupervisorsPause;
    while (!done() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return done();
}

// Ends the daemon of this home if it differs from this process (difference_of()). Returns the exit status of
// this process: 0 if a daemon runs that doesn't differ; 1 if one that differs can't be ended, or is started
// again by a supervisor. nullopt: no daemon runs, so this process has to start one.
std::optional<int> make_way(const std::string& home, const std::string& plugin, const Log& log) {
    const std::string socket = service_file(home, "sock");
    const std::string pid_file = service_file(home, "pid");
    const auto refuse = [&](const std::string& line) {
        log(line);
        log_line(line);
        return 1;
    };
    // Look again after each end: another process of this program and plugin, started at the same time, may
    // have become the daemon.
    std::string why;
    for (int round = 0; round < 3; ++round) {
        const auto listener = listener_of(socket);
        auto supervisor = supervisor_of(pid_file);
        // A supervisor that has just begun has locked the file, but not yet written its id.
        if (supervisor == 0) (void)wait_until([&] { return (supervisor = supervisor_of(pid_file)) != 0; });
        if (!listener && !supervisor) return std::nullopt;
        const pid_t found = listener.value_or(0) != 0 ? *listener : supervisor.value_or(0);
        why = difference_of(found, plugin);
        if (why.empty()) return 0;
        log(fmt::format("process {} is ended, as it is another pbs_policyd: {}", found, why));
        if (supervisor) {
            if (stop_supervised(pid_file, *supervisor) != 0)
                return refuse(fmt::format("process {}, another pbs_policyd, can't be ended: {}", found, why));
            continue;
        }
        // The listener isn't a child of this program's supervisor. Another one, such as systemd, may start it
        // again.
        kill(found, SIGTERM);
        if (!wait_until([&] { return !executes(found); }))
            return refuse(fmt::format("process {}, another pbs_policyd, can't be ended: {}", found, why));
        std::optional<pid_t> next;
        if (!wait_until([&] { return (next = listener_of(socket)).has_value(); })) return std::nullopt;
        why = difference_of(*next, plugin);
        if (why.empty()) return 0;
        return refuse(fmt::format("process {} is another pbs_policyd, which is started again if ended: {}",
                                  *next, why));
    }
    return refuse(fmt::format("each time that another pbs_policyd is ended, one more is started: {}", why));
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "The policy service beside pbs_server of OpenPBS: policies, time windows and fairshare groups"};
    std::string home = pbs_home();
    std::string plugin;
    app.add_option("--home", home, "PBS_HOME of the server")->capture_default_str();
    app.add_option("--plugin", plugin, "The plugin, pbs_policy.so; else the one that is installed with this");
    app.set_version_flag("--version", std::string("pbs_policyd ") + PBSPOLICY_VERSION);
    bool daemon = false;
    bool stop = false;
    app.add_flag("--daemon", daemon, "Go to the background, and be started again after a crash");
    app.add_flag("--stop", stop, "End the one in the background")->excludes("--daemon");
    CLI11_PARSE(app, argc, argv);
    const std::string pid_file = service_file(home, "pid");
    if (stop) return stop_supervised(pid_file);
    if (plugin.empty()) {
        std::error_code error;
        plugin = plugin_of_program(std::filesystem::read_symlink("/proc/self/exe", error));
    }
    std::signal(SIGPIPE, SIG_IGN);
    openlog("pbs_policyd", LOG_PID, LOG_DAEMON);
    const auto work = [&](const Log& log) {
        const auto listener = listen_on(service_file(home, "sock"));
        if (listener) return answer(*listener, {plugin, home, false, log});
        log(listener.error());
        return 1;
    };
    if (!daemon) return work(log_line);
    const auto log = [path = service_file(home, "log")](const std::string& line) { log_to(path, line); };
    if (const auto status = make_way(home, plugin, log)) return *status;
    return supervise({pid_file, [&] { return work(log); }, log});
}
