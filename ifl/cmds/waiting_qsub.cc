#include "ifl/cmds/waiting_qsub.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "ifl/cmds/attr_list.h"
#include "ifl/pbs_error.h"

namespace pbs::cmds {

namespace {

constexpr int kInterrupted = 2;
constexpr int kNoStatus = 3;
constexpr int kAskEvery = 30 * 1000;  // milliseconds between checks that the job still exists
constexpr int kPatience = 30 * 1000;
constexpr std::size_t kIdSize = 276;
// Behind the id, instead of zeros, if the job has ended without having run
// (server_plugin/host/life/block_answer.h). A text of at most kReasonSize follows.
constexpr std::string_view kEnded{"\0ended\0", 7};
constexpr std::size_t kReasonSize = 64 * 1024;
constexpr std::size_t kTextSize = 80;

// Blocks signals while the object exists, and makes them readable from a descriptor.
class Signals {
  public:
    explicit Signals(std::initializer_list<int> numbers) {
        sigset_t set;
        sigemptyset(&set);
        for (const int number : numbers) sigaddset(&set, number);
        sigprocmask(SIG_BLOCK, &set, &before_);
        fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals() {
        fd_.reset();
        sigprocmask(SIG_SETMASK, &before_, nullptr);
    }
    int fd() const { return fd_.get(); }
    int take() const {
        signalfd_siginfo info{};
        return read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
    }

  private:
    sigset_t before_{};
    values::Fd fd_;
};

// The uid of the process at the other end of a connection from this machine; -1: unknown.
long owner_of(const sockaddr_in& peer) {
    const std::string end = fmt::format("{:08X}:{:04X}", peer.sin_addr.s_addr, ntohs(peer.sin_port));
    std::ifstream table("/proc/net/tcp");
    std::string line;
    while (std::getline(table, line)) {
        std::istringstream fields(line);
        std::string word;
        std::string local;
        long uid = -1;
        fields >> word >> local;
        for (int i = 0; i < 5; ++i) fields >> word;
        if (fields >> uid && local == end) return uid;
    }
    return -1;
}

bool readable(int fd, int patience) {
    pollfd ready{fd, POLLIN, 0};
    return poll(&ready, 1, patience) == 1;
}

// Reads `size` bytes; fewer if the other end closes, or sends nothing for kPatience.
std::string receive(int fd, std::size_t size) {
    std::string text(size, '\0');
    std::size_t have = 0;
    while (have < size && readable(fd, kPatience)) {
        const ssize_t count = read(fd, text.data() + have, size - have);
        if (count <= 0) break;
        have += static_cast<std::size_t>(count);
    }
    text.resize(have);
    return text;
}

bool send(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) return false;
        text.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
    return true;
}

void delete_job(const Program& program, const std::string& server, const std::string& job) {
    fmt::print("Job {} is being deleted\n", job);
    std::fflush(stdout);
    const auto connection = Connection::open(server);
    if (!connection)
        complain(program, connection.error().message);
    else if (pbs_deljob(connection->handle(), job.c_str(), nullptr) != 0)
        complain(program, connection->error_text());
}

bool is_there(const std::string& server, const std::string& job) {
    const auto connection = Connection::open(server);
    if (!connection) return true;  // unknown: the server may still connect
    batch_status* status = pbs_statjob(connection->handle(), job.c_str(), nullptr, nullptr);
    const bool there = status != nullptr || (pbs_errno != PBSE_UNKJOBID && pbs_errno != PBSE_HISTJOBID);
    pbs_statfree(status);
    return there;
}

// Reads the server's report of a job's end. Returns the job's exit status, or kNoStatus, with a message, if
// the job has none; nullopt: the report isn't about this job.
std::optional<int> end_of_job(const Program& program, int caller, const std::string& job) {
    char* id = nullptr;
    char* why = nullptr;
    int status = 0;
    if (pbs_jobend(caller, &id, &why, &status) != 0) return std::nullopt;
    const Text name(id);
    const Text message(why);
    if (name.get() != job) return std::nullopt;
    if (*message == '\0') return status & 0xff;
    complain(program, fmt::format("{} {}", job, message.get()));
    return kNoStatus;
}

class RawTerminal {
  public:
    RawTerminal() {
        tcgetattr(STDIN_FILENO, &before_);
        set();
    }
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;
    ~RawTerminal() { unset(); }

    void set() const {
        termios raw = before_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ISIG | ECHO | ECHOE | ECHOK | IEXTEN);
        raw.c_iflag &= ~static_cast<tcflag_t>(IGNBRK | INLCR | ICRNL | IXON | IXOFF);
        raw.c_oflag = OPOST;
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    void unset() const { tcsetattr(STDIN_FILENO, TCSANOW, &before_); }
    const termios& before() const { return before_; }

  private:
    termios before_{};
};

std::string filled(std::string text, std::size_t size) {
    text.resize(size, '\0');
    return text;
}

// Sends the properties of this terminal to the job.
bool greet(int fd) {
    termios modes{};
    tcgetattr(STDIN_FILENO, &modes);
    winsize size{};
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) size = {20, 80, 0, 0};
    const char* type = std::getenv("TERM");
    std::string keys;
    for (const int key : {VINTR, VQUIT, VERASE, VKILL, VEOF, VSUSP})
        keys += static_cast<char>(modes.c_cc[key]);
    return send(fd, filled(fmt::format("TERM={}", type == nullptr ? "unknown" : type), kTextSize) + keys +
                        filled(fmt::format("WINSIZE {},{},{},{}", size.ws_row, size.ws_col, size.ws_xpixel,
                                           size.ws_ypixel),
                               kTextSize));
}

// Takes commands to qsub itself, ~. and ~ with the suspend character, out of the typed characters.
class Typed {
  public:
    explicit Typed(const RawTerminal& terminal) : terminal_(terminal) {}

