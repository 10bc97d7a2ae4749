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
#include <csignal>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "server_plugin/openpbs/conf.h"
#include "server_plugin/openpbs/link.h"
#include "server_plugin/openpbs/service.h"
#include "server_plugin/openpbs/supervise.h"
#include "values/text.h"

namespace {

using namespace pbs::openpbs;  // NOLINT(google-build-using-namespace): this program belongs to that namespace

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

bool is_answered(const std::string& path) {
    const auto fd = beside(path)();
    if (fd) close(*fd);
    return fd.has_value();
}

// Listens on the socket `path` in the server's home. Only the server's user may connect.
tl::expected<int, std::string> listen_on(const std::string& path) {
    const auto address = socket_address(path);
    if (!address) return tl::unexpected(address.error());
    if (is_answered(path)) return tl::unexpected(fmt::format("{}: another pbs_policyd answers there", path));
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

// Serves one connection of the server at a time: accepts the next one when the last one has ended. Returns 1
// after an error.
int answer(int listener, const ServiceOptions& options) {
    const std::atomic<bool> never = false;
    for (;;) {
        const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (fd < 0) {
            log_line(system_text());
            return 1;
        }
        if (is_servers(fd)) {
            serve(fd, options, never);
        } else {
            close(fd);
        }
    }
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
        std::string self(4096, '\0');
        const ssize_t size = readlink("/proc/self/exe", self.data(), self.size());
        self.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        const std::string folder = self.substr(0, self.rfind('/'));
        plugin = folder + "/pbs_policy.so";
        if (access(plugin.c_str(), R_OK) != 0) plugin = folder + "/../lib/pbspolicy/pbs_policy.so";
    }
    std::signal(SIGPIPE, SIG_IGN);
    openlog("pbs_policyd", LOG_PID, LOG_DAEMON);
    const auto work = [&](const std::function<void(const std::string&)>& log) {
        const auto listener = listen_on(service_file(home, "sock"));
        if (listener) return answer(*listener, {plugin, home, is_scheduler(), log});
        log(listener.error());
        return 1;
    };
    if (!daemon) return work(log_line);
    // Another supervisor, such as systemd, may already run the service.
    if (is_answered(service_file(home, "sock"))) return 0;
    const auto log = [path = service_file(home, "log")](const std::string& line) { log_to(path, line); };
    return supervise({pid_file, [&] { return work(log); }, log});
}
