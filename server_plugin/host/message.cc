#include "server_plugin/host/message.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ifl/pbs_error.h"
#include "server_plugin/host/job_env.h"
#include "server_plugin/host/launch.h"
#include "server_plugin/host/users.h"

namespace pbs::host {
namespace {

// In a child that has become the job's owner: 0, or an errno.
int append_as_owner(const JobStart& start, const std::string& path, const std::string& line) {
    if (geteuid() == 0 &&
        (initgroups(start.user.c_str(), start.gid) != 0 || setgid(start.gid) != 0 || setuid(start.uid) != 0))
        return errno;
    const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno;
    struct stat info {};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return EINVAL;
    if (write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        return errno == 0 ? EIO : errno;
    return 0;
}

}  // namespace

Result<void> write_message(const Server& server, const Job& job, char stream, std::string_view text) {
    auto start = job_start(job, server, {});
    if (!start) return tl::unexpected(start.error());
    const auto owner = find_user(start->uid);
    PasswdEntry entry;
    entry.name = start->user;
    if (owner) entry.home = owner->home;
    // With joined output there is one file.
    if (start->join == "oe") stream = 'o';
    if (start->join == "eo") stream = 'e';
    const std::string path = output_file(*start, entry, stream);
    const std::string line = fmt::format("PBS: {}\n", text);
    const pid_t child = fork();
    if (child < 0) return fail(PBSE_SYSTEM, fmt::format("fork: {}", std::strerror(errno)));
    if (child == 0) _exit(append_as_owner(*start, path, line));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return fail(
        PBSE_SYSTEM,
        fmt::format("{}: {}", path, WIFEXITED(status) ? std::strerror(WEXITSTATUS(status)) : "writer died"));
}

}  // namespace pbs::host
