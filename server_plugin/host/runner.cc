#include "server_plugin/host/runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <set>
#include <unordered_map>

#include "server_plugin/host/key_value.h"
#include "server_plugin/host/leftovers.h"
#include "server_plugin/host/posix.h"
#include "server_plugin/host/process_tree.h"
#include "server_plugin/host/run_files.h"
#include "server_plugin/host/shepherd_protocol.h"

namespace pbs::host {

namespace {

constexpr int pbse_perm = 15007;
constexpr int pbse_system = 15010;
constexpr int pbse_internal = 15011;
constexpr int pbse_unksig = 15013;
constexpr int pbse_badstate = 15016;

std::string key_of(const RunId& id) {
    return fmt::format("{}.{}", id.job, id.run);
}

std::string new_cookie() {
    std::array<unsigned char, 16> bytes{};
    static_cast<void>(!::getrandom(bytes.data(), bytes.size(), 0));
    std::string text;
    for (const auto byte : bytes) text += fmt::format("{:02X}", byte);
    return text;
}

bool is_there(const std::string& path) {
    return look_for(path) == Existence::there;
}

// The process that holds the record lock on a start's file; 0: none.
pid_t lock_holder(int fd) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
    return lock.l_pid;
}

// The living shepherd of a start, by a descriptor; none if there is none.
Fd find_shepherd(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return {};
    const pid_t pid = lock_holder(file.get());
    if (pid <= 0) return {};
    Fd process = open_process(pid);
    // Asked again, so that the descriptor isn't one of a process that got the number later.
    if (!process || lock_holder(file.get()) != pid) return {};
    return process;
}

class SpawnActions {
  public:
    SpawnActions() {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    ~SpawnActions() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

// Runs this program with other arguments, in a session of its own, with all signals blocked. `notify` becomes
// shepherd_notify_fd; -1: none. The pid or -errno.
pid_t spawn_helper(const RunnerOptions& options, std::vector<std::string> arguments, int notify) {
    SpawnActions spawn;
    for (const int fd : {0, 1, 2})
        posix_spawn_file_actions_addopen(&spawn.actions, fd, "/dev/null", O_RDWR, 0);
    if (notify >= 0) posix_spawn_file_actions_adddup2(&spawn.actions, notify, shepherd_notify_fd);
    posix_spawn_file_actions_addclosefrom_np(&spawn.actions, shepherd_notify_fd + (notify >= 0 ? 1 : 0));
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&spawn.attributes, &all);
    posix_spawnattr_setsigdefault(&spawn.attributes, &all);
    posix_spawnattr_setflags(&spawn.attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    arguments.insert(arguments.begin(), "pbs_server");
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (auto& text : arguments) argv.push_back(text.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int error =
        posix_spawn(&pid, options.program.c_str(), &spawn.actions, &spawn.attributes, argv.data(), environ);
    return error == 0 ? pid : -error;
}

}  // namespace

class Runner::Impl {
  public:
    Impl(RunnerOptions options, Fd epoll) : options_(std::move(options)), epoll_(std::move(epoll)) {}

    // A shepherd that is alive, as far as is known.
    struct Watch {
        RunId id;
        Fd process;
        Fd notify;  // until it has said what it has to say
        std::string notified;
        pid_t child = 0;  // its pid if this process started it, for waitid()
        std::int64_t session = 0;
        std::string error;
    };

    RunnerOptions options_;
    Fd epoll_;
    std::uint64_t next_watch_ = 1;
    std::unordered_map<std::uint64_t, Watch> watches_;
    std::unordered_map<std::string, std::uint64_t> by_id_;
    std::vector<pid_t> cleaners_;

    RunFiles files(const RunId& id) const { return {options_.home, id}; }
    Result<void> copy_script(const JobStart& job) const;
    Result<void> write_spec(const JobStart& job) const;
    Result<void> watch(Watch watch);
    Watch unwatch(std::uint64_t number);
    Watch* find(const RunId& id);
    RunReport examine(const RunId& id);
    RunReport lost(const RunId& id);
    void clean_up(const JobStart& job, const std::string& tmp_dir);
    void read_notice(std::uint64_t number, std::vector<RunReport>& reports);
    void shepherd_ended(std::uint64_t number, std::vector<RunReport>& reports);
    std::set<std::pair<std::string, std::int64_t>> on_disk() const;
};

Runner::Runner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runner::~Runner() = default;

Result<std::unique_ptr<Runner>> Runner::create(RunnerOptions options) {
    const std::string jobs = options.home + "/mom_priv/jobs";
    if (::access(jobs.c_str(), R_OK | W_OK | X_OK) != 0)
        return fail(pbse_system, fmt::format("{}: {}", jobs, system_text(errno)));
    Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll) return fail(pbse_system, fmt::format("job runner: epoll: {}", system_text(errno)));
    return std::unique_ptr<Runner>(new Runner(std::make_unique<Impl>(std::move(options), std::move(epoll))));
}

bool Runner::may_run_as(uid_t uid, std::string& reason) const {
    if (::geteuid() == 0 || uid == ::geteuid()) return true;
    reason = fmt::format(
        "this server runs as uid {}, not as root, and can run jobs of that user only, not of uid {}",
        ::geteuid(), uid);
    return false;
}

// ---- Starting ----

// To where the job's owner can read it, and no other user can.
Result<void> Runner::Impl::copy_script(const JobStart& job) const {
    const auto text = read_file(job.script);
    if (!text) return tl::unexpected(text.error());
    const std::string path = files(job.id).script();
    const Fd copy = new_file_for(path, 0500, job.uid, job.gid);
    if (copy && write_all(copy.get(), *text)) return {};
    const int error = errno;
    ::unlink(path.c_str());
    return fail(pbse_system, fmt::format("cannot write {}: {}", path, system_text(error)));
}

Result<void> Runner::Impl::write_spec(const JobStart& job) const {
    const std::string path = files(job.id).job();
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd || !write_all(fd.get(), write_job_spec({job, new_cookie(), options_.host_name}))) {
        const int error = errno;
        files(job.id).remove_all();
        return fail(pbse_system, fmt::format("cannot write {}: {}", path, system_text(error)));
    }
    return {};
}

Result<void> Runner::start(const JobStart& job) {
    std::string reason;
    if (!is_file_safe(job.id.job))
        return fail(pbse_internal, fmt::format("job id \"{}\" can't be part of a file name", job.id.job));
    if (!may_run_as(job.uid, reason)) return fail(pbse_perm, reason);
    const RunFiles files = impl_->files(job.id);
    if (is_there(files.job()) || is_there(files.started()) || is_there(files.exit()))
        return fail(pbse_internal,
                    fmt::format("job {} was started before as run {}", job.id.job, job.id.run));
    if (auto copied = impl_->copy_script(job); !copied) return copied;
    if (auto written = impl_->write_spec(job); !written) return written;
    const auto withdraw = [&](int error, const char* what) {
        files.remove_all();
        return fail(pbse_system, fmt::format("job {}: cannot start its shepherd: {}: {}", job.id.job, what,
                                             system_text(error)));
    };
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return withdraw(errno, "pipe");
    Fd notify(ends[0]);
    Fd theirs(ends[1]);
    ::fcntl(notify.get(), F_SETFL, O_NONBLOCK);
    const pid_t pid = spawn_helper(
        impl_->options_, {shepherd_argument, impl_->options_.home, job.id.job, std::to_string(job.id.run)},
        theirs.get());
    if (pid < 0) return withdraw(-pid, impl_->options_.program.c_str());
    theirs.reset();  // and so there is a descriptor for the next line, however few there are
    Impl::Watch watch;
    watch.id = job.id;
    watch.process = open_process(pid);
    watch.notify = std::move(notify);
    watch.child = pid;
    auto watched = impl_->watch(std::move(watch));
    if (!watched) {
        // A job whose end nobody would see is worse than none.
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        static_cast<void>(impl_->lost(job.id));
        files.remove_all();
    }
    return watched;
}

Result<void> Runner::Impl::watch(Watch watch) {
    const std::uint64_t number = next_watch_++;
    const auto add = [&](int fd, std::uint64_t data) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = data;
        return fd >= 0 && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
    };
    // An even number is the process, an odd one the pipe.
    const bool added =
        add(watch.process.get(), number * 2) && (!watch.notify || add(watch.notify.get(), number * 2 + 1));
    if (!added)
        return fail(pbse_system,
                    fmt::format("job {}: cannot watch its shepherd: {}", watch.id.job, system_text(errno)));
    by_id_[key_of(watch.id)] = number;
    watches_.emplace(number, std::move(watch));
    return {};
}

