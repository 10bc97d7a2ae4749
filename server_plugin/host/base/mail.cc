#include "server_plugin/host/base/mail.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/base/spawn.h"

namespace pbs::host {

namespace {

constexpr const char* kUsualCommand = "/usr/sbin/sendmail";
constexpr std::size_t kMostRunning = 32;

// Makes the value of a header one line, so that no text can add headers.
std::string header(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return result;
}

}  // namespace

Mailer::Mailer(Log& log, std::string command, std::string from) : log_(log), from_(std::move(from)) {
    set_command(std::move(command));
}

void Mailer::set_command(std::string command) {
    command_ = std::move(command);
    if (command_.empty() && ::access(kUsualCommand, X_OK) == 0) command_ = kUsualCommand;
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
    if (running_.size() >= kMostRunning) {
        log_.write(
            LogEvent::error, LogClass::job, job_id,
            fmt::format("mail to {} dropped: {} mail commands are running", addresses, running_.size()));
        return;
    }
    // -t: sendmail takes the recipients from the headers. -oi: a line with only a dot doesn't end the mail.
    const pid_t pid =
        spawn(command_, {command_, "-t", "-oi"},
              fmt::format("From: {}\nTo: {}\nSubject: {}\nAuto-Submitted: auto-generated\n\n{}\n",
                          header(from_), addresses, header(subject), body));
    if (pid < 0) {
        log_.write(LogEvent::error, LogClass::job, job_id,
                   fmt::format("mail to {}: cannot run {}: {}", addresses, command_, system_text(-pid)));
        return;
    }
    running_.push_back({pid, job_id});
    log_.job(job_id, fmt::format("mail to {}: {}", addresses, subject));
}

}  // namespace pbs::host
