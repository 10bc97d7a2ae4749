// Lets qsub wait for its job: for the job's end (-W block=true), or for its terminal (-I). qsub listens on a
// port that it names in the job's attributes. The server, or the process that runs the job, connects to it.
#pragma once

#include <cstdint>
#include <string>

#include "ifl/cmds/client.h"
#include "ifl/cmds/error.h"
#include "values/fd.h"

namespace pbs::cmds {

// Listens on a port, and accepts one connection at a time.
class Listener {
  public:
    static Result<Listener> open();
    int fd() const { return fd_.get(); }
    std::uint16_t port() const { return port_; }
    // Accepts a connection from a privileged port or from a process of this user; -1: the connection is from
    // elsewhere, or accept() failed.
    int accept() const;

  private:
    Listener(int fd, std::uint16_t port) : fd_(fd), port_(port) {}
    values::Fd fd_;
    std::uint16_t port_;
};

// Waits for the job's end and returns its exit status, or 3 with a message if it has none. A signal that ends
// this program deletes the job.
int wait_for_end(const Program& program, const Listener& listener, const std::string& server,
                 const std::string& job);

// Connects this terminal to the job until the job's end. `~.` at the beginning of a line leaves the job,
// which ends it; `~` and the suspend character stop this program.
int attend(const Program& program, const Listener& listener, const std::string& server,
           const std::string& job);

// Checks that standard input and output are a terminal.
Result<void> check_terminal();

}  // namespace pbs::cmds
