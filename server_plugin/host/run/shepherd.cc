#include "server_plugin/host/run/shepherd.h"

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
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/key_value.h"
#include "server_plugin/host/run/control_group.h"
#include "server_plugin/host/run/job_process.h"
#include "server_plugin/host/run/launcher.h"
#include "server_plugin/host/run/leftovers.h"
#include "server_plugin/host/run/process_tree.h"
#include "server_plugin/host/run/run_files.h"
#include "server_plugin/host/run/shepherd_protocol.h"
#include "server_plugin/host/run/staging.h"
#include "server_plugin/host/run/terminal.h"
#include "server_plugin/host/run/warden.h"

namespace pbs::host {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds kFirstSample = 20ms;
constexpr milliseconds kLongestSample = 5s;
constexpr milliseconds kLongestSampleOfLimited = 1s;

// Returns the time since boot, including suspended time. Walltime is measured by it, because unlike the wall
// clock it neither stops nor jumps.
milliseconds boot_time() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return milliseconds(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

std::chrono::sys_seconds wall_clock() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

class Shepherd {
  public:
    // `start`: the open file .job of the start.
    Shepherd(const std::string& home, const RunId& id, Fd start)
        : home_(home), files_(home, id), notify_(kShepherdNotifyFd), claimed_(std::move(start)) {
        ::fcntl(notify_.get(), F_SETFD, FD_CLOEXEC);
    }
    int run();

  private:
    bool claim();
    bool refuse(const std::string& message);
    tl::expected<void, LaunchError> launch();
    tl::expected<void, LaunchError> launch_or_say_why();
    tl::expected<void, LaunchError> make_directory();
    void clean_up(int exit_status);
    tl::expected<void, LaunchError> open_streams();
    void attend_terminal();
    tl::expected<void, LaunchError> let_it_run(JobProcess& process, const std::string& shell);
    bool write_session_file(pid_t session);
    void watch();
    milliseconds next_wake() const;
    void read_signals();
    void reap();
    void sample();
    void enforce(milliseconds now);
    void exceeded(int verdict, const std::string& what);
    void join_control_group();
    void note(std::string_view text);
    void tell_owner(const std::string& line);
    void terminate(std::chrono::seconds delay);
    void tell_usage();
    void signal_all(int signal);
    void suspend();
    void resume();
    milliseconds ran(milliseconds now) const;
    void kill_all();
    ExitRecord ended() const;

    std::string home_;
    RunFiles files_;
    Fd notify_;
    Fd signals_;
    Fd claimed_;  // the file of the start, on which this process holds a lock while it lives
    Fd exit_room_;
    JobSpec spec_;
    tl::expected<Account, LaunchError> owner_;
    JobOutput output_;
    std::optional<Terminal> terminal_;
    bool hung_up_ = false;
    std::string tmp_dir_;
    std::string job_dir_;

    pid_t shell_ = 0;
    std::optional<int> shell_status_;
    bool nothing_left_ = false;
    std::chrono::sys_seconds started_at_{};
    milliseconds
        start_{};  // the beginning of the walltime; moved forward when a suspension ends, by its length
    std::optional<milliseconds> suspended_at_;
    milliseconds end_{};
    milliseconds sample_every_ = kFirstSample;
    milliseconds sample_at_{};
    std::optional<milliseconds> kill_at_;
    std::optional<int> verdict_;
    milliseconds cput_{};
    long own_mem_kb_ = 0;
    std::int64_t mem_kb_ = 0;
    std::int64_t vmem_kb_ = 0;
    std::string message_;
};

// Sends the server the reason why nothing was started. The permission to start remains until the server
// withdraws it.
bool Shepherd::refuse(const std::string& message) {
    static_cast<void>(write_all(notify_.get(), write_key_values({{"error", message}})));
    return false;
}

// Takes the permission to start. Afterwards the job counts as started.
bool Shepherd::claim() {
    if (!lock_byte(claimed_.get(), kShepherdByte))
        return refuse(fmt::format("cannot lock {}: {}", files_.job(), system_text(errno)));
    const auto text = read_fd(claimed_.get(), files_.job());
    if (!text) return refuse(text.error().message);
    auto spec = parse_job_spec(*text, files_.job());
    if (!spec) return refuse(spec.error().message);
    spec_ = std::move(*spec);
    owner_ = find_owner(spec_.start);
    if (!owner_ && owner_.error().passes) return refuse(owner_.error().message);
    // Bring the file to the disk: after a power failure its boot id shows that no process of the job exists.
    if (::fdatasync(claimed_.get()) != 0)
        return refuse(fmt::format("cannot bring {} to the disk: {}", files_.job(), system_text(errno)));
    exit_room_.reset(
        ::open(files_.exit_room().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!exit_room_) return refuse(fmt::format("cannot make {}: {}", files_.exit_room(), system_text(errno)));
    if (const int error = ::posix_fallocate(exit_room_.get(), 0, kExitRecordRoom); error != 0)
        return refuse(fmt::format("no room for {}: {}", files_.exit_room(), system_text(error)));
    if (!rename_new(files_.job(), files_.started())) {
        const int error = errno;
        ::unlink(files_.exit_room().c_str());
        if (error == ENOENT) return false;  // the permission was withdrawn in the meantime
        return refuse(
            fmt::format("cannot rename {} to {}: {}", files_.job(), files_.started(), system_text(error)));
    }
    if (!sync_directory(home_ + "/mom_priv/jobs")) {
        // The rename may not be on the disk. After a power failure the job could then be started again. So
        // give up this start.
        ExitRecord exit;
        exit.exit_status = exit_status::kFailBeforeFiles;
        exit.started_at = exit.ended_at = wall_clock();
        exit.message = fmt::format("cannot write {}/mom_priv/jobs: {}", home_, system_text(errno));
        store_exit(files_, exit_room_, std::move(exit));
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
    record.output_note = output_.note;
    const Fd fd(
        ::open(files_.session().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    return fd && write_all(fd.get(), write_session(record));
}

// Chooses or makes the directory in which the job begins, and stages the job's files in.
tl::expected<void, LaunchError> Shepherd::make_directory() {
    job_dir_ = owner_->home;
    if (spec_.start.private_sandbox) {
        auto made = make_sandbox(spec_.start, owner_->home);
        if (!made)
            return tl::unexpected<LaunchError>(
                LaunchError{exit_status::kFailBeforeFiles, std::move(made.error())});
        job_dir_ = std::move(*made);
    }
    if (auto staged = stage_in(spec_.start, job_dir_, owner_->home); !staged)
        return tl::unexpected<LaunchError>(
            LaunchError{exit_status::kStageInFailed, std::move(staged.error())});
    return {};
}

// Stages files out at the job's end, and removes its private directory and the output files that Remove_Files
// names.
void Shepherd::clean_up(int exit_status) {
    const std::string kept = stage_out(spec_.start, job_dir_, owner_->home);
    if (!kept.empty()) output_.note += fmt::format("{}{}", output_.note.empty() ? "" : "; ", kept);
    std::vector<std::string> unwanted;
    if (spec_.start.private_sandbox && kept.empty()) unwanted.push_back(job_dir_);
    if (exit_status == 0)
        for (const auto& [stream, path] : output_.paths)
            if (spec_.start.remove.find(stream) != std::string::npos) unwanted.push_back(path);
    remove_as_owner(spec_.start, unwanted);
}

// Opens the output files, or the terminal of an interactive job.
tl::expected<void, LaunchError> Shepherd::open_streams() {
    if (spec_.start.interactive != 0) {
        auto terminal = Terminal::open(spec_.start);
        if (!terminal)
            return tl::unexpected<LaunchError>(
                LaunchError{exit_status::kFailBeforeFiles, std::move(terminal.error())});
        terminal_ = std::move(*terminal);
        spec_.start.variables.emplace_back("TERM", terminal_->type());
        return {};
    }
    auto output = open_output(spec_.start, *owner_, home_);
    if (!output) return tl::unexpected(output.error());
    output_ = std::move(*output);
    return {};
}

tl::expected<void, LaunchError> Shepherd::launch() {
    const JobStart& job = spec_.start;
    if (!owner_) return tl::unexpected(owner_.error());
    if (::geteuid() == 0) look_up_groups(spec_.start);
    auto script = open_script(files_);
    if (!script) return tl::unexpected(script.error());
    if (auto nodes = write_node_file(job, files_); !nodes) return nodes;
    if (auto ready = make_directory(); !ready) return ready;
    if (auto opened = open_streams(); !opened) return opened;
    for (const auto& path : {job.output_path, job.error_path})
        if (const auto host = split_path(path).first; !same_host(host, spec_.host_name))
            note(fmt::format("{} is not this machine; the path is taken for one of this machine's", path));
    tmp_dir_ = make_tmp_dir(job);
    const std::string shell = shell_of(job, *owner_);
    const JobPlaces places{shell, files_.nodes(), tmp_dir_, job_dir_, spec_.cookie};
    auto defaults = parse_environment_file(read_file(home_ + "/pbs_environment").value_or(""));
    defaults.insert(defaults.begin(), {"PATH", "/usr/local/bin:/usr/bin:/bin"});
    rusage own{};
    ::getrusage(RUSAGE_SELF, &own);
    own_mem_kb_ = own.ru_maxrss;
    auto process = fork_job(job, *owner_, output_, terminal_ ? terminal_->slave() : -1, files_, script->get(),
                            job_dir_, shell, job_environment(job, *owner_, places, defaults));
    if (!process) return tl::unexpected(process.error());
    if (terminal_) terminal_->close_slave();
    shell_ = process->shell;
    return let_it_run(*process, shell);
}

// Starts the job. If that throws, such as for want of memory, returns the reason. The report of the job's end
// then has it.
tl::expected<void, LaunchError> Shepherd::launch_or_say_why() {
    const pid_t self = ::getpid();
    try {
        return launch();
    } catch (const std::exception& error) {
        if (::getpid() != self) ::_exit(1);  // in the job's first process
        return tl::unexpected<LaunchError>(LaunchError{exit_status::kFailAfterFiles, error.what()});
    }
}

tl::expected<void, LaunchError> Shepherd::let_it_run(JobProcess& process, const std::string& shell) {
    start_ = boot_time();
    started_at_ = wall_clock();
    const auto failed = [](std::string message) {
        return tl::unexpected<LaunchError>(LaunchError{exit_status::kFailAfterFiles, std::move(message)});
    };
    join_control_group();
    if (!write_session_file(shell_))
        return failed(fmt::format("cannot write {}: {}", files_.session(), system_text(errno)));
    if (!write_all(process.gate.get(), "r")) return failed("its first process has gone");
    process.gate.reset();
    std::string reason;
    if (!wait_until_running(process, *owner_, shell, reason)) return failed(reason);
    static_cast<void>(write_all(notify_.get(), write_key_values({{"session", std::to_string(shell_)},
                                                                 {"output_note", output_.note}})));
    notify_.reset();
    sample_at_ = start_ + sample_every_;
    return {};
}

// Puts the job into its control group. Call it before the job's script runs, so that all processes of the job
// are in the group.
void Shepherd::join_control_group() {
    std::string& group = spec_.control_group;
    if (group.empty()) return;
    auto joined = make_control_group(group);
    if (joined) joined = enter_control_group(group, shell_);
    if (joined) return;
    note(joined.error().message);
    remove_control_group(group);
    group.clear();
}

void Shepherd::note(std::string_view text) {
    message_ += fmt::format("{}{}", message_.empty() ? "" : "; ", text);
}

milliseconds Shepherd::next_wake() const {
    milliseconds wake = sample_at_;
    if (spec_.start.walltime && !verdict_ && !suspended_at_)
        wake = std::min<milliseconds>(wake, start_ + *spec_.start.walltime);
    if (kill_at_) wake = std::min(wake, *kill_at_);
    return wake;
}

// Watches the job until its first process has ended. If the job is being terminated, watches it until all its
// processes have ended or the delay before KILL is over.
void Shepherd::watch() {
    for (;;) {
        reap();
        if (nothing_left_ || (shell_status_ && !kill_at_)) return;
        const auto wait = std::clamp<milliseconds>(next_wake() - boot_time(), 0ms, kLongestSample);
        std::vector<pollfd> events{{signals_.get(), POLLIN, 0}};
        if (terminal_)
            for (const pollfd& event : terminal_->wanted()) events.push_back(event);
        ::poll(events.data(), events.size(), static_cast<int>(wait.count()));
        read_signals();
        if (terminal_) attend_terminal();
        const auto now = boot_time();
        if (now >= sample_at_) sample();
        enforce(now);
        if (kill_at_ && now >= *kill_at_) return;
    }
}

// Carries data between the terminal and qsub. If qsub has gone, ends the job.
void Shepherd::attend_terminal() {
    terminal_->carry();
    if (!terminal_->client_gone() || hung_up_) return;
    hung_up_ = true;
    note("its qsub has gone");
    terminal_->hang_up();
    terminate(spec_.start.kill_delay);
}

std::optional<std::chrono::seconds> limit_of(int value) {
    return value < 0 ? std::nullopt : std::optional(std::chrono::seconds(value));
}

void Shepherd::read_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        const int number = static_cast<int>(info.ssi_signo);
        const bool goes_on = number == signal_request() && info.ssi_int == SIGCONT && suspended_at_;
        if (goes_on)
            continue;  // a suspended job continues only by a request to resume it
        else if (number == signal_request())
            signal_all(info.ssi_int);
        else if (number == terminate_request())
            terminate(std::chrono::seconds(std::max(0, info.ssi_int)));
        else if (number == walltime_request())
            spec_.start.walltime = limit_of(info.ssi_int);
        else if (number == cput_request())
            spec_.start.cput = limit_of(info.ssi_int);
        else if (number == suspend_request())
            suspend();
        else if (number == resume_request())
            resume();
        else if (number == SIGTERM || number == SIGINT)
            // The machine is being shut down: terminate the job, so that its end is recorded.
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
    mem_kb_ = std::max(mem_kb_, mem);
    // The job's first process was a copy of this one before it ran the shell. So a peak of memory that is at
    // most as large as this process says nothing about the job.
    if (gone.ru_maxrss > own_mem_kb_) mem_kb_ = std::max<std::int64_t>(mem_kb_, gone.ru_maxrss);
    // A process may begin and end between two samples. The kernel reports its peak of resident memory. Its
    // virtual memory was at least as large, so count it as that large.
    vmem_kb_ = std::max({vmem_kb_, vmem, mem_kb_});
    const bool limited = spec_.start.mem_kb || spec_.start.vmem_kb;
    sample_every_ = std::min(sample_every_ * 4, limited ? kLongestSampleOfLimited : kLongestSample);
    sample_at_ = boot_time() + sample_every_;
    tell_usage();
}

// Writes the usage so far into the reserved space for the exit record, which isn't needed before the job's
// end. Ignores a failure, because the next sample is written soon.
void Shepherd::tell_usage() {
    ExitRecord so_far = ended();
    so_far.walltime = ran(boot_time());
    const std::string record = write_exit(so_far);
    // The size includes the final zero byte.
    static_cast<void>(::pwrite(exit_room_.get(), record.c_str(), record.size() + 1, 0));
}

// Ends the job if it exceeds a limit. The messages are PBS's.
void Shepherd::enforce(milliseconds now) {
    const JobStart& job = spec_.start;
    const auto in_seconds = [](milliseconds time) {
        return std::chrono::floor<std::chrono::seconds>(time).count();
    };
    if (job.walltime && ran(now) >= *job.walltime)
        exceeded(exit_status::kKilledWalltime,
                 fmt::format("walltime {} exceeded limit {}", in_seconds(ran(now)), job.walltime->count()));
    if (job.cput && cput_ > *job.cput)
        exceeded(exit_status::kKilledCput,
                 fmt::format("cput {} exceeded limit {}", in_seconds(cput_), job.cput->count()));
    if (job.vmem_kb && vmem_kb_ > *job.vmem_kb)
        exceeded(exit_status::kKilledVmem,
                 fmt::format("vmem {}kb exceeded limit {}kb", vmem_kb_, *job.vmem_kb));
    if (job.mem_kb && mem_kb_ > *job.mem_kb)
        exceeded(exit_status::kKilledMem, fmt::format("mem {}kb exceeded limit {}kb", mem_kb_, *job.mem_kb));
}

void Shepherd::exceeded(int verdict, const std::string& what) {
    if (verdict_) return;
    verdict_ = verdict;
    const std::string text = "job killed: " + what;
    note(text);
    terminate(spec_.start.kill_delay);
    tell_owner("=>> PBS: " + text + "\n");
}

// Writes a line to the job's stderr file or its terminal. Drops the line if the file would block, such as a
// FIFO that nobody reads.
void Shepherd::tell_owner(const std::string& line) {
    if (terminal_) return terminal_->show("\r\n" + line + "\r");
    pollfd writable{output_.err.get(), POLLOUT, 0};
    if (output_.err && ::poll(&writable, 1, 0) == 1) static_cast<void>(write_all(output_.err.get(), line));
}

void Shepherd::terminate(std::chrono::seconds delay) {
    const auto at = boot_time() + delay;
    kill_at_ = kill_at_ ? std::min(*kill_at_, at) : at;
    signal_all(SIGTERM);
    resume();
    signal_all(SIGCONT);  // stopped processes couldn't handle the TERM
}

void Shepherd::signal_all(int signal) {
    for (const auto& process : descendants(::getpid())) signal_process(process, signal);
}

// Stops the job's processes. With a control group, the kernel stops all at once. Without one, a process that
// is made meanwhile may be missed, so this function searches again until no process runs.
void Shepherd::suspend() {
    if (suspended_at_ || kill_at_) return;
    suspended_at_ = boot_time();
    if (!spec_.control_group.empty() && freeze_control_group(spec_.control_group, true)) return;
    constexpr int kMostRounds = 20;
    for (int round = 0; round < kMostRounds; ++round) {
        bool any = false;
        for (const auto& process : descendants(::getpid())) {
            if (process.state == 'T' || process.state == 'Z' || process.state == 't') continue;
            any = signal_process(process, SIGSTOP) || any;
        }
        if (!any) return;
        ::usleep(1000);
    }
}

void Shepherd::resume() {
    if (!suspended_at_) return;
    start_ += boot_time() - *suspended_at_;
    suspended_at_.reset();
    if (!spec_.control_group.empty()) freeze_control_group(spec_.control_group, false);
    signal_all(SIGCONT);
}

// Returns the walltime so far, without suspended time.
milliseconds Shepherd::ran(milliseconds now) const {
    return suspended_at_.value_or(now) - start_;
}

// Kills the remaining processes of the job. All of them are descendants of this process, so none is missed.
void Shepherd::kill_all() {
    reap();
    if (nothing_left_) return;
    const auto left = kill_processes([] { return descendants(::getpid()); }, spec_.control_group,
                                     [this] { reap(); }, kGiveUpKilling);
    reap();
    if (left > 0) note(fmt::format("{} processes could not be killed", left));
}

ExitRecord Shepherd::ended() const {
    ExitRecord exit;
    const int status = shell_status_.value_or(SIGKILL);
    exit.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : exit_status::kBySignal + WTERMSIG(status);
    if (verdict_) exit.exit_status = *verdict_;
    exit.session = shell_;
    exit.started_at = started_at_;
    exit.walltime = std::max(0ms, ran(end_));
    exit.ended_at = wall_clock();
    exit.cput = cput_;
    exit.mem_kb = mem_kb_;
    exit.vmem_kb = vmem_kb_;
    exit.message = message_;
    exit.output_note = output_.note;
    return exit;
}

int Shepherd::run() {
    sigset_t all;
    sigfillset(&all);
    signals_.reset(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::umask(022);
    if (!signals_) {
        refuse("cannot read signals: " + system_text(errno));
        return 1;
    }
    if (!claim()) return 1;
    const auto launched = launch_or_say_why();
    if (!launched) {
        kill_all();
        tell_owner("PBS: " + launched.error().message + "\n");
        if (spec_.start.private_sandbox && owner_ && job_dir_ != owner_->home)
            remove_as_owner(spec_.start, {job_dir_});
        ExitRecord exit;
        exit.exit_status = launched.error().exit_status;
        exit.started_at = exit.ended_at = wall_clock();
        exit.message = launched.error().message;
        exit.output_note = output_.note;
        store_exit(files_, exit_room_, std::move(exit));
    } else {
        watch();
        sample();
        kill_all();
        if (terminal_) terminal_->finish();
        if (!shell_status_ || end_ == 0ms) end_ = boot_time();
        sample();
        clean_up(ended().exit_status);
        store_exit(files_, exit_room_, ended());
    }
    remove_tmp_dir(spec_.start, tmp_dir_);
    if (!spec_.control_group.empty()) remove_control_group(spec_.control_group);
    return 0;
}

}  // namespace

bool is_shepherd(int argc, char** argv) {
    if (argc < 2) return false;
    const std::string_view first = argv[1];
    return first == kLauncherArgument || first == kCleanerArgument;
}

int supervise(const std::string& home, const RunId& id) {
    return keep_watch(home, id, [&](Fd start) { return Shepherd(home, id, std::move(start)).run(); });
}

int shepherd_main(int argc, char** argv) {
    if (is_shepherd(argc, argv)) {
        if (argc == 3 && std::string_view(argv[1]) == kLauncherArgument) return launcher_main(argc, argv);
        const auto run = argc == 5 ? parse_number("run count", argv[4]) : Result<std::int64_t>(0);
        if (argc == 5 && std::string_view(argv[1]) == kCleanerArgument && is_file_safe(argv[3]) && run)
            return bury(argv[2], {argv[3], *run});
    }
    std::fprintf(stderr, "pbs_shepherd is for pbs_server's own use\n");
    return 2;
}

}  // namespace pbs::host
