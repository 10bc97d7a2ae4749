#include "server_plugin/host/run/process_tree.h"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace pbs::host {

namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

// The entries of a directory whose names are numbers: pids, thread ids.
std::vector<pid_t> numbers_in(const std::string& path) {
    std::vector<pid_t> numbers;
    const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
    if (!directory) return numbers;
    // A stream of its own is read by this thread only.
    while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
        pid_t number = 0;
        const char* end = entry->d_name + std::strlen(entry->d_name);
        const auto [stop, error] = std::from_chars(entry->d_name, end, number);
        if (error == std::errc() && stop == end) numbers.push_back(number);
    }
    return numbers;
}

// The children of a process, each under the thread that made it. None if the kernel doesn't list them.
std::optional<std::vector<pid_t>> listed_children(pid_t pid) {
    std::vector<pid_t> children;
    bool listed = false;
    for (const pid_t thread : numbers_in(fmt::format("/proc/{}/task", pid))) {
        const auto text = read_file(fmt::format("/proc/{}/task/{}/children", pid, thread));
        if (!text) continue;
        listed = true;
        const char* at = text->data();
        const char* end = at + text->size();
        while (at < end) {
            pid_t child = 0;
            const auto [stop, error] = std::from_chars(at, end, child);
            if (error == std::errc()) children.push_back(child);
            at = stop + 1;
        }
    }
    if (!listed) return std::nullopt;
    return children;
}

std::vector<Process> below_in(const std::vector<Process>& all, pid_t root) {
    std::unordered_multimap<pid_t, const Process*> children;
    for (const auto& process : all) children.emplace(process.parent, &process);
    std::vector<Process> found;
    std::vector<pid_t> open = {root};
    while (!open.empty()) {
        const auto [first, last] = children.equal_range(open.back());
        open.pop_back();
        for (auto it = first; it != last; ++it) {
            found.push_back(*it->second);
            open.push_back(it->second->pid);
        }
    }
    return found;
}

}  // namespace

std::optional<Process> parse_stat(std::string_view line) {
    // The second field is the command's name in parentheses and may hold anything, so the fields count from
    // its end.
    const auto name_end = line.rfind(')');
    if (name_end == line.npos || name_end + 2 >= line.size()) return std::nullopt;
    Process process;
    if (std::from_chars(line.data(), line.data() + name_end, process.pid).ec != std::errc())
        return std::nullopt;
    process.state = line[name_end + 2];
    std::array<std::int64_t, 25> fields{};  // by their number in proc(5)
    auto rest = line.substr(name_end + 3);
    for (std::size_t i = 4; i < fields.size(); ++i) {
        const auto start = rest.find_first_not_of(' ');
        if (start == rest.npos) return std::nullopt;
        rest.remove_prefix(start);
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), fields[i]);
        // Only fields not used here can be too large for the type.
        if (error == std::errc::invalid_argument) return std::nullopt;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    }
    static const std::int64_t page_kb = ::sysconf(_SC_PAGESIZE) / 1024;
    process.parent = static_cast<pid_t>(fields[4]);
    process.session = static_cast<pid_t>(fields[6]);
    process.cpu = static_cast<std::uint64_t>(fields[14] + fields[15] + fields[16] + fields[17]);
    process.start = static_cast<std::uint64_t>(fields[22]);
    process.vmem_kb = fields[23] / 1024;
    process.mem_kb = fields[24] * page_kb;
    return process;
}

std::optional<Process> read_process(pid_t pid) {
    const auto text = read_file(fmt::format("/proc/{}/stat", pid));
    return text ? parse_stat(*text) : std::nullopt;
}

std::vector<Process> all_processes() {
    std::vector<Process> all;
    for (const pid_t pid : numbers_in("/proc"))
        if (auto process = read_process(pid)) all.push_back(*process);
    return all;
}

std::vector<Process> descendants(pid_t root) {
    std::vector<Process> found;
    std::unordered_set<pid_t> seen = {root};
    std::vector<pid_t> open = {root};
    while (!open.empty()) {
        const pid_t pid = open.back();
        open.pop_back();
        const auto children = listed_children(pid);
        if (!children && pid == root) return below_in(all_processes(), root);
        for (const pid_t child : children.value_or(std::vector<pid_t>{})) {
            if (!seen.insert(child).second) continue;
            if (auto process = read_process(child)) {
                found.push_back(*process);
                open.push_back(child);
            }
        }
    }
    return found;
}

Fd open_process(pid_t pid) {
    return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
}

bool signal_pidfd(int pidfd, int signal, int value) {
    siginfo_t info{};
    info.si_signo = signal;
    info.si_code = SI_QUEUE;
    info.si_pid = ::getpid();
    info.si_uid = ::getuid();
    info.si_value.sival_int = value;
    return ::syscall(SYS_pidfd_send_signal, pidfd, signal, signal == 0 ? nullptr : &info, 0U) == 0;
}

bool signal_process(const Process& process, int signal) {
    const Fd pidfd = open_process(process.pid);
    if (!pidfd) return false;
    const auto now = read_process(process.pid);
    return now && now->start == process.start && signal_pidfd(pidfd.get(), signal);
}

std::chrono::milliseconds ticks_to_time(std::uint64_t ticks) {
    static const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    return std::chrono::milliseconds(ticks * 1000 / per_second);
}

std::string boot_id() {
    auto text = read_file("/proc/sys/kernel/random/boot_id").value_or("");
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

}  // namespace pbs::host