Runner::Impl::Watch Runner::Impl::unwatch(std::uint64_t number) {
    const auto it = watches_.find(number);
    Watch watch = std::move(it->second);  // its descriptors leave the epoll set when they are closed
    watches_.erase(it);
    by_id_.erase(key_of(watch.id));
    return watch;
}

Runner::Impl::Watch* Runner::Impl::find(const RunId& id) {
    const auto it = by_id_.find(key_of(id));
    return it == by_id_.end() ? nullptr : &watches_.at(it->second);
}

// ---- Signals ----

Result<void> Runner::signal(const RunId& id, int signal) {
    const auto* watch = impl_->find(id);
    if (watch == nullptr || !signal_pidfd(watch->process.get(), signal == 0 ? 0 : signal_request(), signal))
        return fail(pbse_badstate, fmt::format("job {} has no process to signal", id.job));
    return {};
}

Result<void> Runner::terminate(const RunId& id, std::chrono::seconds kill_delay) {
    const auto* watch = impl_->find(id);
    const int delay = static_cast<int>(std::clamp<std::int64_t>(kill_delay.count(), 0, 1'000'000));
    if (watch == nullptr || !signal_pidfd(watch->process.get(), terminate_request(), delay))
        return fail(pbse_badstate, fmt::format("job {} has no process to terminate", id.job));
    return {};
}

