#include "server_plugin/host/mail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "server_plugin/host/log.h"
#include "server_plugin/host/posix.h"

namespace pbs::host {

namespace {

constexpr const char* usual_command = "/usr/sbin/sendmail";
constexpr std::size_t most_running = 32;

// A header's value: one line, so that no text can add headers.
std::string header(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return result;
}

// The message as a file in memory: the command reads it at its own pace, and nothing here waits.
Fd in_memory(const std::string& text) {
    Fd fd(::memfd_create("mail", MFD_CLOEXEC));
    if (fd && (!write_all(fd.get(), text) || ::lseek(fd.get(), 0, SEEK_SET) != 0)) fd.reset();
    return fd;
}

// Runs the command with `input` as stdin. Returns its pid or -errno.
pid_t spawn(const std::string& command, int input) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::string name = command;
    std::string recipients_from_headers = "-t";
    std::string dots_are_text = "-oi";
    char* argv[] = {name.data(), recipients_from_headers.data(), dots_are_text.data(), nullptr};
    pid_t pid = 0;
    const int error = posix_spawn(&pid, command.c_str(), &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error == 0 ? pid : -error;
}

}  // namespace

Mailer::Mailer(Log& log, std::string command, std::string from) : log_(log), from_(std::move(from)) {
    set_command(std::move(command));
}

void Mailer::set_command(std::string command) {
    command_ = std::move(command);
    if (command_.empty() && ::access(usual_command, X_OK) == 0) command_ = usual_command;
}

void Mailer::reap() {
    std::erase_if(running_, [this](const Running& mail) {
        int status = 0;
        if (::waitpid(mail.pid, &status, WNOHANG) == 0) return false;
        if (status != 0)
            log_.write(LogEvent::error, LogClass::job, mail.job_id,
                       fmt::format("mail: {} failed (wait status {})", command_, status));
        return true;
    });
}

void Mailer::send(const std::string& job_id, const std::vector<std::string>& to, const std::string& subject,
                  const std::string& body) {
    reap();
    if (to.empty()) return;
    const std::string addresses = header(fmt::format("{}", fmt::join(to, ", ")));
    if (command_.empty()) {
        log_.job(job_id, fmt::format("mail to {} (no mail command): {}", addresses, subject));
        return;
    }
    if (running_.size() >= most_running) {
        log_.write(
            LogEvent::error, LogClass::job, job_id,
            fmt::format("mail to {} dropped: {} mail commands are running", addresses, running_.size()));
        return;
    }
    const Fd message =
        in_memory(fmt::format("From: {}\nTo: {}\nSubject: {}\nAuto-Submitted: auto-generated\n\n{}\n",
                              header(from_), addresses, header(subject), body));
    const pid_t pid = message ? spawn(command_, message.get()) : -errno;
    if (pid < 0) {
        log_.write(LogEvent::error, LogClass::job, job_id,
                   fmt::format("mail to {}: cannot run {}: {}", addresses, command_, system_text(-pid)));
        return;
    }
    running_.push_back({pid, job_id});
    log_.job(job_id, fmt::format("mail to {}: {}", addresses, subject));
}

}  // namespace pbs::host
