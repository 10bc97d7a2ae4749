#include "server_plugin/plugin/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "objects/program_file.h"
#include "server_plugin/plugin/file.h"
#include "server_plugin/posix/spawn.h"
#include "values/number.h"

namespace pbs::plugin {
namespace {

constexpr std::size_t kMostOutput = 1 << 20;
// The program that drops privileges between fork and exec, since posix_spawn() can't drop them.
constexpr const char* kWithoutPrivileges = "/usr/bin/setpriv";

// A shell script that changes to the folder $0, runs its arguments there, and writes their exit status to
// descriptor 3. The shell changes the folder, since posix_spawn() can't before glibc 2.29.
constexpr const char* kTellsStatus = "cd \"$0\" && \"$@\" 3>&-; echo $? >&3";
constexpr int kStatusFd = 3;

// Sets `words` to the command line that runs the program, with setpriv if the program gets another user.
// Returns an error if the user doesn't exist or may not run the program, else an empty string.
std::string command_line(const CommandOptions& options, std::vector<std::string>& words) {
    words = {"/bin/sh", "-c", kTellsStatus, options.folder};
    if (!options.shell_command.empty()) {
        words.insert(words.end(), {"/bin/sh", "-c", options.shell_command});
        return {};
    }
    if (geteuid() == 0 && !options.user.empty()) {
        std::array<char, 16384> buffer{};
        struct passwd entry {};
        struct passwd* found = nullptr;
        if (getpwnam_r(options.user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
            return fmt::format("there is no user {} to run it as", options.user);
        struct stat file {};
        const bool there = stat(options.path.c_str(), &file) == 0;
        const mode_t may = file.st_uid == entry.pw_uid   ? S_IXUSR
                           : file.st_gid == entry.pw_gid ? S_IXGRP
                                                         : S_IXOTH;
        if (there && (file.st_mode & may) == 0)
            return fmt::format("{} runs as {}, who may not execute it: its mode is {:04o}", options.path,
                               options.user, file.st_mode & 07777);
        words.insert(words.end(),
                     {kWithoutPrivileges, fmt::format("--reuid={}", entry.pw_uid),
                      fmt::format("--regid={}", entry.pw_gid), "--clear-groups", "--no-new-privs", "--"});
    }
    words.push_back(options.path);
    words.insert(words.end(), options.arguments.begin(), options.arguments.end());
    return {};
}

// Returns this process's environment without LD_*, which could load other code into the program.
std::vector<std::string> own_environment() {
    std::vector<std::string> out;
    for (char** one = environ; *one != nullptr; ++one)
        if (!std::string_view(*one).starts_with("LD_")) out.emplace_back(*one);
    return out;
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
      status_fd_(std::exchange(other.status_fd_, -1)),
      output_(std::move(other.output_)) {}

Command& Command::operator=(Command&& other) noexcept {
    if (this == &other) return *this;
    const Command before(std::move(*this));
    options_ = std::move(other.options_);
    started_ = other.started_;
    could_not_start_ = std::move(other.could_not_start_);
    pid_ = std::exchange(other.pid_, -1);
    output_fd_ = std::exchange(other.output_fd_, -1);
    status_fd_ = std::exchange(other.status_fd_, -1);
    output_ = std::move(other.output_);
    return *this;
}

// Starts the program. Returns an empty string, or the reason why it can't be started.
std::string Command::start() {
    const bool of_root = !options_.shell_command.empty();
    if (const auto checked = of_root ? objects::check_roots_program(options_.path)
                                     : objects::check_program_file(options_.path);
        !checked)
        return checked.error();
    if (options_.of_manager && !of_root)
        if (const auto checked = objects::check_program_call({options_.path, options_.arguments}); !checked)
            return checked.error();
    std::vector<std::string> words;
    if (std::string why = command_line(options_, words); !why.empty()) return why;
    if (access(options_.folder.c_str(), X_OK) != 0)
        return fmt::format("{} can't be run: {}", options_.path, system_text(errno));
    std::vector<std::string> environment{"PATH=/usr/bin:/bin", "LANG=C"};
    if (!options_.time_zone.empty()) environment.push_back("TZ=" + options_.time_zone);
    if (of_root) environment = own_environment();

    std::array<int, 2> output{};
    std::array<int, 2> told{};
    if (pipe2(output.data(), O_CLOEXEC) != 0) return system_text(errno);
    output_fd_ = output[0];
    if (pipe2(told.data(), O_CLOEXEC) != 0) {
        const int error = errno;
        close(output[1]);
        return system_text(error);
    }
    status_fd_ = told[0];
    fcntl(output_fd_, F_SETFL, O_NONBLOCK);
    fcntl(status_fd_, F_SETFL, O_NONBLOCK);
    fcntl(output_fd_, F_SETPIPE_SZ, kMostOutput);  // large enough that the program need not wait for poll()
    posix::Spawn program;
    program.give_nothing(STDIN_FILENO);
    program.give(output[1], STDOUT_FILENO);
    program.give_nothing(STDERR_FILENO);
    program.give(told[1], kStatusFd);
    program.close_from(kStatusFd + 1);
    const std::string path = words[0];
    const pid_t pid = program.start(path, std::move(words), std::move(environment));
    close(output[1]);
    close(told[1]);
    if (pid < 0) return fmt::format("{} can't be run: {}", options_.path, system_text(-pid));
    pid_ = pid;
    return {};
}

// Reads the program's output so far. Returns false once the program has written more than kMostOutput.
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
    if (status_fd_ >= 0) close(std::exchange(status_fd_, -1));
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
        if (options_.time_limit.count() == 0 || now - started_ < options_.time_limit) return std::nullopt;
        CommandResult hung = failed(
            fmt::format("{} did not end within {} seconds", options_.path, options_.time_limit.count()));
        hung.hung = true;
        return hung;
    }
    kill(-pid_, SIGKILL);  // processes that the program left running
    pid_ = -1;
    const std::string how = how_it_ended(ended, status);
    close(std::exchange(output_fd_, -1));
    close(std::exchange(status_fd_, -1));
    if (!how.empty()) return CommandResult{{}, fmt::format("{} {}", options_.path, how), false};
    return CommandResult{std::move(output_), {}, false};
}

// Describes how the program ended, by the status that its shell has reported. If the shell was killed, the
// shell's wait status decides, unless another thread has taken that. Returns an empty string for status 0.
std::string Command::how_it_ended(pid_t ended, int status) const {
    constexpr int kBySignal = 128;  // a shell's exit status for a program ended by signal n is kBySignal + n
    std::array<char, 16> bytes{};
    const ssize_t size = read(status_fd_, bytes.data(), bytes.size());
    std::string_view text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size)));
    int told = values::take_number<int>(text).value_or(-1);
    if (told < 0 && ended < 0) return "was lost";
    if (told < 0 && WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
    if (told < 0) told = WEXITSTATUS(status);
    if (told > kBySignal && told < kBySignal + NSIG)
        return fmt::format("was ended by signal {}", told - kBySignal);
    return told == 0 ? std::string() : fmt::format("ended with status {}", told);
}

}  // namespace pbs::plugin
