// Sends mail to job owners.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

class Log;

class Mailer {
  public:
    // `command` is run as `command -t -oi`, with the message and its headers on stdin. An empty `command`
    // means /usr/sbin/sendmail, if it exists. If there is no command, a mail is only logged. `from` is the
    // sender (server attribute mail_from, "adm" by default).
    Mailer(Log& log, std::string command = {}, std::string from = "adm");

    // Sets the command, as the constructor does.
    void set_command(std::string command);
    void set_from(std::string from) { from_ = std::move(from); }

    // Passes a mail to the command, and returns at once. `to` are addresses (user, user@host). A failure, at
    // once or when the command ends, is logged. At most 32 commands run at a time; further mails are dropped,
    // which is logged.
    void send(const std::string& job_id, const std::vector<std::string>& to, const std::string& subject,
              const std::string& body);

    // Waits for those mail commands that have ended, without blocking. send() does that, too. Call this at
    // each tick of the server's timer.
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
