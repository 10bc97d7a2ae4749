// A program that runs beside a simulation, with everything that it starts.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "tools/simulate/trace.h"

namespace pbs::simulate {

class Program {
  public:
    // Starts the command by /bin/sh, in a session of its own. For the C API in it, the default server is the
    // one whose socket is in `home`. Its standard input and output are /dev/null, and its standard error is
    // that of this process. The error says why it can't be started.
    static Result<Program> start(const std::string& command, const std::string& home);
    Program(Program&& other) noexcept : pid_(std::exchange(other.pid_, 0)), ended_(std::move(other.ended_)) {}
    Program& operator=(Program&&) = delete;
    // Ends the program and all of its session: by SIGTERM, and by SIGKILL what is left after two seconds.
    ~Program();

    // Asks the program to end (SIGTERM).
    void terminate() const;
    // Returns how the program has ended, such as "with exit status 3"; empty: it runs.
    const std::string& ended();

  private:
    explicit Program(pid_t pid) : pid_(pid) {}

    pid_t pid_;
    std::string ended_;
};

}  // namespace pbs::simulate
