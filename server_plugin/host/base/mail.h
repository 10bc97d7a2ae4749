// Mail to job owners.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

class Log;

class Mailer {
  public:
    // `command` is run as `command -t -oi` with the message, headers first, on stdin. "" means
    // /usr/sbin/sendmail if there is one. Without a command a mail is only a line in the log. `from` is the
    // sender (server attribute mail_from, "adm" by default).
    Mailer(Log& log, std::string command = {}, std::string from = "adm");

    // Sets the command, as the constructor does.
    void set_command(std::string command);
    void set_from(std::string from) { from_ = std::move(from); }
    bool has_command() const { return !command_.empty(); }

    // Hands a mail over and returns at once. `to` are addresses (user, user@host). A failure, now or when the
    // command ends, is a line in the log. At most 32 commands run at a time; a mail beyond them is dropped,
    // with a line in the log.
    void send(const std::string& job_id, const std::vector<std::string>& to, const std::string& subject,
              const std::string& body);

    // Collects commands that have ended. send() does it too; call it now and then (each timer tick).
    void reap();

  private:
    struct Running {
        pid_t pid;
        std::string job_id;
    };
    Log& log_;
    std::string command_;
    std::string from_;
    std::vector<Running> running_;
};

}  // namespace pbs::host
