#include "server_plugin/host/run/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <new>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/key_value.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/control_group.h"
#include "server_plugin/host/run/process_tree.h"
#include "server_plugin/host/run/runner_impl.h"
#include "server_plugin/host/run/shepherd_protocol.h"
#include "server_plugin/posix/spawn.h"

namespace pbs::host {

namespace {

constexpr int kMostBurials = 3;
// The most events that one call of events() returns. The server handles all of these at once, while its
// clients wait.
constexpr std::size_t kMostEvents = 16;
constexpr const char* kNoShepherd = "its shepherd ended before it could start the job";
constexpr const char* kNotWatched = "its shepherd could not be watched";

std::string key_of(const RunId& id) {
    return fmt::format("{}.{}", id.job, id.run);
}

// Makes the error of a start for which a file can't be written.
tl::unexpected<Error> not_written(const std::string& path, int error) {
    return fail(may_pass(error) ? PBSE_TRYAGAIN : PBSE_SYSTEM,
                fmt::format("cannot write {}: {}", path, system_text(error)));
}

// Makes room for one more report, so that there is memory for it before something is done of which it tells.
void make_room(std::vector<RunReport>& reports) {
    if (reports.size() == reports.capacity()) reports.reserve(2 * reports.size() + 1);
}

// Starts a cleaner (shepherd_protocol.h) for the remains of a start, in a new session, with all signals
// blocked. Returns the pid or -errno.
pid_t spawn_cleaner(const RunnerOptions& options, const RunId& id) {
    posix::Spawn helper(posix::Spawn::Signals::blocked);
    for (const int fd : {0, 1, 2}) helper.give_nothing(fd);
    helper.close_from(3);
    return helper.start(options.program,
                        {"pbs_shepherd", kCleanerArgument, options.home, id.job, std::to_string(id.run)});
}

// Makes a report of a start whose outcome can't be found. The job must not start again before somebody has
// looked at the machine.
RunReport unknown(const RunId& id, const std::string& why) {
    RunReport report{.id = id, .state = RunState::lost, .session = 0, .exit = {}, .may_still_run = true};
    report.exit.exit_status = exit_status::kAbortedAtRestart;
    report.exit.started_at = report.exit.ended_at =
        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    report.exit.message = "the process that ran the job was killed; " + why;
    return report;
}

}  // namespace

Runner::Runner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runner::~Runner() = default;

Result<std::unique_ptr<Runner>> Runner::create(RunnerOptions options) {
    const std::string jobs = options.home + "/mom_priv/jobs";
    if (::access(jobs.c_str(), R_OK | W_OK | X_OK) != 0)
        return fail(PBSE_SYSTEM, fmt::format("{}: {}", jobs, system_text(errno)));
    Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll) return fail(PBSE_SYSTEM, fmt::format("job runner: epoll: {}", system_text(errno)));
    auto impl = std::make_unique<Impl>(std::move(options), std::move(epoll));
    impl->choose_supervision();
    return std::unique_ptr<Runner>(new Runner(std::move(impl)));
}

void Runner::Impl::choose_supervision() {
    auto parent =
        options_.control_groups ? control_group_parent() : fail(PBSE_SYSTEM, "they are not asked for");
    if (parent) {
        parent_group_ = std::move(*parent);
        const auto weighs = enable_weights(parent_group_);
        weighs_ = weighs.has_value();
        supervision_ =
            fmt::format("the processes of each job are in a control group of its own, in {}; reprioritize {}",
                        parent_group_,
                        weighs_ ? std::string("sets its cpu.weight")
                                : fmt::format("has no effect ({})", weighs.error().message));
    } else {
        supervision_ = fmt::format(
            "jobs have no control groups ({}): processes that have left a job's session and environment are "
            "ended by the job's shepherd or, if that is killed, by its warden; if both are killed at once "
            "they run on",
            parent.error().message);
    }
}

bool Runner::weighs() const {
    return impl_->weighs_;
}

std::string Runner::supervision() const {
    return impl_->supervision_;
}

bool Runner::may_run_as(uid_t uid, std::string& reason) const {
    if (::geteuid() == 0 || uid == ::geteuid()) return true;
    reason = fmt::format(
        "this server runs as uid {}, not as root, and can run jobs of that user only, not of uid {}",
        ::geteuid(), uid);
    return false;
}

// ---- Starting ----

