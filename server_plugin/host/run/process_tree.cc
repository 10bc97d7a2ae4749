#include "server_plugin/host/run/process_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/shepherd_protocol.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::host {

namespace {

// Returns the names in a directory that are numbers, such as pids and thread ids.
std::vector<pid_t> numbers_in(const std::string& path) {
    std::vector<pid_t> numbers;
    const OpenDirectory directory(::opendir(path.c_str()));
    if (!directory) return numbers;
    // Only this thread reads the stream, because the stream belongs to this function.
    while (const dirent* entry = ::readdir(directory.get()))  // NOLINT(concurrency-mt-unsafe)
        if (const auto number = values::number<pid_t>(entry->d_name)) numbers.push_back(*number);
    return numbers;
}

// Returns the children of a process. The kernel lists each child under the thread that made it. `threads`:
// their number; 0: it isn't known. nullopt: the kernel doesn't list children.
std::optional<std::vector<pid_t>> listed_children(pid_t pid, std::int64_t threads) {
    std::vector<pid_t> children;
    bool listed = false;
    // The only thread of a process has the number of the process. To list the threads takes longer than all
    // else here.
    for (const pid_t thread :
         threads == 1 ? std::vector<pid_t>{pid} : numbers_in(fmt::format("/proc/{}/task", pid))) {
        const auto text = read_file(fmt::format("/proc/{}/task/{}/children", pid, thread));
        if (!text) continue;
        listed = true;
        for (const std::string_view word : values::words(*text))
            if (const auto child = values::number<pid_t>(word)) children.push_back(*child);
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
    // The second field is the command's name in parentheses and may contain anything, so count fields from
    // the last parenthesis.
    const auto name_end = line.rfind(')');
    if (name_end == line.npos || name_end + 2 >= line.size()) return std::nullopt;
    std::string_view before = line;
    const auto pid = values::take_number<pid_t>(before);
    if (!pid) return std::nullopt;
    Process process;
    process.pid = *pid;
    process.state = line[name_end + 2];
    std::array<std::int64_t, 25> fields{};  // by their number in proc(5)
    const auto words = values::words(line.substr(name_end + 3));
    if (words.size() + 4 < fields.size()) return std::nullopt;
    for (std::size_t i = 4; i < fields.size(); ++i) {
        const auto field = values::number<std::int64_t>(words[i - 4]);
        if (!field) return std::nullopt;
        fields[i] = *field;
    }
    static const std::int64_t page_kb = ::sysconf(_SC_PAGESIZE) / 1024;
    process.parent = static_cast<pid_t>(fields[4]);
    process.session = static_cast<pid_t>(fields[6]);
    process.cpu = static_cast<std::uint64_t>(fields[14] + fields[15] + fields[16] + fields[17]);
    process.threads = fields[20];
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
    std::vector<std::pair<pid_t, std::int64_t>> open = {{root, 0}};  // with the number of threads
    while (!open.empty()) {
        const auto [pid, threads] = open.back();
        open.pop_back();
        const auto children = listed_children(pid, threads);
        if (!children && pid == root) return below_in(all_processes(), root);
        for (const pid_t child : children.value_or(std::vector<pid_t>{})) {
            if (!seen.insert(child).second) continue;
            if (auto process = read_process(child)) {
                found.push_back(*process);
                open.emplace_back(child, process->threads);
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

Fd open_supervisor(const std::string& started) {
    const Fd file(::open(started.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return {};
    for (const off_t byte : {kWardenByte, kShepherdByte}) {
        const pid_t pid = lock_holder(file.get(), byte);
        if (pid <= 0) continue;
        Fd process = open_process(pid);
        // Check again that the process has the lock: it may have ended, and another process may have got its
        // pid.
        if (process && lock_holder(file.get(), byte) == pid) return process;
    }
    return {};
}

}  // namespace pbs::host
