#include "server_plugin/host/run/job_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "server_plugin/host/base/users.h"
#include "text/pointers.h"

namespace pbs::host {

namespace {

tl::unexpected<LaunchError> launch_error(int status, std::string message) {
    return tl::unexpected<LaunchError>(LaunchError{status, std::move(message)});
}

tl::unexpected<LaunchError> system_error(std::string_view what, const std::string& path) {
    return launch_error(exit_status::kFailBeforeFiles,
                        fmt::format("cannot {} {}: {}", what, path, system_text(errno)));
}

// Opens a file for a job's output, with the user's rights. Returns 0 or an errno value.
int open_as_asked(const std::string& path, Fd& fd) {
    // With O_NONBLOCK, opening a FIFO that nobody reads doesn't block this process. Remove the flag before
    // the job gets the file.
    fd.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOCTTY | O_CLOEXEC | O_NONBLOCK,
                    0666));
    if (!fd) return errno;
    const int flags = ::fcntl(fd.get(), F_GETFL);
    return flags >= 0 && ::fcntl(fd.get(), F_SETFL, flags & ~O_NONBLOCK) == 0 ? 0 : errno;
}

constexpr int kMostNames = 10;

class OutputOpener {
  public:
    OutputOpener(const JobStart& job, const Account& owner, const std::string& home)
        : job_(job), owner_(owner), home_(home) {}

    tl::expected<Fd, LaunchError> open(char stream) {
        const std::string undelivered_name = job_.id.job + (stream == 'o' ? ".OU" : ".ER");
        std::string path = output_file(job_, owner_, stream);
        Fd fd;
        int error = 0;
        {
            const AsOwner as_owner(job_);
            error = as_owner.ok() ? open_as_asked(path, fd) : EPERM;
            if (error == EISDIR) {
                path += "/" + undelivered_name;
                error = open_as_asked(path, fd);
            }
        }
        if (error == 0) {
            paths_.emplace_back(stream, path);
            return fd;
        }
        // new_file_for() replaces a file that has this name already, from an earlier run or from a time when
        // other users could write to the folder.
        std::string instead = home_ + "/undelivered/" + undelivered_name;
        Fd other = new_file_for(instead, 0600, job_.uid, job_.gid);
        for (int number = 1; !other && errno != ENOSPC && number < kMostNames; ++number) {
            instead = fmt::format("{}/undelivered/{}.{}", home_, undelivered_name, number);
            other = new_file_for(instead, 0600, job_.uid, job_.gid);
        }
        if (!other) return system_error("open an output file, not even", instead);
        note_ += fmt::format("{}cannot open {}: {}; the output is in {}", note_.empty() ? "" : "; ", path,
                             system_text(error), instead);
        return other;
    }
    std::string note() const { return note_; }
    std::vector<std::pair<char, std::string>> paths() const { return paths_; }

  private:
    const JobStart& job_;
    const Account& owner_;
    const std::string& home_;
    std::string note_;
    std::vector<std::pair<char, std::string>> paths_;
};

// ---- The code that runs in the child, between fork and exec. ----

enum class Step : int { identity, directory, exec };
struct Failure {
    Step step;
    int error;
};

struct Child {
    const JobStart& job;
    const Account& owner;
    const std::string& shell;
    std::string directory;
    std::string script;
    std::vector<std::string> environment;
    int in;
    int out;
    int err;
    int script_fd;
    int gate;
    int failure;
    pid_t parent;
};

[[noreturn]] void give_up(const Child& child, Step step, int error) {
    const Failure failure{step, error};
    static_cast<void>(!::write(child.failure, &failure, sizeof failure));
    ::_exit(254);
}

void become_owner(const Child& child) {
    const JobStart& job = child.job;
    if (::geteuid() == 0) {
        if (!join_groups(job) || ::setresgid(job.gid, job.gid, job.gid) != 0 ||
            ::setresuid(job.uid, job.uid, job.uid) != 0)
            give_up(child, Step::identity, errno);
        if (job.uid != 0 && ::setuid(0) == 0) give_up(child, Step::identity, EPERM);
    } else if (job.uid != ::geteuid()) {
        give_up(child, Step::identity, EPERM);
    }
    // Make the kernel kill this process, the job's first one, when the shepherd is killed. The warden then
    // ends the job's other processes.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != child.parent) ::_exit(254);
}

