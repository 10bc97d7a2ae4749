// Goes into the background without losing the errors of the start: the command returns when the server is
// ready, or with the server's error.
#pragma once

#include <string>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

class Daemon {
  public:
    // Forks. Returns in the child, in a new session, with stdin from /dev/null; stdout and stderr stay open
    // for messages until ready(). The parent never returns: it exits 0 when the child calls ready(), 1 when
    // the child ends before that. Call it before anything that a fork breaks: threads, the event loop,
    // SQLite, locks.
    static Result<Daemon> detach();

    Daemon(Daemon&& other) noexcept;
    Daemon& operator=(Daemon&& other) noexcept;
    ~Daemon();

    // Tells that the start is complete: lets the parent exit 0, points stdout and stderr to /dev/null.
    void ready();

  private:
    explicit Daemon(int fd) : fd_(fd) {}
    int fd_ = -1;
};

}  // namespace pbs::host