// Writes the script to a file that only the job's owner can read. The file needn't be durable: after a power
// failure no start goes on.
Result<void> Runner::Impl::write_script(const JobStart& job) const {
    const std::string path = files(job.id).script();
    const Fd file = new_file_for(path, 0500, job.uid, job.gid);
    if (file && write_all(file.get(), job.script)) return {};
    const int error = errno;
    ::unlink(path.c_str());
    return not_written(path, error);
}

Result<void> Runner::Impl::write_spec(JobStart job) const {
    const RunFiles files = this->files(job.id);
    const std::string path = files.job();
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    JobSpec spec{std::move(job), new_cookie(), options_.host_name, {}, boot_};
    if (!parent_group_.empty())
        spec.control_group = fmt::format("{}/pbs-{}-{}", parent_group_, key_of(spec.start.id), spec.cookie);
    if (!fd || !write_all(fd.get(), write_job_spec(spec))) {
        const int error = errno;
        files.remove_all();
        return not_written(path, error);
    }
    return {};
}

Result<void> Runner::start(JobStart job) {
    std::string reason;
    if (!is_file_safe(job.id.job))
        return fail(PBSE_INTERNAL, fmt::format("job id \"{}\" can't be part of a file name", job.id.job));
    if (!may_run_as(job.uid, reason)) return fail(PBSE_PERM, reason);
    const RunFiles files = impl_->files(job.id);
    if (is_there(files.job()) || is_there(files.started()) || is_there(files.exit()))
        return fail(PBSE_INTERNAL,
                    fmt::format("job {} was started before as run {}", job.id.job, job.id.run));
    if (auto written = impl_->write_script(job); !written) return written;
    const RunId id = job.id;
    if (auto written = impl_->write_spec(std::move(job)); !written) return written;
    // Make the entry first: once the launcher has the request, nothing may fail, such as for lack of memory.
    // The server would hold the job, and the launcher would run it.
    const auto entry = impl_->launching_.insert_or_assign(key_of(id), Impl::Launching{id}).first;
    Result<void> asked;
    try {
        asked = impl_->launcher_.ask(id);
    } catch (const std::bad_alloc&) {
        impl_->launching_.erase(entry);
        throw;
    }
    if (asked) return {};
    impl_->launching_.erase(entry);
    files.remove_all();
    return fail(asked.error().code,
                fmt::format("job {}: cannot start its shepherd: {}", id.job, asked.error().message));
}

// If memory is short, the next call goes on with the answers that are left.
void Runner::Impl::take_answers(std::vector<RunReport>& reports) {
    if (!launcher_.carry(answers_)) launcher_is_gone_ = true;
    for (; !answers_.empty(); answers_.pop_front()) {
        const auto found = launching_.find(key_of(answers_.front().id));
        if (found == launching_.end()) continue;
        Starts start(1);
        std::swap(start.front(), found->second);
        launching_.erase(found);
        or_later(std::move(start),
                 [&](Launching& begun) { return launched(answers_.front(), begun, reports); });
    }
    if (launcher_is_gone_) launcher_gone(reports);
    launcher_is_gone_ = false;
}

// Calls work(), which is about one start. If memory is short, or work() returns false, events() looks after
// the start again, as nothing else would tell how it ends. Needs no memory for that.
template <class Work>
void Runner::Impl::or_later(Starts start, Work&& work) {
    bool done = false;
    try {
        done = work(start.front());
    } catch (const std::bad_alloc&) {
        done = false;
    }
    if (!done) unwatched_.splice(unwatched_.end(), start);
}

// Returns false if the start couldn't be watched.
bool Runner::Impl::launched(Launcher::Answer& answer, Launching& start, std::vector<RunReport>& reports) {
    if (!answer.error.empty()) {
        make_room(reports);
        auto report = examine(answer.id);
        report.exit.message = "cannot start its shepherd: " + answer.error;
        reports.push_back(std::move(report));
        return true;
    }
    Watch watch;
    watch.id = answer.id;
    watch.process = std::move(answer.process);
    watch.notify = std::move(answer.notify);
    if (!this->watch(std::move(watch))) return false;
    send_requests(start);
    return true;
}

// If memory is short, the requests that are left stay.
void Runner::Impl::send_requests(Launching& start) {
    for (; !start.requests.empty(); start.requests.erase(start.requests.begin()))
        static_cast<void>(ask(start.id, start.requests.front().first, start.requests.front().second));
}