void usual_signals_and_limits() {
    // All signals have their default handlers since the launcher was started (posix::Spawn).
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // The server has raised its limit of descriptors. Lower it again for the job, because programs that use
    // select() fail with descriptors above 1023.
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > 1024) {
        files.rlim_cur = 1024;
        ::setrlimit(RLIMIT_NOFILE, &files);
    }
}

[[noreturn]] void run_child(Child child) {
    ::setsid();
    char byte = 0;
    // If there is no byte, the pipe was closed: the shepherd has died before it recorded this session.
    if (::read(child.gate, &byte, 1) != 1) ::_exit(254);
    become_owner(child);
    ::umask(child.job.umask.value_or(077) & 0777);
    if (::chdir(child.directory.c_str()) != 0) give_up(child, Step::directory, errno);
    const bool interactive = child.job.interactive != 0;
    if (!interactive && ::access(child.script.c_str(), R_OK) != 0) {
        // The user can't enter the folder of PBS_HOME, so the shell reads the script from its open
        // descriptor.
        if (::fcntl(child.script_fd, F_SETFD, 0) != 0) give_up(child, Step::exec, errno);
        child.script = fmt::format("/dev/fd/{}", child.script_fd);
    }
    usual_signals_and_limits();
    if (::dup2(child.in, 0) < 0 || ::dup2(child.out, 1) < 0 || ::dup2(child.err, 2) < 0 ||
        (interactive && ::ioctl(0, TIOCSCTTY, 0) != 0))
        give_up(child, Step::exec, errno);
    // A dash before its name makes the shell a login shell, as in PBS.
    const bool login = interactive || !child.job.plain_shell;
    std::vector<std::string> arguments = {(login ? "-" : "") +
                                          std::filesystem::path(child.shell).filename().string()};
    if (!interactive) arguments.push_back(child.script);
    arguments.insert(arguments.end(), child.job.script_arguments.begin(), child.job.script_arguments.end());
    ::execve(child.shell.c_str(), text::pointers(arguments).data(), text::pointers(child.environment).data());
    give_up(child, Step::exec, errno);
}

struct Pipe {
    Fd read;
    Fd write;
};
bool make_pipe(Pipe& pipe) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    pipe.read.reset(ends[0]);
    pipe.write.reset(ends[1]);
    return true;
}

}  // namespace

void look_up_groups(JobStart& job) {
    std::vector<gid_t> groups(16);
    int count = static_cast<int>(groups.size());
    while (::getgrouplist(job.user.c_str(), job.gid, groups.data(), &count) < 0) {
        // `count` is now the number of all groups.
        if (count <= static_cast<int>(groups.size())) return;
        groups.resize(static_cast<std::size_t>(count));
    }
    groups.resize(static_cast<std::size_t>(count));
    job.groups = std::move(groups);
}

bool join_groups(const JobStart& job) {
    // initgroups() also copes with more groups than a process can have.
    return (!job.groups.empty() && ::setgroups(job.groups.size(), job.groups.data()) == 0) ||
           ::initgroups(job.user.c_str(), job.gid) == 0;
}

