#include "server_plugin/host/run/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "server_plugin/host/base/client_call.h"
#include "values/number.h"

namespace pbs::host {

namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr auto kPatience = 30s;
constexpr auto kPatienceAtEnd = 2s;
constexpr std::size_t kIdSize = 276;
constexpr std::size_t kTextSize = 80;
constexpr std::size_t kCharacters = 6;
constexpr std::size_t kMostKept = 65536;

bool wait_for(int fd, short events, Steady::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Steady::now());
    pollfd ready{fd, events, 0};
    return left.count() > 0 && ::poll(&ready, 1, static_cast<int>(left.count())) == 1;
}

// Reads `size` bytes. Returns fewer if no more arrive before `until`.
std::string receive(int fd, std::size_t size, Steady::time_point until) {
    std::string text(size, '\0');
    std::size_t have = 0;
    while (have < size && wait_for(fd, POLLIN, until)) {
        const ssize_t n = ::read(fd, text.data() + have, size - have);
        if (n <= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) break;
        if (n > 0) have += static_cast<std::size_t>(n);
    }
    text.resize(have);
    return text;
}

// The properties of the user's terminal, as qsub sends them.
struct Greeting {
    std::string type;
    std::string keys;
    winsize size{};
};

// Reads "WINSIZE rows,columns,width,height", and ignores text after that. Returns false if the text is
// malformed.
bool read_size(std::string_view text, winsize& size) {
    constexpr std::string_view kBegin = "WINSIZE ";
    if (!text.starts_with(kBegin)) return false;
    text.remove_prefix(kBegin.size());
    for (unsigned short* part : {&size.ws_row, &size.ws_col, &size.ws_xpixel, &size.ws_ypixel}) {
        if (part != &size.ws_row) {
            if (!text.starts_with(',')) return false;
            text.remove_prefix(1);
        }
        const auto number = values::take_number<unsigned short>(text);
        if (!number) return false;
        *part = *number;
    }
    return true;
}

tl::expected<Greeting, std::string> greet(int fd, const std::string& job) {
    std::string id = job;
    id.resize(kIdSize, '\0');
    if (!write_all(fd, id)) return tl::unexpected(fmt::format("it takes no job id: {}", system_text(errno)));
    const auto until = Steady::now() + kPatience;
    Greeting greeting;
    const std::string type = receive(fd, kTextSize, until);
    greeting.keys = receive(fd, kCharacters, until);
    const std::string size = receive(fd, kTextSize, until);
    const bool whole = type.starts_with("TERM=") && greeting.keys.size() == kCharacters &&
                       size.size() == kTextSize && read_size(size, greeting.size);
    if (!whole) return tl::unexpected<std::string>("it does not tell of its terminal as qsub does");
    greeting.type = type.substr(5, type.find('\0') - 5);
    return greeting;
}

// Sets the usual modes of a terminal, with the control characters that qsub has sent.
void set_modes(int fd, const Greeting& greeting) {
    termios modes{};
    if (::tcgetattr(fd, &modes) != 0) return;
    modes.c_iflag = BRKINT | IGNPAR | ICRNL | IXON | IXOFF | IMAXBEL;
    modes.c_oflag = OPOST | ONLCR;
    modes.c_lflag = ISIG | ICANON | IEXTEN | ECHO | ECHOE | ECHOK | ECHOKE | ECHOCTL;
    constexpr std::array<int, kCharacters> kPlaces = {VINTR, VQUIT, VERASE, VKILL, VEOF, VSUSP};
    for (std::size_t i = 0; i < kCharacters; ++i)
        modes.c_cc[kPlaces[i]] = static_cast<cc_t>(greeting.keys[i]);
    ::tcsetattr(fd, TCSANOW, &modes);
}

void set_blocking(int fd, bool blocking) {
    const int flags = ::fcntl(fd, F_GETFL);
    ::fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

// Appends the data that can be read without waiting. Returns false if there will be no more data.
bool take(int fd, std::string& text) {
    std::array<char, 4096> buffer{};
    while (text.size() < kMostKept) {
        const ssize_t n = ::read(fd, buffer.data(), buffer.size());
        if (n > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(n));
        } else {
            return n < 0 && (errno == EAGAIN || errno == EINTR);
        }
    }
    return true;
}

// Writes as much of the text as is possible without waiting, and removes that part from it. Returns false if
// nothing can be written any more.
bool give(int fd, std::string& text) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n < 0) return errno == EAGAIN || errno == EINTR;
        text.erase(0, static_cast<std::size_t>(n));
    }
    return true;
}

}  // namespace

tl::expected<Terminal, std::string> Terminal::open(const JobStart& job) {
    auto client = call_client(job.interactive, job.uid, kPatience);
    if (!client) return tl::unexpected(client.error().message);
    Terminal terminal;
    terminal.client_ = std::move(*client);
    auto greeting = greet(terminal.client_.get(), job.id.job);
    if (!greeting)
        return tl::unexpected(
            fmt::format("qsub at port {} of this machine: {}", job.interactive, greeting.error()));
    const auto failed = [] { return tl::unexpected(fmt::format("no terminal: {}", system_text(errno))); };
    terminal.master_.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    std::array<char, 64> name{};
    const int master = terminal.master_.get();
    if (!terminal.master_ || ::grantpt(master) != 0 || ::unlockpt(master) != 0 ||
        ::ptsname_r(master, name.data(), name.size()) != 0)
        return failed();
    terminal.slave_.reset(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!terminal.slave_) return failed();
    if (::geteuid() == 0 && ::fchown(terminal.slave(), job.uid, static_cast<gid_t>(-1)) != 0) return failed();
    set_modes(terminal.slave(), *greeting);
    ::ioctl(master, TIOCSWINSZ, &greeting->size);
    set_blocking(master, false);
    terminal.type_ = std::move(greeting->type);
    return terminal;
}

std::array<pollfd, 2> Terminal::wanted() const {
    const auto events = [](const std::string& in, const std::string& out) {
        return static_cast<short>((in.size() < kMostKept ? POLLIN : 0) | (out.empty() ? 0 : POLLOUT));
    };
    return {pollfd{client_gone_ ? -1 : client_.get(), events(to_job_, to_client_), 0},
            pollfd{master_.get(), events(to_client_, to_job_), 0}};
}

void Terminal::carry() {
    if (master_ && !take(master_.get(), to_client_)) master_.reset();
    if (!client_gone_) client_gone_ = !give(client_.get(), to_client_) || !take(client_.get(), to_job_);
    if (master_ && !give(master_.get(), to_job_)) master_.reset();
}

void Terminal::finish() {
    if (master_) take(master_.get(), to_client_);
    const auto until = Steady::now() + kPatienceAtEnd;
    while (!client_gone_ && !to_client_.empty() && wait_for(client_.get(), POLLOUT, until)) carry();
    client_.reset();
    master_.reset();
}

}  // namespace pbs::host