// Examines the starts that the launcher was working on when it ended. It may have begun some of them without
// an answer.
void Runner::Impl::launcher_gone(std::vector<RunReport>& reports) {
    while (!launching_.empty()) {
        Starts start(1);
        std::swap(start.front(), launching_.begin()->second);
        launching_.erase(launching_.begin());
        or_later(std::move(start), [&](Launching& begun) {
            make_room(reports);
            auto report = examine(begun.id);
            send_requests(begun);
            if (report.state == RunState::never_started) report.exit.message = kNoShepherd;
            if (report.state != RunState::running || report.session != 0)
                reports.push_back(std::move(report));
            return true;
        });
    }
}

// Notes a start that couldn't be watched, so that events() tries again.
void Runner::Impl::watch_or_later(const Result<void>& watched, const RunId& id) {
    if (!watched) unwatched_.push_back({id});
}

void Runner::Impl::look_after_unwatched(std::vector<RunReport>& reports) {
    for (std::size_t left = unwatched_.size(); left > 0; --left) {
        Starts start;
        start.splice(start.begin(), unwatched_, unwatched_.begin());
        or_later(std::move(start), [&](Launching& begun) {
            // The start may be watched, as memory was short only afterwards. Its end then comes as an event.
            if (find(begun.id) == nullptr) {
                make_room(reports);
                auto report = examine(begun.id);
                if (report.state == RunState::never_started) report.exit.message = kNotWatched;
                if (report.state != RunState::running || report.session != 0)
                    reports.push_back(std::move(report));
            }
            send_requests(begun);
            return true;
        });
    }
}

Result<void> Runner::Impl::watch(Watch watch) {
    const std::uint64_t number = next_watch_++;
    // Make the entries first: a descriptor must not be in the epoll set without a watch.
    const auto name = by_id_.insert_or_assign(key_of(watch.id), number).first;
    Watch* watched = nullptr;
    try {
        watched = &watches_.emplace(number, std::move(watch)).first->second;
    } catch (const std::bad_alloc&) {
        by_id_.erase(name);
        throw;
    }
    const auto add = [&](int fd, std::uint64_t data) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = data;
        return fd >= 0 && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
    };
    // Each watch has two numbers in the epoll set: an even one for its process, and the next odd one for its
    // pipe.
    if (add(watched->process.get(), number * 2) &&
        (!watched->notify || add(watched->notify.get(), number * 2 + 1)))
        return {};
    const int why = errno;
    const Watch dropped = unwatch(number);
    return fail(PBSE_SYSTEM,
                fmt::format("job {}: cannot watch its shepherd: {}", dropped.id.job, system_text(why)));
}

// Removes a descriptor from the epoll set and closes it. Closing it isn't enough while another process, such
// as the launcher, has the file open.
void Runner::Impl::drop(Fd& watched) {
    if (!watched) return;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, watched.get(), nullptr);
    watched.reset();
}

Runner::Impl::Watch Runner::Impl::unwatch(std::uint64_t number) {
    const auto it = watches_.find(number);
    const std::string key = key_of(it->second.id);
    Watch watch = std::move(it->second);
    drop(watch.process);
    drop(watch.notify);
    watches_.erase(it);
    by_id_.erase(key);
    return watch;
}

Runner::Impl::Watch* Runner::Impl::find(const RunId& id) {
    const auto it = by_id_.find(key_of(id));
    return it == by_id_.end() ? nullptr : &watches_.at(it->second);
}

// ---- Signals ----

// Returns false if no process of the start takes the request.
bool Runner::Impl::ask_now(const RunId& id, int request, int value) {
    const auto it = by_id_.find(key_of(id));
    const Fd found = it == by_id_.end() ? open_supervisor(files(id).started()) : Fd();
    const int process = it == by_id_.end() ? found.get() : watches_.at(it->second).process.get();
    return process >= 0 && signal_pidfd(process, request, value);
}

Result<void> Runner::Impl::ask(const RunId& id, int request, int value) {
    if (launching_.contains(key_of(id))) take_answers(kept_);
    if (const auto start = launching_.find(key_of(id)); start != launching_.end()) {
        if (request != 0) start->second.requests.emplace_back(request, value);
        return {};
    }
    // A start that isn't watched yet may have no process yet. Its requests keep their order.
    const auto unwatched = std::ranges::find(unwatched_, id, &Launching::id);
    const bool is_watched = unwatched == unwatched_.end();
    if ((is_watched || unwatched->requests.empty()) && ask_now(id, request, value)) return {};
    if (is_watched) return fail(PBSE_BADSTATE, fmt::format("job {} has no process to signal", id.job));
    if (request != 0) unwatched->requests.emplace_back(request, value);
    return {};
}

