#include "server_plugin/host/run/control_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::host {

namespace {

namespace fs = std::filesystem;

std::string_view take_until(std::string_view& text, char end) {
    const auto at = text.find(end);
    const auto part = text.substr(0, at);
    text.remove_prefix(at == text.npos ? text.size() : at + 1);
    return part;
}

// Decodes a path in mountinfo, where a blank is written as \040 and a backslash as \134.
std::string unescaped(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const bool long_enough = text.size() >= 4 && text[0] == '\\';
        const auto code = long_enough ? values::number<unsigned>(text.substr(1, 3), 8) : std::nullopt;
        plain += code ? static_cast<char>(*code) : text[0];
        text.remove_prefix(code ? 4 : 1);
    }
    return plain;
}

struct Mount {
    std::string root;  // the mounted part of the tree of groups
    std::string point;
};

// Finds the mount of cgroup v2 in mountinfo, a line like: 30 23 0:26 /root /mount/point rw,relatime shared:4
// - cgroup2 cgroup2 rw (proc(5))
Result<Mount> find_mount(std::string_view mounts) {
    while (!mounts.empty()) {
        std::string_view line = take_until(mounts, '\n');
        std::array<std::string_view, 5> first;
        for (auto& field : first) field = take_until(line, ' ');
        const auto dash = line.find(" - ");
        if (dash == line.npos || !line.substr(dash + 3).starts_with("cgroup2 ")) continue;
        return Mount{unescaped(first[3]), unescaped(first[4])};
    }
    return fail(PBSE_SYSTEM, "no file system of type cgroup2 is mounted");
}

bool write_to(const std::string& path, std::string_view text) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return fd && write_all(fd.get(), text);
}

// Returns the folders of a group and of all groups below it, its own first.
std::vector<std::string> with_those_below(const std::string& path) {
    std::vector<std::string> folders = {path};
    std::error_code error;
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error))
        if (at->is_directory(error)) folders.push_back(at->path().string());
    return folders;
}

// The name of a group that is made only to test whether groups work. The pid of the testing process follows.
constexpr std::string_view kTry = "pbs-try-";

// Removes the test groups of processes that were killed during their test.
void remove_old_tries(const std::string& own) {
    std::error_code error;
    for (fs::directory_iterator at(own, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        std::string_view pid = name;
        if (!pid.starts_with(kTry)) continue;
        pid.remove_prefix(kTry.size());
        const auto process = values::number<pid_t>(pid);
        if (process && *process > 0 && ::kill(*process, 0) != 0 && errno == ESRCH)
            remove_control_group(at->path().string());
    }
}

Result<void> try_out(const std::string& path) {
    if (auto made = make_control_group(path); !made) return made;
    const pid_t child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) ::pause();
    }
    auto entered = child > 0 ? enter_control_group(path, child)
                             : fail(PBSE_SYSTEM, fmt::format("fork: {}", system_text(errno)));
    const bool killed = entered && write_to(path + "/cgroup.kill", "1");
    const bool frozen = entered && (killed || write_to(path + "/cgroup.freeze", "0"));
    if (entered && !frozen)
        entered = fail(PBSE_SYSTEM, fmt::format("{}: neither cgroup.kill nor cgroup.freeze: {}", path,
                                                system_text(errno)));
    if (child > 0) {
        if (!killed) ::kill(child, SIGKILL);
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    remove_control_group(path);
    return entered;
}

}  // namespace

