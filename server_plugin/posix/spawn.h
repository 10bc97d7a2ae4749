// Starts programs that run beside a server. Uses posix_spawn(3), because a fork() of a server with a million
// jobs would delay the server.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace pbs::posix {

// The environment in which a program starts: it leads a session of its own, has default handlers for all
// signals, and only the given descriptors. Each function below adds a step; the steps are done in this order
// when the program starts.
class Spawn {
  public:
    // Does the program start with all signals blocked, or with none?
    enum class Signals { open, blocked };
    explicit Spawn(Signals signals = Signals::open);
    ~Spawn();
    Spawn(const Spawn&) = delete;
    Spawn& operator=(const Spawn&) = delete;

    // Gives the program the descriptor `fd` of this process as `as`.
    void give(int fd, int as);
    // Gives the program /dev/null as `as`, for reading and writing.
    void give_nothing(int as);
    // Closes every descriptor from `fd` on.
    void close_from(int fd);

    // Starts the program with these arguments, the first of which is its own name, and with this process's
    // environment or the given one (NAME=value). Returns the pid, which the caller waits for, or -errno.
    pid_t start(const std::string& program, std::vector<std::string> arguments) const;
    pid_t start(const std::string& program, std::vector<std::string> arguments,
                std::vector<std::string> environment) const;

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

}  // namespace pbs::posix