Result<void> Runner::signal(const RunId& id, int signal) {
    return impl_->ask(id, signal == 0 ? 0 : signal_request(), signal);
}

Result<void> Runner::suspend(const RunId& id) {
    return impl_->ask(id, suspend_request(), 0);
}

Result<void> Runner::resume(const RunId& id) {
    return impl_->ask(id, resume_request(), 0);
}

Result<void> Runner::terminate(const RunId& id, std::chrono::seconds kill_delay) {
    return impl_->ask(id, terminate_request(),
                      static_cast<int>(std::clamp<std::int64_t>(kill_delay.count(), 0, 1'000'000)));
}

Result<void> Runner::set_limits(const RunId& id, std::optional<std::chrono::seconds> walltime,
                                std::optional<std::chrono::seconds> cput) {
    const auto value = [](std::optional<std::chrono::seconds> limit) {
        constexpr std::int64_t kMost = std::numeric_limits<int>::max();
        return limit ? static_cast<int>(std::clamp<std::int64_t>(limit->count(), 0, kMost)) : -1;
    };
    if (auto done = impl_->ask(id, walltime_request(), value(walltime)); !done) return done;
    return impl_->ask(id, cput_request(), value(cput));
}

Result<void> Runner::set_weight(const RunId& id, int weight) {
    const auto group = read_control_group(impl_->files(id).started());
    if (!group) return tl::unexpected(group.error());
    if (group->empty()) return fail(PBSE_BADSTATE, fmt::format("job {} has no control group", id.job));
    return weigh_control_group(*group, std::clamp(weight, 1, 10'000));
}

// ---- The outcome of a start ----

// Starts a cleaner for a start that has no record of its end, and whose shepherd and warden are both gone.
Result<void> Runner::Impl::bury(const RunId& id, std::int64_t session) {
    // Make the entries first: once the cleaner runs, it has to be counted and waited for.
    int& burials = burials_[key_of(id)];
    cleaners_.reserve(cleaners_.size() + 1);
    const pid_t pid = spawn_cleaner(options_, id);
    if (pid < 0)
        return fail(PBSE_SYSTEM, fmt::format("cannot run {}: {}", options_.program, system_text(-pid)));
    ++burials;
    cleaners_.push_back(pid);
    Watch watch;
    watch.id = id;
    watch.process = open_process(pid);
    watch.session = session;
    return this->watch(std::move(watch));
}

RunReport Runner::Impl::examine(const RunId& id) {
    const RunFiles files = this->files(id);
    // The start may advance while this function looks: the file .job may be renamed to .started, and the file
    // .exit may appear. But a start never goes back.
    for (;;) {
        if (const auto text = read_file(files.exit())) {
            if (auto exit = parse_exit(*text, files.exit()))
                return {.id = id,
                        .state = exit->lost ? RunState::lost : RunState::ended,
                        .session = exit->session,
                        .exit = *exit,
                        .may_still_run = exit->may_still_run};
            else if (!is_there(files.started()))
                return unknown(id, exit.error().message);
            // The record is damaged. Move it away. A cleaner then ends the job's remaining processes, and
            // makes a new record.
            ::rename(files.exit().c_str(), files.exit_room().c_str());
        }
        if (is_there(files.started())) {
            RunReport report{
                .id = id, .state = RunState::running, .session = 0, .exit = {}, .may_still_run = false};
            if (const auto text = read_file(files.session()))
                if (const auto session = parse_session(*text, files.session())) {
                    report.session = session->session;
                    report.exit.output_note = session->output_note;
                }
            if (Fd process = open_supervisor(files.started())) {
                Watch watch;
                watch.id = id;
                watch.process = std::move(process);
                watch.session = report.session;
                watch_or_later(this->watch(std::move(watch)), id);
            } else {
                if (is_there(files.exit())) continue;
                if (burials_[key_of(id)] >= kMostBurials)
                    return unknown(id,
                                   "the process that was to end what is left of it ended without a record");
                watch_or_later(bury(id, report.session), id);
            }
            return report;
        }
        // Withdraw the permission to start by a rename of the file .job. The shepherd takes the permission by
        // a rename of the same file, so only one of the two succeeds.
        const bool withdrawn = ::rename(files.job().c_str(), files.withdrawn().c_str()) == 0;
        if (!withdrawn && (is_there(files.started()) || is_there(files.exit()))) continue;
        files.remove_all();
        return {.id = id, .state = RunState::never_started, .session = 0, .exit = {}, .may_still_run = false};
    }
}

std::vector<RunReport> Runner::recover(const std::vector<RunId>& running, std::vector<RunReport>* strays) {
    std::vector<RunReport> reports;
    auto others = starts_on_disk(impl_->options_.home);
    for (const auto& id : running) {
        reports.push_back(impl_->examine(id));
        others.erase({id.job, id.run});
    }
    for (const auto& [job, run] : others) {
        auto report = impl_->examine({job, run});
        if (report.state != RunState::running) impl_->files(report.id).remove_all();
        if (strays != nullptr) strays->push_back(std::move(report));
    }
    return reports;
}

std::optional<ExitRecord> Runner::used(const RunId& id) const {
    const std::string room = impl_->files(id).exit_room();
    const auto text = read_file(room);
    if (!text) return std::nullopt;
    // Reading may fail, because the shepherd may be writing the file.
    auto record = parse_exit_room(*text, room);
    if (!record) return std::nullopt;
    return std::move(*record);
}

void Runner::forget(const RunId& id) {
    impl_->burials_.erase(key_of(id));
    if (!impl_->launcher_.forget(id)) impl_->files(id).remove_all();
}

// ---- Events ----

int Runner::event_fd() const {
    return impl_->epoll_.get();
}

std::size_t Runner::running() const {
    return impl_->watches_.size() + impl_->launching_.size();
}

// Reads the shepherd's message: that the script runs, or the reason why nothing was started. Drops the pipe
// last: if memory is short, the next call goes on.
void Runner::Impl::read_notice(std::uint64_t number, std::vector<RunReport>& reports) {
    Watch& watch = watches_.at(number);
    std::array<char, 4096> buffer;
    ssize_t n = 0;
    do {
        watch.notified.reserve(watch.notified.size() + buffer.size());
        n = ::read(watch.notify.get(), buffer.data(), buffer.size());
        if (n > 0) watch.notified.append(buffer.data(), static_cast<std::size_t>(n));
    } while (n > 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    for (const auto& [key, value] : parse_key_values(watch.notified, "notice").value_or(KeyValues{})) {
        if (key == "error") watch.error = value;
        if (key == "output_note") watch.output_note = value;
        if (key == "session") watch.session = parse_number(key, value).value_or(0);
    }
    if (watch.session != 0) {
        RunReport report;
        report.id = watch.id;
        report.session = watch.session;
        report.exit.output_note = watch.output_note;
        reports.push_back(std::move(report));
    }
    drop(watch.notify);
}

void Runner::Impl::shepherd_ended(std::uint64_t number, std::vector<RunReport>& reports) {
    if (watches_.at(number).notify) read_notice(number, reports);
    Starts ended(1);
    ended.front().id = watches_.at(number).id;
    or_later(std::move(ended), [&](Launching&) {
        make_room(reports);
        const Watch watch = unwatch(number);
        auto report = examine(watch.id);
        // The start is still running. examine() has found another process to watch, such as the shepherd
        // whose warden has ended.
        if (report.state == RunState::running) return true;
        if (report.state == RunState::never_started)
            report.exit.message = watch.error.empty() ? kNoShepherd : watch.error;
        reports.push_back(std::move(report));
        return true;
    });
}

void Runner::Impl::reap_cleaners() {
    std::erase_if(cleaners_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

std::vector<RunReport> Runner::events() {
    // If an exception passes, the next call returns the reports so far.
    std::vector<RunReport>& reports = impl_->kept_;
    impl_->reap_cleaners();
    impl_->look_after_unwatched(reports);
    // Take the launcher's answers first, because the processes that they name may have ended already.
    if (!impl_->launching_.empty()) impl_->take_answers(reports);
    std::array<epoll_event, kMostEvents> ready{};
    const int count = ::epoll_wait(impl_->epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
    for (int i = 0; i < count; ++i) {
        const std::uint64_t data = ready[static_cast<std::size_t>(i)].data.u64;
        if (data == Impl::kLauncherNumber) {
            impl_->take_answers(reports);
            continue;
        }
        const std::uint64_t number = data / 2;
        // An event of the same round may have removed the watch.
        if (!impl_->watches_.contains(number)) continue;
        if (data % 2 == 1)
            impl_->read_notice(number, reports);
        else
            impl_->shepherd_ended(number, reports);
    }
    impl_->reap_cleaners();
    return std::exchange(reports, {});
}

}  // namespace pbs::host