Result<std::string> own_control_group(std::string_view mounts, std::string_view groups) {
    const auto mount = find_mount(mounts);
    if (!mount) return tl::unexpected(mount.error());
    std::string own;
    while (!groups.empty() && own.empty()) {
        std::string_view line = take_until(groups, '\n');
        if (line.starts_with("0::/")) own = line.substr(3);
    }
    if (own.empty()) return fail(PBSE_SYSTEM, "this process is in no cgroup2 group");
    if ((own + "/").starts_with("/../"))
        return fail(PBSE_SYSTEM, fmt::format("the group {} is outside of what this process sees", own));
    if (mount->root != "/") {
        if (!(own + "/").starts_with(mount->root + "/"))
            return fail(PBSE_SYSTEM, fmt::format("the group {} is not below {}, which is mounted at {}", own,
                                                 mount->root, mount->point));
        own.erase(0, mount->root.size());
    }
    std::string path = mount->point + own;
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

std::string group_of_jobs(const std::string& own) {
    const fs::path path(own);
    if (path.filename() != kServersGroup) return own;
    const std::string parent = path.parent_path().string();
    for (const char* name : {"trusted.delegate", "user.delegate"}) {
        char value = '0';
        if (::getxattr(parent.c_str(), name, &value, 1) == 1 && value == '1') return parent;
    }
    return own;
}

Result<std::string> control_group_parent() {
    const auto mounts = read_file("/proc/self/mountinfo");
    if (!mounts) return tl::unexpected(mounts.error());
    const auto groups = read_file("/proc/self/cgroup");
    if (!groups) return tl::unexpected(groups.error());
    auto own = own_control_group(*mounts, *groups);
    if (!own) return own;
    *own = group_of_jobs(*own);
    remove_old_tries(*own);
    if (auto tried = try_out(fmt::format("{}/{}{}", *own, kTry, ::getpid())); !tried)
        return tl::unexpected(tried.error());
    return own;
}

// The kernel lets the groups below a group have controllers only while no process is in the group itself.
std::string why_busy(const std::string& parent) {
    const auto text = read_file(parent + "/cgroup.procs").value_or("");
    const auto processes = values::words(text);
    const bool own = std::ranges::find(processes, std::to_string(::getpid())) != processes.end();
    return fmt::format(
        ": {} processes are in that group itself{}, and the kernel shares out CPUs only between groups that "
        "have no processes beside them{}",
        processes.size(), own ? ", the server among them" : "",
        own ? "; systemd 254 or later puts the server into a group of its own (DelegateSubgroup)" : "");
}

Result<void> enable_weights(const std::string& parent) {
    const auto has_cpu = [&](const char* file) {
        const auto text = read_file(parent + file);
        const auto words = values::words(text ? std::string_view(*text) : std::string_view());
        return std::ranges::find(words, "cpu") != words.end();
    };
    if (has_cpu("/cgroup.subtree_control")) return {};
    if (!has_cpu("/cgroup.controllers"))
        return fail(PBSE_SYSTEM, fmt::format("{} has no controller cpu", parent));
    if (write_to(parent + "/cgroup.subtree_control", "+cpu")) return {};
    const int error = errno;
    return fail(PBSE_SYSTEM, fmt::format("cannot enable the controller cpu in {}: {}{}", parent,
                                         system_text(error), error == EBUSY ? why_busy(parent) : ""));
}

Result<void> weigh_control_group(const std::string& path, int weight) {
    const std::string file = path + "/cpu.weight";
    if (write_to(file, std::to_string(weight))) return {};
    return fail(PBSE_SYSTEM, fmt::format("cannot write {}: {}", file, system_text(errno)));
}

Result<void> make_control_group(const std::string& path) {
    // EEXIST is no error: an earlier process with the same pid may have left a group of that name.
    if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
    return fail(PBSE_SYSTEM, fmt::format("cannot make the control group {}: {}", path, system_text(errno)));
}

Result<void> enter_control_group(const std::string& path, pid_t process) {
    if (write_to(path + "/cgroup.procs", std::to_string(process))) return {};
    return fail(PBSE_SYSTEM,
                fmt::format("cannot put a process into the control group {}: {}", path, system_text(errno)));
}

std::vector<pid_t> control_group_processes(const std::string& path) {
    std::vector<pid_t> processes;
    for (const auto& folder : with_those_below(path)) {
        const auto text = read_file(folder + "/cgroup.procs").value_or("");
        for (const std::string_view word : values::words(text)) {
            const pid_t process = values::number<pid_t>(word).value_or(0);
            // A 0 stands for a process that isn't visible in this pid namespace.
            if (process > 0) processes.push_back(process);
        }
    }
    return processes;
}

void kill_control_group(const std::string& path) {
    if (write_to(path + "/cgroup.kill", "1")) return;
    write_to(path + "/cgroup.freeze", "1");
    for (const pid_t process : control_group_processes(path)) ::kill(process, SIGKILL);
    write_to(path + "/cgroup.freeze", "0");
}

bool freeze_control_group(const std::string& path, bool frozen) {
    return write_to(path + "/cgroup.freeze", frozen ? "1" : "0");
}

bool remove_control_group(const std::string& path) {
    const auto folders = with_those_below(path);
    bool gone = true;
    // The group may still have a process that was waited for a moment ago. So try again.
    for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder)
        for (int attempt = 0; !(gone = ::rmdir(folder->c_str()) == 0 || errno == ENOENT) && attempt < 20;
             ++attempt)
            ::usleep(1000);
    return gone;
}

}  // namespace pbs::host
