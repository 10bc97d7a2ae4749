// Runs a function in the background, in a child process, and starts it again when the child dies.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace pbs::openpbs {

struct Supervised {
    std::string pid_file;  // locked by the supervisor
    std::function<int()> work;
    std::function<void(const std::string&)> log;
};

// Goes to the background and does the work in a child, again and again until SIGTERM. Only the calling
// process returns, with its exit status. It returns 0, too, if another supervisor has locked the file.
int supervise(const Supervised& supervised);

// Returns the id of the supervisor that has locked the file, 0 if the file doesn't have the id; nullopt: no
// process has locked the file.
std::optional<pid_t> supervisor_of(const std::string& pid_file);

// Ends the supervisor that has locked the file, and its child, and waits for their ends. `only`: the id of
// the supervisor to end; one with another id, which has taken its place, is left alone; 0: end any. Returns 0
// when neither is left; another supervisor may have locked the file since.
int stop_supervised(const std::string& pid_file, pid_t only = 0);

}  // namespace pbs::openpbs