    // Appends the characters for the job to `out`. False: the user leaves the job.
    bool take(std::string_view typed, std::string& out) {
        for (const char c : typed) {
            if (std::exchange(tilde_, false)) {
                if (c == '.') return false;
                if (c == static_cast<char>(terminal_.before().c_cc[VSUSP])) {
                    terminal_.unset();
                    std::raise(SIGSTOP);
                    terminal_.set();
                    continue;
                }
                out += '~';
            } else if (line_begins_ && c == '~') {
                tilde_ = true;
                continue;
            }
            out += c;
            line_begins_ = c == '\n' || c == '\r' || c == static_cast<char>(terminal_.before().c_cc[VKILL]) ||
                           c == static_cast<char>(terminal_.before().c_cc[VINTR]);
        }
        return true;
    }

  private:
    const RawTerminal& terminal_;
    bool line_begins_ = true;
    bool tilde_ = false;
};

void carry(int fd) {
    const RawTerminal terminal;
    Typed typed(terminal);
    std::array<char, 4096> buffer{};
    for (;;) {
        std::array<pollfd, 2> ends{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{fd, POLLIN, 0}};
        if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) return;
        if (ends[1].revents != 0) {
            const ssize_t count = read(fd, buffer.data(), buffer.size());
            if (count <= 0) return;
            std::fwrite(buffer.data(), 1, static_cast<std::size_t>(count), stdout);
            std::fflush(stdout);
        }
        if (ends[0].revents != 0) {
            const ssize_t count = read(STDIN_FILENO, buffer.data(), buffer.size());
            std::string out;
            if (count <= 0 || !typed.take({buffer.data(), static_cast<std::size_t>(count)}, out) ||
                !send(fd, out))
                return;
        }
    }
}

// Asks the user, who has interrupted the wait for the job's start, whether to leave. Returns whether the user
// wants to.
bool wants_to_leave() {
    fmt::print("Do you wish to terminate the job and exit (y|[n])? ");
    std::fflush(stdout);
    std::array<char, 256> answer{};
    const ssize_t count =
        readable(STDIN_FILENO, 2 * kPatience) ? read(STDIN_FILENO, answer.data(), answer.size()) : 1;
    return count <= 0 || answer[0] == 'y' || answer[0] == 'Y';
}

}  // namespace

Result<Listener> Listener::open() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Listener listener(fd, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (fd < 0 || bind(fd, generic, sizeof address) != 0 || getsockname(fd, generic, &size) != 0 ||
        listen(fd, 1) != 0)
        return fail(fmt::format("no socket to wait at: {}", std::strerror(errno)), 1);
    listener.port_ = ntohs(address.sin_port);
    return listener;
}

int Listener::accept() const {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    const int fd = accept4(fd_.get(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC);
    if (fd < 0 || ntohs(peer.sin_port) < IPPORT_RESERVED || owner_of(peer) == static_cast<long>(geteuid()))
        return fd;
    close(fd);
    return -1;
}

int wait_for_end(const Program& program, const Listener& listener, const std::string& server,
                 const std::string& job) {
    const Signals signals{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    for (;;) {
        std::array<pollfd, 2> events{pollfd{listener.fd(), POLLIN, 0}, pollfd{signals.fd(), POLLIN, 0}};
        if (poll(events.data(), events.size(), -1) < 0) continue;
        if (events[1].revents != 0) {
            complain(program, fmt::format("wait for job {} interrupted by signal {}", job, signals.take()));
            delete_job(program, server, job);
            return kInterrupted;
        }
        const values::Fd caller(listener.accept());
        if (caller.get() >= 0) {
            if (const auto status = end_of_job(program, caller.get(), job)) return *status;
        }
    }
}

Result<void> check_terminal() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)
        return fail("standard input and output must be a terminal for interactive job submission", 1);
    return {};
}

int attend(const Program& program, const Listener& listener, const std::string& server,
           const std::string& job) {
    fmt::print("qsub: waiting for job {} to start\n", job);
    std::fflush(stdout);
    for (;;) {
        const Signals signals{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
        std::array<pollfd, 2> events{pollfd{listener.fd(), POLLIN, 0}, pollfd{signals.fd(), POLLIN, 0}};
        if (poll(events.data(), events.size(), kAskEvery) <= 0) {
            if (!is_there(server, job)) {
                complain(program, fmt::format("job {} apparently deleted", job));
                return 1;
            }
            continue;
        }
        if (const int signal = events[1].revents != 0 ? signals.take() : 0; signal != 0) {
            if (signal == SIGTSTP) {
                fmt::print("Sorry, you cannot suspend qsub until the job is started\n");
            } else if (signal == SIGHUP || wants_to_leave()) {
                delete_job(program, server, job);
                return 0;
            }
            continue;
        }
        const values::Fd caller(events[0].revents != 0 ? listener.accept() : -1);
        if (caller.get() < 0) continue;
        const std::string id = receive(caller.get(), kIdSize);
        if (std::string_view(id).substr(0, id.find('\0')) != job) continue;
        if (std::string_view(id).substr(job.size()).starts_with(kEnded)) {
            complain(program, fmt::format("job {} {}", job, receive(caller.get(), kReasonSize)));
            return 1;
        }
        if (!greet(caller.get())) continue;
        fmt::print("qsub: job {} ready\n\n", job);
        std::fflush(stdout);
        carry(caller.get());
        fmt::print("\nqsub: job {} completed\n", job);
        return 0;
    }
}

}  // namespace pbs::cmds