AsOwner::AsOwner(const JobStart& job) : root_(::geteuid() == 0), gid_(::getegid()) {
    if (!root_) return;
    groups_.resize(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    const int count = ::getgroups(static_cast<int>(groups_.size()), groups_.data());
    ok_ = count >= 0 && join_groups(job) && ::setegid(job.gid) == 0 && ::seteuid(job.uid) == 0;
}

AsOwner::~AsOwner() {
    if (!root_) return;
    // Without root's rights the shepherd couldn't watch the job, so end the shepherd.
    if (::seteuid(0) != 0 || ::setegid(gid_) != 0 || ::setgroups(groups_.size(), groups_.data()) != 0)
        ::_exit(1);
}

tl::expected<Account, LaunchError> find_owner(const JobStart& job) {
    int error = 0;
    auto account = find_account(job.user, error);
    if (error != 0)
        return tl::unexpected<LaunchError>(
            LaunchError{exit_status::kFailBeforeFiles, not_looked_up("user", job.user, error), true});
    if (!account)
        return launch_error(exit_status::kBadUid, fmt::format("no user {} on this machine", job.user));
    if (account->uid != job.uid)
        return launch_error(exit_status::kBadUid,
                            fmt::format("user {} has uid {} now, the job was submitted with uid {}", job.user,
                                        account->uid, job.uid));
    return std::move(*account);
}

std::string shell_of(const JobStart& job, const Account& owner) {
    if (!job.shell.empty()) return job.shell;
    return owner.shell.empty() ? "/bin/sh" : owner.shell;
}

tl::expected<Fd, LaunchError> open_script(const RunFiles& files) {
    Fd script(::open(files.script().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!script) return system_error("open", files.script());
    return script;
}

tl::expected<void, LaunchError> write_node_file(const JobStart& job, const RunFiles& files) {
    std::string text;
    for (const auto& host : job.hosts) text += host + "\n";
    ::unlink(files.nodes().c_str());
    const Fd fd(::open(files.nodes().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd || ::fchmod(fd.get(), 0644) != 0 || !write_all(fd.get(), text))
        return system_error("write", files.nodes());
    return {};
}

std::string make_tmp_dir(const JobStart& job) {
    const AsOwner as_owner(job);
    if (!as_owner.ok()) return {};
    for (const char* base : {"/var/tmp", "/tmp"}) {
        std::string path = fmt::format("{}/pbs.{}", base, job.id.job);
        if (::mkdir(path.c_str(), 0700) == 0) return path;
        // The name is taken, perhaps by a user who wants to prevent the job's start: choose another one.
        path += ".XXXXXX";
        if (errno == EEXIST && ::mkdtemp(path.data()) != nullptr) return path;
    }
    return {};
}

void remove_tmp_dir(const JobStart& job, const std::string& directory) {
    if (directory.empty()) return;
    const AsOwner as_owner(job);
    std::error_code ignored;
    if (as_owner.ok()) std::filesystem::remove_all(directory, ignored);
}

tl::expected<JobOutput, LaunchError> open_output(const JobStart& job, const Account& owner,
                                                 const std::string& home) {
    const mode_t before = ::umask(job.umask.value_or(077) & 0777);
    OutputOpener opener(job, owner, home);
    JobOutput output;
    auto result = [&]() -> tl::expected<void, LaunchError> {
        if (job.join != "eo") {
            auto out = opener.open('o');
            if (!out) return tl::unexpected(out.error());
            output.out = std::move(*out);
        }
        if (job.join != "oe") {
            auto err = opener.open('e');
            if (!err) return tl::unexpected(err.error());
            output.err = std::move(*err);
        }
        if (!output.out) output.out.reset(::fcntl(output.err.get(), F_DUPFD_CLOEXEC, 3));
        if (!output.err) output.err.reset(::fcntl(output.out.get(), F_DUPFD_CLOEXEC, 3));
        return {};
    }();
    ::umask(before);
    if (!result) return tl::unexpected(result.error());
    output.note = opener.note();
    output.paths = opener.paths();
    return output;
}

tl::expected<JobProcess, LaunchError> fork_job(const JobStart& job, const Account& owner,
                                               const JobOutput& output, int terminal, const RunFiles& files,
                                               int script, const std::string& directory,
                                               const std::string& shell,
                                               const std::vector<std::string>& environment) {
    Pipe gate;
    Pipe failure;
    const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int in = terminal >= 0 ? terminal : null.get();
    const int out = terminal >= 0 ? terminal : output.out.get();
    const int err = terminal >= 0 ? terminal : output.err.get();
    if (!make_pipe(gate) || !make_pipe(failure) || !null) return system_error("make", "the pipes of the job");
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return system_error("fork", "the job");
    if (pid == 0) {
        // Close the ends of the pipes that belong to the shepherd. If the child kept the writing end of
        // `gate`, it would never see that the shepherd has ended.
        gate.write.reset();
        failure.read.reset();
        run_child({job, owner, shell, directory, files.script(), environment, in, out, err, script,
                   gate.read.get(), failure.write.get(), parent});
    }
    JobProcess process;
    process.shell = pid;
    process.gate = std::move(gate.write);
    process.failure = std::move(failure.read);
    return process;
}

bool wait_until_running(JobProcess& process, const Account& owner, const std::string& shell,
                        std::string& reason) {
    Failure failure{};
    ssize_t n = 0;
    do {
        n = ::read(process.failure.get(), &failure, sizeof failure);
    } while (n < 0 && errno == EINTR);
    process.failure.reset();
    if (n != sizeof failure) return true;
    const std::string error = system_text(failure.error);
    switch (failure.step) {
        case Step::identity:
            reason = fmt::format("cannot become user {}: {}", owner.name, error);
            break;
        case Step::directory:
            reason = fmt::format("cannot change to the home directory {}: {}", owner.home, error);
            break;
        case Step::exec:
            reason = fmt::format("cannot run the shell {}: {}", shell, error);
            break;
    }
    return false;
}

}  // namespace pbs::host
