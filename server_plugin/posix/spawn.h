// Starts programs beside a server, by posix_spawn(3): a fork() of a server with a million jobs would stop it
// for a while.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace pbs::posix {

// The environment in which a program starts: it leads a new session, has default handlers for all signals,
// and has only the given descriptors. Each of the functions give() to close_from() adds a step. The steps are
// done in the order of these calls when the program starts.
class Spawn {
  public:
    // The signals that are blocked when the program starts. open: none; blocked: all.
    enum class Signals { open, blocked };
    explicit Spawn(Signals signals = Signals::open);
    ~Spawn();
    Spawn(const Spawn&) = delete;
    Spawn& operator=(const Spawn&) = delete;

    // Gives the program the descriptor `fd` of this process, under the number `as`.
    void give(int fd, int as);
    // Gives the program /dev/null under the number `as`, for reading and writing.
    void give_nothing(int as);
    // Closes every descriptor with a number of at least `fd`.
    void close_from(int fd);

    // Starts the program with these arguments, of which the first is its own name, and with this process's
    // environment or the given one (NAME=value). Returns the pid, for which the caller waits, or -errno.
    pid_t start(const std::string& program, std::vector<std::string> arguments) const;
    pid_t start(const std::string& program, std::vector<std::string> arguments,
                std::vector<std::string> environment) const;

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

}  // namespace pbs::posix
