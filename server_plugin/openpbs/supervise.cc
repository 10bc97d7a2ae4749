#include "server_plugin/openpbs/supervise.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <thread>

#include "values/fd.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::openpbs {
namespace {

constexpr int kLongestPause = 30;              // between two runs of the function, in seconds
constexpr std::chrono::seconds kStable{60};    // after a child has lived so long, pauses begin short again
constexpr std::chrono::seconds kPatience{10};  // the longest wait for another supervisor's end

void sleep_for(std::chrono::milliseconds time) {
    std::this_thread::sleep_for(time);
}

std::string how(int status) {
    if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
    return fmt::format("ended with status {}", WEXITSTATUS(status));
}

// Returns the signals that a supervisor blocks, and receives only by sigtimedwait().
sigset_t signals() {
    sigset_t set{};
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    return set;
}

pid_t start(const Supervised& supervised) {
    const pid_t supervisor = getpid();
    const pid_t pid = fork();
    if (pid != 0) return pid;
    const sigset_t set = signals();
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    // End the child when its supervisor ends, since no other process would end it.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != supervisor) _exit(1);
    _exit(supervised.work());
}

// Writes this process's id to the file. Returns false if that failed, as on a full disk.
bool write_pid(int file) {
    const std::string text = fmt::format("{}\n", getpid());
    return pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
           ftruncate(file, static_cast<off_t>(text.size())) == 0;
}

[[noreturn]] void end(const Supervised& supervised) {
    unlink(supervised.pid_file.c_str());
    _exit(0);
}

[[noreturn]] void look_after(const Supervised& supervised, int file) {
    const sigset_t set = signals();
    sigprocmask(SIG_BLOCK, &set, nullptr);
    int pause = 1;
    bool told = write_pid(file);
    for (;;) {
        const auto begun = std::chrono::steady_clock::now();
        const pid_t pid = start(supervised);
        int status = 0;
        bool ended = pid < 0;
        while (!ended) {
            const timespec second{1, 0};
            const int signal = sigtimedwait(&set, nullptr, &second);
            if (signal == SIGTERM || signal == SIGINT) {
                kill(pid, SIGTERM);
                waitpid(pid, nullptr, 0);
                end(supervised);
            }
            ended = waitpid(pid, &status, WNOHANG) == pid;
            told = told || write_pid(file);
        }
        if (std::chrono::steady_clock::now() - begun > kStable) pause = 1;
        supervised.log(fmt::format("it {}, and is started again in {} s", how(status), pause));
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(pause);
        while (std::chrono::steady_clock::now() < until) {
            const timespec second{1, 0};
            const int signal = sigtimedwait(&set, nullptr, &second);
            if (signal == SIGTERM || signal == SIGINT) end(supervised);
        }
        pause = std::min(2 * pause, kLongestPause);
    }
}

// Opens and locks the file. Returns the descriptor, or -1 if another process has the lock (EWOULDBLOCK) or
// after an error.
int lock(const std::string& path) {
    for (;;) {
        const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0) return fd;
        struct stat opened {};
        struct stat there {};
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            // The process that had the lock may have removed the file since it was opened here.
            if (fstat(fd, &opened) == 0 && stat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
                opened.st_ino == there.st_ino)
                return fd;
            close(fd);
            continue;
        }
        const int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
}

pid_t read_pid(const std::string& path) {
    const values::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return 0;
    std::array<char, 32> bytes{};
    const ssize_t size = read(file.get(), bytes.data(), bytes.size());
    std::string_view text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size)));
    return values::take_number<pid_t>(text).value_or(0);
}

}  // namespace

int supervise(const Supervised& supervised) {
    const int file = lock(supervised.pid_file);
    if (file < 0 && errno != EWOULDBLOCK) {
        supervised.log(fmt::format("{}: {}", supervised.pid_file, values::system_text(errno)));
        return 1;
    }
    if (file < 0) return 0;
    // Forget the id of an earlier supervisor, which stop_supervised() would take for this one's.
    if (ftruncate(file, 0) != 0)
        supervised.log(fmt::format("{}: {}", supervised.pid_file, values::system_text(errno)));
    const pid_t pid = fork();
    if (pid < 0) {
        supervised.log(values::system_text(errno));
        return 1;
    }
    if (pid > 0) return 0;
    setsid();
    if (chdir("/") != 0) _exit(1);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {0, 1, 2}) dup2(nothing, fd);
    // Close the descriptors inherited from the calling process.
    for (int fd = 3; fd < 1024; ++fd)
        if (fd != file) close(fd);
    look_after(supervised, file);
}

std::optional<pid_t> supervisor_of(const std::string& pid_file) {
    const values::Fd file(open(pid_file.c_str(), O_RDWR | O_CLOEXEC));
    if (!file || flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
    return read_pid(pid_file);
}

int stop_supervised(const std::string& pid_file, pid_t only) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    bool told = false;
    do {
        if (const int file = lock(pid_file); file >= 0) {
            unlink(pid_file.c_str());
            close(file);
            return 0;
        }
        if (errno != EWOULDBLOCK) return 1;
        const pid_t pid = read_pid(pid_file);
        if (pid > 1 && only != 0 && pid != only) return 0;
        if (pid > 1 && !told) {
            told = kill(pid, SIGTERM) == 0;
            only = pid;
        }
        sleep_for(std::chrono::milliseconds(20));
    } while (std::chrono::steady_clock::now() < until);
    return 1;
}

}  // namespace pbs::openpbs
