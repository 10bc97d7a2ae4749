// Programs that run beside a server. posix_spawn(3) starts them: a fork() of a server that holds a million
// jobs would delay it for a while.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace pbs::posix {

// The surroundings that a program starts with: it leads a session of its own, with every signal at its
// default, and has the descriptors that it is given. Each function below adds a step; the steps are done in
// this order when the program starts.
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

    // Starts the program with these arguments (the first is its own name), in this process's environment or
    // in the one given (NAME=value). Returns the pid, which the caller waits for, or -errno.
    pid_t start(const std::string& program, std::vector<std::string> arguments) const;
    pid_t start(const std::string& program, std::vector<std::string> arguments,
                std::vector<std::string> environment) const;

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

}  // namespace pbs::posix
