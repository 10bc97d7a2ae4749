// The program of the launcher's process (launcher.h).
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "server_plugin/host/run/launch_message.h"
#include "server_plugin/host/run/launcher.h"
#include "server_plugin/host/run/process_tree.h"
#include "server_plugin/host/run/run_files.h"
#include "server_plugin/host/run/shepherd.h"
#include "server_plugin/host/run/shepherd_protocol.h"

namespace pbs::host {

namespace {

// Returns the most starts to work on at a time: enough to keep the processors busy while some starts wait for
// the disk.
std::size_t most_at_work() {
    const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
    return 2 + 2 * static_cast<std::size_t>(std::clamp(processors, 1L, 64L));
}

// Sets the text that ps(1) shows for a process, by overwriting the launcher's arguments in memory. Cuts the
// text to the arguments' length.
class Title {
  public:
    Title(int argc, char** argv)
        : begin_(argv[0]),
          size_(static_cast<std::size_t>(argv[argc - 1] - argv[0]) + std::strlen(argv[argc - 1])) {}
    void set(const std::string& text) const {
        std::memset(begin_, 0, size_);
        std::memcpy(begin_, text.data(), std::min(size_, text.size()));
    }

  private:
    char* begin_;
    std::size_t size_;
};

// Makes the C library load what it looks groups up with. The wardens and shepherds that are forked later
// inherit that; else each would load it. For root, some modules answer without loading all that they use for
// others.
void prepare_lookups() {
    std::array<gid_t, 1> group{};
    int count = group.size();
    static_cast<void>(::getgrouplist("daemon", 0, group.data(), &count));
}

class Starter {
  public:
    Starter(std::string home, Title title)
        : home_(std::move(home)), title_(title), server_(kLauncherFd), most_(most_at_work()) {}
    // Returns the exit code of the launcher. The processes that it forks don't return.
    int run();

  private:
    bool open_signals();
    void start(const RunId& id);
    void refuse(const RunId& id, const std::string& why);
    void finished(std::size_t start);

    std::string home_;
    Title title_;
    Fd server_;
    Fd signals_;
    std::size_t most_;
    // For each unfinished start, the reading end of the pipe that its shepherd writes to. It shows when the
    // start is finished. Only the server reads from it.
    std::vector<Fd> at_work_;
    bool prepared_ = false;
};

bool Starter::open_signals() {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    signals_.reset(::signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK));
    return signals_ && ::fcntl(server_.get(), F_SETFD, FD_CLOEXEC) == 0;
}

// Answers that there is no warden. The server puts the job aside for a time.
void Starter::refuse(const RunId& id, const std::string& why) {
    launch_message::send(server_.get(), launch_message::write(id, why), {});
}

// Forks a warden for the start.
void Starter::start(const RunId& id) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refuse(id, "pipe: " + system_text(errno));
    Fd read(ends[0]);
    Fd write(ends[1]);
    const pid_t pid = ::fork();
    if (pid == 0) {
        server_.reset();
        signals_.reset();
        at_work_.clear();
        read.reset();
        if (write.get() != kShepherdNotifyFd && ::dup2(write.get(), kShepherdNotifyFd) < 0) ::_exit(1);
        if (write.get() != kShepherdNotifyFd) write.reset();
        static_cast<void>(write.release());
        ::setsid();
        title_.set(fmt::format("pbs_shepherd {} {}", id.job, id.run));
        // Warden and shepherd end without the work of exit(), such as finding the destructors of all
        // libraries.
        ::_exit(supervise(home_, id));
    }
    if (pid < 0) return refuse(id, "fork: " + system_text(errno));
    write.reset();
    // The process isn't waited for yet, so no other process has got its pid.
    const Fd process = open_process(pid);
    std::vector<int> descriptors;
    if (process) descriptors = {process.get(), read.get()};
    launch_message::send(server_.get(), launch_message::write(id, {}), descriptors);
    at_work_.push_back(std::move(read));
}

// Forgets a finished start. Only root's shepherds look groups up. The first finished start shows that such a
// lookup comes to an end: before it, a directory service that doesn't answer would make the launcher, and so
// all starts, wait.
void Starter::finished(std::size_t start) {
    at_work_.erase(at_work_.begin() + static_cast<std::ptrdiff_t>(start));
    if (!prepared_ && ::geteuid() == 0) prepare_lookups();
    prepared_ = true;
}

int Starter::run() {
    if (!open_signals()) return 1;
    for (;;) {
        std::vector<pollfd> events;
        const short wanted = at_work_.size() < most_ ? POLLIN : 0;
        events.push_back({server_.get(), wanted, 0});
        events.push_back({signals_.get(), POLLIN, 0});
        // No events are requested for these pipes. So poll() reports a pipe only when all its writers have
        // closed it: its start is then finished.
        for (const Fd& one : at_work_) events.push_back({one.get(), 0, 0});
        if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) return 1;
        if ((events[0].revents & (POLLHUP | POLLERR)) != 0) return 0;
        if (events[1].revents != 0) {
            signalfd_siginfo info{};
            while (::read(signals_.get(), &info, sizeof info) > 0) {
            }
            while (::waitpid(-1, nullptr, WNOHANG) > 0) {
            }
        }
        for (std::size_t i = at_work_.size(); i-- > 0;)
            if (events[i + 2].revents != 0) finished(i);
        if ((events[0].revents & POLLIN) == 0) continue;
        const auto request = launch_message::receive(server_.get(), MSG_DONTWAIT);
        if (!request && errno != EAGAIN && errno != EINTR) return 0;
        if (!request) continue;
        if (request->note == launch_message::kForget)
            RunFiles(home_, request->id).remove_all();
        else
            start(request->id);
    }
}

}  // namespace

int launcher_main(int argc, char** argv) {
    ::prctl(PR_SET_NAME, "pbs_shepherd");
    return Starter(argv[2], Title(argc, argv)).run();
}

}  // namespace pbs::host
