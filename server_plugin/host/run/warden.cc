#include "server_plugin/host/run/warden.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

#include "server_plugin/host/base/key_value.h"
#include "server_plugin/host/run/control_group.h"
#include "server_plugin/host/run/job_process.h"
#include "server_plugin/host/run/leftovers.h"
#include "server_plugin/host/run/process_tree.h"
#include "server_plugin/host/run/run_files.h"
#include "server_plugin/host/run/shepherd_protocol.h"

namespace pbs::host {

namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using std::chrono::sys_seconds;

// Waits until the shepherd has ended, and passes the server's requests to it.
void wait_for(pid_t shepherd, int signals) {
    for (;;) {
        pid_t ended = 0;
        while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0)
            if (ended == shepherd) return;
        if (ended < 0 && errno == ECHILD) return;
        pollfd readable{signals, POLLIN, 0};
        ::poll(&readable, 1, -1);
        signalfd_siginfo info{};
        while (::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
            const int number = static_cast<int>(info.ssi_signo);
            sigval value{};
            value.sival_int = info.ssi_int;
            if (number >= signal_request() && number <= resume_request()) ::sigqueue(shepherd, number, value);
        }
    }
}

void reap() {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
}

// The facts about a start whose shepherd is gone.
struct Start {
    tl::expected<JobSpec, Error> spec = fail(0, "");
    std::optional<SessionRecord> session;
    // True if the machine has not been booted since the start, so that the job's processes may exist.
    bool same_boot = false;
};

Start read_start(const RunFiles& files, int file) {
    Start start;
    ::lseek(file, 0, SEEK_SET);
    // Use this descriptor for reading: opening the file again and closing it would release this process's
    // lock.
    const auto text = read_fd(file, files.started());
    start.spec = text ? parse_job_spec(*text, files.started()) : tl::unexpected(text.error());
    if (const auto session = read_file(files.session()))
        if (auto parsed = parse_session(*session, files.session())) start.session = std::move(*parsed);
    // An earlier version has put the boot id only into the session record.
    std::string boot = start.spec ? start.spec->boot : "";
    if (boot.empty() && start.session) boot = start.session->boot;
    start.same_boot = boot.empty() || boot == boot_id();
    return start;
}

std::size_t end_processes(const Start& start) {
    if (!start.same_boot) return 0;
    const auto find = [&start] {
        auto found = start.spec ? find_leftovers(*start.spec, start.session) : std::vector<Process>();
        // Add the processes below this one: the shepherd is gone, so the job's processes have become children
        // of this one. A process may be listed twice, which does no harm.
        for (auto& process : descendants(::getpid())) found.push_back(process);
        return found;
    };
    return kill_processes(find, start.spec ? start.spec->control_group : std::string(), reap, kGiveUpKilling);
}

ExitRecord end_of(const Start& start, std::size_t left) {
    ExitRecord exit;
    exit.lost = true;
    exit.exit_status = exit_status::kAbortedAtRestart;
    exit.started_at = exit.ended_at = std::chrono::floor<seconds>(std::chrono::system_clock::now());
    if (start.session) {
        exit.session = start.session->session;
        exit.output_note = start.session->output_note;
        exit.started_at = sys_seconds(seconds(start.session->started_at));
    }
    exit.message = start.same_boot ? "the process that ran the job was killed"
                                   : "the machine was restarted while the job ran";
    if (!start.spec) exit.message += "; its processes are not known: " + start.spec.error().message;
    if (left > 0) exit.message += fmt::format("; {} processes could not be killed", left);
    exit.may_still_run = left > 0 || (!start.spec && start.same_boot);
    return exit;
}

// Ends the remaining processes of the job and records its end. `watched`: this process was the start's
// warden, so that the usage of its children is the job's.
int close(const RunFiles& files, int file, bool watched) {
    const Start start = read_start(files, file);
    ExitRecord exit = end_of(start, end_processes(start));
    if (watched) {
        exit.walltime = exit.ended_at - exit.started_at;
        rusage used{};
        ::getrusage(RUSAGE_CHILDREN, &used);
        exit.cput = time_of(used.ru_utime) + time_of(used.ru_stime);
        exit.mem_kb = exit.vmem_kb = used.ru_maxrss;
    }
    // Include the usage that the shepherd has recorded. If the file isn't such a record, it may be a damaged
    // exit record, which the runner has moved to this path.
    const auto before = read_file(files.exit_room(), kExitRecordRoom);
    if (before && before->starts_with("version")) {
        const auto seen = parse_exit_room(*before, files.exit());
        if (seen) {
            exit.walltime = std::max(exit.walltime, seen->walltime);
            exit.cput = std::max(exit.cput, seen->cput);
            exit.mem_kb = std::max(exit.mem_kb, seen->mem_kb);
            exit.vmem_kb = std::max(exit.vmem_kb, seen->vmem_kb);
        } else {
            exit.message += "; " + seen.error().message;
        }
    }
    if (start.spec && start.session) remove_tmp_dir(start.spec->start, start.session->tmp_dir);
    if (start.spec && !start.spec->control_group.empty()) remove_control_group(start.spec->control_group);
    const Fd room(::open(files.exit_room().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!room) return 1;
    store_exit(files, room, std::move(exit));
    return 0;
}

}  // namespace

int keep_watch(const std::string& home, const RunId& id, const std::function<int(Fd start)>& shepherd) {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    Fd signals(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const RunFiles files(home, id);
    const auto refuse = [](std::string_view what) {
        static_cast<void>(
            write_all(kShepherdNotifyFd,
                      write_key_values({{"error", fmt::format("{}: {}", what, system_text(errno))}})));
        return 1;
    };
    if (!signals) return refuse("cannot read signals");
    Fd file(::open(files.job().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return refuse("cannot open " + files.job());
    if (!lock_byte(file.get(), kWardenByte)) return refuse("cannot lock " + files.job());
    const pid_t pid = ::fork();
    if (pid == 0) {
        signals.reset();
        return shepherd(std::move(file));
    }
    if (pid < 0) refuse("cannot fork");
    ::close(kShepherdNotifyFd);
    if (pid < 0) return 1;
    wait_for(pid, signals.get());
    if (!is_there(files.started()) || is_there(files.exit())) return 0;
    return close(files, file.get(), true);
}

int bury(const std::string& home, const RunId& id) {
    const RunFiles files(home, id);
    const Fd file(::open(files.started().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file || !lock_byte(file.get(), kWardenByte)) return 1;
    // Another cleaner may have written the exit record before this process got the lock.
    return is_there(files.exit()) ? 0 : close(files, file.get(), false);
}

}  // namespace pbs::host
