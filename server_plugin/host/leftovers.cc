#include "server_plugin/host/leftovers.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "server_plugin/host/posix.h"
#include "server_plugin/host/process_tree.h"

namespace pbs::host {

namespace {

bool belongs_to(const Process& process, uid_t uid) {
    struct stat status {};
    return ::stat(fmt::format("/proc/{}", process.pid).c_str(), &status) == 0 && status.st_uid == uid;
}

bool has_cookie(const Process& process, const std::string& cookie) {
    const auto environment = read_file(fmt::format("/proc/{}/environ", process.pid));
    return environment && environment->find("PBS_JOBCOOKIE=" + cookie) != environment->npos;
}

// A session's number isn't given away while it has members, so they are the job's, unless the session ended
// and its number came back: then its leader is another process than the job's shell.
bool in_session(const Process& process, const std::optional<SessionRecord>& session) {
    if (!session || process.session != session->session) return false;
    const auto leader = read_process(session->session);
    return !leader || leader->start == session->shell_start;
}

std::vector<Process> find(const JobSpec& spec, const std::optional<SessionRecord>& session) {
    auto all = all_processes();
    std::erase_if(all, [&](const Process& process) {
        if (process.state == 'Z' || process.pid == ::getpid()) return true;
        if (!spec.cookie.empty() && has_cookie(process, spec.cookie)) return false;
        return !(in_session(process, session) && belongs_to(process, spec.start.uid));
    });
    return all;
}

}  // namespace

std::size_t kill_leftovers(const JobSpec& spec, const std::optional<SessionRecord>& recorded) {
    const auto session = recorded && recorded->boot == boot_id() ? recorded : std::nullopt;
    std::vector<Process> left;
    for (int attempt = 0; attempt < 40; ++attempt) {
        left = find(spec, session);
        if (left.empty()) return 0;
        for (const auto& process : left) signal_process(process, SIGKILL);
        ::usleep(50'000);
    }
    return left.size();
}

}  // namespace pbs::host
