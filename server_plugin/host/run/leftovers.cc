#include "server_plugin/host/run/leftovers.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <set>
#include <string>
#include <utility>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/control_group.h"

namespace pbs::host {

namespace {

using namespace std::chrono_literals;

constexpr auto kKillAgain = 50ms;
// The most rounds in which stop_all() stops processes. If processes start others faster than these are found,
// stop_all() then returns those that it has stopped.
constexpr int kMostLooks = 100;

bool belongs_to(const Process& process, uid_t uid) {
    struct stat status {};
    return ::stat(fmt::format("/proc/{}", process.pid).c_str(), &status) == 0 && status.st_uid == uid;
}

bool has_cookie(const Process& process, const std::string& cookie) {
    const auto environment = read_file(fmt::format("/proc/{}/environ", process.pid));
    return environment && environment->find("PBS_JOBCOOKIE=" + cookie) != environment->npos;
}

// Returns whether the process is in the job's session. The kernel doesn't reuse the number of a session that
// has members. But if the job's session has ended, another session may have its number. It then has another
// leader than the job's shell.
bool in_session(const Process& process, const std::optional<SessionRecord>& session) {
    if (!session || process.session != session->session) return false;
    const auto leader = read_process(session->session);
    return !leader || leader->start == session->shell_start;
}

// Waits until a child ends, or for the given time.
void wait_a_moment(std::chrono::milliseconds time) {
    sigset_t child_ended;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    const timespec moment{0, std::chrono::nanoseconds(time).count()};
    ::sigtimedwait(&child_ended, nullptr, &moment);
}

// Stops the processes that `find` finds, round by round until it finds no new ones, and returns them. A
// stopped process starts no others, so each round finds fewer new ones.
std::vector<Process> stop_all(const std::function<std::vector<Process>()>& find) {
    std::vector<Process> all;
    std::set<std::pair<pid_t, std::uint64_t>> stopped;
    for (int look = 0; look < kMostLooks; ++look) {
        all = find();
        std::erase_if(all, [](const Process& process) { return process.state == 'Z'; });
        bool more = false;
        for (const auto& process : all)
            if (stopped.emplace(process.pid, process.start).second)
                more = signal_process(process, SIGSTOP) || more;
        if (!more) break;
    }
    return all;
}

}  // namespace

std::vector<Process> find_leftovers(const JobSpec& spec, const std::optional<SessionRecord>& recorded) {
    const auto session = recorded && recorded->boot == boot_id() ? recorded : std::nullopt;
    std::set<pid_t> in_group;
    if (!spec.control_group.empty())
        for (const pid_t pid : control_group_processes(spec.control_group)) in_group.insert(pid);
    auto all = all_processes();
    std::erase_if(all, [&](const Process& process) {
        if (process.state == 'Z' || process.pid == ::getpid()) return true;
        if (in_group.contains(process.pid)) return false;
        if (!spec.cookie.empty() && has_cookie(process, spec.cookie)) return false;
        return !(in_session(process, session) && belongs_to(process, spec.start.uid));
    });
    return all;
}

std::size_t kill_processes(const std::function<std::vector<Process>()>& find,
                           const std::string& control_group, const std::function<void()>& reap,
                           std::chrono::milliseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    for (;;) {
        if (!control_group.empty()) kill_control_group(control_group);
        const auto left = stop_all(find);
        for (const auto& process : left) signal_process(process, SIGKILL);
        reap();
        if (left.empty() && (control_group.empty() || control_group_processes(control_group).empty()))
            return 0;
        if (std::chrono::steady_clock::now() >= until) return std::max<std::size_t>(left.size(), 1);
        wait_a_moment(kKillAgain);
    }
}

}  // namespace pbs::host
