// Puts the server into the background (--daemon). The command that started it returns only when the server is
// ready or has failed, so that no error of the start is lost.
#pragma once

#include <string>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

class Daemon {
  public:
    // Forks. Returns in the child, which has a new session, and /dev/null as stdin; stdout and stderr stay
    // open for messages until ready(). The parent never returns: it exits with 0 when the child calls
    // ready(), and with 1 when the child ends before that. Call this before anything that doesn't survive a
    // fork: threads, the event loop, SQLite, locks.
    static Result<Daemon> detach();

    Daemon(Daemon&& other) noexcept;
    Daemon& operator=(Daemon&& other) noexcept;
    ~Daemon();

    // Reports that the start is complete: the parent exits with 0, and stdout and stderr go to /dev/null.
    void ready();

  private:
    explicit Daemon(int fd) : fd_(fd) {}
    int fd_ = -1;
};

}  // namespace pbs::host
