#include "server_plugin/plugin/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "objects/program_file.h"
#include "server_plugin/plugin/file.h"
#include "server_plugin/posix/spawn.h"

namespace pbs::plugin {
namespace {

constexpr std::size_t kMostOutput = 1 << 20;
// Takes a program's privileges away between fork and exec, which posix_spawn can't.
constexpr const char* kWithoutPrivileges = "/usr/bin/setpriv";

// The words to run: the program itself, or behind setpriv. An error: there is no such user.
std::string command_line(const CommandOptions& options, std::vector<std::string>& words) {
    if (geteuid() == 0 && !options.user.empty()) {
        std::array<char, 16384> buffer{};
        struct passwd entry {};
        struct passwd* found = nullptr;
        if (getpwnam_r(options.user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
            return fmt::format("there is no user {} to run it as", options.user);
        words = {kWithoutPrivileges,
                 fmt::format("--reuid={}", entry.pw_uid),
                 fmt::format("--regid={}", entry.pw_gid),
                 "--clear-groups",
                 "--no-new-privs",
                 "--"};
    }
    words.push_back(options.path);
    words.insert(words.end(), options.arguments.begin(), options.arguments.end());
    return {};
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
    return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

Command::Command(CommandOptions options, sched::Instant now) : options_(std::move(options)), started_(now) {
    could_not_start_ = start();
}

Command::~Command() {
    kill_it();
    for (int tries = 0; tries < 100 && !gone(); ++tries) usleep(100);
}

Command::Command(Command&& other) noexcept
    : options_(std::move(other.options_)),
      started_(other.started_),
      could_not_start_(std::move(other.could_not_start_)),
      pid_(std::exchange(other.pid_, -1)),
      output_fd_(std::exchange(other.output_fd_, -1)),
      output_(std::move(other.output_)) {}

Command& Command::operator=(Command&& other) noexcept {
    if (this == &other) return *this;
    const Command before(std::move(*this));
    options_ = std::move(other.options_);
    started_ = other.started_;
    could_not_start_ = std::move(other.could_not_start_);
    pid_ = std::exchange(other.pid_, -1);
    output_fd_ = std::exchange(other.output_fd_, -1);
    output_ = std::move(other.output_);
    return *this;
}

// Returns why not, or an empty string.
std::string Command::start() {
    if (const auto checked = objects::check_program_file(options_.path); !checked) return checked.error();
    if (options_.of_manager)
        if (const auto checked = objects::check_program_call({options_.path, options_.arguments}); !checked)
            return checked.error();
    std::vector<std::string> words;
    if (std::string why = command_line(options_, words); !why.empty()) return why;
    std::vector<std::string> environment{"PATH=/usr/bin:/bin", "LANG=C"};
    if (!options_.time_zone.empty()) environment.push_back("TZ=" + options_.time_zone);

    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return error_text(errno);
    output_fd_ = ends[0];
    fcntl(output_fd_, F_SETFL, O_NONBLOCK);
    fcntl(output_fd_, F_SETPIPE_SZ, kMostOutput);  // so that it need not wait for poll()
    posix::Spawn program;
    program.give_nothing(STDIN_FILENO);
    program.give(ends[1], STDOUT_FILENO);
    program.give_nothing(STDERR_FILENO);
    program.close_from(STDERR_FILENO + 1);
    program.enter("/");
    const std::string path = words[0];
    const pid_t pid = program.start(path, std::move(words), std::move(environment));
    close(ends[1]);
    if (pid < 0) return fmt::format("{} can't be run: {}", path, error_text(-pid));
    pid_ = pid;
    return {};
}

// False once it wrote more than it may.
bool Command::read_output() {
    std::array<char, 65536> buffer{};
    for (;;) {
        const ssize_t n = read(output_fd_, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return true;
        output_.append(buffer.data(), static_cast<std::size_t>(n));
        if (output_.size() > kMostOutput) return false;
    }
}

void Command::kill_it() {
    if (output_fd_ >= 0) close(std::exchange(output_fd_, -1));
    if (pid_ > 0) kill(-pid_, SIGKILL);
}

bool Command::gone() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = -1;
    return pid_ <= 0;
}

CommandResult Command::failed(std::string why) {
    kill_it();
    return {{}, std::move(why), false};
}

std::optional<CommandResult> Command::poll(sched::Instant now) {
    if (!could_not_start_.empty()) return failed(std::exchange(could_not_start_, {}));
    if (pid_ <= 0) return std::nullopt;
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (!read_output())
        return failed(fmt::format("{} writes more than {} bytes", options_.path, kMostOutput));
    if (ended == 0) {
        if (now - started_ < options_.time_limit) return std::nullopt;
        CommandResult hung = failed(
            fmt::format("{} did not end within {} seconds", options_.path, options_.time_limit.count()));
        hung.hung = true;
        return hung;
    }
    kill(-pid_, SIGKILL);  // what it left running
    pid_ = -1;
    close(std::exchange(output_fd_, -1));
    // OpenPBS's server waits for every child of its process. How one ended that it was first to bury isn't
    // known, so what it wrote has to do.
    const bool buried = ended < 0 && !output_.empty();
    if (!buried && (ended < 0 || status != 0))
        return CommandResult{
            {}, fmt::format("{} {}", options_.path, ended < 0 ? "was lost" : how_it_ended(status)), false};
    return CommandResult{std::move(output_), {}, false};
}

}  // namespace pbs::plugin
