#include "server_plugin/openpbs/running_daemon.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "server_plugin/openpbs/link.h"
#include "values/fd.h"
#include "values/text.h"

namespace pbs::openpbs {
namespace {
namespace fs = std::filesystem;

std::string file_of(pid_t pid, std::string_view name) {
    std::ifstream file(fmt::format("/proc/{}/{}", pid, name));
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string canonical(const std::string& path) {
    std::error_code error;
    const fs::path known = fs::weakly_canonical(path, error);
    return error ? path : known.string();
}

// Returns the path of the plugin that a process was started for: its option --plugin, or the plugin that is
// installed with its program.
std::string plugin_of(pid_t pid) {
    constexpr std::string_view kOption = "--plugin";
    const std::string line = file_of(pid, "cmdline");
    const auto arguments = values::split(line, '\0');
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        if (argument == kOption && i + 1 < arguments.size()) return std::string(arguments[i + 1]);
        if (argument.starts_with("--plugin=")) return std::string(argument.substr(kOption.size() + 1));
    }
    std::error_code error;
    return plugin_of_program(fs::read_symlink(fmt::format("/proc/{}/exe", pid), error));
}

// Returns the path of a plugin that a process has loaded and whose file was removed or replaced since:
// "/usr/lib/pbspolicy/pbs_policy.so (deleted)". It is a mapped file with the name of `plugin`, but not its
// path. Empty: there is none.
std::string replaced_plugin(pid_t pid, const std::string& plugin) {
    const std::string wanted = canonical(plugin);
    const std::string name = "/" + fs::path(wanted).filename().string();
    const std::string maps = file_of(pid, "maps");
    for (const std::string_view line : values::split(maps, '\n')) {
        const std::size_t at = line.find('/');
        if (at == std::string_view::npos) continue;
        const std::string_view path = line.substr(at);
        if (path.find(name) != std::string_view::npos && path != wanted) return std::string(path);
    }
    return {};
}

}  // namespace

std::optional<pid_t> listener_of(const std::string& socket_path) {
    const auto made = beside(socket_path)();
    if (!made) return std::nullopt;
    const values::Fd fd(*made);
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

// A process that has ended has no link `exe`, even before its parent has read its status.
bool executes(pid_t pid) {
    struct stat status {};
    return stat(fmt::format("/proc/{}/exe", pid).c_str(), &status) == 0;
}

std::string plugin_of_program(const std::string& program) {
    const std::string folder = program.substr(0, program.rfind('/'));
    std::string beside = folder + "/pbs_policy.so";
    if (access(beside.c_str(), R_OK) == 0) return beside;
    return folder + "/../lib/pbspolicy/pbs_policy.so";
}

std::string difference_of(pid_t pid, const std::string& plugin) {
    if (pid <= 0) return {};
    const std::string link = fmt::format("/proc/{}/exe", pid);
    struct stat its {};
    struct stat own {};
    if (stat(link.c_str(), &its) != 0) return fmt::format("{}: {}", link, values::system_text(errno));
    std::error_code error;
    if (stat("/proc/self/exe", &own) != 0 || its.st_dev != own.st_dev || its.st_ino != own.st_ino)
        return fmt::format("it executes {}", fs::read_symlink(link, error).string());
    if (const std::string other = plugin_of(pid); canonical(other) != canonical(plugin))
        return fmt::format("its plugin is {}", other);
    if (const std::string other = replaced_plugin(pid, plugin); !other.empty())
        return fmt::format("it has loaded {}", other);
    return {};
}

}  // namespace pbs::openpbs