// ---- What became of a start ----

// There was a shepherd and it left no record.
RunReport Runner::Impl::lost(const RunId& id) {
    const RunFiles files = this->files(id);
    RunReport report{.id = id, .state = RunState::lost, .session = 0, .exit = {}, .may_still_run = false};
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    report.exit.exit_status = exit_status::aborted_at_restart;
    report.exit.started_at = report.exit.ended_at = now;
    std::optional<SessionRecord> session;
    if (const auto text = read_file(files.session()))
        if (auto parsed = parse_session(*text, files.session())) session = *parsed;
    if (session) {
        report.session = report.exit.session = session->session;
        report.exit.started_at = std::chrono::sys_seconds(std::chrono::seconds(session->started_at));
    }
    const auto text = read_file(files.started());
    const auto spec = text ? parse_job_spec(*text, files.started()) : tl::unexpected(text.error());
    std::size_t left = 0;
    if (spec) left = kill_leftovers(*spec, session);
    if (spec && session) clean_up(spec->start, session->tmp_dir);
    const bool same_boot = session && session->boot == boot_id();
    report.exit.message = session && !same_boot ? "the machine was restarted while the job ran"
                                                : "the process that ran the job was killed";
    if (!spec) report.exit.message += "; its processes are not known: " + spec.error().message;
    if (left > 0) report.exit.message += fmt::format("; {} processes could not be killed", left);
    report.may_still_run = left > 0 || (!spec && (!session || same_boot));
    return report;
}

void Runner::Impl::clean_up(const JobStart& job, const std::string& tmp_dir) {
    if (tmp_dir.empty()) return;
    const pid_t pid = spawn_helper(
        options_, {cleaner_argument, job.user, std::to_string(job.uid), std::to_string(job.gid), tmp_dir},
        -1);
    if (pid > 0) cleaners_.push_back(pid);
}

RunReport Runner::Impl::examine(const RunId& id) {
    const RunFiles files = this->files(id);
    // A start moves on while it is looked at, from .job to .started to .exit, never back.
    for (;;) {
        if (const auto text = read_file(files.exit())) {
            auto exit = parse_exit(*text, files.exit());
            if (exit)
                return {
                    .id = id, .state = RunState::ended, .session = exit->session, .exit = std::move(*exit)};
            auto report = lost(id);
            report.exit.message += "; " + exit.error().message;
            return report;
        }
        if (is_there(files.started())) {
            if (Fd process = find_shepherd(files.started())) {
                Watch watch;
                watch.id = id;
                watch.process = std::move(process);
                if (const auto text = read_file(files.session()))
                    if (const auto session = parse_session(*text, files.session()))
                        watch.session = session->session;
                RunReport report{.id = id,
                                 .state = RunState::running,
                                 .session = watch.session,
                                 .exit = {},
                                 .may_still_run = false};
                if (auto watched = this->watch(std::move(watch)); !watched)
                    report.exit.message = watched.error().message;
                return report;
            }
            if (!is_there(files.exit())) return lost(id);
            continue;
        }
        // Withdraw the permission: whether this or the shepherd's rename comes first decides.
        const bool withdrawn = ::rename(files.job().c_str(), files.withdrawn().c_str()) == 0;
        if (!withdrawn && (is_there(files.started()) || is_there(files.exit()))) continue;
        files.remove_all();
        return {.id = id, .state = RunState::never_started, .session = 0, .exit = {}, .may_still_run = false};
    }
}

