#include "server_plugin/host/shepherd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/host/job_process.h"
#include "server_plugin/host/key_value.h"
#include "server_plugin/host/process_tree.h"
#include "server_plugin/host/run_files.h"
#include "server_plugin/host/shepherd_protocol.h"

namespace pbs::host {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds first_sample = 20ms;
constexpr milliseconds longest_sample = 5s;
constexpr milliseconds kill_again = 100ms;
// Processes that the kernel doesn't let go (dead file servers) are given up after this.
constexpr milliseconds give_up_killing = 30s;
constexpr off_t exit_record_room = 8192;
constexpr std::size_t longest_message = 1500;

// Time since boot, suspended time included: walltime doesn't stop or jump with the clock on the wall.
milliseconds boot_time() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return milliseconds(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

std::chrono::sys_seconds wall_clock() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

milliseconds time_of(const timeval& time) {
    return milliseconds(time.tv_sec * 1000 + time.tv_usec / 1000);
}

bool rename_new(const std::string& from, const std::string& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    // Not every file system knows the flag. The runner has made sure that `to` doesn't exist.
    return errno == EINVAL && ::rename(from.c_str(), to.c_str()) == 0;
}

class Shepherd {
  public:
    Shepherd(const std::string& home, const RunId& id)
        : home_(home), files_(home, id), notify_(shepherd_notify_fd) {
        ::fcntl(notify_.get(), F_SETFD, FD_CLOEXEC);
    }
    int run();

  private:
    bool claim();
    bool refuse(const std::string& message);
    tl::expected<void, LaunchError> launch();
    tl::expected<void, LaunchError> let_it_run(JobProcess& process, const std::string& shell);
    bool write_session_file(pid_t session);
    void watch();
    milliseconds next_wake() const;
    void read_signals();
    void reap();
    void sample();
    void enforce(milliseconds now);
    void exceeded(int verdict, std::string_view what, std::chrono::seconds used, std::chrono::seconds limit);
    void tell_owner(const std::string& line) const;
    void terminate(std::chrono::seconds delay);
    void signal_all(int signal);
    void kill_all();
    void finish(ExitRecord exit);
    ExitRecord ended() const;
    void write_record(const std::string& text);

    std::string home_;
    RunFiles files_;
    Fd notify_;
    Fd signals_;
    Fd claimed_;  // the file of the start: its record lock lasts as long as this process
    Fd exit_room_;
    JobSpec spec_;
    PasswdEntry owner_;
    JobOutput output_;
    std::string tmp_dir_;

    pid_t shell_ = 0;
    std::optional<int> shell_status_;
    bool nothing_left_ = false;
    std::chrono::sys_seconds started_at_{};
    milliseconds start_{};
    milliseconds end_{};
    milliseconds sample_every_ = first_sample;
    milliseconds sample_at_{};
    std::optional<milliseconds> walltime_at_;
    std::optional<milliseconds> kill_at_;
    std::optional<int> verdict_;
    milliseconds cput_{};
    std::int64_t mem_kb_ = 0;
    std::int64_t vmem_kb_ = 0;
    std::string message_;
};

// Tells the server why nothing was started; the permission to start stays, for the server to withdraw.
bool Shepherd::refuse(const std::string& message) {
    static_cast<void>(write_all(notify_.get(), write_key_values({{"error", message}})));
    return false;
}

// Takes the permission to start. After this the job counts as started.
bool Shepherd::claim() {
    claimed_.reset(::open(files_.job().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!claimed_) return false;
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(claimed_.get(), F_SETLK, &lock) != 0) return false;
    const auto text = read_fd(claimed_.get(), files_.job());
    if (!text) return refuse(text.error().message);
    auto spec = parse_job_spec(*text, files_.job());
    if (!spec) return refuse(spec.error().message);
    spec_ = std::move(*spec);
    exit_room_.reset(
        ::open(files_.exit_room().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!exit_room_) return refuse(fmt::format("cannot make {}: {}", files_.exit_room(), system_text(errno)));
    if (const int error = ::posix_fallocate(exit_room_.get(), 0, exit_record_room); error != 0)
        return refuse(fmt::format("no room for {}: {}", files_.exit_room(), system_text(error)));
    if (!rename_new(files_.job(), files_.started())) {
        ::unlink(files_.exit_room().c_str());  // withdrawn in the meantime
        return false;
    }
    if (!sync_directory(home_ + "/mom_priv/jobs")) {
        // Not known to be on the disk, so after a power failure it could be started again: don't start.
        finish({.exit_status = exit_status::fail_before_files,
                .started_at = wall_clock(),
                .ended_at = wall_clock(),
                .message = fmt::format("cannot write {}/mom_priv/jobs: {}", home_, system_text(errno))});
        return false;
    }
    return true;
}

bool Shepherd::write_session_file(pid_t session) {
    SessionRecord record;
    record.session = session;
    if (const auto process = read_process(session)) record.shell_start = process->start;
    record.boot = boot_id();
    record.started_at = started_at_.time_since_epoch().count();
    record.tmp_dir = tmp_dir_;
    const Fd fd(
        ::open(files_.session().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    return fd && write_all(fd.get(), write_session(record));
}

tl::expected<void, LaunchError> Shepherd::launch() {
    const JobStart& job = spec_.start;
    auto owner = find_owner(job);
    if (!owner) return tl::unexpected(owner.error());
    owner_ = std::move(*owner);
    auto script = open_script(files_);
    if (!script) return tl::unexpected(script.error());
    if (auto nodes = write_node_file(job, files_); !nodes) return nodes;
    auto output = open_output(job, owner_, home_);
    if (!output) return tl::unexpected(output.error());
    output_ = std::move(*output);
    message_ = output_.note;
    for (const auto& path : {job.output_path, job.error_path})
        if (const auto host = split_path(path).first; !same_host(host, spec_.host_name))
            message_ += fmt::format("{}{} is not this machine; the path is taken for one of this machine's",
                                    message_.empty() ? "" : "; ", path);
    tmp_dir_ = make_tmp_dir(job);
    const std::string shell = shell_of(job, owner_);
    const JobPlaces places{shell, files_.nodes(), tmp_dir_, owner_.home, spec_.cookie};
    auto defaults = parse_environment_file(read_file(home_ + "/pbs_environment").value_or(""));
    defaults.insert(defaults.begin(), {"PATH", "/usr/local/bin:/usr/bin:/bin"});
    auto process = fork_job(job, owner_, output_, files_, script->get(), shell,
                            job_environment(job, owner_, places, defaults));
    if (!process) return tl::unexpected(process.error());
    shell_ = process->shell;
    return let_it_run(*process, shell);
}

tl::expected<void, LaunchError> Shepherd::let_it_run(JobProcess& process, const std::string& shell) {
    start_ = boot_time();
    started_at_ = wall_clock();
    const auto failed = [](std::string message) {
        return tl::unexpected<LaunchError>(LaunchError{exit_status::fail_after_files, std::move(message)});
    };
    if (!write_session_file(shell_))
        return failed(fmt::format("cannot write {}: {}", files_.session(), system_text(errno)));
    if (!write_all(process.gate.get(), "r")) return failed("its first process has gone");
    process.gate.reset();
    std::string reason;
    if (!wait_until_running(process, owner_, shell, reason)) return failed(reason);
    static_cast<void>(write_all(notify_.get(), write_key_values({{"session", std::to_string(shell_)}})));
    notify_.reset();
    if (spec_.start.walltime) walltime_at_ = start_ + *spec_.start.walltime;
    sample_at_ = start_ + sample_every_;
    return {};
}

milliseconds Shepherd::next_wake() const {
    milliseconds wake = sample_at_;
    if (walltime_at_) wake = std::min(wake, *walltime_at_);
    if (kill_at_) wake = std::min(wake, *kill_at_);
    return wake;
}

// Until the job's first process has ended; while the job is being terminated, until all have or the delay is
// over.
void Shepherd::watch() {
    for (;;) {
        reap();
        if (nothing_left_ || (shell_status_ && !kill_at_)) return;
        const auto wait = std::clamp<milliseconds>(next_wake() - boot_time(), 0ms, longest_sample);
        pollfd poll_signals{signals_.get(), POLLIN, 0};
        ::poll(&poll_signals, 1, static_cast<int>(wait.count()));
        read_signals();
        const auto now = boot_time();
        if (now >= sample_at_) sample();
        enforce(now);
        if (kill_at_ && now >= *kill_at_) return;
    }
}

void Shepherd::read_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int number = static_cast<int>(info.ssi_signo);
        if (number == signal_request())
            signal_all(info.ssi_int);
        else if (number == terminate_request())
            terminate(std::chrono::seconds(std::max(0, info.ssi_int)));
        else if (number == SIGTERM || number == SIGINT)
            // The machine goes down: the job ends in order and with a record.
            terminate(spec_.start.kill_delay);
    }
}

void Shepherd::reap() {
    int status = 0;
    for (;;) {
        const pid_t pid = ::waitpid(-1, &status, WNOHANG);
        if (pid == 0) return;
        if (pid < 0) {
            nothing_left_ = errno == ECHILD;
            return;
        }
        if (pid != shell_) continue;
        shell_status_ = status;
        end_ = boot_time();
    }
}

void Shepherd::sample() {
    std::uint64_t ticks = 0;
    std::int64_t mem = 0;
    std::int64_t vmem = 0;
    for (const auto& process : descendants(::getpid())) {
        ticks += process.cpu;
        mem += process.mem_kb;
        vmem += process.vmem_kb;
    }
    rusage gone{};
    ::getrusage(RUSAGE_CHILDREN, &gone);
    cput_ = std::max(cput_, ticks_to_time(ticks) + time_of(gone.ru_utime) + time_of(gone.ru_stime));
    mem_kb_ = std::max({mem_kb_, mem, static_cast<std::int64_t>(gone.ru_maxrss)});
    // Between two samples a process may come and go; its peak of resident memory is known, the virtual is no
    // less.
    vmem_kb_ = std::max({vmem_kb_, vmem, mem_kb_});
    sample_every_ = std::min(sample_every_ * 2, longest_sample);
    sample_at_ = boot_time() + sample_every_;
}

void Shepherd::enforce(milliseconds now) {
    if (walltime_at_ && now >= *walltime_at_) {
        walltime_at_.reset();
        exceeded(exit_status::killed_walltime, "walltime",
                 std::chrono::floor<std::chrono::seconds>(now - start_), *spec_.start.walltime);
    }
    if (spec_.start.cput && cput_ > *spec_.start.cput)
        exceeded(exit_status::killed_cput, "cput", std::chrono::floor<std::chrono::seconds>(cput_),
                 *spec_.start.cput);
}

void Shepherd::exceeded(int verdict, std::string_view what, std::chrono::seconds used,
                        std::chrono::seconds limit) {
    if (verdict_) return;
    verdict_ = verdict;
    const std::string text =
        fmt::format("job killed: {} {} exceeded limit {}", what, used.count(), limit.count());
    message_ += (message_.empty() ? "" : "; ") + text;
    terminate(spec_.start.kill_delay);
    tell_owner("=>> PBS: " + text + "\n");
}

// Into the job's stderr file. If the user has made that a FIFO and nobody reads, the line isn't waited for.
void Shepherd::tell_owner(const std::string& line) const {
    pollfd writable{output_.err.get(), POLLOUT, 0};
    if (output_.err && ::poll(&writable, 1, 0) == 1) static_cast<void>(write_all(output_.err.get(), line));
}

void Shepherd::terminate(std::chrono::seconds delay) {
    const auto at = boot_time() + delay;
    kill_at_ = kill_at_ ? std::min(*kill_at_, at) : at;
    signal_all(SIGTERM);
    signal_all(SIGCONT);  // or the stopped ones never see it
}

void Shepherd::signal_all(int signal) {
    for (const auto& process : descendants(::getpid())) signal_process(process, signal);
}

// Ends whatever is left of the job. As every process of it is below this one, none gets away.
void Shepherd::kill_all() {
    const auto until = boot_time() + give_up_killing;
    for (reap(); !nothing_left_ && boot_time() < until; reap()) {
        signal_all(SIGKILL);
        pollfd poll_signals{signals_.get(), POLLIN, 0};
        ::poll(&poll_signals, 1, static_cast<int>(kill_again.count()));
        signalfd_siginfo info{};
        while (::read(signals_.get(), &info, sizeof info) > 0) {
        }
    }
    if (nothing_left_) return;
    message_ += fmt::format("{}{} processes could not be killed", message_.empty() ? "" : "; ",
                            descendants(::getpid()).size());
}

ExitRecord Shepherd::ended() const {
    ExitRecord exit;
    const int status = shell_status_.value_or(SIGKILL);
    exit.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : exit_status::by_signal + WTERMSIG(status);
    if (verdict_) exit.exit_status = *verdict_;
    exit.session = shell_;
    exit.started_at = started_at_;
    exit.walltime = end_ - start_;
    exit.ended_at = wall_clock();
    exit.cput = cput_;
    exit.mem_kb = mem_kb_;
    exit.vmem_kb = vmem_kb_;
    exit.message = message_;
    return exit;
}

void Shepherd::finish(ExitRecord exit) {
    if (exit.message.size() > longest_message) exit.message.resize(longest_message);
    write_record(write_exit(exit));
}

// Into the room taken before, then under its name: the record is there whole or not at all.
void Shepherd::write_record(const std::string& text) {
    for (int attempt = 0; attempt < 60; ++attempt) {
        const bool written =
            ::pwrite(exit_room_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
            ::ftruncate(exit_room_.get(), static_cast<off_t>(text.size())) == 0 &&
            ::fsync(exit_room_.get()) == 0 &&
            ::rename(files_.exit_room().c_str(), files_.exit().c_str()) == 0;
        if (written) break;
        ::sleep(1);
    }
    sync_directory(home_ + "/mom_priv/jobs");
}

int Shepherd::run() {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    signals_.reset(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::umask(022);
    if (!signals_) return 1;
    if (!claim()) return 1;
    const auto launched = launch();
    if (!launched) {
        kill_all();
        tell_owner("PBS: " + launched.error().message + "\n");
        ExitRecord exit;
        exit.exit_status = launched.error().exit_status;
        exit.started_at = exit.ended_at = wall_clock();
        exit.message = launched.error().message;
        finish(exit);
    } else {
        watch();
        sample();
        kill_all();
        if (!shell_status_ || end_ == 0ms) end_ = boot_time();
        sample();
        finish(ended());
    }
    remove_tmp_dir(spec_.start, tmp_dir_);
    return 0;
}

// Removes the TMPDIR of a job whose shepherd was killed.
int clean(const char* user, const char* uid, const char* gid, const char* directory) {
    const auto uid_number = parse_number("uid", uid);
    const auto gid_number = parse_number("gid", gid);
    if (!uid_number || !gid_number) return 2;
    JobStart job;
    job.user = user;
    job.uid = static_cast<uid_t>(*uid_number);
    job.gid = static_cast<gid_t>(*gid_number);
    remove_tmp_dir(job, directory);
    return 0;
}

}  // namespace

bool is_shepherd(int argc, char** argv) {
    if (argc < 2) return false;
    const std::string_view first = argv[1];
    return first == shepherd_argument || first == cleaner_argument;
}

int shepherd_main(int argc, char** argv) {
    if (argc == 6 && std::string_view(argv[1]) == cleaner_argument)
        return clean(argv[2], argv[3], argv[4], argv[5]);
    const auto run = argc == 5 ? parse_number("run count", argv[4]) : Result<std::int64_t>(0);
    if (argc != 5 || !is_file_safe(argv[3]) || !run) {
        std::fputs("pbs_server: --shepherd is for the server's own use\n", stderr);
        return 2;
    }
    return Shepherd(argv[2], {argv[3], *run}).run();
}

}  // namespace pbs::host
