#include "server_plugin/host/run/staging.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/job_process.h"
#include "text/pointers.h"

namespace pbs::host {

namespace {

constexpr std::size_t kLongestReason = 400;

std::string in_directory(const std::string& path, const std::string& directory) {
    return path.starts_with('/') ? path : directory + "/" + path;
}

bool same_file(const std::string& a, const std::string& b) {
    struct stat one {};
    struct stat other {};
    return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

// Returns the environment of a program that runs as a job's owner. The owner can read it below /proc, so it
// has none of the server's variables but those by which the program chooses the language of its messages.
std::vector<std::string> small_environment() {
    std::vector<std::string> variables{"PATH=/usr/bin:/bin"};
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string_view variable = *one;
        for (const char* wanted : {"LANG=", "LANGUAGE=", "LC_"})
            if (variable.starts_with(wanted)) variables.emplace_back(variable);
    }
    return variables;
}

// Runs cp as the job's owner. Returns the reason for a failure, or an empty string.
std::string copy(const JobStart& job, const std::string& from, const std::string& to) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_text(errno);
    const Fd out(ends[0]);
    Fd errors(ends[1]);
    std::vector<std::string> environment = small_environment();
    const pid_t pid = ::fork();
    if (pid < 0) return system_text(errno);
    if (pid == 0) {
        if (::geteuid() == 0 && (!join_groups(job) || ::setresgid(job.gid, job.gid, job.gid) != 0 ||
                                 ::setresuid(job.uid, job.uid, job.uid) != 0))
            ::_exit(126);
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::umask(job.umask.value_or(077) & 0777);
        ::dup2(errors.get(), STDERR_FILENO);
        std::vector<std::string> arguments{"cp", "-rp", "--", from, to};
        ::execve("/bin/cp", text::pointers(arguments).data(), text::pointers(environment).data());
        ::_exit(127);
    }
    errors.reset();
    std::string why = read_fd(out.get(), "cp").value_or("");
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    while (why.ends_with('\n')) why.pop_back();
    if (why.empty()) why = "cp failed";
    return why.substr(0, kLongestReason);
}

// Puts a backslash before each of `characters` in the text, so that a pattern matches them literally.
std::string quoted(std::string_view text, std::string_view characters) {
    std::string pattern;
    for (const char c : text) {
        if (characters.find(c) != std::string_view::npos) pattern += '\\';
        pattern += c;
    }
    return pattern;
}

// Returns the file with this path or, if there is none, the files that match the path as a pattern. A
// backslash in the path is an ordinary character. `directory`, which is put before a relative path, is never
// a pattern.
std::vector<std::string> matches(const JobStart& job, const std::string& path, const std::string& directory) {
    const AsOwner as_owner(job);
    struct stat info {};
    if (!as_owner.ok()) return {};
    if (const std::string named = in_directory(path, directory); ::lstat(named.c_str(), &info) == 0)
        return {named};
    const std::string pattern = in_directory(quoted(path, "\\"), quoted(directory, "\\*?["));
    glob_t found{};
    std::vector<std::string> paths;
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
        paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    return paths;
}

// Reads a path as it is written in the list of files, where each comma has a backslash before it.
std::string staged_path(std::string_view text) {
    std::string path;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (!text.substr(i).starts_with("\\,")) path += text[i];
    return path;
}

}  // namespace

Result<StagedFile> parse_staged_file(std::string_view entry) {
    const auto at = entry.find('@');
    const auto colon = at == entry.npos ? entry.npos : entry.find(':', at);
    StagedFile file;
    if (colon != entry.npos)
        file = {staged_path(entry.substr(0, at)), std::string(entry.substr(at + 1, colon - at - 1)),
                staged_path(entry.substr(colon + 1))};
    if (file.local.empty() || file.host.empty() || file.remote.empty())
        return fail(PBSE_BADATVAL, fmt::format("\"{}\": expected local_path@host:path", entry));
    return file;
}

tl::expected<void, std::string> stage_in(const JobStart& job, const std::string& directory,
                                         const std::string& home) {
    for (const std::string& entry : job.stage_in) {
        const auto file = parse_staged_file(entry);
        if (!file) return tl::unexpected(file.error().message);
        const std::string to = in_directory(file->local, directory);
        const std::string from = in_directory(file->remote, home);
        if (same_file(from, to)) continue;
        if (const std::string why = copy(job, from, to); !why.empty())
            return tl::unexpected(fmt::format("stagein of {}: {}", from, why));
    }
    return {};
}

std::string stage_out(const JobStart& job, const std::string& directory, const std::string& home) {
    std::string note;
    std::vector<std::string> done;
    for (const std::string& entry : job.stage_out) {
        const auto file = parse_staged_file(entry);
        if (!file) continue;
        const auto found = matches(job, file->local, directory);
        const std::string to = in_directory(file->remote, home);
        const auto failed = [&](const std::string& path, const std::string& why) {
            note += fmt::format("{}stageout of {} to {}: {}", note.empty() ? "" : "; ", path, to, why);
        };
        if (found.empty()) failed(in_directory(file->local, directory), "there is no such file");
        for (const std::string& path : found) {
            if (same_file(path, to)) continue;
            if (const std::string why = copy(job, path, to); !why.empty()) {
                failed(path, why + "; it is kept");
            } else {
                done.push_back(path);
            }
        }
    }
    for (const std::string& entry : job.stage_in)
        if (const auto file = parse_staged_file(entry))
            if (const std::string path = in_directory(file->local, directory);
                !same_file(path, in_directory(file->remote, home)))
                done.push_back(path);
    remove_as_owner(job, done);
    return note;
}

tl::expected<std::string, std::string> make_sandbox(const JobStart& job, const std::string& home) {
    const AsOwner as_owner(job);
    // Use OpenPBS's name for the directory. Remove a directory that an earlier run has left.
    std::string path = fmt::format("{}/pbs.{}.x8z", home, job.id.job);
    std::error_code ignored;
    if (as_owner.ok()) std::filesystem::remove_all(path, ignored);
    if (as_owner.ok() && ::mkdir(path.c_str(), 0700) == 0) return path;
    return tl::unexpected(fmt::format("cannot make the job's directory {}: {}", path, system_text(errno)));
}

void remove_as_owner(const JobStart& job, const std::vector<std::string>& paths) {
    const AsOwner as_owner(job);
    std::error_code ignored;
    if (!as_owner.ok()) return;
    for (const std::string& path : paths) std::filesystem::remove_all(path, ignored);
}

}  // namespace pbs::host