std::set<std::pair<std::string, std::int64_t>> Runner::Impl::on_disk() const {
    std::set<std::pair<std::string, std::int64_t>> found;
    DIR* directory = ::opendir((options_.home + "/mom_priv/jobs").c_str());
    if (directory == nullptr) return found;
    // A stream of its own is read by this thread only.
    while (const dirent* entry = ::readdir(directory))  // NOLINT(concurrency-mt-unsafe)
        if (const auto run = run_of_file(entry->d_name)) found.emplace(run->job, run->run);
    ::closedir(directory);
    return found;
}

std::vector<RunReport> Runner::recover(const std::vector<RunId>& running, std::vector<RunReport>* strays) {
    std::vector<RunReport> reports;
    auto others = impl_->on_disk();
    for (const auto& id : running) {
        reports.push_back(impl_->examine(id));
        others.erase({id.job, id.run});
    }
    for (const auto& [job, run] : others) {
        auto report = impl_->examine({job, run});
        if (report.state != RunState::running) forget(report.id);
        if (strays != nullptr) strays->push_back(std::move(report));
    }
    return reports;
}

void Runner::forget(const RunId& id) {
    impl_->files(id).remove_all();
}

// ---- Events ----

int Runner::event_fd() const {
    return impl_->epoll_.get();
}

std::size_t Runner::running() const {
    return impl_->watches_.size();
}

// Reads what the shepherd has to say: that the script runs, or why nothing was started.
void Runner::Impl::read_notice(std::uint64_t number, std::vector<RunReport>& reports) {
    Watch& watch = watches_.at(number);
    std::array<char, 4096> buffer;
    ssize_t n = 0;
    while ((n = ::read(watch.notify.get(), buffer.data(), buffer.size())) > 0)
        watch.notified.append(buffer.data(), static_cast<std::size_t>(n));
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    watch.notify.reset();
    for (const auto& [key, value] : parse_key_values(watch.notified, "notice").value_or(KeyValues{})) {
        if (key == "error") watch.error = value;
        if (key != "session") continue;
        watch.session = parse_number(key, value).value_or(0);
        reports.push_back({.id = watch.id,
                           .state = RunState::running,
                           .session = watch.session,
                           .exit = {},
                           .may_still_run = false});
    }
}

void Runner::Impl::shepherd_ended(std::uint64_t number, std::vector<RunReport>& reports) {
    if (watches_.at(number).notify) read_notice(number, reports);
    const Watch watch = unwatch(number);
    if (watch.child > 0) ::waitpid(watch.child, nullptr, WNOHANG);
    auto report = examine(watch.id);
    if (report.state == RunState::never_started)
        report.exit.message =
            watch.error.empty() ? "its shepherd ended before it could start the job" : watch.error;
    if (report.state == RunState::lost) report.exit.walltime = report.exit.ended_at - report.exit.started_at;
    reports.push_back(std::move(report));
}

std::vector<RunReport> Runner::events() {
    std::vector<RunReport> reports;
    std::erase_if(impl_->cleaners_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
    std::array<epoll_event, 64> ready{};
    const int count = ::epoll_wait(impl_->epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    for (int i = 0; i < count; ++i) {
        const std::uint64_t data = ready[static_cast<std::size_t>(i)].data.u64;
        const std::uint64_t number = data / 2;
        // Its end may have been handled just before, in this same round.
        if (!impl_->watches_.contains(number)) continue;
        if (data % 2 == 1)
            impl_->read_notice(number, reports);
        else
            impl_->shepherd_ended(number, reports);
    }
    return reports;
}

Result<int> parse_signal(std::string_view text) {
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0 && number < NSIG)
        return number;
    auto name = text;
    if (name.starts_with("SIG")) name.remove_prefix(3);
    for (int signal = 1; signal < NSIG; ++signal) {
        const char* abbreviation = sigabbrev_np(signal);
        if (abbreviation != nullptr && name == abbreviation) return signal;
    }
    return fail(pbse_unksig, fmt::format("unknown signal \"{}\"", text));
}

}  // namespace pbs::host
